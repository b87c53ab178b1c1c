"""Postings on company sites, and pages that are expected to be postings."""

from __future__ import annotations

import pytest

from jobmill.extract.page import page_reader

from .own_sites import OWN
from .pages import MORE, TEXT, PageExample

URL = "https://www.example.org/jobs/7"


@pytest.mark.parametrize("expected", [True, False])
@pytest.mark.parametrize("case", OWN, ids=lambda case: case.name)
def test_an_ordinary_page_is_read_whether_it_is_expected_or_not(
    case: PageExample, expected: bool
) -> None:
    posting = page_reader.read_posting(case.html, URL, expected=expected).posting

    assert posting is not None
    values = (posting.title, posting.company, posting.location)
    assert values == (case.title, case.company, case.location)


@pytest.mark.parametrize("case", [OWN[0], OWN[3], OWN[4]], ids=lambda case: case.name)
def test_lists_of_short_items_are_part_of_the_text(case: PageExample) -> None:
    posting = page_reader.read_posting(case.html, URL).posting

    assert posting is not None
    assert posting.description is not None
    assert "Test them outdoors" in posting.description
    assert posting.description.endswith("- Good English")
    assert posting.requirements is not None
    assert "- SQL" in posting.requirements
    for other in ("Share this", "Roof Tiler", "Apply", "©"):
        assert other not in posting.description


def test_lists_before_the_text_are_part_of_it_too() -> None:
    html = f"""<title>Clerk</title><h1>Clerk</h1><p>Location: Bend, OR</p><p>Company: Gate</p>
    <h3>Your tasks</h3><ul><li>Files<li>Letters</ul><h3>About us</h3>{TEXT}"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.description or "").startswith("Your tasks\n- Files\n- Letters\nAbout us")


@pytest.mark.parametrize(
    "html",
    [
        "<title>Open Day</title><h1>Night Porter</h1><p>Doors.</p>",
        "<title>Details</title><div>Night Porter</div><p>Come and see us.</p>",
    ],
)
def test_an_expected_posting_needs_only_a_title(html: str) -> None:
    reading = page_reader.read_posting(html, "", expected=True)

    assert page_reader.read_posting(html, "").posting is None
    assert reading.method == "text"
    assert reading.posting is not None
    assert reading.posting.title == "Night Porter"
    assert (reading.posting.company, reading.posting.location, reading.posting.posted_at) == (
        None,
    ) * 3


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<title>Careers</title><div id=root></div>",
        f"<title>404 Page not found</title><h1>Sorry</h1><p>{MORE}</p>",
        f"<title>Just a moment...</title><h1>One more step</h1><p>{MORE}</p>",
    ],
    ids=["nothing", "an empty shell", "an error", "a challenge"],
)
def test_an_error_page_is_refused_even_if_a_posting_was_expected(html: str) -> None:
    assert page_reader.read_posting(html, URL, expected=True).posting is None


SIGNS = {
    "the site's name": "<meta property=og:site_name content=Agrisense>",
    "the title of the page": "<title>Field Hand | Agrisense</title>",
    "a heading": "<h2>About Agrisense</h2>",
    "the rights": "<footer>© 2024 Agrisense GmbH</footer>",
    "a logo": "<img alt='Agrisense logo' src=/l.png>",
}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the site's name", "the title of the page"),
        ("the title of the page", "a heading"),
        ("the title of the page", "the rights"),
        ("the rights", "a logo"),
        ("the site's name", "the rights"),
    ],
)
def test_two_matching_signs_name_the_owner_of_the_site(first: str, second: str) -> None:
    def company(*signs: str) -> str | None:
        html = f"<h1>Field Hand</h1><p>Location: Bend, OR</p>{TEXT}"
        return _company("".join(SIGNS[sign] for sign in signs) + html)

    assert company(first, second) == "Agrisense"
    assert company(first) is None
    assert company(second) is None


@pytest.mark.parametrize("link", ["Post a Job", "Employers", "For recruiters", "Upload your CV"])
def test_the_owner_of_a_job_board_is_not_the_company(link: str) -> None:
    signs = SIGNS["the site's name"] + SIGNS["the title of the page"] + SIGNS["the rights"]
    html = f"{signs}<a href=/x>{link}</a><h1>Field Hand</h1><p>Location: Bend, OR</p>{TEXT}"

    assert _company(html) is None
    assert _company(html.replace(link, "Our fields")) == "Agrisense"


def test_a_site_that_is_named_after_jobs_is_a_board() -> None:
    signs = SIGNS["the site's name"] + SIGNS["the title of the page"] + SIGNS["the rights"]
    html = f"{signs}<h1>Field Hand</h1><p>Location: Bend, OR</p>{TEXT}"

    assert _company(html.replace("Agrisense", "FieldJobs")) is None


def _company(html: str) -> str | None:
    posting = page_reader.read_posting(html, "", expected=True).posting
    assert posting is not None
    assert posting.title == "Field Hand"
    return posting.company


@pytest.mark.parametrize(
    "line",
    [
        "Munich · Full-time · Hybrid",
        "Full-time | Munich",
        "Engineering • Munich • Permanent",
        "Agrisense - Munich - Remote possible",
        "<span>Munich</span><span>Full-time</span>",
    ],
)
def test_a_place_among_other_facts_below_the_title_is_found(line: str) -> None:
    html = f"""<title>Field Hand | Agrisense</title><h1>Field Hand</h1><p>{line}</p>{TEXT}
    <footer>© Agrisense</footer>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.location == "Munich"


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("Posted: 12/3/10", "2010-12-03"),
        ("Date: Dec 03, 2010", "2010-12-03"),
        ("Added: 3-Dec-10", "2010-12-03"),
        ("Post Date: Dec 3 '10", "2010-12-03"),
        ("Last Updated: 12/3/2010", "2010-12-03"),
        ("Updated: 12/9/2010</p><p>Posted: 12/3/2010", "2010-12-03"),
        ("Start Date: 12/3/2010", None),
        ("Closing Date: 12/3/2010", None),
        ("Posted: Dec 10", None),
    ],
)
def test_the_posting_date_is_preferred_to_the_update_date(shown: str, day: str | None) -> None:
    html = f"<title>Clerk</title><h1>Clerk</h1><p>Company: Gate</p><p>{shown}</p>{TEXT}"

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.posted_at.date().isoformat() if posting.posted_at else None) == day
