"""Which element of a card holds which part of a posting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.extract.fields import dates, html_text, salary
from jobmill.extract.page.text_checks import absolute_url

from . import css_selectors, plausibility
from .repeated_cards import Group

_LOOKED_AT = 60
"""Cards of which the parts are compared; more tell nothing new."""
_MOST_NODES = 80
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BARE = (
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
_PIN = re.compile(r"map-?(?:marker|pin)|location|geo|\bpin\b|fa-globe", re.IGNORECASE)
_DATE = re.compile(r"date|posted|publish|datum|time|created", re.IGNORECASE)
_PAY = re.compile(r"salary|\bpay\b|compensation|gehalt|salaire|wage|remuneration", re.IGNORECASE)
_COMPANY = re.compile(r"company|employer|hiringorganization|organization|firma", re.IGNORECASE)
_NEXT = re.compile(
    r"(?:next(?: page)?|older|more jobs|weiter|nächste(?: seite)?|suivante?|page suivante|siguiente|próxima|"
    r"avanti|volgende|nästa|neste|næste|następna)?\s*[\u203a»→>]?",
    re.IGNORECASE,
)
_TESTED = 0.5
"""A part that fewer cards have is left out."""
_FORMED = 0.3
"""So many must have the form of a place where nothing else says that they are: we know few towns."""

Seen = list[str]
"""What a selector reads in each card; "" where it finds nothing."""


def find(group: Group) -> dict[str, str] | None:
    """Selectors for the parts of the group's cards; None where nothing in them is like a title."""
    cards = group.cards[:_LOOKED_AT]
    seen = {one: [_read(card, one) for card in cards] for one in _proposals(cards)}
    titles = {one: _as_title(one, words) for one, words in seen.items()}
    title = max(titles, key=lambda one: titles[one], default=None)
    if title is None or titles[title] <= 0:
        return None
    rest = {one: words for one, words in seen.items() if words != seen[title]}
    found: dict[str, str | None] = {
        "title": title,
        "link": _link(group, cards),
        "location": _best(rest, lambda one, words: _as_place(one, words, cards, seen[title])),
        "posted_date": _best(rest, _as_date),
        "salary": _best(rest, _as_pay),
        "company": _best(rest, _as_company),
    }
    return {name: one for name, one in found.items() if one}


def next_button(tree: LexborHTMLParser, url: str) -> str | None:
    """A link to the next page of the list, if the page has one."""
    for one in (
        'a[rel~="next"]',
        "a.next",
        ".next a",
        ".pagination-next a",
        'a[aria-label*="next" i]',
    ):
        node = tree.css_first(one)
        if node and turns(node, url):
            return one
    for node in tree.css("a[href]"):
        words = node.text(strip=True)
        if words and len(words) < 20 and _NEXT.fullmatch(words) and turns(node, url):
            own = [
                name
                for name, rank in css_selectors.of_node(node)
                if len(tree.css(name)) == 1 and rank < 2
            ]
            return next(iter(own), None)
    return None


def turns(node: LexborNode, url: str) -> bool:
    """Whether a link leads to another page of the same list."""
    href = (node.attributes.get("href") or "").strip()
    to = absolute_url(href, url) if href and not href.startswith("#") else None
    here = url.partition("#")[0]
    # It turns the page, rather than the site: only the query or the end of the path differs.
    base = re.sub(r"(?:/page)?/?\d*/?$", "", here.partition("?")[0])
    return to is not None and to.partition("#")[0] != here and to.startswith(base)


def _proposals(cards: Sequence[LexborNode]) -> list[str]:
    found: dict[str, int] = {}
    for card in cards[:8]:
        for node in _inside(card):
            for one, rank in _ways(node, node.mem_id != card.mem_id):
                found.setdefault(one, rank)
    return sorted(found, key=lambda one: (found[one], len(one)))[:300]


def _inside(card: LexborNode) -> Iterator[LexborNode]:
    for number, node in enumerate(card.traverse()):
        if number >= _MOST_NODES:
            return
        if node.tag not in ("script", "style", "svg", "path", "img", "br", "input", "button"):
            yield node


