"""Selectors that are found on pages, and pages without any."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jobmill.boards import selectors
from jobmill.boards.adapters import html
from jobmill.boards.selectors import plausibility
from jobmill.boards.selectors.css_selectors import class_selector
from jobmill.boards.selectors.repeated_cards import find_groups
from jobmill.catalog.posting import Posting
from jobmill.extract import html_tree
from jobmill.outside.request import Request

from . import pages

URL = "https://wells.example/careers"


def read(body: bytes) -> tuple[selectors.SelectorChoice, tuple[Posting, ...]]:
    chosen = selectors.find_selectors(body, URL)
    assert chosen is not None
    config = html.HtmlPageConfig.model_validate(chosen.config)
    return chosen, html.PLATFORM.read_response(body, Request(URL), config).postings


@pytest.mark.parametrize(
    ("make", "places"),
    [
        (pages.cards, True),
        (pages.plain_list, False),
        (pages.whole_links, True),
        (pages.made_up_names, True),
        (pages.table, True),
        (pages.departments, True),
        (pages.definitions, False),
        (pages.two_links, True),
        (pages.dots, True),
        (pages.framed, True),
        (pages.nameless, False),
        (pages.numbered, True),
    ],
)
def test_the_postings_of_a_careers_page_are_found(make: Callable[[], bytes], places: bool) -> None:
    chosen, postings = read(make())
    assert [posting.title for posting in postings] == pages.TITLES
    assert all(posting.url.startswith("https://wells.example/") for posting in postings)
    assert len({posting.url for posting in postings}) == len(postings)
    assert all(posting.location for posting in postings) is places
    assert chosen.confidence in ("medium", "low")


def test_generated_class_names_are_not_used() -> None:
    chosen, _ = read(pages.made_up_names())
    for made_up in ("css-", "sc-", "9aZ1x", "3fKq2", "nth-child"):
        assert made_up not in str(chosen.config["selectors"]["job_list"])


@pytest.mark.parametrize(
    ("name", "css"),
    [
        ("job-card", "p.job-card"),
        ("opening", "p.opening"),
        ("JobList_item__9aZ1x", 'p[class*="JobList_item__"]'),
        ("css-1x2y3z", None),
        ("sc-bdVaJa", None),
        ("jsx-2871293847", None),
        ("post-1234", None),
        ("active", None),
        ("md:flex", None),
    ],
)
def test_stable_class_names_are_used(name: str, css: str | None) -> None:
    selector = class_selector("p", name)
    assert (selector[0] if selector else None) == css


def test_names_about_content_rank_before_names_about_style() -> None:
    ranks = [class_selector("p", name) for name in ("job-card", "entry", "mt-4")]
    assert [rank for _, rank in filter(None, ranks)] == [0, 1, 3]


def test_a_single_posting_in_a_department_keeps_its_own_card() -> None:
    best = find_groups(html_tree.parse_html(pages.departments()), URL)[0]
    assert [card.tag for card in best.cards] == ["li"] * 4


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("Senior Backend Developer", True),
        ("Vertriebsmitarbeiter Innendienst", True),
        ("Elektroniker/in", True),
        ("Kundenbetreuung (m/w/d)", True),
        ("Chargé de clientèle", True),
        ("ソフトウェアエンジニア", True),
        ("Engineering", False),
        ("Meet our engineers", False),
        ("Porto, Portugal", False),
        ("Learn more", False),
    ],
)
def test_titles_name_roles(words: str, role: bool) -> None:
    assert plausibility.names_role(words) is role


def test_dates_salaries_and_the_next_page_are_found() -> None:
    chosen, postings = read(pages.two_links())
    assert chosen.config["pagination"] == {"next_button": 'a[rel~="next"]'}
    assert postings[0].posted_at is not None
    assert postings[0].salary is not None


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/blog/", ("How an engineer thinks", "Why we hired a designer", "Our first manager")),
        ("/team/", ("Ada Wells", "Bo Brine", "Cy Marsh", "Di Poole")),
        ("/jobs/", ("Engineering", "Sales", "Marketing", "Operations")),
        ("/products/", ("Pump Controller", "Well Monitor", "Brine Tester")),
        ("/offices/", ("Porto, Portugal", "Berlin, Germany", "Austin, TX")),
        ("/careers/stories/", ("Ana, software engineer", "From intern to manager", "A nurse")),
        ("/news/", ("A new office", "Wells wins a prize", "Water for all")),
    ],
)
def test_lists_of_other_things_are_not_postings(folder: str, words: tuple[str, ...]) -> None:
    assert selectors.find_selectors(pages.tiles(folder, words), URL) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body><div id='root'></div><script src='/app.js'></script></body></html>",
        b"<div>" * 20_000 + b"<a href='/jobs/1'>Cook</a>",
        b"<a href='http://[bad'>Cook</a><a href='/jobs/1'>Cook</a>",
        b"\xff\xfe\x00" * 1_000,
    ],
    ids=["empty", "shell", "deep", "one", "bytes"],
)
def test_pages_without_a_list_give_no_selectors(body: bytes) -> None:
    assert selectors.find_selectors(body, URL) is None


def test_tags_and_names_that_no_selector_can_express_are_skipped() -> None:
    odd = pages.cards().replace(b"<p class", b"<o:p class").replace(b"</p>", b"</o:p>")
    odd = odd.replace(b"job-title", b"t:1 {x} job-title").replace(b"<i class", b"<1i class")
    _, postings = read(odd)
    assert [posting.title for posting in postings] == pages.TITLES


def test_selectors_that_select_the_wrong_elements_are_rejected() -> None:
    body = pages.cards()
    good = {"job_list": ".job-card", "title": ".job-title", "location": ".nowhere"}
    assert selectors.check_selectors(body, URL, {"selectors": good | {"link": "a.btn"}}) is not None
    choice = selectors.check_selectors(body, URL, {"selectors": good | {"link": "a.btn"}})
    assert choice is not None
    assert "location" not in choice.config["selectors"]
    for bad in (
        {"job_list": "nav li", "title": "a", "link": "a"},
        {"job_list": ".post", "title": "h3", "link": "a"},
        {"job_list": ".job-card", "title": ".btn", "link": "a"},
        {"job_list": ".job-card", "title": "[[", "link": "a"},
        {"job_list": "body", "title": "h3", "link": "a"},
    ):
        assert selectors.check_selectors(body, URL, {"selectors": bad}) is None, bad
