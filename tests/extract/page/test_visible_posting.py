"""Postings on pages without structured data."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.catalog.posting import Salary
from jobmill.extract.page import page_reader

from .pages import CASES, MORE, PROSE, TEXT, PageExample, named

URL = "https://jobs.example/view/1"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_visible_posting_is_read_correctly(case: PageExample) -> None:
    reading = page_reader.read_posting(case.html, URL)

    assert reading.method == "text"
    posting = reading.posting
    assert posting is not None
    assert (posting.title, posting.company, posting.location) == (
        case.title,
        case.company,
        case.location,
    )
    if case.day != "some day":
        day = posting.posted_at.date().isoformat() if posting.posted_at else None
        assert day == case.day


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_description_is_the_main_text_only(case: PageExample) -> None:
    posting = page_reader.read_posting(case.html, URL).posting

    assert posting is not None
    assert posting.description is not None
    assert PROSE in posting.description
    assert MORE in posting.description
    for other in ("Similar jobs", "Roof Tiler", "Post Resume", "Copyright", "Life here"):
        assert other not in posting.description


def test_further_labels_and_phrases_are_read() -> None:
    facts = """<dl><dt>Job Type</dt><dd>Part Time</dd><dt>Salary</dt><dd>$21 per hour</dd>
    <dt>Department</dt><dd>Grounds</dd><dt>Job ID</dt><dd>G-12</dd>
    <dt>Apply by</dt><dd>2020-01-31</dd>
    <dt>Location</dt><dd>Eugene, OR</dd></dl><a class="btn" href="/apply/12">Apply now</a>"""
    html = f"<title>Senior Gardener</title><h1>Senior Gardener</h1>{facts}{TEXT}"

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.employment_type == "part_time"
    assert posting.salary == Salary(21, 21, "USD", "hour", "text")
    assert (posting.department, posting.requisition_id) == ("Grounds", "G-12")
    assert posting.valid_through == dt.datetime(2020, 1, 31, tzinfo=dt.UTC)
    assert posting.apply_url == "https://jobs.example/apply/12"
    assert posting.locations == ("Eugene, OR",)
    assert posting.seniority == "senior"


@pytest.mark.parametrize("value", ["", "N/A", "Not specified", "{{ posting.who }}", "<td></td>"])
def test_a_placeholder_value_leaves_the_field_unknown(value: str) -> None:
    html = named("table with a colon behind each label").html.replace(
        '<a href="/co/9">Fern &amp; Moss, Inc.</a>', value
    )

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.company is None


@pytest.mark.parametrize(
    "facts",
    [
        "<p>Company:<br>Location: Bend, OR<br>Ref: 7</p>",
        "<table><tr><th>Company</th><td></td></tr><tr><td>Doors</td></tr></table><p>Ref: 7</p>",
        "<ul><li>Company</li><li>Green doors</li></ul><p>Location: Bend, OR</p><p>Ref: 7</p>",
        "<p><a href='/c'>Company</a></p><p>Green doors</p><p>Location: Bend, OR</p><p>Ref: 7</p>",
    ],
    ids=["another label", "another row", "a list", "a link"],
)
def test_text_after_a_label_by_chance_is_not_its_value(facts: str) -> None:
    html = f"<title>Painter</title><h1>Painter</h1>{facts}{TEXT}"

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.company is None


def test_links_around_the_text_are_excluded() -> None:
    words = "Another page, whose name is long enough to be a sentence of a text"
    links = "".join(f"<p><a href='/x/{n}'>{words}</a></p>" for n in range(9))
    case = named("definition list")

    posting = page_reader.read_posting(case.html.replace("<h2>", f"{links}<h2>"), URL).posting

    assert posting is not None
    assert "Another page" not in (posting.description or "")


@pytest.mark.parametrize(
    "shown", ["Posted 3/9/2011 by Ann", "Posted on 3/9/2011 - Ref 4", "3/9/11"]
)
def test_the_day_of_posting_is_found_among_other_words(shown: str) -> None:
    html = (
        named("definition list")
        .html.replace("March 3, 2011", "")
        .replace("<dl>", f"<p class='posted-date'>{shown}</p><dl>")
    )

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.posted_at == dt.datetime(2011, 3, 9, tzinfo=dt.UTC)


def test_an_unlabelled_date_is_not_the_posting_date() -> None:
    html = named("a page that names no company and no place").html.replace(
        "<h1>", "<div>Tuesday, December 7, 2010</div><h1>"
    )

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.posted_at is None


@pytest.mark.parametrize(
    ("facts", "location", "kind"),
    [
        ("<dl><dt>Location</dt><dd>Multiple Locations</dd></dl>", "Multiple Locations", None),
        ("<p>Location: Bend, OR (view map)</p>", "Bend, OR", None),
        ("<p>Location: Bend</p><p><b>City:</b> Reno</p>", "Bend", None),
        ("<div><div>Job Type</div><div>Contract</div></div>", None, "contract"),
    ],
)
def test_a_value_is_kept_in_the_words_of_the_page(
    facts: str, location: str | None, kind: str | None
) -> None:
    html = f"<title>Painter</title><h1>Painter</h1><p>Company: Brush</p>{facts}{TEXT}"

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.location, posting.employment_type) == (location, kind)


def test_a_label_in_a_group_counts_more_than_a_single_one() -> None:
    alone = "<table><tr><td>Location:</td><td>Sparks</td></tr></table>"
    apart = "<p>-</p>" * 9
    html = f"""<title>Painter</title><h1>Painter</h1>{alone}{apart}{TEXT}
    <p>Employer: Brush</p><p>Location: Reno</p>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.location == "Reno"


