"""Searches the postings of a site: on its page, on linked careers pages, in a browser, with a
model."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from jobmill.catalog import source_health, urls
from jobmill.errors import OutsideError
from jobmill.extract import html_tree
from jobmill.outside.model_question import ModelAnswer, ModelBlocked
from jobmill.outside.request import FetchResult, Ok, Request
from jobmill.queue import BlockedOn, Work
from jobmill.sandbox import ReaderStopped, read_untrusted
from jobmill.tools import Tools

from .. import selectors
from ..board_crawler import describe_failure
from ..name_matching import is_about_jobs
from . import SelectorChoice, card_fields, llm_selectors
from .llm_selectors import ProposedSelectors

_MAX_LINKS = 3
SEARCH_CPU_SECONDS = 5.0
"""Many selectors are tried on a page."""
_MIN_LINKS = 5
"""A page with fewer links is not sent to the model: its content needs JavaScript."""


async def search_selectors(
    tools: Tools, url: str, work: Work | None = None
) -> SelectorChoice | None:
    """Selectors for the site's postings; None if none are found. OutsideError if the page cannot be
    read."""
    page = await tools.fetch(Request(url, page=True))
    if not isinstance(page, Ok):
        raise unreadable_page_error(url, page)
    choice = await _find_selectors(page) or await _search_linked_pages(tools, page)
    if choice:
        return choice
    rendered = await tools.fetch(Request(url, page=True, render=True))
    if isinstance(rendered, Ok) and (choice := await _find_selectors(rendered)):
        return _in_browser(choice)
    if isinstance(rendered, Ok) and (choice := await _ask_model(tools, rendered, work)):
        return _in_browser(choice)
    return await _ask_model(tools, page, work)


async def _find_selectors(page: Ok) -> SelectorChoice | None:
    return await read_untrusted(
        selectors.find_selectors, page.body, page.url, cpu_seconds=SEARCH_CPU_SECONDS
    )


def unreadable_page_error(url: str, answer: FetchResult) -> OutsideError:
    """The error for a page that could not be read; permanent unless the cause is temporary."""
    cause, detail = describe_failure(answer)
    passing = source_health.classify_failure(cause) in ("transient", "rate_limited")
    return OutsideError(f"{url} could not be read: {detail}", permanent=not passing)


def _in_browser(choice: SelectorChoice) -> SelectorChoice:
    return replace(choice, config=choice.config | {"method": "browser"})


async def _search_linked_pages(tools: Tools, page: Ok) -> SelectorChoice | None:
    """Selectors for the first linked careers page that shows postings."""
    links = await read_untrusted(_careers_links, page.body, page.url)
    for link in links[:_MAX_LINKS]:
        answer = await tools.fetch(Request(link, page=True))
        choice = None
        if isinstance(answer, Ok):
            with suppress(ReaderStopped):
                choice = await _find_selectors(answer)
        if choice:
            return replace(choice, evidence=f"on {link[:200]}: {choice.evidence}")
    return None


def _careers_links(body: bytes, url: str) -> list[str]:
    """Links about jobs on the same site, the clearest first."""
    tree = _parse(body)
    page_url = url.partition("#")[0].rstrip("/")
    relevance: dict[str, int] = {}
    for target, node in html_tree.find_links(tree, url) if tree else ():
        label = node.text(strip=True)[:100]
        if target.rstrip("/") == page_url or urls.domain(target) != urls.domain(url):
            continue
        score = is_about_jobs("", label) + is_about_jobs(target.removeprefix(urljoin(url, "/")))
        if score:
            relevance[target] = max(score, relevance.get(target, 0))
    return sorted(relevance, key=lambda link: -relevance[link])


async def _ask_model(tools: Tools, page: Ok, work: Work | None) -> SelectorChoice | None:
    """The selectors that the model proposes, if they work on the page."""
    skeleton = await read_untrusted(_read_skeleton, page.body)
    if skeleton is None:
        return None
    question = llm_selectors.selector_question(
        skeleton, item=work.id if work else None, run=work.tracking_id if work else None
    )
    answer = await tools.model(question)
    if isinstance(answer, ModelBlocked) and not answer.use_local:
        raise BlockedOn("model", answer.detail)
    if not isinstance(answer, ModelAnswer):
        return None
    proposed = answer.answer
    return await read_untrusted(_check_proposal, page.body, page.url, proposed, answer.model)


def _read_skeleton(body: bytes) -> str | None:
    """The structure of a page; None if it has too few links to list postings."""
    tree = _parse(body)
    if tree is None or len(tree.css("a[href]")) < _MIN_LINKS:
        return None
    return llm_selectors.skeleton(tree)


def _check_proposal(
    body: bytes, url: str, proposed: ProposedSelectors, model: str
) -> SelectorChoice | None:
    """The model's selectors, if they work on the page."""
    choice = selectors.check_selectors(body, url, {"selectors": proposed.selectors()}, model)
    return choice and selectors.add_pagination(choice, _button(body, url, proposed.next_button))


def _button(body: bytes, url: str, proposed: str | None) -> str | None:
    tree = _parse(body)
    try:
        node = tree.css_first(proposed) if tree and proposed else None
    except SelectolaxError:
        return None
    return proposed if node is not None and card_fields.is_next_page(node, url) else None


def _parse(body: bytes) -> LexborHTMLParser | None:
    try:
        return html_tree.parse_html(body)
    except OutsideError:
        return None
