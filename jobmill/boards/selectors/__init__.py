"""Finds how a careers page is read: selectors for its postings, tested on the page itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from jobmill.errors import OutsideError
from jobmill.extract import html_tree
from jobmill.outside.request import Request

from ..adapters import html
from ..platform import BoardPage, Confidence
from . import card_fields, css_selectors, plausibility, repeated_cards

_HEADING = re.compile(rb"<(?:title|h1|h2)\b[^>]{0,300}>\s{0,50}([^<]{2,150})", re.IGNORECASE)
_MOST_GROUPS = 12
_MOST_SELECTORS = 3
_MOST_CARDS = 5_000
"""After so many were read in all, no more is tried: long lists show early what they are."""
_OPTIONAL = ("location", "company", "description", "link", "posted_date", "salary")


@dataclass(frozen=True, slots=True)
class SelectorChoice:
    """Selectors that hold on their page."""

    config: dict[str, Any]
    """Ready for the adapter."""
    confidence: Confidence
    evidence: str
    score: float


def find_selectors(body: bytes, url: str) -> SelectorChoice | None:
    """The best selectors that the page's structure gives; None where it shows no postings."""
    try:
        tree = html_tree.parse_html(body)
    except OutsideError:
        return None
    tested = (check_selectors(body, url, {"selectors": one}) for one in _candidates(tree, url))
    best = max(filter(None, tested), key=lambda one: one.score, default=None)
    return best and add_pagination(best, card_fields.next_button(tree, url))


def add_pagination(chosen: SelectorChoice, button: str | None) -> SelectorChoice:
    """With the link to the next page, where there is one."""
    if button is None:
        return chosen
    return replace(chosen, config=chosen.config | {"pagination": {"next_button": button}})


def _candidates(tree: LexborHTMLParser, url: str) -> Iterator[dict[str, str]]:
    read = 0
    for group in repeated_cards.groups(tree, url)[:_MOST_GROUPS]:
        found = card_fields.find(group) if read < _MOST_CARDS else None
        if found is None:
            continue
        for one in islice(css_selectors.for_cards(tree, group.cards), _MOST_SELECTORS):
            read += len(group.cards)
            yield {"job_list": one, **found}


def check_selectors(
    body: bytes, url: str, proposed: Mapping[str, Any], by: str = "structure"
) -> SelectorChoice | None:
    """The config, if reading the page with it gives postings; parts that find nothing are dropped."""
    config: dict[str, Any] = {"url": url, "method": "requests", **proposed}
    page = _read(body, url, config)
    if page is None:
        return None
    look = plausibility.look(page.postings, url, _heading(body))
    stray = page.stubs / (page.stubs + len(page.postings) or 1)
    if not look.holds or stray > 0.34:
        return None
    config["selectors"] = _without_idle(config["selectors"], page)
    evidence = f"selectors found by {by}: {look.words}"
    # An element around all of them shows the first one again.
    again = 1 - look.postings / len(page.postings)
    return SelectorChoice(config, look.confidence, evidence, look.score - 2 * stray - again)


def _heading(body: bytes) -> str:
    """What the page calls itself."""
    found = _HEADING.findall(body[:200_000])
    return " ".join(words.decode("utf-8", "replace") for words in found[:5])


def _read(body: bytes, url: str, config: dict[str, Any]) -> BoardPage | None:
    try:
        return html.read(body, Request(url), html.HtmlPageConfig.model_validate(config))
    except (OutsideError, ValueError, RecursionError):
        # As `reading.read` knows them: a wrong selector, a link that is none, a page too deep.
        return None


def _without_idle(selectors: Mapping[str, str], page: BoardPage) -> dict[str, str]:
    field = {"link": "url", "posted_date": "posted_at"}
    return {
        name: one
        for name, one in selectors.items()
        if name not in _OPTIONAL
        or any(getattr(post, field.get(name, name)) for post in page.postings)
    }