@pytest.mark.parametrize(
    "others",
    [f"<h3>Similar jobs</h3><p>Other: {PROSE}</p>", f"<p class='related-posts'>Other: {PROSE}</p>"],
    ids=["by their heading", "by their name"],
)
def test_other_postings_on_the_page_are_excluded_from_the_text(others: str) -> None:
    html = named("German").html.replace("</body>", f"{others}</body>")

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert MORE in (posting.description or "")
    assert "Other:" not in (posting.description or "")


def test_of_two_headings_the_url_decides_which_is_the_title() -> None:
    html = f"<title>Opening</title><h2>Brush and Ladder</h2><h2>Sign Painter</h2>{TEXT}<p>Apply</p>"

    posting = page_reader.read_posting(
        html, "https://jobs.example/openings/sign-painter-81"
    ).posting

    assert posting is not None
    assert posting.title == "Sign Painter"


@pytest.mark.parametrize(
    "title",
    [
        "Sign Painter",
        "Email Developer",
        "Contact Center Agent",
        "Post Office Clerk",
        "Print Operator",
        "Search Engine Analyst",
        "Find Manager",
        "IT Support",
        "Registered Nurse",
        "Recruiter",
        "Applications Engineer",
    ],
)
def test_a_title_may_begin_like_a_button(title: str) -> None:
    html = f"""<title>Opening</title><a href="/s">Search jobs</a><h2>Email this job</h2>
    <h2>{title}</h2><p>Company: Brush</p><p>Salary: $900 per week</p>{TEXT}"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.title == title


@pytest.mark.parametrize("company", ["The Ladder House", "Alpine Search Partners", "A Fine Brush"])
@pytest.mark.parametrize("place", ["Mountain View, CA", "Portland, ME"])
def test_company_names_may_contain_words_of_buttons(company: str, place: str) -> None:
    html = f"""<title>Painter - {company}</title><h1>Painter</h1><div class="employer-name">{company}</div>
    <div class="where">{place}</div>{TEXT}<p>Apply</p><p>Salary: $900 per week</p>
    <p>All jobs in {place}</p>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.company, posting.location) == (company, place)


def test_a_heading_in_the_sidebar_counts_less() -> None:
    html = f"""<title>Opening</title><h2 class="sidebar-box">Tips of the week</h2>
    <p>1</p><p>2</p><p>3</p><p>4</p><p>5</p>{TEXT}<h2>Sign Painter</h2>{TEXT}
    <p>1</p><p>2</p><p>3</p><p>4</p><p>5</p><p>Company: Brush</p><p>Salary: $900 per week</p>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.title == "Sign Painter"


def test_element_names_reveal_the_field() -> None:
    html = f"""<title>Painter</title><h1>Painter</h1><ul><li class="firm employer-name">Brush</li>
    <li class="city">Sparks</li><li class="job-date-posted">2024-01-02</li></ul>{TEXT}<p>Apply</p>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.company, posting.location) == ("Brush", "Sparks")
    assert posting.posted_at == dt.datetime(2024, 1, 2, tzinfo=dt.UTC)


@pytest.mark.parametrize("tag", ["nav", "ul"])
def test_a_posting_is_found_behind_a_menu_of_a_thousand_entries(tag: str) -> None:
    menu = "".join(f"<li><a href='/shop/{n}'>Brush {n}</a></li>" for n in range(1_000))
    html = f"""<title>Sign Painter</title><{tag}>{menu}</{tag}><h1>Sign Painter</h1>
    <p>Location: Sparks</p>{TEXT}<p>Company: Brush</p>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.title, posting.company, posting.location) == ("Sign Painter", "Brush", "Sparks")
    assert posting.description is not None
    assert PROSE in posting.description


@pytest.mark.parametrize(
    "heading",
    [
        "Sign Painter at Brush & Co.",
        "Sign Painter @ BRUSH & CO.!",
        "Sign Painter, Brush & Co.",
        "Brush & Co. - Sign Painter",
        "Brush & Co.: Sign Painter | Brush & Co.",
    ],
)
def test_a_company_name_is_removed_from_the_title(heading: str) -> None:
    html = f"""<title>{heading}</title><h1>{heading}</h1><p>Company: Brush &amp; Co.</p>
    <p>Location: Sparks</p>{TEXT}"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.title, posting.company) == ("Sign Painter", "Brush & Co.")


@pytest.mark.parametrize(
    "sign",
    [
        "<img src='/l.png' alt='Brush Works logo'>",
        "<nav aria-label='Breadcrumb'>Home &gt; Brush Works &gt; Sign Painter</nav>",
        "<div class='page-crumbs'><i>Home</i> | <i>Brush Works</i> | <i>Sign Painter</i></div>",
    ],
)
def test_a_logo_or_breadcrumb_confirms_the_company_in_the_page_title(sign: str) -> None:
    html = f"""<title>Brush Works seeks Sign Painter</title>
    <meta name=description content="Brush Works paints signs">{sign}
    <h1>Sign Painter</h1><p>Location: Sparks</p>{TEXT}<p>Apply</p>"""

    with_it, without = (
        page_reader.read_posting(html, URL).posting,
        page_reader.read_posting(html.replace(sign, ""), URL).posting,
    )

    assert with_it is not None
    assert with_it.company == "Brush Works"
    assert without is not None
    assert without.company is None
