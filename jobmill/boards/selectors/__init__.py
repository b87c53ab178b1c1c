"""Finds selectors for the postings of a careers page and tests them on the page itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.extract import html_tree
from jobmill.outside.request import Request

from ..adapters import html
from ..platform import BoardPage, Confidence
from . import card_fields, css_selectors, plausibility, repeated_cards

_HEADING = re.compile(rb"<(?:title|h1|h2)\b[^>]{0,300}>\s{0,50}([^<]{2,150})", re.IGNORECASE)
_MAX_GROUPS = 12
_MAX_SELECTORS = 3
_MAX_CARDS = 5_000
"""After this many cards in total, no further group is tried; good lists are found early."""
_OPTIONAL = ("location", "company", "description", "link", "posted_date", "salary")


@dataclass(frozen=True, slots=True)
class SelectorChoice:
    """Selectors that work on their page."""

    config: dict[str, Any]
    """The config of the `html` adapter."""
    confidence: Confidence
    evidence: str
    score: float


def find_selectors(body: bytes, url: str) -> SelectorChoice | None:
    """The best selectors by the structure of the page; None if it shows no postings."""
    try:
        tree = html_tree.parse_html(body)
    except OutsideError:
        return None
    tested = (
        check_selectors(body, url, {"selectors": proposed}) for proposed in _candidates(tree, url)
    )
    best = max(filter(None, tested), key=lambda choice: choice.score, default=None)
    return best and add_pagination(best, card_fields.find_next_button(tree, url))


def add_pagination(chosen: SelectorChoice, button: str | None) -> SelectorChoice:
    """Add the link to the next page, if there is one."""
    if button is None:
        return chosen
    return replace(chosen, config=chosen.config | {"pagination": {"next_button": button}})


def _candidates(tree: LexborHTMLParser, url: str) -> Iterator[dict[str, str]]:
    read = 0
    for group in repeated_cards.find_groups(tree, url)[:_MAX_GROUPS]:
        fields = card_fields.find_fields(group) if read < _MAX_CARDS else None
        if fields is None:
            continue
        for card_selector in islice(
            css_selectors.card_selectors(tree, group.cards), _MAX_SELECTORS
        ):
            read += len(group.cards)
            yield {"job_list": card_selector, **fields}


def check_selectors(
    body: bytes, url: str, proposed: Mapping[str, Any], model: str = ""
) -> SelectorChoice | None:
    """The config without unused selectors, if it finds postings on the page; else None. `model`:
    the model that proposed the selectors."""
    config: dict[str, Any] = {"url": url, "method": "requests", **proposed}
    page = _read(body, url, config)
    if page is None:
        return None
    assessment = plausibility.assess_postings(page.postings, url, _heading(body))
    stub_share = page.stubs / (page.stubs + len(page.postings) or 1)
    if not assessment.is_list_of_postings or stub_share > 0.34:
        return None
    config["selectors"] = _without_unused(config["selectors"], page)
    evidence = _describe(page.postings, assessment.postings, model)
    # An element around all cards repeats the first posting.
    repeated_share = 1 - assessment.postings / len(page.postings)
    return SelectorChoice(
        config, assessment.confidence, evidence, assessment.score - 2 * stub_share - repeated_share
    )


def _describe(postings: Sequence[Posting], count: int, model: str) -> str:
    """What was found, as the approval shows it."""
    titles = list(dict.fromkeys(posting.title[:80] for posting in postings if posting.title))
    reader = f" with the help of {model}" if model else ""
    jobs = "1 job" if count == 1 else f"{count} jobs"
    return f"{jobs} found on this page{reader}; for example {' and '.join(titles[:2])}"


def _heading(body: bytes) -> str:
    """The title and headings of the page."""
    headings = _HEADING.findall(body[:200_000])
    return " ".join(heading.decode("utf-8", "replace") for heading in headings[:5])


def _read(body: bytes, url: str, config: dict[str, Any]) -> BoardPage | None:
    try:
        return html.read(body, Request(url), html.HtmlPageConfig.model_validate(config))
    except (OutsideError, ValueError, RecursionError):
        # A wrong selector, an invalid URL or a page that is nested too deeply.
        return None


def _without_unused(selectors: Mapping[str, str], page: BoardPage) -> dict[str, str]:
    field = {"link": "url", "posted_date": "posted_at"}
    return {
        name: selector
        for name, selector in selectors.items()
        if name not in _OPTIONAL
        or any(getattr(posting, field.get(name, name)) for posting in page.postings)
    }
