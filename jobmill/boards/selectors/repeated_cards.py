"""Finds what is repeated on a page: links of one kind, and the card around each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.extract.page.text_checks import absolute_url

from . import css_selectors, plausibility

_MOST_LINKS = 1_500
_FRAME = 0.6
_HIGHEST = 20
"""Levels above a link that are looked at."""
_APART = re.compile(
    r"(?:^|[-_ ])(?:nav(?:bar|igation)?|menus?|footer|breadcrumbs?|social|cookies?|lang(?:uage)?s?|"
    r"pagination|pager|paging|share|sharing|related|topbar|masthead|skip)(?:[-_ ]|$)",
    re.IGNORECASE,
)
_APART_TAGS = frozenset({"nav", "footer", "header", "aside", "form", "head", "dialog"})


@dataclass(frozen=True, slots=True)
class Link:
    node: LexborNode
    url: str
    above: tuple[LexborNode, ...]
    """The elements around it, the nearest first."""


@dataclass(frozen=True, slots=True)
class Group:
    """Links of one kind, each in a card of its own."""

    links: tuple[Link, ...]
    cards: tuple[LexborNode, ...]


def groups(tree: LexborHTMLParser, url: str) -> list[Group]:
    """The repeated structures that may be postings, the likeliest first."""
    links = _links(tree, url)
    found: dict[frozenset[int], Group] = {}
    for alike in _alike(links):
        if len({link.url for link in alike}) >= 2:
            group = Group(tuple(alike), _cards(alike))
            found.setdefault(frozenset(card.mem_id for card in group.cards), group)
    return sorted(found.values(), key=_promise, reverse=True)


def _links(tree: LexborHTMLParser, url: str) -> list[Link]:
    here = url.partition("#")[0].rstrip("/")
    found: list[Link] = []
    within: Counter[int] = Counter()
    nodes = tree.css("a[href]")[:_MOST_LINKS]
    for node in nodes:
        above = tuple(_above(node))
        within.update(up.mem_id for up in above)
        href = (node.attributes.get("href") or "").strip()
        to = absolute_url(href, url) if href and not href.startswith("#") else None
        if to and to.partition("#")[0].rstrip("/") != here and not plausibility.leads_aside(to):
            found.append(Link(node, to, above))
    # What holds most of the page is its frame, whatever it is called.
    frames = {id for id, count in within.items() if count > _FRAME * len(nodes)}
    return [link for link in found if not _is_apart(link.above, frames)]


def _above(node: LexborNode) -> Iterator[LexborNode]:
    up = node.parent
    for _ in range(_HIGHEST):
        if up is None or up.tag in ("body", "html", "-undef"):
            return
        yield up
        up = up.parent


def _is_apart(above: Sequence[LexborNode], frames: set[int]) -> bool:
    """Whether it stands where pages lead elsewhere; a card may have a head of its own."""
    for level, node in enumerate(above):
        if node.mem_id in frames:
            continue
        if node.tag in _APART_TAGS and not (level < 3 and node.tag == "header"):
            return True
        told = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        if len(told) < 200 and _APART.search(told):
            return True
    return False


def _alike(links: Sequence[Link]) -> Iterator[list[Link]]:
    """The links, put together in each way in which they may be of one kind."""
    ways: defaultdict[tuple[object, ...], list[Link]] = defaultdict(list)
    for link in links:
        for kind in _kinds(link):
            ways[kind].append(link)
    yield from (alike for alike in ways.values() if len(alike) >= 2)


def _kinds(link: Link) -> Iterator[tuple[object, ...]]:
    path = tuple(node.tag for node in link.above)
    yield "path", path
    own = " ".join(sorted(name for name, _ in css_selectors.of_node(link.node)))
    yield "path and class", path, own
    if own:
        yield "class", own
    parts = urlsplit(link.url)
    yield "folder", parts.netloc, parts.path.rstrip("/").rpartition("/")[0]
    for node in link.above[:6]:
        for name, rank in css_selectors.of_node(node):
            if rank < 2:
                yield "within", name
    for level, node in enumerate(link.above[1:5]):
        yield "list", node.mem_id, path[: level + 1]


def _cards(links: Sequence[Link]) -> tuple[LexborNode, ...]:
    """For each link, the largest element that has no other of them."""
    leads: defaultdict[int, set[str]] = defaultdict(set)
    for link in links:
        for node in (link.node, *link.above):
            leads[node.mem_id].add(link.url)
    heights = [sum(len(leads[node.mem_id]) == 1 for node in link.above) for link in links]
    # The only posting of a department must not take the department for its card.
    usual = Counter(heights)
    most = max(usual.values())
    height = min(one for one, count in usual.items() if count == most)
    found: dict[int, LexborNode] = {}
    for link, own in zip(links, heights, strict=True):
        card = (link.node, *link.above)[min(own, height)]
        found.setdefault(card.mem_id, card)
    return tuple(found.values())


def _promise(group: Group) -> float:
    """A first guess, from the words of the links and cards."""
    urls = {link.url for link in group.links}
    posted = sum(plausibility.leads_to_posting(one) for one in urls) / len(urls)
    texts = [card.text(separator="\n", strip=True)[:400] for card in group.cards[:40]]
    roles = sum(any(plausibility.title(line) == 1 for line in text.split("\n")) for text in texts)
    return 3 * roles / len(texts) + posted + min(len(group.cards), 30) / 30
