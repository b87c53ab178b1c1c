from __future__ import annotations

import datetime as dt

import pytest

from jobmill.reports import bots
from jobmill.reports.findings import BotAccess, CrawledPage

HOME = "https://site.example/"


def _access(
    robots_txt: str | None = None, html: str = "", header: str = "", status: int | None = 200
) -> dict[str, BotAccess]:
    page = CrawledPage(HOME, status, html, robots_header=header)
    return {access.bot: access for access in bots.check_access(robots_txt, [page])}


def _blocked(access: dict[str, BotAccess]) -> set[str]:
    return {bot for bot, result in access.items() if not result.allowed}


SEARCH = {bot.name for bot in bots.load_bots().bots if bot.purpose == "search"}


def test_every_bot_has_an_operator_a_source_and_a_date() -> None:
    entries = bots.load_bots().bots
    assert len({bot.name.lower() for bot in entries}) == len(entries)
    for bot in entries:
        assert bot.operator
        assert bot.source
        assert dt.date.fromisoformat(bot.checked) <= dt.date.fromisoformat(bots.load_bots().as_of)
    assert {bot.purpose for bot in entries} == {"search", "training", "user"}


def test_the_list_says_what_governs_ai_overviews() -> None:
    notes = {bot.name: bot.note for bot in bots.load_bots().bots}
    assert "does not govern AI Overviews" in notes["Google-Extended"]
    assert "governs AI Overviews" in notes["Googlebot"]


def test_a_site_without_robots_txt_is_open() -> None:
    access = _access(None)
    assert not _blocked(access)
    assert access["GPTBot"].reason == "No robots.txt was read for this host"


def test_training_and_search_bots_are_told_apart() -> None:
    access = _access("User-agent: GPTBot\nUser-agent: Google-Extended\nDisallow: /\n")
    assert _blocked(access) == {"GPTBot", "Google-Extended"}
    assert access["GPTBot"].purpose == "training"
    assert access["GPTBot"].reason == "robots.txt, group GPTBot: Disallow: /"


def test_applebot_follows_the_rules_for_googlebot() -> None:
    assert _blocked(_access("User-agent: Googlebot\nDisallow: /\n")) == {"Googlebot", "Applebot"}
    named = "User-agent: Googlebot\nDisallow: /\n\nUser-agent: Applebot\nDisallow: /x\n"
    assert _blocked(_access(named)) == {"Googlebot"}


def test_a_bot_to_which_robots_txt_may_not_apply_is_allowed_and_explained() -> None:
    access = _access("User-agent: *\nDisallow: /\n")
    allowed = set(access) - _blocked(access)
    assert allowed == {"ChatGPT-User", "Perplexity-User", "meta-externalfetcher"}
    assert "may not apply" in access["ChatGPT-User"].reason


@pytest.mark.parametrize("content", ["noindex", "NOINDEX, follow", "none", "max-snippet: 0"])
def test_the_robots_meta_tag_hides_a_page_from_search_only(content: str) -> None:
    access = _access(html=f'<meta name="Robots" content="{content}">')
    assert _blocked(access) == SEARCH
    assert 'meta tag "robots"' in access["Googlebot"].reason


def test_a_meta_tag_for_one_bot_hides_the_page_from_it_alone() -> None:
    assert _blocked(_access(html='<meta name="bingbot" content="noindex">')) == {"Bingbot"}


@pytest.mark.parametrize(
    ("header", "blocked"),
    [
        ("noindex", SEARCH),
        ("max-snippet:-1, max-image-preview:large", set[str]()),
        ("googlebot: noindex, nofollow", {"Googlebot"}),
        ("googlebot: nofollow\nnoindex", SEARCH),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, otherbot: noindex", set[str]()),
    ],
)
def test_the_header_hides_a_page(header: str, blocked: set[str]) -> None:
    assert _blocked(_access(header=header)) == blocked


@pytest.mark.parametrize("status", [None, 403, 503])
def test_a_page_that_does_not_answer_is_closed_to_all_bots_that_request_it(
    status: int | None,
) -> None:
    access = _access(status=status)
    assert set(access) - _blocked(access) == {"Google-Extended", "Applebot-Extended"}


def test_hostile_meta_tags_are_bounded() -> None:
    html = '<meta name="robots" content="follow">' * 100_000 + "<div>" * 100_000
    assert not _blocked(_access(html=html, header="googlebot: follow, " * 100_000))


def test_robots_txt_does_not_apply_to_other_hosts() -> None:
    pages = [CrawledPage(HOME, 200, ""), CrawledPage("https://careers.site.example/", 200, "")]
    access = bots.check_access(
        "User-agent: GPTBot\nDisallow: /\n", pages, site="https://www.site.example"
    )
    blocked = [result.url for result in access if not result.allowed]
    assert blocked == [HOME]


def test_a_request_of_ours_that_fails_closes_the_page_to_no_bot() -> None:
    robots = "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n"
    page = CrawledPage(HOME, None, "", failure="robots: disallowed", conclusive=False)
    access = {each.bot: each for each in bots.check_access(robots, [page])}
    assert access["Googlebot"].allowed
    assert not access["OAI-SearchBot"].allowed


def test_a_dead_link_is_closed_to_no_bot() -> None:
    assert _blocked(_access(status=404)) == set()
    assert _blocked(_access(status=403)) >= SEARCH
