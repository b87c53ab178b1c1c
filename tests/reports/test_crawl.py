from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.reports import crawl
from jobmill.reports.crawl import CrawlFrontier, PageLink
from jobmill.reports.findings import CrawledPage
from jobmill.sandbox import read_untrusted_now

SITE = "https://acme.example"


def _links(*paths: str) -> list[PageLink]:
    return [PageLink(f"{SITE}{path}") for path in paths]


def _crawl(frontier: CrawlFrontier, links_of: dict[str, list[PageLink]]) -> list[str]:
    """The paths in the order in which they are read."""
    read: list[str] = []
    while batch := frontier.next_urls():
        for url in batch:
            read.append(url.removeprefix(SITE))
            page = CrawledPage(url, 200, "")
            frontier.add_page(page, links_of.get(url.removeprefix(SITE), []))
    return read


def test_telling_pages_come_first() -> None:
    links = _links(
        "/login", "/x", "/blog", "/pricing", "/careers", "/team", "/jobs", "/products", "/about-us",
        "/benefits",
    )  # fmt: skip
    order = _crawl(CrawlFrontier(SITE), {"": links})
    assert order[:7] == ["", "/about-us", "/careers", "/team", "/benefits", "/products", "/blog"]
    assert order[7] == "/jobs"
    assert order[-1] == "/login"


def test_the_text_of_a_link_tells_the_topic() -> None:
    links = [*_links("/a", "/b"), PageLink(f"{SITE}/p7", "Work with us")]
    assert _crawl(CrawlFrontier(SITE), {"": links})[1] == "/p7"


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/careers",
        "https://notacme.example/careers",
        "https://acme.example.evil.example/careers",
        "http://acme.example:8080/careers",
        "mailto:jobs@acme.example",
        "https://acme.example/report.pdf",
        "https://[broken",
    ],
)
def test_only_pages_of_the_site_are_read(url: str) -> None:
    assert _crawl(CrawlFrontier(SITE), {"": [PageLink(url)]}) == [""]


def test_a_careers_subdomain_belongs_to_the_site() -> None:
    links = [*_links("/a"), PageLink("https://careers.acme.example/")]
    assert _crawl(CrawlFrontier(SITE), {"": links})[1] == "https://careers.acme.example/"


def test_a_page_is_read_once() -> None:
    links = _links("/about", "/about/", "/about#team", "/about?utm_source=x")
    assert _crawl(CrawlFrontier(SITE), {"": [*links, *_links("/", "")]}) == ["", "/about"]


def test_pages_and_depth_are_limited_and_noted() -> None:
    chain = {"": _links("/a"), "/a": _links("/b"), "/b": _links("/c"), "/c": _links("/d")}
    frontier = CrawlFrontier(SITE, max_depth=3)
    assert _crawl(frontier, chain) == ["", "/a", "/b", "/c"]
    assert "more than 3 links from the home page" in frontier.notes[0]
    frontier = CrawlFrontier(SITE, max_pages=4)
    many = {"": _links(*(f"/page-{letter}" for letter in "abcdefgh"))}
    assert len(_crawl(frontier, many)) == 4
    assert "Stopped after 4 pages; 5 more were known." in frontier.notes


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (
            [f"/events/{year}/{month}" for year in range(2020, 2030) for month in range(12)],
            "numbers",
        ),
        ([f"/list?page={page}&sort={page % 3}" for page in range(50)], "parameters"),
        (["/a/a/a/" + "b/" * count for count in range(1, 30)], "repeats itself"),
        (["/" + "x" * 900], "longer ones"),
    ],
)
def test_traps_are_bounded_and_noted(paths: list[str], reason: str) -> None:
    frontier = CrawlFrontier(SITE)
    assert len(_crawl(frontier, {"": _links(*paths)})) <= 4
    assert any(reason in note for note in frontier.notes)


def test_a_redirect_to_another_site_is_noted_and_its_links_are_ignored() -> None:
    frontier = CrawlFrontier(SITE)
    frontier.next_urls()
    page = CrawledPage("https://parked.example/", 200, "")
    frontier.add_page(page, _links("/careers"), requested=SITE)
    assert frontier.next_urls() == []
    assert frontier.notes == ("A page redirected to another site: https://parked.example/",)


def test_a_redirect_keeps_the_depth_of_the_page_that_was_requested() -> None:
    frontier = CrawlFrontier(SITE, max_depth=1)
    frontier.next_urls()
    home = CrawledPage(f"{SITE}/en", 200, "")
    frontier.add_page(home, _links("/en/about"), requested=SITE)
    assert frontier.next_urls() == [f"{SITE}/en/about"]


def test_failures_are_noted() -> None:
    frontier = CrawlFrontier(SITE)
    frontier.add_page(CrawledPage(f"{SITE}/big", None, "", failure="larger than 5 MB"))
    assert frontier.notes == (f"{SITE}/big: larger than 5 MB",)


def test_sitemaps_add_pages() -> None:
    text = (
        "<urlset><url><loc> https://acme.example/careers?a=1&amp;b=2 </loc></url>"
        "<url><loc><![CDATA[https://acme.example/benefits]]></loc></url></urlset>"
    )
    found = crawl.read_sitemap(text)
    assert found == [f"{SITE}/careers?a=1&b=2", f"{SITE}/benefits"]
    frontier = CrawlFrontier(SITE)
    frontier.add_sitemap(found)
    assert _crawl(frontier, {})[1] == "/benefits"


def test_links_are_extracted_with_their_text() -> None:
    html = '<a href="/a#x"> Our  <b>team</b> </a><a href="/a">x</a><a href="javascript:x">y</a><a>z</a>'
    assert crawl.extract_links(html, f"{SITE}/dir/") == [PageLink(f"{SITE}/a", "Our team")]


def test_a_hundred_thousand_links_are_bounded() -> None:
    html = "".join(f'<a href="/x{number}y">go</a>' for number in range(100_000))
    links = read_untrusted_now(crawl.extract_links, html, SITE)
    assert len(links) == crawl.MAX_LINKS_PER_PAGE
    frontier = CrawlFrontier(SITE)
    for letter in "abcdefghij":
        letters = (f"/{letter}{'z' * (number % 30)}{number}" for number in range(10_000))
        frontier.add_page(CrawledPage(f"{SITE}/{letter}", 200, ""), _links(*letters))
    assert len(_crawl(frontier, {})) == 25


@given(st.lists(st.text(max_size=40)), st.text(max_size=200))
def test_any_links_are_accepted(links: list[str], html: str) -> None:
    frontier = CrawlFrontier(SITE, max_pages=5)
    frontier.add_sitemap(links)
    frontier.add_page(CrawledPage(SITE, 200, html), crawl.extract_links(html, SITE))
    assert len(_crawl(frontier, {})) <= 5
    assert crawl.read_sitemap(html) is not None
