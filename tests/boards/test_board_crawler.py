"""The walk: page after page, what it may conclude, and what details it reads."""

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
from jobmill.catalog.listings import ListingId, ListingState
from jobmill.catalog.posting import Posting
from jobmill.catalog.source_runs import CrawlResult
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
    """{"ids": [...], "next": [...], "total": n}: as plain as a board can be."""
    said = json.loads(body)
    if "ids" not in said:
        raise OutsideError("not a board", permanent=True)
    postings = tuple(
        Posting(f"Post {id}", f"{HOME}{id}", vendor_id=str(id), partial=said.get("partial", False))
        for id in said["ids"]
    )
    return BoardPage(
        postings,
        next=tuple(Request(HOME + one) for one in said.get("next", ())),
        total=said.get("total"),
        stubs=said.get("stubs", 0),
        truncated=said.get("truncated", False),
    )


def detail(posting: Posting, config: BoardConfig) -> Request:
    return Request(f"{HOME}detail/{posting.vendor_id}")


def read_detail(body: bytes, posting: Posting, config: BoardConfig) -> Posting:
    return replace(posting, description=json.loads(body)["text"])


PLAIN = Platform(name="plain", title="Plain", first_request=first, read=read)
DETAILED = replace(PLAIN, detail_request=detail, read_detail=read_detail)


async def nothing(identities: Sequence[str]) -> Mapping[str, ListingState]:
    return {}


async def walk(net: Net, platform: Platform = PLAIN, **facts: Any) -> CrawlResult:
    remember = facts.pop("remember", nothing)
    target = ReadableBoard(platform, facts.pop("config", BoardConfig(board_token="x")), {}, **facts)
    return await board_crawler.crawl(net, target, remember, started_at=NOW)


def ids(harvest: CrawlResult) -> list[str | None]:
    return [one.posting.vendor_id for one in harvest.postings]


async def test_all_pages_are_walked_and_each_posting_is_seen_once() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "next": ["2"], "total": 4}))
    net.on(HOME + "2", ok({"ids": [2, 3], "next": ["3"]}))
    net.on(HOME + "3", ok({"ids": [4], "next": ["2"]}))
    found = await walk(net)
    assert (found.outcome, ids(found), found.calls) == ("complete", ["1", "2", "3", "4"], 3)


async def test_each_page_is_kept_with_what_it_asked_and_how_many_it_held() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "next": ["?a=1&page=2"]}))
    net.on(HOME + "?a=1&page=2", ok({"ids": [2, 3], "next": ["?page=2&a=1", "?a=1&page=3"]}))
    net.on(HOME + "?a=1&page=3", FetchFailure(HOME, "server", "broken"))
    found = await walk(net)
    told = [(dict(one.params), one.count) for one in found.pages]
    assert told == [({}, 2), ({"a": "1", "page": "2"}, 2), ({"a": "1", "page": "3"}, None)]
    # The second stands in another order, and is the same.
    assert len(net.requests) == 3


async def test_what_has_not_changed_held_nothing_new() -> None:
    net = Net()
    net.on(HOME, NotModified(HOME))
    assert [one.count for one in (await walk(net)).pages] == [0]


async def test_a_key_that_a_site_writes_into_its_links_is_not_kept() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["?key=s%2Fecret&page=2"]}))
    target = ReadableBoard(
        replace(PLAIN, key_names=("A_API_KEY",)),
        BoardConfig(board_token="x"),
        {"A_API_KEY": "s/ecret"},
    )
    found = await board_crawler.crawl(net, target, nothing, started_at=NOW)
    assert found.pages[1].params == {"key": "{A_API_KEY}", "page": "2"}


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
async def test_what_the_first_answer_means(
    answer: FetchResult, outcome: str, failure: str | None
) -> None:
    net = Net()
    net.on(HOME, answer)
    found = await walk(net)
    assert (found.outcome, found.failure) == (outcome, failure)


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
async def test_a_later_page_that_fails_makes_the_run_partial(answer: FetchResult) -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["2"]}))
    net.on(HOME + "2", answer)
    found = await walk(net)
    assert (found.outcome, ids(found)) == ("partial", ["1"])


async def test_a_page_that_only_repeats_ends_the_walk_and_is_not_the_whole() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "next": ["2"], "total": 6}))
    for page in range(2, 50):
        net.on(f"{HOME}{page}", ok({"ids": [1, 2], "next": [str(page + 1)]}))
    found = await walk(net)
    assert (found.outcome, found.calls) == ("truncated", 2)


async def test_a_page_without_postings_may_point_to_those_that_have_some() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [], "next": ["a"]}))
    net.on(HOME + "a", ok({"ids": [], "next": ["b"]}))
    net.on(HOME + "b", ok({"ids": [7]}))
    assert ids(await walk(net)) == ["7"]


async def test_validators_are_sent_first_and_kept_for_the_next_time() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1]}, validators=Validators(etag='"new"')))
    found = await walk(net, validators=Validators(etag='"old"'))
    assert (net.validators, found.validators.etag) == ([Validators(etag='"old"')], '"new"')


async def test_the_first_page_of_several_leaves_no_validators() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["2"]}, validators=Validators(etag='"new"')))
    net.on(HOME + "2", ok({"ids": [2]}, validators=Validators(etag='"page 2"')))
    found = await walk(net, validators=Validators(etag='"old"'))
    assert net.validators == [Validators(etag='"old"'), None]
    assert found.validators.etag is None


