"""Boards are detected by URLs, pages and linked pages; boards of other companies are not."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from jobmill.boards import url_detection
from jobmill.boards.adapters import BY_NAME, PLATFORMS
from jobmill.boards.detection import detect_likeliest_board, discover_board
from jobmill.boards.html_detection import detect_boards
from jobmill.boards.url_detection import (
    FEED,
    GENERIC,
    RESERVED_WORDS,
    DetectedBoard,
    detect_board,
)
from jobmill.errors import OutsideError
from jobmill.outside.request import FetchFailure, FetchResult, Ok, PageGone, Request, Validators
from tests.boards import test_unreadable

GUID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"

ADDRESSES = [
    ("https://boards.greenhouse.io/acme", "greenhouse", "acme"),
    ("https://job-boards.greenhouse.io/acme/jobs/4351490006?gh_src=x", "greenhouse", "acme"),
    ("https://job-boards.eu.greenhouse.io/acme", "greenhouse", "acme"),
    ("https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true", "greenhouse", "acme"),
    ("https://boards.greenhouse.io/embed/job_board/js?for=acme", "greenhouse", "acme"),
    ("https://boards.greenhouse.io/embed/job_app?for=acme&token=123", "greenhouse", "acme"),
    (f"https://jobs.lever.co/acme/{GUID}/apply", "lever", "acme"),
    ("https://jobs.eu.lever.co/acme", "lever", "acme"),
    ("https://api.lever.co/v0/postings/acme?mode=json", "lever", "acme"),
    ("https://jobs.lever.co/acme&sons.co", "lever", "acme&sons.co"),
    ("https://jobs.ashbyhq.com/Acme%20Works.ai/embed", "ashby", "Acme Works.ai"),
    ("https://api.ashbyhq.com/posting-api/job-board/acme", "ashby", "acme"),
    ("https://acme.wd5.myworkdayjobs.com/en-US/Acme_Careers/job/X/Y_R1", "workday", "acme/Acme_Careers"),
    ("https://acme.wd103.myworkdayjobs.com/jobs", "workday", "acme/jobs"),
    ("https://acme.wd1.myworkdayjobs.com/NM/job/Omaha/Nurse_R1", "workday", "acme/NM"),
    ("https://acme.wd1.myworkdayjobs.com/wday/cxs/acme/External/jobs", "workday", "acme/External"),
    ("https://wd3.myworkdaysite.com/en-US/recruiting/acme/Ext", "workday", "acme/Ext"),
    ("https://acme.wd3.myworkdaysite.com/recruiting/acme/Ext", "workday", "acme/Ext"),
    ("https://jobs.smartrecruiters.com/AcmeInc/744000011667145-nurse", "smartrecruiters", "AcmeInc"),
    ("https://jobs.smartrecruiters.com/oneclick-ui/company/AcmeInc/publication/1", "smartrecruiters", "AcmeInc"),
    ("https://jobs.smartrecruiters.com/?company=AcmeInc", "smartrecruiters", "AcmeInc"),
    ("https://apply.workable.com/acme-1/j/A4ED85D19C/", "workable", "acme-1"),
    ("https://apply.workable.com/api/v1/widget/accounts/94463?details=true", "workable", "94463"),
    ("https://acme.workable.com/jobs/1", "workable", "acme"),
    ("https://acme.recruitee.com/o/baker", "recruitee", "acme"),
    ("https://acme-gmbh.jobs.personio.de/job/1?language=en", "personio", "acme-gmbh"),
    ("https://acme.jobs.personio.com/xml", "personio", "acme"),
    ("https://acme.na.teamtailor.com/jobs", "teamtailor", "acme"),
    ("https://jobs.jobvite.com/careers/acme/job/oX1", "jobvite", "acme"),
    ("//acme.bamboohr.com/js/embed.js", "bamboohr", "acme"),
    ("acme.bamboohr.com", "bamboohr", "acme"),
    ("https://acme.breezy.hr/p/0123-baker", "breezy", "acme"),
    ("https://acme.applytojob.com/apply/x/Baker", "jazzhr", "acme"),
    ("https://app.jazz.co/feeds/export/jobs/acme", "jazzhr", "acme"),
    (f"https://acme.pinpointhq.com/en/postings/{GUID}", "pinpoint", "acme"),
    (f"https://ats.rippling.com/en-GB/acme/jobs/{GUID}", "rippling", "acme"),
    ("https://careers-acme.icims.com/jobs/search", "icims", "acme"),
    ("https://uscareers-acme-corp.icims.com/", "icims", "acme-corp"),
    ("https://en-careers-acme.icims.com/", "icims", "acme"),
    ("https://acme.icims.com/", "icims", "acme"),
    ("https://ab12.fa.us2.oraclecloud.com/hcmUI/CandidateExperience/en/sites/CX_1/jobs", "oracle", "ab12/CX_1"),
    ("https://ab12.fa.em1.gov.oraclecloud.com/hcmUI/CandidateExperience/en/sites/CX", "oracle", "ab12/CX"),
    ("https://jobs.acme.com/hcmUI/CandidateExperience/en/sites/CX_2", "oracle", "jobs.acme.com/CX_2"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "platform", "token"), [*ADDRESSES, *test_unreadable.ADDRESSES])
def test_a_url_names_its_board(url: str, platform: str, token: str) -> None:
    board = detect_board(url)
    assert board is not None
    assert (board.platform, board.token) == (platform, token)
    assert board.confidence == BY_NAME[platform].confidence
    made = BY_NAME[platform].config.model_validate(board.config)
    assert BY_NAME[platform].token(made) == token


@pytest.mark.parametrize(
    "url",
    [
        "HTTPS://BOARDS.GREENHOUSE.IO/acme",
        "https://boards.greenhouse.io./acme",
        "https://boards.greenhouse.io:443/acme",
        "https://user:pass@boards.greenhouse.io/acme",
        "  https://boards.greenhouse.io/acme\n",
        "https:\\/\\/boards.greenhouse.io\\/acme",
        "https:\\u002F\\u002Fboards.greenhouse.io\\u002Facme",
        "https://boards.greenhouse.io/embed/job_board?x=1&amp;for=acme",
        "https://links.example.com/?to=https%3A%2F%2Fboards.greenhouse.io%2Facme%2Fjobs%2F1",
    ],
)
def test_a_url_is_understood_in_all_its_forms(url: str) -> None:
    board = detect_board(url)
    assert board is not None
    assert (board.platform, board.token) == ("greenhouse", "acme")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.greenhouse.io/acme",
        "https://support.greenhouse.io/hc/en-us",
        "https://www.lever.co/",
        "https://jobs.lever.co/",
        "https://jobs.workable.com/view/abc",
        "https://www.teamtailor.com/privacy",
        "https://careers-analytics.recruitee.com/x",
        "https://cdn01.icims.com/a.js",
        "https://boards.greenhouse.io/{token}",
        "https://boards.greenhouse.io/your-company",
        "https://boards.greenhouse.io/favicon.ico",
        "https://jobs.ashbyhq.com/_next/static/x.js",
        "https://boards.greenhouse.io@evil.example/acme",
        "https://evil.example\\@boards.greenhouse.io/acme",
        "https://boards.greenhouse.io.evil.example/acme",
        "https://notgreenhouse.io/acme",
        "https://acme.example/careers",
        "javascript:alert(1)",
        "mailto:jobs@jobs.lever.co",
        "https://[::1",
        "",
    ],
)
def test_a_url_without_a_board_gives_none(url: str) -> None:
    assert detect_board(url) is None


@pytest.mark.parametrize("word", sorted(RESERVED_WORDS))
def test_a_reserved_word_of_the_vendor_is_not_a_token(word: str) -> None:
    for url in (f"https://jobs.lever.co/{word}", f"https://{word}.recruitee.com/"):
        board = detect_board(url)
        assert board is None or board.token is None


@pytest.mark.parametrize(
    ("url", "platform"),
    [
        ("https://acme.example/careers?gh_jid=123", "greenhouse"),
        ("https://grnh.se/ab12", "greenhouse"),
        ("https://acme.example/careers?ashby_jid=x", "ashby"),
        ("https://apply.workable.com/j/A4ED85D19C", "workable"),
        ("https://acme.wd5.myworkdayjobs.com/", "workday"),
        ("https://boards.greenhouse.io/embed/job_app?token=123", "greenhouse"),
    ],
)
def test_a_platform_may_be_certain_without_a_token(url: str, platform: str) -> None:
    board = detect_board(url)
    assert board is not None
    assert (board.platform, board.token, board.config) == (platform, None, None)
    assert board.confidence != "high"


def test_the_region_and_the_site_of_a_board_are_kept() -> None:
    assert _config("https://jobs.eu.lever.co/acme")["region"] == "eu"
    assert _config("https://acme.na.teamtailor.com/")["region"] == "na"
    assert _config("https://acme.jobs.personio.de/")["base_url"] == "https://acme.jobs.personio.de"
    workday = _config("https://acme.wd5.myworkdayjobs.com/en-US/Ext")
    assert workday == {
        "company_id": "acme",
        "base_url": "https://acme.wd5.myworkdayjobs.com",
        "site": "Ext",
    }
    assert "base_url" not in _config("https://careers-acme.icims.com/")
    assert _config("https://eu-acme.icims.com/")["base_url"] == "https://eu-acme.icims.com"


def test_the_board_url_is_the_page_and_not_the_api() -> None:
    board = detect_board("https://boards-api.greenhouse.io/v1/boards/acme/jobs")
    assert board is not None
    assert board.url == "https://job-boards.greenhouse.io/acme"
    board = detect_board("https://acme.breezy.hr/p/0123-baker")
    assert board is not None
    assert board.url == "https://acme.breezy.hr"


@pytest.mark.parametrize(
    "url",
    [
        "https://" + "a" * 100_000,
        "https://boards.greenhouse.io/" + "a" * 100_000,
        "https://" + "careers-" * 5_000 + ".icims.com",
        "https://x.example/?u=" + "https://x.example/?u=" * 5_000,
        "https://x.example/?" + "a=http&" * 50_000,
        "%" * 100_000,
        "//" * 50_000,
    ],
)
def test_hostile_urls_are_not_boards(url: str) -> None:
    assert detect_board(url) is None


@pytest.mark.parametrize(
    "html",
    [
        "<!--" * 500_000,
        "<link " * 300_000,
        '"a.' * 500_000,
        "leverJobsOptions" * 100_000,
        "".join(f'<a href="https://boards.greenhouse.io/c{n}">' for n in range(20_000)),
    ],
)
def test_hostile_pages_contain_no_board_and_do_not_hang(html: str) -> None:
    assert detect_boards("https://acme.example/careers", html) == []


EMBEDS = [
    ('<script src="https://boards.greenhouse.io/embed/job_board/js?for=acme"></script>', "greenhouse", "acme"),
    ('<iframe src="https://boards.eu.greenhouse.io/embed/job_board?for=acme"></iframe>', "greenhouse", "acme"),
    ('<script>var x = {"urlToken":"acme"}</script><div id="grnhse_app"></div>', "greenhouse", "acme"),
    ('<div id="grnhse_app"></div>', "greenhouse", None),
    ('<a href="/careers/1?gh_jid=123">Baker</a>', "greenhouse", None),
    ("<script>leverJobsOptions = {accountName: 'acme', includeCss: true}</script>", "lever", "acme"),
    ('<script>{"board":"https:\\/\\/jobs.ashbyhq.com\\/acme"}</script>', "ashby", "acme"),
    ('<div id="BambooHR" data-domain="acme.bamboohr.com"></div>', "bamboohr", "acme"),
    ('<script src="//acme.bamboohr.com/js/embed.js"></script>', "bamboohr", "acme"),
    ("<script>whr(document).ready(function(){ whr_embed( 94463, {detail: 'titles'}); });</script>", "workable", "94463"),
    ('<script src="//www.workable.com/assets/embed.js"></script>', "workable", None),
    ('<div class="teamtailor-jobs-widget" data-teamtailor-api-key="x"></div>', "teamtailor", None),
    ('<script>widget({"company_code":"AcmeInc","x":1})</script>', "smartrecruiters", "AcmeInc"),
    ('<a href="https&#x3A;&#x2F;&#x2F;jobs.lever.co&#x2F;acme">Jobs</a>', "lever", "acme"),
]  # fmt: skip


@pytest.mark.parametrize(("html", "platform", "token"), EMBEDS)
def test_a_page_names_the_board_that_it_embeds(html: str, platform: str, token: str | None) -> None:
    board = detect_likeliest_board("https://www.acme.example/careers", html)
    assert board is not None
    assert (board.platform, board.token) == (platform, token)


def test_a_page_on_its_own_host_may_be_the_board_itself() -> None:
    html = '<script src="https://assets-x.teamtailor-cdn.com/assets/packs/js/a.js"></script>'
    board = detect_likeliest_board("https://career.acme.example/jobs", html)
    assert board is not None
    assert (board.platform, board.token) == ("teamtailor", "career.acme.example")
    assert board.config == {
        "board_token": "career.acme.example",
        "base_url": "https://career.acme.example",
    }


def test_the_page_names_the_board_if_the_url_does_not() -> None:
    html = '<script src="https://boards.greenhouse.io/embed/job_board/js?for=zeta"></script>'
    board = detect_likeliest_board("https://acme.example/careers?gh_jid=1", html)
    assert board is not None
    assert board.token == "zeta"


@pytest.mark.parametrize(
    "html",
    [
        "<p>No openings here.</p>",
        '<footer>Powered by <a href="https://www.greenhouse.io/?utm=x">Greenhouse</a></footer>',
        '<a href="https://www.teamtailor.com/en/privacy">Privacy</a>',
        '<!-- <iframe src="https://boards.greenhouse.io/embed/job_board?for=acme"></iframe> -->',
        '<link rel="alternate" type="application/rss+xml" href="/blog/feed" title="Our blog">',
    ],
)
def test_a_page_without_a_board_has_none(html: str) -> None:
    assert detect_likeliest_board("https://www.acme.example/", html) is None


def test_a_portfolio_of_other_boards_names_no_board_of_its_owner() -> None:
    others = "".join(
        f'<a href="https://jobs.lever.co/{name}">{name}</a>' for name in ("zeta", "eta", "theta")
    )
    assert detect_boards("https://fund.example/careers", others) == []
    with_own_board = others + '<a href="https://boards.greenhouse.io/fund">Work with us</a>'
    assert [
        board.token for board in detect_boards("https://fund.example/careers", with_own_board)
    ] == ["fund"]


def test_one_link_to_the_board_of_another_company_counts_only_on_a_careers_page() -> None:
    html = '<a href="https://boards.greenhouse.io/zeta">Zeta is hiring</a>'
    assert detect_boards("https://blog.example/2024/news", html) == []
    (board,) = detect_boards("https://acme.example/careers", html)
    assert board.confidence == "medium"


def test_strong_evidence_gives_the_confidence_of_the_platform() -> None:
    embed = '<iframe src="https://boards.greenhouse.io/embed/job_board?for=zeta"></iframe>'
    link = '<a href="https://boards.greenhouse.io/acme">Careers</a>'
    lever = '<a href="https://jobs.lever.co/zeta">Careers</a>'
    assert _first("https://acme.example/careers", embed).confidence == "high"
    assert _first("https://acme.example/", link).confidence == "high"
    assert _first("https://acme.example/careers", lever).confidence == "low"


def test_two_boards_lower_the_confidence_of_each_other() -> None:
    html = (
        '<iframe src="https://boards.greenhouse.io/embed/job_board?for=acmeus"></iframe>'
        '<iframe src="https://boards.greenhouse.io/embed/job_board?for=acmeeu"></iframe>'
    )
    boards = detect_boards("https://acme.example/careers", html)
    assert [board.confidence for board in boards] == ["medium", "medium"]


def test_the_board_of_a_parent_company_is_a_group_board() -> None:
    html = (
        "<p>Acme is part of the Megacorp family.</p>"
        '<iframe src="https://boards.greenhouse.io/embed/job_board?for=megacorp"></iframe>'
    )
    board = _first("https://acme.example/careers", html)
    assert (board.token, board.relation, board.confidence) == ("megacorp", "group", "medium")
    assert _first("https://megacorp.example/careers", html).relation == "own"


def test_the_company_name_confirms_a_board_that_the_host_does_not() -> None:
    html = '<a href="https://boards.greenhouse.io/zetalabs">Jobs</a>'
    assert detect_boards("https://getz.example/", html) == []
    (board,) = detect_boards("https://getz.example/", html, company="Zeta Labs GmbH")
    assert board.confidence == "high"


def test_a_feed_is_certain_by_its_content_and_likely_by_its_url() -> None:
    url = "https://acme.example/jobs.rss"
    suspected, certain = (
        detect_likeliest_board(url),
        detect_likeliest_board(url, "<?xml version='1.0'?><rss version='2.0'></rss>"),
    )
    assert suspected is not None
    assert certain is not None
    assert (suspected.platform, suspected.confidence) == (FEED, "medium")
    assert (certain.platform, certain.confidence, certain.config) == (FEED, "high", {"url": url})
    assert detect_likeliest_board("https://acme.example/sitemap.xml") is None


def test_a_feed_of_jobs_that_a_page_links_is_found() -> None:
    html = '<link rel="alternate" type="application/rss+xml" href="/jobs.rss" title="x">'
    board = _first("https://acme.example/about", html)
    assert (board.platform, board.token) == (FEED, "https://acme.example/jobs.rss")


def test_a_page_with_structured_postings_is_generic() -> None:
    html = '<script type="application/ld+json">{"@type": "JobPosting"}</script>'
    board = _first("https://acme.example/baker", html)
    assert (board.platform, board.confidence, board.config) == (GENERIC, "low", None)


def test_every_detected_config_is_valid() -> None:
    for url, html in (
        ("https://acme.example/jobs.rss", None),
        ("https://acme.example/x", '<link type="application/atom+xml" href="/jobs.atom">'),
        ("https://jobs.acme.example/", "<script>window.recruitee = {}</script>"),
        ("https://jobs.acme.example/", "<script src='//x.jibecdn.com/a.js'></script>"),
    ):
        board = detect_likeliest_board(url, html)
        assert board is not None
        platform = BY_NAME[board.platform]
        assert platform.token(platform.config.model_validate(board.config)) == board.token


def test_no_two_platforms_match_the_same_url() -> None:
    domains = [
        (pattern.domain, platform.name)
        for platform in PLATFORMS
        for pattern in platform.board_urls
        if pattern.domain
    ]
    assert len({domain for domain, _ in domains}) == len(set(domains))


class Site:
    """Pages by URL; all other URLs are gone."""

    def __init__(self, pages: dict[str, str | FetchResult]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        self.asked.append(request.url)
        page = self.pages.get(request.url, PageGone(request.url, 404))
        return Ok(request.url, page.encode()) if isinstance(page, str) else page


def _board(url: str, company: str) -> str:
    record = {
        "id": 1,
        "title": "Baker",
        "absolute_url": url,
        "company_name": company,
        "location": {"name": "Oslo"},
        "updated_at": "2026-01-02T03:04:05Z",
        "content": "Bake.",
    }
    return json.dumps({"jobs": [record], "meta": {"total": 1}})


async def test_a_url_that_names_the_board_is_not_fetched() -> None:
    site = Site({})
    board = await discover_board(site, "https://boards.greenhouse.io/acme")
    assert board is not None
    assert board.token == "acme"
    assert site.asked == []


async def test_a_short_link_is_followed() -> None:
    site = Site({"https://grnh.se/ab12": Ok("https://boards.greenhouse.io/acme/jobs/1", b"")})
    board = await discover_board(site, "https://grnh.se/ab12")
    assert board is not None
    assert (board.platform, board.token) == ("greenhouse", "acme")


async def test_a_linked_careers_page_is_read() -> None:
    site = Site(
        {
            "https://acme.example/": '<a href="/blog">Blog</a><a href="/team">Careers</a>',
            "https://acme.example/team": '<iframe src="https://jobs.lever.co/acme"></iframe>',
        }
    )
    board = await discover_board(site, "https://acme.example/")
    assert board is not None
    assert (board.platform, board.token) == ("lever", "acme")
    assert "https://acme.example/team" in board.evidence
    assert "https://acme.example/blog" not in site.asked


@pytest.mark.parametrize("name", [platform.name for platform in PLATFORMS if platform.guessable])
def test_a_guessed_board_has_a_url(name: str) -> None:
    board = url_detection.board_from_token(name, "acme", "", "medium")
    platform = BY_NAME[name]
    assert board
    assert platform.first_request
    request = platform.first_request(platform.config.model_validate(board.config))
    assert "acme" in request.url
    assert urlsplit(request.url).hostname


@pytest.mark.parametrize(
    ("url", "company", "right"),
    [
        ("https://acme.example/jobs?gh_jid=1", "Somebody", True),
        ("https://boards.greenhouse.io/acme/jobs/1", "Acme Bakeries Inc.", True),
        ("https://boards.greenhouse.io/acme/jobs/1", "Acme Rockets", False),
    ],
)
async def test_a_guessed_board_counts_only_if_it_is_the_companys(
    url: str, company: str, right: bool
) -> None:
    first_request = BY_NAME["greenhouse"].first_request
    config = BY_NAME["greenhouse"].config.model_validate({"board_token": "acme"})
    assert first_request is not None
    site = Site(
        {"https://acme.example/": "<p>Bread.</p>", first_request(config).url: _board(url, company)}
    )
    board = await discover_board(site, "https://acme.example/", company="Acme Bakeries")
    assert (board is not None) == right
    if board:
        assert (board.platform, board.token, board.confidence) == ("greenhouse", "acme", "medium")
        assert "guessed" in board.evidence


async def test_postings_in_the_sitemap_make_the_site_a_generic_source() -> None:
    urls = "".join(f"<url><loc>https://acme.example/jobs/{n}</loc></url>" for n in range(3))
    site = Site(
        {
            "https://acme.example/": "<p>Bread.</p>",
            "https://acme.example/sitemap.xml": f"<urlset>{urls}</urlset>",
        }
    )
    board = await discover_board(site, "https://acme.example/")
    assert board is not None
    assert (board.platform, board.token) == (GENERIC, "https://acme.example/jobs")


MALFORMED = "http://[your-domain]/careers/1"


async def test_a_malformed_link_hides_no_other_link() -> None:
    site = Site(
        {
            "https://acme.example/": f'<a href="{MALFORMED}">Jobs</a><a href="http://acme.example:0x/">Jobs</a>'
            '<a href="/team">Careers</a>',
            "https://acme.example/team": '<iframe src="https://jobs.lever.co/acme"></iframe>',
        }
    )
    board = await discover_board(site, "https://acme.example/")
    assert board is not None
    assert (board.platform, board.token) == ("lever", "acme")


def test_a_malformed_feed_hides_no_other_feed() -> None:
    html = "".join(
        f'<link rel="alternate" type="application/rss+xml" href="{href}" title="Jobs">'
        for href in (MALFORMED, "/jobs.rss")
    )
    assert _first("https://acme.example/about", html).token == "https://acme.example/jobs.rss"


async def test_a_malformed_url_in_a_sitemap_hides_no_other() -> None:
    locations = [MALFORMED, *(f"https://acme.example/jobs/{number}" for number in range(3))]
    sitemap = "".join(f"<url><loc>{url}</loc></url>" for url in locations)
    site = Site({"https://acme.example/": "hello", "https://acme.example/sitemap.xml": sitemap})
    board = await discover_board(site, "https://acme.example/")
    assert board is not None
    assert (board.platform, board.url) == (GENERIC, "https://acme.example/jobs")


async def test_a_page_that_cannot_be_read_leaves_other_places_to_look() -> None:
    too_much = "//x.recruitee.com " * 270_000
    sitemap = "".join(f"<loc>https://acme.example/jobs/{number}</loc>" for number in range(3))
    site = Site({"https://acme.example/": too_much, "https://acme.example/sitemap.xml": sitemap})
    board = await discover_board(site, "https://acme.example/")
    assert board is not None
    assert board.url == "https://acme.example/jobs"


async def test_a_careers_page_is_the_last_fallback() -> None:
    site = Site({"https://acme.example/": '<a href="/careers">Careers</a>'})
    board = await discover_board(site, "https://acme.example/")
    assert board is not None
    assert (board.platform, board.confidence) == (GENERIC, "low")
    assert board.url == "https://acme.example/careers"


async def test_a_site_that_does_not_answer_is_an_error() -> None:
    url = "https://acme.example/"
    with pytest.raises(OutsideError, match="slow"):
        await discover_board(Site({url: FetchFailure(url, "timeout", "slow")}), url)
    board = "https://boards.greenhouse.io/acme"
    assert await discover_board(Site({board: FetchFailure(board, "timeout", "slow")}), board)


def _config(url: str) -> dict[str, object]:
    board = detect_board(url)
    assert board is not None
    assert board.config is not None
    return board.config


def _first(url: str, html: str) -> DetectedBoard:
    return detect_boards(url, html)[0]
