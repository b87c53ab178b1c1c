"""Which search, training and user-triggered bots may read the pages of a site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import cast

from pydantic import BaseModel
from selectolax.lexbor import LexborHTMLParser

from jobmill.extract.page import nesting_limit

from .crawl import is_same_host
from .findings import BotAccess, BotPurpose, CrawledPage
from .robots_rules import RobotsDecision, RobotsFile

_MAX_META_TAGS = 100
_MAX_HEADER = 4_000
_MAX_HEAD = 200_000
"""Characters of a page in which meta tags are read."""
_EVERYONE = frozenset(("robots", "*"))
_HIDING = {
    "noindex": "keeps the page out of search results",
    "none": "keeps the page out of search results",
    "nosnippet": "keeps its text out of results and answers",
    "max-snippet:0": "keeps its text out of results and answers",
}
# A directive such as "max-snippet: 0" has a colon, too, so only these names address a bot.
_VALUED_DIRECTIVES = frozenset(
    ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
)


class Bot(BaseModel):
    name: str
    operator: str
    purpose: BotPurpose
    source: str
    """The title of the operator's page that describes it."""
    checked: str
    """The day as of which the entry describes the bot."""
    follows_robots: bool = True
    """False if its operator says that robots.txt may not apply."""
    control_only: bool = False
    """A name for robots.txt only: no bot sends it."""
    falls_back_to: str | None = None
    """The bot with the group that applies if robots.txt does not name this one."""
    note: str = ""


class BotList(BaseModel):
    as_of: str
    bots: list[Bot]


@cache
def load_bots() -> BotList:
    """The bots that reports are about, with the day of the list."""
    text = resources.files("jobmill.reports").joinpath("data/bots.json").read_text("utf-8")
    return BotList.model_validate_json(text)


@dataclass(frozen=True, slots=True)
class _PageDirective:
    """A directive in a page's robots meta tag or header, such as `noindex`."""

    bot: str
    value: str
    origin: str


def check_access(
    robots_txt: str | None, pages: Sequence[CrawledPage], *, site: str = ""
) -> tuple[BotAccess, ...]:
    """Whether each bot may read each page. `robots_txt` is that of `site`, and None if it has none; it
    does not apply to pages on other hosts."""
    robots, none = RobotsFile(robots_txt or ""), RobotsFile("")
    access: list[BotAccess] = []
    for page in pages:
        applies = robots_txt is not None and (not site or is_same_host(page.url, site))
        directives = [*_read_meta_tags(page.html), *_read_header(page.robots_header)]
        for bot in load_bots().bots:
            rules = robots if applies else none
            allowed, reason = _decide(bot, page, rules, applies, directives)
            access.append(BotAccess(bot.name, bot.purpose, page.url, allowed, reason))
    return tuple(access)


def _decide(
    bot: Bot,
    page: CrawledPage,
    robots: RobotsFile,
    has_robots: bool,
    directives: Sequence[_PageDirective],
) -> tuple[bool, str]:
    decision = _decide_by_robots(bot, page.url, robots)
    explanation = _explain(bot, decision, has_robots)
    if not decision.allowed and bot.follows_robots:
        return False, explanation
    if not bot.control_only and page.conclusive and (failure := _explain_answer(page)):
        return False, failure
    hidden_by = _find_hiding_directive(bot, directives)
    if bot.purpose == "search" and hidden_by:
        return False, f"{hidden_by.origin} says {hidden_by.value}: {_HIDING[hidden_by.value]}"
    return True, explanation


def _decide_by_robots(bot: Bot, url: str, robots: RobotsFile) -> RobotsDecision:
    name = bot.name
    if bot.falls_back_to and not robots.names(name) and robots.names(bot.falls_back_to):
        name = bot.falls_back_to
    return robots.decide(name, url)


def _explain(bot: Bot, decision: RobotsDecision, has_robots: bool) -> str:
    if not has_robots:
        return "No robots.txt was read for this host"
    if decision.agent is None:
        return "No group of robots.txt applies"
    line = f": {decision.rule.line}" if decision.rule else " has no matching rule"
    explanation = f"robots.txt, group {decision.agent}{line}"
    if not decision.allowed and not bot.follows_robots:
        return f"{bot.operator} says that robots.txt may not apply to this bot ({explanation})"
    return explanation


def _explain_answer(page: CrawledPage) -> str | None:
    """Why the page has no content for our own request; a bot probably gets the same answer."""
    if page.status is None:
        return f"The page did not answer: {page.failure}" if page.failure else "No answer"
    # A page that is gone is a dead link; no bot is kept out.
    is_error = page.status >= 400 and page.status not in (404, 410)
    return f"The page answers {page.status}" if is_error else None


def _find_hiding_directive(bot: Bot, directives: Sequence[_PageDirective]) -> _PageDirective | None:
    """General directives and those for the bot add up, so the first that hides the page decides."""
    names = {bot.name.lower(), *_EVERYONE}
    return next(
        (
            directive
            for directive in directives
            if directive.bot in names and directive.value in _HIDING
        ),
        None,
    )


def _read_meta_tags(html: str) -> Iterator[_PageDirective]:
    head = html[:_MAX_HEAD].encode("utf-8", "replace")
    tree = LexborHTMLParser(nesting_limit.truncate_deep_html(head))
    bots = {bot.name.lower() for bot in load_bots().bots}
    for node in tree.css("meta[name][content]")[:_MAX_META_TAGS]:
        attributes = cast(Mapping[str, str | None], node.attributes)
        name = (attributes.get("name") or "").strip().lower()
        if name == "robots" or name in bots:
            for value in (attributes.get("content") or "")[:_MAX_HEADER].split(","):
                yield _PageDirective(name, _squeeze(value), f'The meta tag "{name}"')


def _read_header(header: str) -> Iterator[_PageDirective]:
    """The directives of X-Robots-Tag; "googlebot: noindex, nofollow" are for Googlebot only."""
    for line in header[:_MAX_HEADER].splitlines():
        bot = "*"
        for part in line.split(","):
            name, colon, value = part.partition(":")
            if colon and name.strip().lower() not in _VALUED_DIRECTIVES:
                bot, part = name.strip().lower(), value
            yield _PageDirective(bot, _squeeze(part), "The X-Robots-Tag header")


def _squeeze(directive: str) -> str:
    return "".join(directive.lower().split())
