"""Finds which element of a card holds which field of a posting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.extract.fields import dates, html_text, salary
from jobmill.extract.page.text_checks import absolute_url

from . import css_selectors, plausibility
from .repeated_cards import CardGroup

_MAX_CARDS = 60
"""Cards that are compared; more would not change the result."""
_MAX_NODES = 80
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SIMPLE_TAGS = (
    *_HEADINGS,
    "a",
    "strong",
    "b",
    "dt",
    "time",
    "td",
    "span",
    "p",
    "div",
    "small",
    "em",
    "li",
    "label",
)
_TITLE = re.compile(
    r"title|name|position|role|headline|heading|titel|intitule|puesto", re.IGNORECASE
)
_PLACE = re.compile(
    r"location|place|city|town|region|office|country|standort|\bort\b|lieu|ubicacion|sede|locale|address|plats",
    re.IGNORECASE,
)
_MAP_ICON = re.compile(r"map-?(?:marker|pin)|location|geo|\bpin\b|fa-globe", re.IGNORECASE)
_DATE = re.compile(r"date|posted|publish|datum|time|created", re.IGNORECASE)
_PAY = re.compile(r"salary|\bpay\b|compensation|gehalt|salaire|wage|remuneration", re.IGNORECASE)
_COMPANY = re.compile(r"company|employer|hiringorganization|organization|firma", re.IGNORECASE)
_NEXT = re.compile(
    r"(?:next(?: page)?|older|more jobs|weiter|nächste(?: seite)?|suivante?|page suivante|siguiente|próxima|"
    r"avanti|volgende|nästa|neste|næste|następna)?\s*[\u203a»→>]?",
    re.IGNORECASE,
)
_MIN_SHARE = 0.5
"""Fields that fewer cards have are left out."""
_MIN_PLACE_SHARE = 0.3
"""The share of texts that must look like a place if nothing else marks them as locations; low,
because the gazetteer knows few towns."""

CardTexts = list[str]
"""The text that a selector finds in each card; empty if it finds nothing."""


def find_fields(group: CardGroup) -> dict[str, str] | None:
    """Selectors for the fields of the group's cards; None if no element looks like a title."""
    cards = group.cards[:_MAX_CARDS]
    texts = {selector: [_read(card, selector) for card in cards] for selector in _proposals(cards)}
    titles = {
        selector: _title_score(selector, card_texts) for selector, card_texts in texts.items()
    }
    title = max(titles, key=lambda selector: titles[selector], default=None)
    if title is None or titles[title] <= 0:
        return None
    rest = {
        selector: card_texts for selector, card_texts in texts.items() if card_texts != texts[title]
    }
    selectors: dict[str, str | None] = {
        "title": title,
        "link": _link(group, cards),
        "location": _best(
            rest, lambda selector, words: _location_score(selector, words, cards, texts[title])
        ),
        "posted_date": _best(rest, _date_score),
        "salary": _best(rest, _salary_score),
        "company": _best(rest, _company_score),
    }
    return {name: selector for name, selector in selectors.items() if selector}


def find_next_button(tree: LexborHTMLParser, url: str) -> str | None:
    """A selector for the link to the next page, if the page has one."""
    for selector in (
        'a[rel~="next"]',
        "a.next",
        ".next a",
        ".pagination-next a",
        'a[aria-label*="next" i]',
    ):
        node = tree.css_first(selector)
        if node and is_next_page(node, url):
            return selector
    for node in tree.css("a[href]"):
        label = node.text(strip=True)
        if label and len(label) < 20 and _NEXT.fullmatch(label) and is_next_page(node, url):
            unique = [
                name
                for name, rank in css_selectors.node_selectors(node)
                if len(tree.css(name)) == 1 and rank < 2
            ]
            return next(iter(unique), None)
    return None


def is_next_page(node: LexborNode, url: str) -> bool:
    """Whether a link leads to another page of the same list."""
    href = (node.attributes.get("href") or "").strip()
    target = absolute_url(href, url) if href and not href.startswith("#") else None
    current = url.partition("#")[0]
    # Only the query or the end of the path may differ.
    base = re.sub(r"(?:/page)?/?\d*/?$", "", current.partition("?")[0])
    return target is not None and target.partition("#")[0] != current and target.startswith(base)


def _proposals(cards: Sequence[LexborNode]) -> list[str]:
    ranks: dict[str, int] = {}
    for card in cards[:8]:
        for node in _inner_nodes(card):
            for selector, rank in _node_selectors(node, node.mem_id != card.mem_id):
                ranks.setdefault(selector, rank)
    return sorted(ranks, key=lambda selector: (ranks[selector], len(selector)))[:300]


def _inner_nodes(card: LexborNode) -> Iterator[LexborNode]:
    for number, node in enumerate(card.traverse()):
        if number >= _MAX_NODES:
            return
        if node.tag not in ("script", "style", "svg", "path", "img", "br", "input", "button"):
            yield node


