"""The crawl of a board: pages, outcomes and details."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from jobmill.boards import board_crawler
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.boards.platform import BoardConfig, BoardPage, Platform
from jobmill.boards.readable_board import ReadableBoard
from jobmill.catalog import listings, posting_identity
from jobmill.catalog.crawl_results import CrawlResult
from jobmill.catalog.listings import ListingId, ListingState
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.extract.fields.missing_fields import fill_missing_fields
from jobmill.outside.request import (
    FetchFailure,
    FetchResult,
    NotModified,
    PageGone,
    Request,
    Truncated,
    Validators,
)
from tests.fakes import Net, ok

NOW = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
HOME = "https://board.example/"


def first(config: BoardConfig) -> Request:
    return Request(HOME)


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """{"ids": [...], "next": [...], "total": n}: the simplest board."""
    content = json.loads(body)
    if "ids" not in content:
        raise OutsideError("not a board", permanent=True)
    postings = tuple(
        Posting(
            f"Post {id}", f"{HOME}{id}", vendor_id=str(id), partial=content.get("partial", False)
        )
        for id in content["ids"]
    )
    return BoardPage(
        postings,
        next=tuple(Request(HOME + path) for path in content.get("next", ())),
        total=content.get("total"),
        stubs=content.get("stubs", 0),
        truncated=content.get("truncated", False),
    )


def detail(posting: Posting, config: BoardConfig) -> Request:
    return Request(f"{HOME}detail/{posting.vendor_id}")


def read_detail(body: bytes, posting: Posting, config: BoardConfig) -> Posting:
    return replace(posting, description=json.loads(body)["text"])


PLAIN = Platform(name="plain", title="Plain", first_request=first, read=read)
DETAILED = replace(PLAIN, detail_request=detail, read_detail=read_detail)


pytestmark = pytest.mark.usefixtures("read_in_this_process")


async def no_listings(identities: Sequence[str]) -> Mapping[str, ListingState]:
    return {}


async def crawl(net: Net, platform: Platform = PLAIN, **facts: Any) -> CrawlResult:
    find_listings = facts.pop("find_listings", no_listings)
    target = ReadableBoard(platform, facts.pop("config", BoardConfig(board_token="x")), {}, **facts)
    return await board_crawler.crawl(net, target, find_listings, started_at=NOW)


def ids(result: CrawlResult) -> list[str | None]:
    return [seen_posting.posting.vendor_id for seen_posting in result.postings]


async def test_all_pages_are_crawled_and_each_posting_is_seen_once() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "next": ["2"], "total": 4}))
    net.on(HOME + "2", ok({"ids": [2, 3], "next": ["3"]}))
    net.on(HOME + "3", ok({"ids": [4], "next": ["2"]}))
    result = await crawl(net)
    assert (result.outcome, ids(result), result.calls) == ("complete", ["1", "2", "3", "4"], 3)


async def test_each_page_is_recorded_with_its_parameters_and_posting_count() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "next": ["?a=1&page=2"]}))
    net.on(HOME + "?a=1&page=2", ok({"ids": [2, 3], "next": ["?page=2&a=1", "?a=1&page=3"]}))
    net.on(HOME + "?a=1&page=3", FetchFailure(HOME, "server", "broken"))
    result = await crawl(net)
    pages = [(dict(page.params), page.count) for page in result.pages]
    assert pages == [({}, 2), ({"a": "1", "page": "2"}, 2), ({"a": "1", "page": "3"}, None)]
    # The second request has the same parameters in another order.
    assert len(net.requests) == 3


async def test_an_unchanged_page_counts_zero_postings() -> None:
    net = Net()
    net.on(HOME, NotModified(HOME))
    assert [page.count for page in (await crawl(net)).pages] == [0]


async def test_a_key_in_the_links_of_a_site_is_not_recorded() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["?key=s%2Fecret&page=2"]}))
    target = ReadableBoard(
        replace(PLAIN, key_names=("A_API_KEY",)),
        BoardConfig(board_token="x"),
        {"A_API_KEY": "s/ecret"},
    )
    result = await board_crawler.crawl(net, target, no_listings, started_at=NOW)
    assert result.pages[1].params == {"key": "{A_API_KEY}", "page": "2"}


@pytest.mark.parametrize(
    ("answer", "outcome", "failure"),
    [
        (FetchFailure(HOME, "server", "broken"), "failed", "server"),
        (FetchFailure(HOME, "rate_limited", "slow down"), "held", "rate_limited"),
        (PageGone(HOME, 404), "failed", "gone"),
        (Truncated(HOME, b'{"ids":', 10), "failed", "unreadable"),
        (NotModified(HOME), "unchanged", None),
        (ok("<html>"), "failed", "unreadable"),
        (ok({"error": "no"}), "failed", "unreadable"),
        (ok({"ids": []}), "complete", None),
        (ok({"ids": [1], "truncated": True}), "truncated", None),
        (ok({"ids": [1], "total": 9}), "truncated", None),
        (ok({"ids": [1], "total": 3, "stubs": 2}), "complete", None),
    ],
)
async def test_the_first_response_determines_the_outcome(
    answer: FetchResult, outcome: str, failure: str | None
) -> None:
    net = Net()
    net.on(HOME, answer)
    result = await crawl(net)
    assert (result.outcome, result.failure) == (outcome, failure)


@pytest.mark.parametrize(
    "answer",
    [
        FetchFailure(HOME, "timeout", "slow"),
        FetchFailure(HOME, "rate_limited", "slow down"),
        PageGone(HOME, 404),
        Truncated(HOME, b"", 1),
        ok("no json"),
    ],
)
async def test_a_later_page_that_fails_makes_the_crawl_partial(answer: FetchResult) -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["2"]}))
    net.on(HOME + "2", answer)
    result = await crawl(net)
    assert (result.outcome, ids(result)) == ("partial", ["1"])


async def test_a_repeated_page_ends_the_crawl_as_truncated() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "next": ["2"], "total": 6}))
    for page in range(2, 50):
        net.on(f"{HOME}{page}", ok({"ids": [1, 2], "next": [str(page + 1)]}))
    result = await crawl(net)
    assert (result.outcome, result.calls) == ("truncated", 2)


async def test_a_page_without_postings_may_lead_to_further_pages() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [], "next": ["a"]}))
    net.on(HOME + "a", ok({"ids": [], "next": ["b"]}))
    net.on(HOME + "b", ok({"ids": [7]}))
    assert ids(await crawl(net)) == ["7"]


async def test_validators_are_sent_first_and_kept_for_the_next_time() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1]}, validators=Validators(etag='"new"')))
    result = await crawl(net, validators=Validators(etag='"old"'))
    assert (net.validators, result.validators.etag) == ([Validators(etag='"old"')], '"new"')


async def test_several_pages_give_no_validators() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["2"]}, validators=Validators(etag='"new"')))
    net.on(HOME + "2", ok({"ids": [2]}, validators=Validators(etag='"page 2"')))
    result = await crawl(net, validators=Validators(etag='"old"'))
    assert net.validators == [Validators(etag='"old"'), None]
    assert result.validators.etag is None


async def test_a_repeated_page_without_a_total_is_truncated() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["2"]}))
    net.on(HOME + "2", ok({"ids": [1], "next": ["3"]}))
    assert (await crawl(net)).outcome == "truncated"
    net.on(HOME + "2", ok({"ids": [1]}))
    assert (await crawl(net)).outcome == "complete"


async def test_details_are_read_only_for_new_and_changed_postings() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2, 3], "partial": True}))
    for id in (1, 2, 3):
        net.on(f"{HOME}detail/{id}", ok({"text": f"text {id}"}))

    async def find_listings(identities: Sequence[str]) -> Mapping[str, ListingState]:
        listed = fill_missing_fields(
            Posting("Post 1", HOME + "1", vendor_id="1", partial=True, platform="plain")
        )
        same = listings.listed_hash(listed)
        other = listings.listed_hash(replace(listed, title="Other"))
        return {
            identity: ListingState(
                ListingId(1), identity, 1, same if identity.endswith(":1") else other, False, False
            )
            for identity in identities
            if not identity.endswith(":3")
        }

    result = await crawl(net, DETAILED, find_listings=find_listings)
    assert [seen_posting.posting.description for seen_posting in result.postings] == [
        None,
        "text 2",
        "text 3",
    ]
    assert result.calls == 3


async def test_a_posting_with_missing_details_is_not_seen() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "partial": True}))
    net.on(f"{HOME}detail/2", ok({"text": "text"}))
    assert ids(await crawl(net, DETAILED)) == ["2"]


async def test_failed_details_keep_the_listed_fields_and_give_no_validators() -> None:
    net = Net()
    listed = {"ids": list(range(9)), "partial": True}
    net.on(HOME, ok(listed, validators=Validators(etag='"x"')))
    for id in range(9):
        net.on(f"{HOME}detail/{id}", FetchFailure(HOME, "server", "broken"))
    result = await crawl(net, DETAILED)
    assert (result.outcome, len(result.postings), result.validators.etag) == ("complete", 9, None)
    assert result.calls == 1 + board_crawler.MAX_CONSECUTIVE_DETAIL_FAILURES


async def test_on_a_shared_board_only_the_brand_is_kept() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2]}))
    named = replace(
        PLAIN,
        read=lambda body, request, config: BoardPage(
            (
                Posting("A", vendor_id="1", company="Brine AG"),
                Posting("B", vendor_id="2", company="Wells"),
            )
        ),
    )
    result = await crawl(net, named, config=BoardConfig(board_token="x", brand="Brine"))
    assert (ids(result), result.stubs) == (["1"], 0)


async def test_a_crawl_reports_its_progress() -> None:
    net, reports = Net(), []
    net.on(HOME, ok({"ids": [1, 2], "next": ["2"], "total": 3}))
    net.on(HOME + "2", ok({"ids": [3]}))
    target = ReadableBoard(PLAIN, BoardConfig(board_token="x"), {})
    await board_crawler.crawl(net, target, no_listings, started_at=NOW, report=reports.append)
    assert [(report.pages, report.postings, report.total) for report in reports] == [
        (1, 2, 3),
        (2, 3, 3),
    ]


def test_a_crawl_uses_the_identities_of_the_catalog() -> None:
    assert (
        posting_identity.identity(Posting("x", vendor_id="1", platform="plain"), PLATFORM_RULES)
        == "plain::1"
    )


async def test_postings_with_the_same_url_are_distinguished_by_their_content() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2]}))
    shared = "https://board.example/people/engineering"
    posts = (Posting("Diver", shared), Posting("Cook", shared), Posting("Diver", shared))
    named = replace(PLAIN, read=lambda body, request, config: BoardPage(posts))
    result = await crawl(net, named)
    assert [seen_posting.posting.title for seen_posting in result.postings] == ["Diver", "Cook"]
    assert (
        len(
            {
                posting_identity.identity(seen_posting.posting, PLATFORM_RULES)
                for seen_posting in result.postings
            }
        )
        == 2
    )


async def test_postings_stay_if_all_details_are_missing() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2, 3, 4], "partial": True}))
    result = await crawl(net, DETAILED)
    assert (ids(result), result.validators.etag) == (["1", "2", "3", "4"], None)


async def test_details_of_new_postings_are_read_before_failed_ones() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2, 3, 4], "partial": True}))
    for id in (1, 2, 3):
        net.on(f"{HOME}detail/{id}", FetchFailure(HOME, "server", "broken"))
    net.on(f"{HOME}detail/4", ok({"text": "text 4"}))

    async def find_listings(identities: Sequence[str]) -> Mapping[str, ListingState]:
        listed = listings.listed_hash(Posting("x"))
        return {
            identity: ListingState(ListingId(1), identity, 1, listed, True, False)
            for identity in identities
            if not identity.endswith(":4")
        }

    result = await crawl(net, DETAILED, find_listings=find_listings)
    assert [seen_posting.posting.description for seen_posting in result.postings] == [
        None,
        None,
        None,
        "text 4",
    ]


async def test_details_per_crawl_are_limited() -> None:
    net = Net()
    many = list(range(board_crawler.MAX_DETAILS + 5))
    net.on(HOME, ok({"ids": many, "partial": True}))
    for id in many:
        net.on(f"{HOME}detail/{id}", ok({"text": "text"}))
    result = await crawl(net, DETAILED)
    assert (len(result.postings), result.calls) == (len(many), 1 + board_crawler.MAX_DETAILS)


def read_long(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    page = read(body, request, config)
    text = "word " * 40_000
    return replace(
        page, postings=tuple(replace(posting, description=text) for posting in page.postings)
    )


async def test_a_board_with_too_much_text_is_truncated() -> None:
    net = Net()
    for page in range(5):
        numbers = list(range(100 * page, 100 * page + 100))
        net.on(f"{HOME}{page or ''}", ok({"ids": numbers, "next": [str(page + 1)]}))
    result = await crawl(net, replace(PLAIN, read=read_long))
    assert (result.outcome, len(result.postings), result.calls) == ("truncated", 300, 3)


async def test_an_endless_board_is_truncated() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [0], "next": ["1"]}))
    for page in range(1, board_crawler.MAX_PAGES + 1):
        net.on(f"{HOME}{page}", ok({"ids": [page], "next": [str(page + 1)]}))
    result = await crawl(net)
    assert (result.outcome, result.calls) == ("truncated", board_crawler.MAX_PAGES)
