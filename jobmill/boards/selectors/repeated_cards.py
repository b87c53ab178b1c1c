"""Finds repeated structures on a page: similar links, and the card around each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.extract.page.text_checks import absolute_url

from . import css_selectors, plausibility

_MAX_LINKS = 1_500
_FRAME_SHARE = 0.6
_MAX_LEVELS = 20
"""The number of ancestors of a link that are examined."""
_NAVIGATION = re.compile(
    r"(?:^|[-_ ])(?:nav(?:bar|igation)?|menus?|footer|breadcrumbs?|social|cookies?|lang(?:uage)?s?|"
    r"pagination|pager|paging|share|sharing|related|topbar|masthead|skip)(?:[-_ ]|$)",
    re.IGNORECASE,
)
_NAVIGATION_TAGS = frozenset({"nav", "footer", "header", "aside", "form", "head", "dialog"})


@dataclass(frozen=True, slots=True)
class CardLink:
    node: LexborNode
    url: str
    above: tuple[LexborNode, ...]
    """The ancestors, the nearest first."""


@dataclass(frozen=True, slots=True)
class CardGroup:
    """Similar links, each in its own card."""

    links: tuple[CardLink, ...]
    cards: tuple[LexborNode, ...]


def find_groups(tree: LexborHTMLParser, url: str) -> list[CardGroup]:
    """The repeated structures that may be postings, the likeliest first."""
    links = _links(tree, url)
    groups_by_cards: dict[frozenset[int], CardGroup] = {}
    for similar in _similar_links(links):
        if len({link.url for link in similar}) >= 2:
            group = CardGroup(tuple(similar), _cards(similar))
            groups_by_cards.setdefault(frozenset(card.mem_id for card in group.cards), group)
    return sorted(groups_by_cards.values(), key=_likelihood, reverse=True)


def _links(tree: LexborHTMLParser, url: str) -> list[CardLink]:
    page_url = url.partition("#")[0].rstrip("/")
    candidates: list[CardLink] = []
    within: Counter[int] = Counter()
    nodes = tree.css("a[href]")[:_MAX_LINKS]
    for node in nodes:
        ancestors = tuple(_ancestors(node))
        within.update(ancestor.mem_id for ancestor in ancestors)
        href = (node.attributes.get("href") or "").strip()
        target = absolute_url(href, url) if href and not href.startswith("#") else None
        if (
            target
            and target.partition("#")[0].rstrip("/") != page_url
            and not plausibility.leads_elsewhere(target)
        ):
            candidates.append(CardLink(node, target, ancestors))
    # An element with most of the page's links is its frame, whatever its name.
    frames = {id for id, count in within.items() if count > _FRAME_SHARE * len(nodes)}
    return [link for link in candidates if not _is_navigation(link.above, frames)]


def _ancestors(node: LexborNode) -> Iterator[LexborNode]:
    ancestor = node.parent
    for _ in range(_MAX_LEVELS):
        if ancestor is None or ancestor.tag in ("body", "html", "-undef"):
            return
        yield ancestor
        ancestor = ancestor.parent


def _is_navigation(above: Sequence[LexborNode], frames: set[int]) -> bool:
    """Whether a link is part of the navigation; a card may have a header of its own."""
    for level, node in enumerate(above):
        if node.mem_id in frames:
            continue
        if node.tag in _NAVIGATION_TAGS and not (level < 3 and node.tag == "header"):
            return True
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        if len(names) < 200 and _NAVIGATION.search(names):
            return True
    return False


def _similar_links(links: Sequence[CardLink]) -> Iterator[list[CardLink]]:
    """Groups of links that have some property in common; a link may be in several groups."""
    links_by_kind: defaultdict[tuple[object, ...], list[CardLink]] = defaultdict(list)
    for link in links:
        for kind in _kinds(link):
            links_by_kind[kind].append(link)
    yield from (similar for similar in links_by_kind.values() if len(similar) >= 2)


def _kinds(link: CardLink) -> Iterator[tuple[object, ...]]:
    path = tuple(node.tag for node in link.above)
    yield "path", path
    link_selectors = " ".join(sorted(name for name, _ in css_selectors.node_selectors(link.node)))
    yield "path and class", path, link_selectors
    if link_selectors:
        yield "class", link_selectors
    parts = urlsplit(link.url)
    yield "folder", parts.netloc, parts.path.rstrip("/").rpartition("/")[0]
    for node in link.above[:6]:
        for name, rank in css_selectors.node_selectors(node):
            if rank < 2:
                yield "within", name
    for level, node in enumerate(link.above[1:5]):
        yield "list", node.mem_id, path[: level + 1]


def _cards(links: Sequence[CardLink]) -> tuple[LexborNode, ...]:
    """For each link, the largest element that contains no other of the links."""
    leads: defaultdict[int, set[str]] = defaultdict(set)
    for link in links:
        for node in (link.node, *link.above):
            leads[node.mem_id].add(link.url)
    heights = [sum(len(leads[node.mem_id]) == 1 for node in link.above) for link in links]
    # The only posting of a department must not get the whole department as its card.
    height_counts = Counter(heights)
    most = max(height_counts.values())
    height = min(level for level, count in height_counts.items() if count == most)
    cards: dict[int, LexborNode] = {}
    for link, link_height in zip(links, heights, strict=True):
        card = (link.node, *link.above)[min(link_height, height)]
        cards.setdefault(card.mem_id, card)
    return tuple(cards.values())


def _likelihood(group: CardGroup) -> float:
    """A first estimate, from the URLs and the texts of the cards."""
    urls = {link.url for link in group.links}
    posting_share = sum(plausibility.leads_to_posting(url) for url in urls) / len(urls)
    texts = [card.text(separator="\n", strip=True)[:400] for card in group.cards[:40]]
    role_cards = sum(
        any(plausibility.title_score(line) == 1 for line in text.split("\n")) for text in texts
    )
    return 3 * role_cards / len(texts) + posting_share + min(len(group.cards), 30) / 30
