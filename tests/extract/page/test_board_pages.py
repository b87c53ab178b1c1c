"""The company of a posting on a site that serves many employers, read with the page's URL."""

from __future__ import annotations

import pytest

from jobmill.extract.page import page_reader

from .pages import TEXT

SITE = "Talentwharf"
URL = "https://www.talentwharf.example/view/senior-rigger-20117"
HEAD = f"""<title>Senior Rigger - Denver, CO - {SITE}</title>
<meta name=description content="Senior Rigger in Denver, CO on {SITE}">"""
FACTS = (
    "<p><b>Location:</b> Denver, CO<br><b>Posted:</b> March 3, 2026<br><b>Type:</b> Full Time</p>"
)
FOOT = f"<footer>© 2026 {SITE}, Inc. All rights reserved.</footer>"
COMPANY = "Bluefern Staffing"

CONTACTS = {
    "heading and lines": """<h3>Contact Information</h3><p>Bluefern Staffing<br>Ada Pell<br>1 Elm
    Road<br>Denver, CO 80202<br>Phone: 303-555-0100</p>""",
    "person first": """<h3>Contact</h3><div>Ada Pell</div><div>Bluefern Staffing</div>
    <div>1 Elm Road</div><div>Denver, CO 80202</div>""",
    "one cell": """<table><tr><td>Contact:</td><td>Ada Pell<br>Bluefern Staffing<br>1 Elm Road<br>
    Denver, CO 80202</td></tr><tr><td>Phone:</td><td>303-555-0100</td></tr></table>""",
    "one line": "<p><b>Contact:</b> Ada Pell, Bluefern Staffing, 303-555-0100</p>",
    "address": """<address>Bluefern Staffing<br>Attn: Ada Pell<br>1 Elm Road<br>Denver, CO 80202
    </address>""",
    "how to apply": """<h4>How to apply</h4><p>Bluefern Staffing<br>Attn: Ada Pell<br>1 Elm Road<br>
    Denver, CO 80202</p>""",
    "labels in the block": """<h4>Contact Info</h4><table><tr><td>Name:</td><td>Ada Pell</td></tr>
    <tr><td colspan=2>Bluefern Staffing</td></tr><tr><td>Fax:</td><td>303-555-0101</td></tr>
    </table>""",
    "German": """<h3>Ansprechpartner</h3><p>Bluefern Staffing<br>Frau Ada Pell<br>Ulmenweg 1<br>
    80331 München</p>""",
}


def _company(html: str, url: str = URL) -> str | None:
    posting = page_reader.read_posting(html, url, expected=True).posting
    assert posting is not None
    assert posting.title == "Senior Rigger"
    return posting.company


@pytest.mark.parametrize("contact", CONTACTS.values(), ids=CONTACTS)
@pytest.mark.parametrize("top", [True, False], ids=["above the text", "below the text"])
def test_a_contact_block_names_the_company(contact: str, top: bool) -> None:
    text = contact + TEXT if top else TEXT + contact

    assert _company(f"{HEAD}<h1>Senior Rigger</h1>{FACTS}{text}{FOOT}") == COMPANY


@pytest.mark.parametrize(
    ("name", "mail"),
    [
        ("Quillmark", "jobs@quillmark.example"),
        ("Hart Freight", "ada@hartfreight.example"),
        ("Otter Hill Inn &amp; Spa", "ada@mail.example"),
    ],
)
def test_a_company_in_a_contact_block_may_look_like_a_person(name: str, mail: str) -> None:
    contact = f"<h3>Contact</h3><p>Ada Pell<br>{name}<br>1 Elm Road<br>E-mail: {mail}</p>"

    company = _company(f"{HEAD}<h1>Senior Rigger</h1>{FACTS}{TEXT}{contact}{FOOT}")

    assert company == name.replace("&amp;", "&")


@pytest.mark.parametrize(
    "contact",
    [
        "<h3>Contact</h3><p>Ada Pell<br>303-555-0100</p>",
        "<h3>Contact us</h3><p>Human Resources<br>1 Elm Road<br>Denver, CO 80202</p>",
        "<h3>Contact</h3><p>Please call us between nine and five on weekdays</p>",
        "<h3>How to apply</h3><ul><li>Send Resume<li>Cover Letter</ul>",
    ],
    ids=["person", "department", "sentence", "steps"],
)
def test_a_person_or_a_department_is_not_the_company(contact: str) -> None:
    board = "<a href=/p>Post a Job</a>"

    assert _company(f"{HEAD}{board}<h1>Senior Rigger</h1>{FACTS}{TEXT}{contact}{FOOT}") is None


BOARD_SIGNS = {
    "picture": "<a href=/x><img src=/b.gif alt='Post a Job'></a>",
    "link title": "<a href=/x title='Post your resume'><img src=/b.gif></a>",
    "footer": "<p>News</p>" * 90 + "<a href=/x>Employers</a>",
    "address": "<a href=/employers/post-job.aspx><img src=/b.gif></a>",
    "keywords": "<meta name=keywords content='job board, find a job, post your resume'>",
}


@pytest.mark.parametrize("sign", BOARD_SIGNS.values(), ids=BOARD_SIGNS)
@pytest.mark.parametrize(
    ("site", "url"),
    [
        ("Talentwharf", URL),
        ("Talent Wharf", URL),
        ("Talent-Wharf", "https://www.talent-wharf.example/view/20117"),
        ("Talentwharf.example", URL),
    ],
)
def test_the_name_of_a_job_board_is_not_the_company_even_if_it_is_the_host(
    sign: str, site: str, url: str
) -> None:
    head, foot = (part.replace(SITE, site) for part in (HEAD, FOOT))
    logo = f"<a href='/'><img src=/l.gif alt='{site}'></a>"

    assert _company(f"{head}{logo}<h1>Senior Rigger</h1>{FACTS}{TEXT}{sign}{foot}", url) is None


def test_the_own_site_of_a_company_names_it_and_its_address_does_not_change_the_spelling() -> None:
    contact = f"<h3>Contact</h3><p>{SITE} GmbH<br>Ada Pell<br>1 Elm Road</p>"

    assert _company(f"{HEAD}<h1>Senior Rigger</h1>{FACTS}{TEXT}{FOOT}") == SITE
    assert _company(f"{HEAD}<h1>Senior Rigger</h1>{FACTS}{TEXT}{contact}{FOOT}") == SITE


def test_a_labelled_company_counts_more_than_a_contact_block() -> None:
    facts = f"<p><b>Company:</b> Gate Works<br><b>Location:</b> Denver, CO</p>{FACTS}"
    contact = CONTACTS["heading and lines"]

    assert _company(f"{HEAD}<h1>Senior Rigger</h1>{facts}{TEXT}{contact}{FOOT}") == "Gate Works"