async def test_a_page_that_repeats_where_nobody_counts_is_not_the_whole() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1], "next": ["2"]}))
    net.on(HOME + "2", ok({"ids": [1], "next": ["3"]}))
    assert (await walk(net)).outcome == "truncated"
    net.on(HOME + "2", ok({"ids": [1]}))
    assert (await walk(net)).outcome == "complete"


async def test_details_are_read_for_what_is_new_or_changed_only() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2, 3], "partial": True}))
    for id in (1, 2, 3):
        net.on(f"{HOME}detail/{id}", ok({"text": f"text {id}"}))

    async def remember(identities: Sequence[str]) -> Mapping[str, ListingState]:
        listed = fill_missing_fields(
            Posting("Post 1", HOME + "1", vendor_id="1", partial=True, platform="plain")
        )
        same = listings.listed_hash(listed)
        other = listings.listed_hash(replace(listed, title="Other"))
        return {
            one: ListingState(
                ListingId(1), one, 1, same if one.endswith(":1") else other, False, False
            )
            for one in identities
            if not one.endswith(":3")
        }

    found = await walk(net, DETAILED, remember=remember)
    assert [one.posting.description for one in found.postings] == [None, "text 2", "text 3"]
    assert found.calls == 3


async def test_a_posting_whose_detail_is_gone_is_not_seen() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2], "partial": True}))
    net.on(f"{HOME}detail/2", ok({"text": "text"}))
    assert ids(await walk(net, DETAILED)) == ["2"]


async def test_details_that_fail_leave_what_the_list_said_and_no_validators() -> None:
    net = Net()
    listed = {"ids": list(range(9)), "partial": True}
    net.on(HOME, ok(listed, validators=Validators(etag='"x"')))
    for id in range(9):
        net.on(f"{HOME}detail/{id}", FetchFailure(HOME, "server", "broken"))
    found = await walk(net, DETAILED)
    assert (found.outcome, len(found.postings), found.validators.etag) == ("complete", 9, None)
    assert found.calls == 1 + board_crawler.MAX_CONSECUTIVE_DETAIL_FAILURES


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
    found = await walk(net, named, config=BoardConfig(board_token="x", brand="Brine"))
    assert (ids(found), found.stubs) == (["1"], 0)


async def test_what_a_walk_says_of_itself() -> None:
    net, told = Net(), []
    net.on(HOME, ok({"ids": [1, 2], "next": ["2"], "total": 3}))
    net.on(HOME + "2", ok({"ids": [3]}))
    target = ReadableBoard(PLAIN, BoardConfig(board_token="x"), {})
    await board_crawler.crawl(net, target, nothing, started_at=NOW, report=told.append)
    assert [(one.pages, one.postings, one.total) for one in told] == [(1, 2, 3), (2, 3, 3)]


def test_identities_of_a_walk_are_the_catalogs() -> None:
    assert (
        posting_identity.identity(Posting("x", vendor_id="1", platform="plain"), PLATFORM_RULES)
        == "plain::1"
    )


async def test_postings_that_name_one_page_are_told_apart_by_what_they_say() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2]}))
    shared = "https://board.example/people/engineering"
    posts = (Posting("Diver", shared), Posting("Cook", shared), Posting("Diver", shared))
    named = replace(PLAIN, read=lambda body, request, config: BoardPage(posts))
    found = await walk(net, named)
    assert [one.posting.title for one in found.postings] == ["Diver", "Cook"]
    assert (
        len({posting_identity.identity(one.posting, PLATFORM_RULES) for one in found.postings}) == 2
    )


async def test_where_no_detail_is_there_at_all_the_postings_stay() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2, 3, 4], "partial": True}))
    found = await walk(net, DETAILED)
    assert (ids(found), found.validators.etag) == (["1", "2", "3", "4"], None)


async def test_details_of_what_is_new_are_read_before_those_that_failed_before() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [1, 2, 3, 4], "partial": True}))
    for id in (1, 2, 3):
        net.on(f"{HOME}detail/{id}", FetchFailure(HOME, "server", "broken"))
    net.on(f"{HOME}detail/4", ok({"text": "text 4"}))

    async def remember(identities: Sequence[str]) -> Mapping[str, ListingState]:
        listed = listings.listed_hash(Posting("x"))
        return {
            one: ListingState(ListingId(1), one, 1, listed, True, False)
            for one in identities
            if not one.endswith(":4")
        }

    found = await walk(net, DETAILED, remember=remember)
    assert [one.posting.description for one in found.postings] == [None, None, None, "text 4"]


async def test_a_large_board_does_not_hold_up_the_others() -> None:
    net = Net()
    many = list(range(board_crawler.MAX_DETAILS + 5))
    net.on(HOME, ok({"ids": many, "partial": True}))
    for id in many:
        net.on(f"{HOME}detail/{id}", ok({"text": "text"}))
    found = await walk(net, DETAILED)
    assert (len(found.postings), found.calls) == (len(many), 1 + board_crawler.MAX_DETAILS)


async def test_a_board_without_an_end_is_not_whole() -> None:
    net = Net()
    net.on(HOME, ok({"ids": [0], "next": ["1"]}))
    for page in range(1, board_crawler.MAX_PAGES + 1):
        net.on(f"{HOME}{page}", ok({"ids": [page], "next": [str(page + 1)]}))
    found = await walk(net)
    assert (found.outcome, found.calls) == ("truncated", board_crawler.MAX_PAGES)