def _node_selectors(node: LexborNode, inner: bool) -> Iterator[tuple[str, int]]:
    tag = node.tag or ""
    yield from css_selectors.node_selectors(node)
    parent = node.parent if inner else None
    if tag in _SIMPLE_TAGS:
        yield tag, 1 if tag in _HEADINGS else 2
        if parent is not None:
            yield from (
                (f"{selector} {tag}", rank + 2)
                for selector, rank in css_selectors.node_selectors(parent)
            )
    if tag in ("td", "span", "div", "p", "li") and parent is not None:
        place = _position(node)
        if place:
            yield f"{tag}:nth-child({place})", 4
            yield f"{css_selectors.tag_selector(parent)} > {tag}:nth-child({place})", 5


def _position(node: LexborNode) -> int:
    place = 1
    before = node.prev
    while before is not None and place < 8:
        place += before.tag is not None and not before.tag.startswith("-")
        before = before.prev
    return place


def _read(card: LexborNode, selector: str) -> str:
    """The first text, as the `html` adapter reads it."""
    for node in card.css(selector):
        if text := html_text.single_line(node.text(separator=" ")):
            return text
    return ""


def _title_score(selector: str, texts: CardTexts) -> float:
    """How well the texts fit as titles: most cards have one, most are distinct, and they name
    roles."""
    filled = [text for text in texts if text]
    if len(filled) < 0.75 * len(texts) or len(set(filled)) < min(2, len(filled)):
        return 0.0
    plausible = sum(map(plausibility.title_score, filled)) / len(texts)
    distinct = len(set(filled)) / len(filled)
    length = sum(map(len, filled)) / len(filled)
    name_bonus = (
        0.15 * bool(_TITLE.search(selector.replace("[role=", "")))
        + 0.1 * selector.startswith(_HEADINGS)
        - 0.1 * ("nth" in selector)
    )
    # A label for screen readers ("Job title: …") precedes every text.
    labelled = len(set(filled)) > 1 and len({text[:5] for text in filled}) == 1
    score = plausible * (0.4 + 0.6 * distinct) + name_bonus - length / 120 - 0.3 * labelled
    return score if plausible > 0.15 else 0.0


def _location_score(
    selector: str, texts: CardTexts, cards: Sequence[LexborNode], titles: CardTexts
) -> float:
    candidates = [
        bool(text) and len(text) <= 100 and text != title and not plausibility.names_role(text)
        for text, title in zip(texts, titles, strict=True)
    ]
    share = plausibility.share_of(candidates)
    place_share = plausibility.share_of(
        [
            is_candidate and plausibility.looks_like_place(text)
            for is_candidate, text in zip(candidates, texts, strict=True)
        ]
    )
    is_named = bool(_PLACE.search(selector)) or _has_map_icon(selector, cards)
    if share < _MIN_SHARE or not (is_named or place_share >= _MIN_PLACE_SHARE):
        return 0.0
    return share * (0.5 + is_named) + place_share - sum(map(len, texts)) / len(texts) / 300


def _has_map_icon(selector: str, cards: Sequence[LexborNode]) -> bool:
    """Whether the element contains a map icon."""
    nodes = [node for card in cards[:4] if (node := card.css_first(selector))]
    icons = (icon for node in nodes if len(node.text(strip=True)) < 100
             for icon in node.css("i, svg, img, use, span"))  # fmt: skip
    return any(
        _MAP_ICON.search(" ".join(str(value) for value in icon.attributes.values()))
        for icon in icons
    )


def _date_score(selector: str, texts: CardTexts) -> float:
    is_named = bool(_DATE.search(selector)) or selector.startswith("time")
    share = plausibility.share_of(
        [bool(text) and len(text) < 40 and dates.parse_date(text) is not None for text in texts]
    )
    return share + 0.5 * is_named if share >= _MIN_SHARE else 0.0


def _salary_score(selector: str, texts: CardTexts) -> float:
    is_named = bool(_PAY.search(selector))
    share = plausibility.share_of(
        [bool(text) and salary.from_text(text) is not None for text in texts]
    )
    return share if is_named and share > 0.2 else 0.0


def _company_score(selector: str, texts: CardTexts) -> float:
    share = plausibility.share_of([0 < len(text) < 80 for text in texts])
    return share if _COMPANY.search(selector) and share >= _MIN_SHARE else 0.0


def _best(texts: dict[str, CardTexts], score: Callable[[str, CardTexts], float]) -> str | None:
    scores = {selector: score(selector, card_texts) for selector, card_texts in texts.items()}
    best = max(scores, key=lambda selector: scores[selector], default=None)
    return best if best is not None and scores[best] > 0 else None


def _link(group: CardGroup, cards: Sequence[LexborNode]) -> str:
    """A selector for the group's links, if cards also have other links."""
    link_ids = {link.node.mem_id for link in group.links}
    link_selectors = [
        selector for selector, rank in css_selectors.node_selectors(group.links[0].node) if rank < 2
    ]
    for selector in ("a[href]", *link_selectors):
        firsts = [card.css_first(selector) for card in cards]
        if all(node is not None and node.mem_id in link_ids for node in firsts):
            return selector
    return "a[href]"
