"""Builds CSS selectors for elements of a page from names that are likely to stay the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from selectolax.lexbor import LexborHTMLParser, LexborNode

_NAME = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]{1,60}")
# Generated names: a hash after a known prefix, or letters and digits without a word.
_GENERATED = re.compile(
    r"(?:css|sc|jsx|emotion|svelte|jss|astro|framer|ember|tss|ng)-\w.*|_.*|.*\d{2,}.*"
    r"|[a-z]{1,3}[A-Z][a-z]{0,3}[A-Z][a-z]{0,3}"
)
# "JobList_item__2Xk3d": the name is stable, its end changes with each build.
_MODULE = re.compile(
    r"([A-Za-z][A-Za-z-]*_{1,2}[A-Za-z-]+_{1,3})[A-Za-z0-9_+-]{4,8}|([A-Za-z][A-Za-z-]{3,}__)[A-Za-z0-9_+-]{5,8}"
)
_STATE = re.compile(
    r"(?:active|selected|odd|even|first|last|open|opened|closed|hidden|visible|featured|new|current|show"
    r"|collapsed?|expanded|animated?|wow|fade\w*|aos-\w+|is-\w+|has-\w+|js-\w*|loaded|lazy\w*|hover)"
)
_STYLE = re.compile(
    r"(?:[mp][trblxyse]?|w|h|min|max|gap|space|col|row|grid|flex|text|bg|border|rounded|shadow|font|d|z|top"
    r"|left|right|bottom|inset|leading|tracking|align|justify|items|content|self|order|offset|float|size"
    r"|opacity|overflow|cursor|transition|duration|ease|transform|scale|rotate|divide|ring|outline|table"
    r"|inline|block|container|wrapper|inner|clearfix|relative|absolute|fixed|sticky|small|large|large"
    r"|medium|xs|sm|md|lg|xl|uppercase|lowercase|capitalize|truncate|underline|no-underline|group|list"
    r"|link|btn|button|card|item|media|column|columns|cell|section|box|wp|elementor|e|vc|fusion|et|x)"
    r"(?:[-_].*)?"
)
_ABOUT_JOBS = re.compile(
    r"job|posit|opening|vacan|career|role|posting|opportunit|stelle|offer|offre|emploi|vaga|vacature|empleo"
    r"|praca|recruit|listing|annons",
    re.IGNORECASE,
)
_MAX_PARENTS = 4
_STYLE_RANK = 3
"""The rank of names that describe the appearance and not the content."""


def class_names(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


def class_selector(tag: str, name: str) -> tuple[str, int] | None:
    """A selector for a class, and its rank (lower is more reliable); None for an unstable name."""
    module = _MODULE.fullmatch(name)
    if module and any(
        mark.isdigit() or mark.isupper() for mark in name[module.end(module.lastindex or 1) :]
    ):
        start = module[1] or module[2]
        return f'{tag}[class*="{start}"]', 0 if _ABOUT_JOBS.search(start) else 1
    if not _NAME.fullmatch(name) or _STATE.fullmatch(name):
        return None
    if _ABOUT_JOBS.search(name) and not re.search(r"\d{2,}", name):
        return f"{tag}.{name}", 0
    if _GENERATED.fullmatch(name):
        return None
    return f"{tag}.{name}", _STYLE_RANK if _STYLE.fullmatch(name) else 1


def tag_selector(node: LexborNode) -> str:
    """The tag as a selector."""
    tag = node.tag or ""
    return tag if re.fullmatch(r"[a-z][a-z0-9-]*", tag) else "*"


def node_selectors(node: LexborNode) -> list[tuple[str, int]]:
    """Selectors for an element by its classes and attributes, with their ranks."""
    tag = tag_selector(node)
    ranked = [by_class for name in class_names(node) if (by_class := class_selector(tag, name))]
    for name in ("itemprop", "data-testid", "data-qa", "data-test", "data-automation-id", "role"):
        value = node.attributes.get(name)
        if value and re.fullmatch(r"[A-Za-z][A-Za-z_ -]{0,40}", value):
            ranked.append((f'{tag}[{name}="{value}"]', 0))
    if "JobPosting" in (node.attributes.get("itemtype") or ""):
        ranked.append((f'{tag}[itemtype*="JobPosting"]', 0))
    return ranked


def card_selectors(tree: LexborHTMLParser, cards: Sequence[LexborNode]) -> Iterator[str]:
    """Selectors that select these elements and few others, the most reliable first."""
    card_ids = {card.mem_id for card in cards}
    ranked: list[tuple[float, int, int, str]] = []
    for css, rank in dict(_proposals(cards)).items():
        selected_ids = {node.mem_id for node in tree.css(css)}
        matched = len(selected_ids & card_ids)
        recall, precision = matched / len(card_ids), matched / (len(selected_ids) or 1)
        # The other selected elements may be postings, too: reading them decides.
        if recall >= 0.75 and precision >= 0.3:
            ranked.append((-round(recall + precision, 1), rank, len(css), css))
    return (css for *_, css in sorted(ranked))


def _proposals(cards: Sequence[LexborNode]) -> Iterator[tuple[str, int]]:
    shared = _common(node_selectors(card) for card in cards)
    yield from shared
    tags = Counter(map(tag_selector, cards))
    tag = tags.most_common(1)[0][0]
    plain = [(css, rank) for css, rank in shared if rank == _STYLE_RANK]
    yield from ((f"{first}{second.removeprefix(tag)}", _STYLE_RANK)
                for (first, _), (second, _) in pairwise(plain))  # fmt: skip
    short = [tag, *(css for css, _ in shared[:3])]
    for level in range(1, _MAX_PARENTS + 1):
        ancestors = [ancestor for card in cards if (ancestor := _ancestor(card, level))]
        combinator = " > " if level == 1 else " "
        for css, rank in _common(_ancestor_selectors(ancestor) for ancestor in ancestors):
            yield from ((f"{css}{combinator}{end}", rank + 1) for end in short)
    for part in _shared_path(cards):
        inner = f'[href*="{part}"]'
        if tag == "a":
            yield f"a{inner}", 2
        else:
            yield f"{tag}:has(> a{inner})", _STYLE_RANK
            yield f"{tag}:has(a{inner})", _STYLE_RANK


def _common(ranked_lists: Iterable[list[tuple[str, int]]]) -> list[tuple[str, int]]:
    """The selectors that most lists have in common, the best first."""
    counts: Counter[tuple[str, int]] = Counter()
    total = 0
    for ranked in ranked_lists:
        total += 1
        counts.update(set(ranked))
    frequent = [ranked for ranked, count in counts.items() if count >= 0.75 * total]
    return sorted(frequent, key=lambda ranked: (ranked[1], len(ranked[0]), ranked[0]))


def _ancestor_selectors(node: LexborNode) -> list[tuple[str, int]]:
    ranked = node_selectors(node)
    id = node.attributes.get("id") or ""
    if _NAME.fullmatch(id) and not re.search(r"\d{2,}", id) and not _GENERATED.fullmatch(id):
        ranked.append((f"#{id}", 0 if _ABOUT_JOBS.search(id) else 1))
    if node.tag in ("main", "article", "section", "table", "tbody", "ul", "ol", "dl"):
        ranked.append((node.tag, _STYLE_RANK))
    return ranked


def _ancestor(node: LexborNode, level: int) -> LexborNode | None:
    ancestor: LexborNode | None = node
    for _ in range(level):
        ancestor = ancestor.parent if ancestor is not None else None
    return (
        ancestor if ancestor is not None and ancestor.tag not in ("html", "-undef", None) else None
    )


def _shared_path(cards: Sequence[LexborNode]) -> list[str]:
    """The URL folder that most links of the cards have in common."""
    folders: Counter[str] = Counter()
    for card in cards:
        link = card if card.tag == "a" else card.css_first("a[href]")
        href = (link.attributes.get("href") or "").partition("?")[0] if link else ""
        folder = href.rstrip("/").rpartition("/")[0].rpartition("//")[2].partition("/")[2]
        if re.fullmatch(r"[A-Za-z0-9_/.-]{2,80}", folder):
            # A year or a number will change.
            folders[re.sub(r"/\d.*", "/", f"/{folder}/")] += 1
    most_common = folders.most_common(1)
    return [
        folder for folder, count in most_common if count >= 0.75 * len(cards) and len(folder) > 2
    ]
