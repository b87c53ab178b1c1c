"""Writes CSS selectors for elements of a page, by names that are likely to stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from selectolax.lexbor import LexborHTMLParser, LexborNode

_NAME = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]{1,60}")
# What a program made up: a hash behind a known prefix, or letters and digits without a word.
_MADE_UP = re.compile(
    r"(?:css|sc|jsx|emotion|svelte|jss|astro|framer|ember|tss|ng)-\w.*|_.*|.*\d{2,}.*"
    r"|[a-z]{1,3}[A-Z][a-z]{0,3}[A-Z][a-z]{0,3}"
)
# "JobList_item__2Xk3d": the name stays, the end changes with each build.
_MODULE = re.compile(
    r"([A-Za-z][A-Za-z-]*_{1,2}[A-Za-z-]+_{1,3})[A-Za-z0-9_+-]{4,8}|([A-Za-z][A-Za-z-]{3,}__)[A-Za-z0-9_+-]{5,8}"
)
_STATE = re.compile(
    r"(?:active|selected|odd|even|first|last|open|opened|closed|hidden|visible|featured|new|current|show"
    r"|collapsed?|expanded|animated?|wow|fade\w*|aos-\w+|is-\w+|has-\w+|js-\w*|loaded|lazy\w*|hover)"
)
_FORM = re.compile(
    r"(?:[mp][trblxyse]?|w|h|min|max|gap|space|col|row|grid|flex|text|bg|border|rounded|shadow|font|d|z|top"
    r"|left|right|bottom|inset|leading|tracking|align|justify|items|content|self|order|offset|float|size"
    r"|opacity|overflow|cursor|transition|duration|ease|transform|scale|rotate|divide|ring|outline|table"
    r"|inline|block|container|wrapper|inner|clearfix|relative|absolute|fixed|sticky|small|large|large"
    r"|medium|xs|sm|md|lg|xl|uppercase|lowercase|capitalize|truncate|underline|no-underline|group|list"
    r"|link|btn|button|card|item|media|column|columns|cell|section|box|wp|elementor|e|vc|fusion|et|x)"
    r"(?:[-_].*)?"
)
_MEANT = re.compile(
    r"job|posit|opening|vacan|career|role|posting|opportunit|stelle|offer|offre|emploi|vaga|vacature|empleo"
    r"|praca|recruit|listing|annons",
    re.IGNORECASE,
)
_PARENTS = 4
_LOOKS = 3
"""The rank of names that say how something looks, not what it is."""


def classes(node: LexborNode) -> list[str]:
    """The names of its classes."""
    return (node.attributes.get("class") or "").split()


def named(tag: str, name: str) -> tuple[str, int] | None:
    """A selector for a class, and how little we trust it; None for one that will not stay."""
    module = _MODULE.fullmatch(name)
    if module and any(
        mark.isdigit() or mark.isupper() for mark in name[module.end(module.lastindex or 1) :]
    ):
        start = module[1] or module[2]
        return f'{tag}[class*="{start}"]', 0 if _MEANT.search(start) else 1
    if not _NAME.fullmatch(name) or _STATE.fullmatch(name):
        return None
    if _MEANT.search(name) and not re.search(r"\d{2,}", name):
        return f"{tag}.{name}", 0
    if _MADE_UP.fullmatch(name):
        return None
    return f"{tag}.{name}", _LOOKS if _FORM.fullmatch(name) else 1


def tag_of(node: LexborNode) -> str:
    """The name of its tag, as a selector can write it."""
    tag = node.tag or ""
    return tag if re.fullmatch(r"[a-z][a-z0-9-]*", tag) else "*"


def of_node(node: LexborNode) -> list[tuple[str, int]]:
    """Selectors that fit an element by itself: by meaning, by class, by tag."""
    tag = tag_of(node)
    found = [one for name in classes(node) if (one := named(tag, name))]
    for name in ("itemprop", "data-testid", "data-qa", "data-test", "data-automation-id", "role"):
        told = node.attributes.get(name)
        if told and re.fullmatch(r"[A-Za-z][A-Za-z_ -]{0,40}", told):
            found.append((f'{tag}[{name}="{told}"]', 0))
    if "JobPosting" in (node.attributes.get("itemtype") or ""):
        found.append((f'{tag}[itemtype*="JobPosting"]', 0))
    return found


def for_cards(tree: LexborHTMLParser, cards: Sequence[LexborNode]) -> Iterator[str]:
    """Selectors that find these elements and few others, the most trusted first."""
    wanted = {card.mem_id for card in cards}
    ranked: list[tuple[float, int, int, str]] = []
    for css, rank in dict(_proposals(cards)).items():
        found = {node.mem_id for node in tree.css(css)}
        hit = len(found & wanted)
        recall, precision = hit / len(wanted), hit / (len(found) or 1)
        # What the selector finds besides may be postings, too: the reading of them decides.
        if recall >= 0.75 and precision >= 0.3:
            ranked.append((-round(recall + precision, 1), rank, len(css), css))
    return (css for *_, css in sorted(ranked))


def _proposals(cards: Sequence[LexborNode]) -> Iterator[tuple[str, int]]:
    own = _common(of_node(card) for card in cards)
    yield from own
    tags = Counter(map(tag_of, cards))
    tag = tags.most_common(1)[0][0]
    plain = [(css, rank) for css, rank in own if rank == _LOOKS]
    yield from ((f"{one}{other.removeprefix(tag)}", _LOOKS)
                for (one, _), (other, _) in pairwise(plain))  # fmt: skip
    short = [tag, *(css for css, _ in own[:3])]
    for level in range(1, _PARENTS + 1):
        above = [up for card in cards if (up := _ancestor(card, level))]
        joint = " > " if level == 1 else " "
        for css, rank in _common(_around(up) for up in above):
            yield from ((f"{css}{joint}{end}", rank + 1) for end in short)
    for part in _shared_path(cards):
        inner = f'[href*="{part}"]'
        if tag == "a":
            yield f"a{inner}", 2
        else:
            yield f"{tag}:has(> a{inner})", _LOOKS
            yield f"{tag}:has(a{inner})", _LOOKS


def _common(told: Iterable[list[tuple[str, int]]]) -> list[tuple[str, int]]:
    """What holds for nearly all of them, the best first."""
    counts: Counter[tuple[str, int]] = Counter()
    total = 0
    for one in told:
        total += 1
        counts.update(set(one))
    often = [one for one, count in counts.items() if count >= 0.75 * total]
    return sorted(often, key=lambda one: (one[1], len(one[0]), one[0]))


def _around(node: LexborNode) -> list[tuple[str, int]]:
    found = of_node(node)
    id = node.attributes.get("id") or ""
    if _NAME.fullmatch(id) and not re.search(r"\d{2,}", id) and not _MADE_UP.fullmatch(id):
        found.append((f"#{id}", 0 if _MEANT.search(id) else 1))
    if node.tag in ("main", "article", "section", "table", "tbody", "ul", "ol", "dl"):
        found.append((node.tag, _LOOKS))
    return found


def _ancestor(node: LexborNode, level: int) -> LexborNode | None:
    found: LexborNode | None = node
    for _ in range(level):
        found = found.parent if found is not None else None
    return found if found is not None and found.tag not in ("html", "-undef", None) else None


def _shared_path(cards: Sequence[LexborNode]) -> list[str]:
    """The folder that their links have in common, as it stands in the page."""
    folders: Counter[str] = Counter()
    for card in cards:
        link = card if card.tag == "a" else card.css_first("a[href]")
        href = (link.attributes.get("href") or "").partition("?")[0] if link else ""
        folder = href.rstrip("/").rpartition("/")[0].rpartition("//")[2].partition("/")[2]
        if re.fullmatch(r"[A-Za-z0-9_/.-]{2,80}", folder):
            # A year or a number is another one tomorrow.
            folders[re.sub(r"/\d.*", "/", f"/{folder}/")] += 1
    often = folders.most_common(1)
    return [folder for folder, count in often if count >= 0.75 * len(cards) and len(folder) > 2]
