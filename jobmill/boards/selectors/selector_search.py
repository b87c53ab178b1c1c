"""Looks for the postings of a site: on its page, one link further, in a browser, with a model's help."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from jobmill.catalog import source_health, urls
from jobmill.errors import OutsideError
from jobmill.extract import html_tree
from jobmill.extract.page.text_checks import absolute_url
from jobmill.outside.model_question import ModelAnswer, ModelBlocked
from jobmill.outside.request import FetchResult, Ok, Request
from jobmill.queue import BlockedOn as Parked
from jobmill.queue import Work
from jobmill.tools import Tools

from .. import selectors
from ..board_crawler import describe_failure
from ..name_matching import is_about_jobs
from . import SelectorChoice, card_fields, llm_selectors

_MOST_HOPS = 3
_FEWEST_LINKS = 5
"""A page with fewer is a shell, and not worth a question."""


async def search_selectors(
    tools: Tools, url: str, work: Work | None = None
) -> SelectorChoice | None:
    """Selectors for the site's postings; None where none are found, OutsideError where the page does
    not answer."""
    page = await tools.fetch(Request(url, page=True))
    if not isinstance(page, Ok):
        raise unreadable_page_error(url, page)
    found = selectors.find_selectors(page.body, page.url) or await _hop(tools, page)
    if found:
        return found
    drawn = await tools.fetch(Request(url, page=True, render=True))
    if isinstance(drawn, Ok) and (found := selectors.find_selectors(drawn.body, drawn.url)):
        return _in_browser(found)
    if isinstance(drawn, Ok) and (found := await _ask(tools, drawn, work)):
        return _in_browser(found)
    return await _ask(tools, page, work)


def unreadable_page_error(url: str, answer: FetchResult) -> OutsideError:
    """That a page could not be read; for good, unless the cause may pass."""
    cause, detail = describe_failure(answer)
    passing = source_health.classify_failure(cause) in ("transient", "rate_limited")
    return OutsideError(f"{url} could not be read: {detail}", permanent=not passing)


def _in_browser(found: SelectorChoice) -> SelectorChoice:
    return replace(found, config=found.config | {"method": "browser"})


async def _hop(tools: Tools, page: Ok) -> SelectorChoice | None:
    """What the pages show to which this one leads for its jobs."""
    for link in _further(page)[:_MOST_HOPS]:
        answer = await tools.fetch(Request(link, page=True))
        found = (
            selectors.find_selectors(answer.body, answer.url) if isinstance(answer, Ok) else None
        )
        if found:
            return replace(found, evidence=f"on {link[:200]}: {found.evidence}")
    return None


def _further(page: Ok) -> list[str]:
    """Links about work on the same site, the most outspoken first."""
    tree = _tree(page.body)
    here = page.url.partition("#")[0].rstrip("/")
    found: dict[str, int] = {}
    for node in tree.css("a[href]") if tree else ():
        to = absolute_url(node.attributes.get("href") or "", page.url)
        to = to.partition("#")[0] if to else ""
        words = node.text(strip=True)[:100]
        if not to or to.rstrip("/") == here or urls.domain(to) != urls.domain(page.url):
            continue
        said = is_about_jobs("", words) + is_about_jobs(to.removeprefix(urljoin(page.url, "/")))
        if said:
            found[to] = max(said, found.get(to, 0))
    return sorted(found, key=lambda one: -found[one])


async def _ask(tools: Tools, page: Ok, work: Work | None) -> SelectorChoice | None:
    """What a model proposes, if it holds on the page."""
    tree = _tree(page.body)
    if tree is None or len(tree.css("a[href]")) < _FEWEST_LINKS:
        return None
    ask = llm_selectors.ask(
        tree, item=work.id if work else None, run=work.tracking_id if work else None
    )
    answer = await tools.model(ask)
    if isinstance(answer, ModelBlocked) and not answer.use_local:
        raise Parked("model", answer.detail)
    if not isinstance(answer, ModelAnswer):
        return None
    proposed = answer.answer
    found = selectors.check_selectors(
        page.body, page.url, {"selectors": proposed.selectors()}, answer.model
    )
    return found and selectors.add_pagination(found, _button(tree, page.url, proposed.next_button))


def _button(tree: LexborHTMLParser, url: str, proposed: str | None) -> str | None:
    try:
        node = tree.css_first(proposed) if proposed else None
    except SelectolaxError:
        return None
    return proposed if node is not None and card_fields.turns(node, url) else None


def _tree(body: bytes) -> LexborHTMLParser | None:
    try:
        return html_tree.parse_html(body)
    except OutsideError:
        return None
