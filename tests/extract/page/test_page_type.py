"""Pages that are not postings, and postings that are closed."""

from __future__ import annotations

import pytest

from jobmill.extract.page import page_reader

from .pages import MORE, named

URL = "https://jobs.example/view/1"

LIST = "".join(
    f"<div><a href='/jobs/{n}-warden-of-gate-{n}'>Warden of gate {n}</a><span>Town {n}</span></div>"
    for n in range(30)
)


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("", id="nothing"),
        pytest.param("<title>Careers</title><div id=root></div>", id="an empty shell"),
        pytest.param(
            f"<title>404 Page not found</title><h1>Sorry</h1><p>{MORE} Duties</p>", id="an error"
        ),
        pytest.param(
            f"<title>Just a moment...</title><h1>Check</h1><p>{MORE} Duties</p>", id="a challenge"
        ),
        pytest.param(f"<title>Gate Ltd</title><h1>Join us</h1><p>{MORE}</p>{LIST}", id="a list"),
        pytest.param(
            f"<title>Gate Ltd</title><h1>Join us</h1><p>{MORE} This role is full-time. Apply</p>"
            f"<ul>{LIST * 3}</ul>",
            id="a list so long that it is not read",
        ),
        pytest.param(
            f"<title>Open positions | Gate Ltd</title><h1>Open</h1><p>{MORE}</p>", id="a start page"
        ),
        pytest.param(
            "<title>Gate Ltd - fine doors</title><h1>Doors</h1><p>"
            + "We make doors of oak for houses in every town of the valley. " * 9
            + "</p>",
            id="a company's page",
        ),
        pytest.param(
            "<title>Job</title><h1>Job</h1><p>Company: {{ job.company }}</p>"
            "<p>Location: {{ job.place }}</p><p>Posted: {{ job.day }}</p>",
            id="a template",
        ),
    ],
)
def test_a_page_that_is_not_a_single_posting_has_no_posting(html: str) -> None:
    reading = page_reader.read_posting(html, "https://gate.example/")

    assert (reading.posting, reading.method) == (None, None)


def test_the_url_of_a_list_is_no_evidence_of_a_posting() -> None:
    words = "You will keep the gate and greet whoever comes by, in all weathers, until autumn. "
    bare = f"<title>Gate</title><h1>Gate Keeper</h1><p>Location: Bend</p><p>{words * 2}</p>"

    assert page_reader.read_posting(bare, "https://gate.example/careers/").posting is None
    assert page_reader.read_posting(bare, "https://gate.example/careers/17").posting is not None


@pytest.mark.parametrize(
    "words",
    [
        "This job is no longer available.",
        "Sorry, this position has been filled",
        "We are no longer accepting applications for this role.",
        "No longer accepting applications",
        "This job has expired",
        "Diese Stelle ist nicht mehr verfügbar.",
        "Esta oferta ya no está disponible",
    ],
)
def test_a_page_that_says_the_posting_is_closed_is_closed(words: str) -> None:
    reading = page_reader.read_posting(
        named("definition list").html.replace("<dl>", f"<div class=note>{words}</div><dl>"), URL
    )

    assert reading.closed
    assert reading.posting is not None


@pytest.mark.parametrize(
    "words",
    [
        "Applications are taken until the position has been filled.",
        "If this job is no longer available, we keep your resume.",
        "You will replace systems that are no longer supported.",
        "Our last clerk moved on. " * 12 + "That position has been filled, this one is open.",
        "<span style='display:none'>This job is no longer available</span>",
        "<script>const text = 'This job has expired'</script>",
    ],
)
def test_other_uses_of_these_words_do_not_close_a_posting(words: str) -> None:
    reading = page_reader.read_posting(
        named("definition list").html.replace("<dl>", f"<div>{words}</div><dl>"), URL
    )

    assert not reading.closed


@pytest.mark.parametrize(
    "form",
    [
        ("<p>Why are you reporting it?</p><input type=radio name=r> Position no longer available<br>"
        "<input type=radio name=r> Broken link"),
        ("<ul><li><label><input type=checkbox> This job has expired</label><li><label>"
        "<input type=checkbox> Spam</label></ul>"),
        ("<table><tr><td><input type=radio name=r></td><td>This job is no longer available</td></tr>"
        "<tr><td><input type=radio name=r></td><td>Wrong category</td></tr></table>"),
        "<input type=radio id=a name=r><span>Position has been filled</span>",
        "<b>Report this posting</b><ul><li>Position no longer available<li>Misleading</ul>",
        "<a href='/report?why=2'>Position is no longer available</a>",
        "<button>Job no longer available</button>",
        "<select><option>Position no longer available<option>Spam</select>",
        "<p>Is this position no longer available?</p>",
    ],
    ids=[
        "radio buttons", "labels", "cells", "spans", "reasons", "link", "button", "select",
        "question",
    ],
)  # fmt: skip
@pytest.mark.parametrize("data", [False, True], ids=["text", "json-ld"])
def test_a_choice_in_a_form_does_not_close_a_posting(form: str, data: bool) -> None:
    html = named("definition list").html
    if data:
        html = html.replace("</head>", f"{_COMPLETE_POSTING}</head>")
    reading = page_reader.read_posting(html.replace("</body>", f"{form}</body>"), URL)

    assert reading.posting is not None
    assert reading.method == ("json-ld" if data else "text")
    assert not reading.closed


@pytest.mark.parametrize(
    "words", ["This job is no longer available", "No longer accepting applications"]
)
def test_a_notice_beside_a_form_closes_a_posting(words: str) -> None:
    html = named("definition list").html
    notices = f"<p>Report this job</p><h2>{words}</h2><input type=text>"

    assert page_reader.read_posting(html.replace("</body>", f"{notices}</body>"), URL).closed


_COMPLETE_POSTING = """<script type="application/ld+json">{"@context": "https://schema.org",
"@type": "JobPosting", "title": "Harbour Pilot", "datePosted": "2026-03-03",
"description": "You guide ships into the harbour.", "jobLocation": {"@type": "Place", "address":
{"@type": "PostalAddress", "addressLocality": "Westport"}}, "hiringOrganization":
{"@type": "Organization", "name": "Northwater Marine"}}</script>"""


def test_a_choice_right_below_the_body_does_not_close_a_posting() -> None:
    html = f"{_COMPLETE_POSTING}<body><input type=radio name=r> Position has been filled</body>"

    assert not page_reader.read_posting(html, URL).closed
