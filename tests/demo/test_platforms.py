"""Our own adapters read everything that the demo's sites answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from jobmill.boards.adapters import BY_NAME
from jobmill.boards.detection import detect_likeliest_board
from jobmill.catalog.posting import Posting
from jobmill.demo import companies
from jobmill.demo.companies import BY_SLUG, DemoCompany
from jobmill.demo.http_messages import DemoReply, DemoRequest
from jobmill.demo.platforms import remotive
from jobmill.demo.server import answer
from jobmill.demo.state import DemoListing, DemoMoment
from jobmill.extract.page import page_reader
from jobmill.outside.request import Request
from tests.demo.test_world import on

ANY_DAY = 2.5


def send(now: DemoMoment, request: Request, **headers: str) -> DemoReply:
    host, _, path = request.url.partition("://")[2].partition("/")
    body = b"" if request.json is None else json.dumps(request.json).encode()
    names = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return answer(now, DemoRequest(request.method, host, f"/{path}", names, body))


def get(now: DemoMoment, url: str) -> DemoReply:
    return send(now, Request(url))


def crawl(now: DemoMoment, name: str, config: dict[str, Any]) -> list[Posting]:
    """All postings, with their details, as a run would read them."""
    platform = BY_NAME[name]
    checked = platform.parse_config(config)
    assert platform.first_request
    assert platform.read
    todo, postings = [platform.first_request(checked)], list[Posting]()
    while todo:
        request = todo.pop(0)
        read = platform.read(send(now, request).body, request, checked)
        postings += read.postings
        todo += read.next
        assert not read.stubs
    if platform.detail_request:
        return [
            platform.read_detail_response(
                send(now, platform.detail_request(posting, checked)).body, posting, checked
            )
            if posting.partial
            else posting
            for posting in postings
        ]
    return postings


def board(company: DemoCompany) -> dict[str, Any]:
    return {"board_token": company.slug}


def tenant(company: DemoCompany) -> dict[str, Any]:
    base = f"https://{company.workday_host}"
    return {"company_id": company.slug, "base_url": base, "site": "Careers"}


def feed(company: DemoCompany) -> dict[str, Any]:
    return {"url": f"{company.website}/jobs.rss"}


def cards(company: DemoCompany) -> dict[str, Any]:
    selectors = {
        "job_list": ".opening",
        "title": ".opening-title",
        "link": "a",
        "location": ".opening-place",
        "posted_date": ".opening-date",
    }
    return {"url": f"{company.website}/careers", "selectors": selectors}


CONFIGS: dict[str, Callable[[DemoCompany], dict[str, Any]]] = {
    "greenhouse": board, "lever": board, "ashby": board, "workday": tenant, "rss": feed,
    "html": cards,
}  # fmt: skip


@pytest.mark.parametrize("platform", CONFIGS)
def test_our_adapters_read_every_board_completely(platform: companies.DemoPlatform) -> None:
    now, count = on(7.5), 0
    for company in companies.companies_on(platform):
        postings = {
            entry.title: entry for entry in crawl(now, platform, CONFIGS[platform](company))
        }
        listings = {entry.title: entry for entry in now.open_listings(company)}
        assert postings.keys() == listings.keys()
        for title, posting in postings.items():
            check(posting, listings[title], company)
        count += len(postings)
    assert count > 3


def check(posting: Posting, listing: DemoListing, company: DemoCompany) -> None:
    assert posting.description
    for line in (*listing.duties, *listing.required, *listing.closing):
        assert line in posting.description
    assert posting.url
    assert posting.posted_at
    if company.platform in ("greenhouse", "lever", "ashby", "workday"):
        assert posting.arrangement == listing.arrangement
    if listing.pay and company.platform in ("greenhouse", "lever", "ashby"):
        assert posting.salary
        assert (posting.salary.min, posting.salary.max) == listing.pay


def test_the_aggregator_repeats_listings_of_companies() -> None:
    now = on(ANY_DAY)
    postings = crawl(now, "remotive", {"keywords": "python"})
    assert postings
    repeated = {(entry.company.name, entry.title) for entry in remotive.aggregated_listings(now)}
    assert {(entry.company, entry.title) for entry in postings} <= repeated


@pytest.mark.parametrize("platform", ["greenhouse", "lever", "ashby", "workday"])
def test_the_board_is_detected_on_a_careers_page(platform: companies.DemoPlatform) -> None:
    for company in companies.companies_on(platform):
        careers = get(on(ANY_DAY), f"{company.website}/careers")
        board = detect_likeliest_board(
            f"{company.website}/careers", careers.body.decode(), company=company.name
        )
        assert board
        assert (board.platform, board.token) == (
            platform,
            f"{company.slug}/Careers" if platform == "workday" else company.slug,
        )


def test_a_posting_page_is_read_with_and_without_structured_data() -> None:
    now = on(ANY_DAY)
    for slug, structured in (("naranjalstudio", True), ("ironquillpress", False)):
        listing = now.open_listings(BY_SLUG[slug])[0]
        reply = get(now, listing.url)
        assert (b"ld+json" in reply.body) is structured
        posting = page_reader.read_posting(reply.body, listing.url).posting
        assert posting
        assert posting.title == listing.title


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://boards-api.greenhouse.io/v1/boards/fernhollowwater/jobs", "ETag"),
        ("https://api.lever.co/v0/postings/nettlebrookbank?mode=json", "ETag"),
        ("https://api.ashbyhq.com/posting-api/job-board/kestrelworks", "Last-Modified"),
    ],
)
def test_an_unchanged_board_answers_304(url: str, name: str) -> None:
    now = on(ANY_DAY)
    validator = dict(get(now, url).headers)[name]
    question = {"ETag": "if_none_match", "Last-Modified": "if_modified_since"}[name]
    assert send(now, Request(url), **{question: validator}).status == 304
    assert send(on(20), Request(url), **{question: validator}).status == 200


def test_failures_of_the_demo_sites_show_in_their_replies() -> None:
    board = "https://castellaneaviation.wd5.myworkdayjobs.com/Careers"
    assert [get(on(day), board).status for day in (0.5, 1.5, 2)] == [200, 500, 200]
    lever = "https://api.lever.co/v0/postings/thistledownfreight?mode=json"
    limited = get(on(1.3), lever)
    assert (limited.status, dict(limited.headers)["Retry-After"]) == (429, "8")
    careers = "https://bellweatherbaking.example/careers"
    assert [b"opening-title" in get(on(day), careers).body for day in (1, 3)] == [True, False]
    jobs = "https://boards-api.greenhouse.io/v1/boards/saltmarshrobotics/jobs"
    assert [len(json.loads(get(on(day), jobs).body)["jobs"]) > 0 for day in (0, 1, 2)] == [
        True, False, True,
    ]  # fmt: skip
    lie = get(on(1.5), "https://tallowmerecitylibrary.example/jobs.rss")
    assert lie.claimed_length
    assert lie.claimed_length > len(lie.body)
    first = dict(get(on(1), "https://ringdovetravel.example/").headers)["Location"]
    back = dict(get(on(1), f"https://ringdovetravel.example{first}").headers)["Location"]
    assert (first, back) == ("/welcome", "/")
    slow = BY_NAME["workday"].first_request
    assert slow
    config = BY_NAME["workday"].parse_config(tenant(BY_SLUG["broadfellinsurance"]))
    assert send(on(1), slow(config)).delay > 0


def test_an_unknown_host_has_no_pages() -> None:
    for url in ("https://elsewhere.example/robots.txt", "https://fernhollowwater.recruitee.com/"):
        assert get(on(1), url).status == 404
    assert get(on(1), "https://fernhollowwater.example/robots.txt").status == 200
