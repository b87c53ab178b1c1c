from __future__ import annotations

import pytest

from jobmill.reports import readability
from jobmill.reports.findings import CrawledPage, PageProblem
from jobmill.reports.site_analysis import CPU_SECONDS
from jobmill.sandbox import read_untrusted_now

URL = "https://acme.example/"
TEXT = "<p>" + "We build pumps for wells. " * 20 + "</p>"


def _problem(
    html: str, rendered: str | None = None, *, status: int | None = 200, failure: str = ""
):
    page = CrawledPage(URL, status, html, rendered, failure=failure)
    [result] = readability.measure_readability([page])
    return result.problem


@pytest.mark.parametrize(
    ("html", "rendered", "problem"),
    [
        (TEXT, None, None),
        (TEXT, TEXT, None),
        ("<p>Short.</p>", None, "empty"),
        ('<div id="root"></div><script src=app.js></script>', None, "needs_javascript"),
        ("<div></div>", TEXT, "needs_javascript"),
        (TEXT, TEXT * 3, "needs_javascript"),
        (TEXT, TEXT + "<p>A little more.</p>", None),
        ("<div></div>", "<div></div>", "empty"),
        ("<title>Just a moment...</title><p>Checking your browser</p>", None, "blocked"),
        (f"<p>Our access denied alarm.</p>{TEXT * 5}", None, None),
    ],
)
def test_pages_are_judged_by_their_text(
    html: str, rendered: str | None, problem: PageProblem | None
) -> None:
    assert _problem(html, rendered) == problem


@pytest.mark.parametrize(
    ("status", "failure", "problem"),
    [
        (403, "", "blocked"),
        (429, "", "blocked"),
        (404, "", "failed"),
        (None, "timed out", "failed"),
        (200, "larger than 5 MB", "too_large"),
    ],
)
def test_pages_without_content_are_named(
    status: int | None, failure: str, problem: PageProblem
) -> None:
    assert _problem(TEXT, status=status, failure=failure) == problem


def test_only_visible_text_counts() -> None:
    html = (
        "<head><title>x</title></head><script>var a</script><style>b</style><!-- c --><p> a  b </p>"
    )
    assert readability.count_text(html) == len("a b ")


def test_large_and_deep_pages_are_bounded() -> None:
    for html in ("<p>word word</p>" * 3_000_000, "<div>" * 1_000_000, "<b>x" * 500_000):
        read_untrusted_now(readability.count_text, html, cpu_seconds=CPU_SECONDS)