def _ways(node: LexborNode, inner: bool) -> Iterator[tuple[str, int]]:
    tag = node.tag or ""
    yield from css_selectors.of_node(node)
    up = node.parent if inner else None
    if tag in _BARE:
        yield tag, 1 if tag in _HEADINGS else 2
        if up is not None:
            yield from ((f"{one} {tag}", rank + 2) for one, rank in css_selectors.of_node(up))
    if tag in ("td", "span", "div", "p", "li") and up is not None:
        place = _position(node)
        if place:
            yield f"{tag}:nth-child({place})", 4
            yield f"{css_selectors.tag_of(up)} > {tag}:nth-child({place})", 5


def _position(node: LexborNode) -> int:
    place = 1
    before = node.prev
    while before is not None and place < 8:
        place += before.tag is not None and not before.tag.startswith("-")
        before = before.prev
    return place


def _read(card: LexborNode, one: str) -> str:
    """As the adapter reads it: the first that has words."""
    for node in card.css(one):
        if words := html_text.single_line(node.text(separator=" ")):
            return words
    return ""


def _as_title(one: str, words: Seen) -> float:
    """Most cards have one, nearly each its own, and they are called after those who work."""
    said = [word for word in words if word]
    if len(said) < 0.75 * len(words) or len(set(said)) < min(2, len(said)):
        return 0.0
    like = sum(map(plausibility.title, said)) / len(words)
    distinct = len(set(said)) / len(said)
    length = sum(map(len, said)) / len(said)
    called = (
        0.15 * bool(_TITLE.search(one.replace("[role=", "")))
        + 0.1 * one.startswith(_HEADINGS)
        - 0.1 * ("nth" in one)
    )
    # A label for those who listen ("Job title: …") stands before each.
    labelled = len(set(said)) > 1 and len({word[:5] for word in said}) == 1
    score = like * (0.4 + 0.6 * distinct) + called - length / 120 - 0.3 * labelled
    return score if like > 0.15 else 0.0


def _as_place(one: str, words: Seen, cards: Sequence[LexborNode], titles: Seen) -> float:
    fit = [
        bool(word) and len(word) <= 100 and word != title and not plausibility.names_role(word)
        for word, title in zip(words, titles, strict=True)
    ]
    share = _share(fit)
    formed = _share([ok and plausibility.place(word) for ok, word in zip(fit, words, strict=True)])
    called = bool(_PLACE.search(one)) or _pinned(one, cards)
    if share < _TESTED or not (called or formed >= _FORMED):
        return 0.0
    return share * (0.5 + called) + formed - sum(map(len, words)) / len(words) / 300


def _pinned(one: str, cards: Sequence[LexborNode]) -> bool:
    """Whether a small picture of a pin stands in it."""
    nodes = [node for card in cards[:4] if (node := card.css_first(one))]
    icons = (icon for node in nodes if len(node.text(strip=True)) < 100
             for icon in node.css("i, svg, img, use, span"))  # fmt: skip
    return any(
        _PIN.search(" ".join(str(told) for told in icon.attributes.values())) for icon in icons
    )


def _as_date(one: str, words: Seen) -> float:
    called = bool(_DATE.search(one)) or one.startswith("time")
    share = _share(
        [bool(word) and len(word) < 40 and dates.parse_date(word) is not None for word in words]
    )
    return share + 0.5 * called if share >= _TESTED else 0.0


def _as_pay(one: str, words: Seen) -> float:
    called = bool(_PAY.search(one))
    share = _share([bool(word) and salary.from_text(word) is not None for word in words])
    return share if called and share > 0.2 else 0.0


def _as_company(one: str, words: Seen) -> float:
    share = _share([0 < len(word) < 80 for word in words])
    return share if _COMPANY.search(one) and share >= _TESTED else 0.0


def _best(seen: dict[str, Seen], score: Callable[[str, Seen], float]) -> str | None:
    scores = {one: score(one, words) for one, words in seen.items()}
    best = max(scores, key=lambda one: scores[one], default=None)
    return best if best is not None and scores[best] > 0 else None


def _link(group: Group, cards: Sequence[LexborNode]) -> str:
    """The way to the group's own links, where cards have others besides."""
    wanted = {link.node.mem_id for link in group.links}
    own = [one for one, rank in css_selectors.of_node(group.links[0].node) if rank < 2]
    for one in ("a[href]", *own):
        firsts = [card.css_first(one) for card in cards]
        if all(node is not None and node.mem_id in wanted for node in firsts):
            return one
    return "a[href]"


def _share(said: Sequence[bool]) -> float:
    return sum(said) / len(said) if said else 0.0
