"""Reading any response ends, and fails only with the declared errors."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields
from typing import Any

import pytest

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid, OutsideError
from jobmill.outside.request import Request

from . import ANSWERS

BOARD = {"board_token": "acme"}
CONFIGS: dict[str, dict[str, Any]] = {
    "bamboohr": BOARD, "breezy": BOARD, "jazzhr": BOARD, "pinpoint": BOARD, "rippling": BOARD,
    "icims": BOARD, "jobvite": BOARD, "jooble": {}, "reed": {}, "adzuna": {"country": "de"}, "remoteok": {},
    "remotive": {}, "arbeitnow": {}, "jobicy": {}, "himalayas": {}, "themuse": {}, "usajobs": {},
    "hackernews": {}, "jobspy": {}, "weworkremotely": {},
    "oracle": {"base_url": "https://span.fa.ap1.oraclecloud.com", "site": "CX_1"},
    "rss": {"url": "https://guild.example/feed"},
    "html": {
        "url": "https://rope.example/",
        "selectors": {
            "job_list": ".card", "title": ".title", "company": ".firm", "location": ".where",
            "description": ".about", "link": "a", "posted_date": ".when", "salary": ".pay",
        },
        "alternative_selectors": [{"title": ".name"}],
        "pagination": {"next_button": ".next"},
    },
    "api": {
        "base_url": "https://api.panes.example",
        "items": "data.roles",
        "fields": {
            "id": "ref", "title": "name", "url": "link", "company": "employer.name",
            "location": "sites.city", "description": "body.html", "posted_at": "on",
            "updated_at": "changed", "valid_through": "until", "employment_type": "kind",
            "department": "team", "remote": "wfh", "salary_min": "pay.from", "salary_max": "pay.to",
            "salary_currency": "pay.cur", "salary_period": "pay.per", "apply_url": "form",
        },
        "paging": {"by": "next", "next": "meta.next"},
    },
}  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1e308, "", " ", "\x00", "\ud800", "<b>", "{JOOBLE_API_KEY}", "9" * 5000,
    "2024-02-31", [], [None], [[]], {}, {"": {}}, [{"name": 7}], "javascript:alert(1)", "\u202e|| | |",
)  # fmt: skip
SAVED = [
    pytest.param(path, id=f"{path.parent.name}/{path.name}")
    for name in sorted(CONFIGS)
    for path in sorted((ANSWERS / name).iterdir())
]


def holders(value: Any) -> Iterator[Any]:
    """All lists and objects of a JSON value."""
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from holders(inner)


def changed(body: bytes, chance: random.Random) -> bytes:
    """The response with one to three errors."""
    if body.lstrip()[:1] not in (b"{", b"["):
        return damaged(body, chance)
    value = json.loads(body)
    for _ in range(chance.randint(1, 3)):
        container = chance.choice([holder for holder in holders(value) if holder] or [[0]])
        keys = list(container) if isinstance(container, dict) else list(range(len(container)))
        container[chance.choice(keys)] = deepcopy(chance.choice(ODD))
    return json.dumps(value).encode()


def damaged(body: bytes, chance: random.Random) -> bytes:
    at, length = chance.randrange(len(body)), chance.randint(0, 40)
    put = chance.choice((b"", b"<", b"&", b"]]>", b"\xff\xfe", b"<div>" * 50, b"</", b'"', b"\x00"))
    return body[:at] + put + body[at + length :]


def read(name: str, body: bytes) -> None:
    platform = BY_NAME[name]
    config = platform.parse_config(CONFIGS[name])
    assert platform.first_request
    try:
        page = platform.read_response(body, platform.first_request(config), config)
    except (OutsideError, Invalid):
        return
    for posting in page.postings:
        assert posting.title
        assert "\x00" not in posting.title
        for field in fields(Posting):
            value = getattr(posting, field.name)
            if isinstance(value, str):
                value.encode()
        assert not posting.url or posting.url.startswith("http")
    for request in page.next:
        assert "{JOOBLE_API_KEY}" not in request.url or name == "jooble"


@pytest.mark.parametrize("path", SAVED)
def test_a_damaged_response_is_read_or_refused(path: Any) -> None:
    body = path.read_bytes()
    for seed in range(150):
        read(path.parent.name, changed(body, random.Random(seed)))


@pytest.mark.parametrize("path", SAVED)
def test_a_truncated_response_is_read_or_refused(path: Any) -> None:
    body = path.read_bytes()
    for end in range(0, len(body), max(1, len(body) // 60)):
        read(path.parent.name, body[:end])


@pytest.mark.parametrize("name", sorted(CONFIGS))
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 20_000,
        b'{"a":' * 20_000,
        b"<div>" * 20_000,
        b"<a>" * 20_000,
        b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]><rss>&b;</rss>",
        b"\xff\xfe<\x00r\x00s\x00s\x00>\x00",
        b"\x00" * 1000,
        b"&" * 100_000,
    ],
    ids=["lists", "objects", "blocks", "links", "entities", "utf-16", "nuls", "ampersands"],
)
def test_a_hostile_response_is_refused_quickly(name: str, body: bytes) -> None:
    read(name, body)


MALFORMED = "http://[your-domain]/careers/jobs/1234567/job/apply/"
LINK = re.compile(rb"""(?<=href=["'])[^"']+|(?<=src=["'])[^"']+|https?:[^"'<>\\\s]+""")


@pytest.mark.parametrize("path", SAVED)
def test_a_malformed_link_costs_at_most_its_own_posting(path: Any) -> None:
    name, body = path.parent.name, path.read_bytes()
    platform = BY_NAME[name]
    config = platform.parse_config(CONFIGS[name])
    assert platform.first_request
    request = platform.first_request(config)
    try:
        count = len(platform.read_response(body, request, config).postings)
    except OutsideError:
        return
    for link in list(LINK.finditer(body))[:60] if count > 1 else ():
        changed = body[: link.start()] + MALFORMED.encode() + body[link.end() :]
        page = platform.read_response(changed, request, config)
        assert len(page.postings) >= count - 1, link[0]
        if len(page.postings) < count:
            assert page.stubs, link[0]
        assert not any("[your-domain]" in posting.url for posting in page.postings)


def test_a_malformed_link_of_an_api_costs_no_other_record() -> None:
    platform, config = BY_NAME["api"], BY_NAME["api"].parse_config(CONFIGS["api"])
    roles = [
        {"ref": 1, "name": "Cook", "link": MALFORMED},
        {"ref": 2, "name": "Baker", "link": "/2"},
    ]
    body = json.dumps({"data": {"roles": roles}, "meta": {"next": MALFORMED}}).encode()
    assert platform.first_request
    page = platform.read_response(body, platform.first_request(config), config)
    assert [posting.url for posting in page.postings] == ["", "https://api.panes.example/2"]
    assert (page.next, page.truncated) == ((), True)


def test_a_malformed_link_of_a_page_costs_no_other_record() -> None:
    platform, config = BY_NAME["jazzhr"], BY_NAME["jazzhr"].parse_config(BOARD)
    links = (MALFORMED, "https://acme.applytojob.com/apply/abcde12345/Cook")
    rows = "".join(f'<li><h3><a href="{link}">Cook</a></h3></li>' for link in links)
    request = Request("https://acme.applytojob.com/apply")
    page = platform.read_response(f'<ul class="resumator">{rows}</ul>'.encode(), request, config)
    assert ([posting.vendor_id for posting in page.postings], page.stubs) == (["abcde12345"], 1)


def test_a_posting_without_a_readable_link_has_no_page_to_complete_it() -> None:
    """Three details that fail end the reading of all others."""
    platform, config = BY_NAME["html"], BY_NAME["html"].parse_config(CONFIGS["html"])
    card = f'<div class="card"><a class="title" href="{MALFORMED}">Cook</a></div>'
    (posting,) = platform.read_response(
        card.encode(), Request("https://rope.example/"), config
    ).postings
    assert (posting.url, posting.partial) == ("", False)
