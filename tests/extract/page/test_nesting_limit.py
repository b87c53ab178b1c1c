"""Deeply nested pages are cut before they reach the parser."""

from __future__ import annotations

import pytest

from jobmill.extract.page import nesting_limit

MANY = 50_000


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * MANY,
        "<DIV>" * MANY,
        "<div>" * MANY + "</div>" * MANY,
        "<div></p>" * MANY,
        "<div></ul>" * MANY,
        "<table><tr><td>" * MANY,
        "".join(f"<font size={number}>" for number in range(MANY)),
        "".join(f"<b id={number}></i>" for number in range(MANY)),
    ],
    ids=["open", "capitals", "closed", "ends", "other ends", "tables", "styles", "style ends"],
)
def test_a_page_is_cut_where_it_is_too_deep(html: str) -> None:
    truncated = nesting_limit.truncate_deep_html(html.encode())
    assert truncated.lower().count(b"<div") + truncated.count(b"<table") <= nesting_limit.MAX_DEPTH
    assert truncated.count(b"<font") + truncated.count(b"<b ") <= nesting_limit.MAX_DEPTH


@pytest.mark.parametrize(
    "html",
    [
        "<div><p>x</div>" * MANY,
        "<ul>" + "<li><a href=x><b>x</b></a>" * MANY + "</ul>",
        "<p>x<br>" * MANY,
        "<div>" * nesting_limit.MAX_DEPTH + "<td>x" * MANY,
    ],
    ids=["blocks", "list", "open paragraphs", "as deep as allowed"],
)
def test_a_long_page_stays_whole(html: str) -> None:
    assert nesting_limit.truncate_deep_html(html.encode()) == html.encode()
