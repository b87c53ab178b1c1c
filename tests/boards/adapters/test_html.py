"""Careers pages: cards and fields by selectors, with alternatives."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from jobmill.boards import readable_board
from jobmill.boards.adapters import html
from jobmill.boards.platform import BoardPage
from jobmill.errors import Invalid, OutsideError
from jobmill.outside.request import Request

from . import answer, lines, read

URL = "https://rope.example/team/"
CONFIG: dict[str, Any] = {
    "url": URL,
    "selectors": {
        "job_list": ".card", "title": ".title", "location": ".where", "description": ".about",
        "link": "a.more[href]", "posted_date": ".when", "salary": ".pay",
    },
    "alternative_selectors": [{"title": ".missing"}, {"title": ".name"}],
    "pagination": {"next_button": ".next", "max_pages": 3},
}  # fmt: skip


def asked(**changes: Any) -> Request:
    return html.first_request(html.HtmlPageConfig.model_validate(CONFIG | changes))


def page(body: bytes, request: Request | None = None, **changes: Any) -> BoardPage:
    return read("html", body, CONFIG | changes, request or asked(**changes))


def test_fields_are_read_from_their_card() -> None:
    posting = page(answer("html/list.html")).postings[0]
    assert (posting.title, posting.location) == ("Ropemaker", "Chatham")
    assert lines(posting.description) == ["Make rope.", "Walk far."]
    assert posting.posted_at == dt.datetime(2024, 7, 1, tzinfo=dt.UTC)
    assert posting.salary
    assert (posting.salary.min, posting.salary.currency) == (28000, "GBP")
    assert not posting.partial


def test_links_are_relative_to_their_page() -> None:
    urls = [posting.url for posting in page(answer("html/list.html")).postings]
    assert urls == ["https://rope.example/team/roles/1?ref=list", "https://rope.example/roles/2"]


def test_alternative_selectors_are_tried_in_order_for_each_field() -> None:
    other = page(answer("html/list.html")).postings[1]
    assert (other.title, other.location, other.partial) == ("Sailmaker", "Chatham", True)


def test_a_card_without_a_title_is_counted() -> None:
    assert page(answer("html/list.html")).stubs == 1


def test_cards_may_have_an_alternative_selector() -> None:
    changes = {"alternative_selectors": [{"job_list": "a.card"}]}
    selectors = CONFIG["selectors"] | {"job_list": ".gone"}
    assert page(answer("html/cards.html"), selectors=selectors, **changes).postings


@pytest.mark.parametrize("link", [None, "a.card", ".card[href]", ".title"])
def test_a_card_may_be_the_link_itself(link: str | None) -> None:
    selectors = {"job_list": ".card", "title": ".title", "link": link}
    (posting,) = page(answer("html/cards.html"), selectors=selectors).postings
    assert posting.url == "https://rope.example/r/7"


def test_the_next_page_is_followed_as_far_as_allowed() -> None:
    (second,) = page(answer("html/list.html")).next
    body = answer("html/list.html").replace(b"?page=2", b"?page=3")
    (third,) = page(body, second).next
    last = page(body.replace(b"?page=3", b"?page=4"), third)
    assert [second.url, third.url] == [f"{URL}?page=2", f"{URL}?page=3"]
    assert (last.next, last.truncated) == ((), True)


@pytest.mark.parametrize("href", [b"?page=2", b"?page=2#top", b"/team/"])
def test_a_page_that_was_requested_before_ends_the_crawl(href: bytes) -> None:
    (second,) = page(answer("html/list.html")).next
    last = page(answer("html/list.html").replace(b"?page=2", href), second)
    assert (last.next, last.truncated) == ((), False)


def test_a_disabled_button_is_the_end() -> None:
    last = page(answer("html/cards.html"))
    assert (last.next, last.truncated) == ((), False)


@pytest.mark.parametrize("href", [b"#", b"javascript:more()", b"https://evil.example/?page=2"])
def test_a_button_that_cannot_be_followed_makes_the_list_truncated(href: bytes) -> None:
    last = page(answer("html/list.html").replace(b"?page=2", href))
    assert (last.next, last.truncated) == ((), True)


@pytest.mark.parametrize(
    ("method", "render"), [("requests", False), ("browser", True), ("selenium", True)]
)
def test_a_browser_is_used_where_the_config_says_so(method: str, render: bool) -> None:
    request = asked(method=method)
    assert (request.render, request.page) == (render, True)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"selectors": {"job_list": "..bad", "title": "b"}}, "selectors.job_list.*'..bad'"),
        ({"selectors": {"job_list": ".card"}}, "selectors.title"),
        ({"pagination": {"next_button": "a["}}, "pagination.next_button"),
        ({"alternative_selectors": [{"title": ">>"}]}, "alternative_selectors.0.title"),
        ({"pagination": {"next_button": "a", "max_pages": 0}}, "max_pages"),
        ({"method": "curl"}, "method"),
        ({"url": "file:///etc/passwd"}, "url"),
    ],
)
def test_an_invalid_config_names_its_errors(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(Invalid, match=named):
        html.PLATFORM.parse_config(CONFIG | wrong)


def test_a_page_without_cards_is_empty_and_not_trusted() -> None:
    assert page(b"<html><body>Rebuilt</body></html>").postings == ()
    assert not html.PLATFORM.allow_empty


def test_cards_without_any_title_are_an_error() -> None:
    with pytest.raises(OutsideError, match="title"):
        page(b"<div class=card></div>")


def test_a_posting_without_text_is_completed_from_its_page() -> None:
    site = html.HtmlPageConfig.model_validate(CONFIG)
    listed = page(answer("html/list.html")).postings[1]
    body = (
        b'<script type="application/ld+json">{"@type": "JobPosting", "title": "Sailmaker",'
        b' "description": "<p>Sew sails.</p>"}</script><h1>Sailmaker</h1>'
    )
    complete = html.PLATFORM.read_detail_response(body, listed, site)
    assert html.detail_request(listed, site).url == listed.url
    assert "Sew sails." in (complete.description or "")


def test_a_page_nested_a_hundred_thousand_deep_is_refused_at_once() -> None:
    for deep in (
        b"<div>" * 100_000,
        b"<div></p>" * 100_000,
        b"<div>" * 50_000 + b"</div>" * 50_000,
    ):
        with pytest.raises(OutsideError, match="deep"):
            page(b"<div class=card>" + deep)


def test_a_long_page_is_not_deep() -> None:
    body = b"<ul>" + b"<li class=card><b class=title>Rower</b><p>x<br></li>" * 10_000 + b"</ul>"
    assert len(page(body).postings) == 10_000


def test_the_link_may_be_around_what_is_selected() -> None:
    body = b"<li class=card><a href=/r/8><b class=title>Tarrer</b></a></li>"
    selectors = {"job_list": ".card", "title": ".title", "link": ".title"}
    assert page(body, selectors=selectors).postings[0].url == "https://rope.example/r/8"


def test_a_saved_page_without_a_config_is_refused_with_advice() -> None:
    with pytest.raises(Invalid, match="selectors"):
        readable_board.read_saved_response(html.PLATFORM, answer("html/list.html"))
