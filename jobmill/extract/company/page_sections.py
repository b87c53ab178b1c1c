"""A company's page as what it says: headings with the paragraphs below them, and its data for machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.catalog.company_pages import CompanyPage

from ..page import lenient_json, nesting_limit, page_metadata, text_lines
from ..page.schema_job_posting import Node
from ..page.text_lines import Line

_PARAGRAPH = 45
"""Letters from which on a line is a statement and not a label."""
_LONG = 140
"""And one from here on, whether or not it ends like a sentence."""
_LABEL = 70
_HEADING = re.compile(r"h[1-6]")
_NO_LEVEL = 4
"""How deep a heading is taken to be that is not marked as one."""
_AROUND = frozenset(("nav", "footer", "header", "aside", "form", "dialog"))
_DEEPEST = 40
_NOISE = re.compile(
    r"\bcookies?\b|javascript|your browser|newsletter|privacy (?:policy|notice)|rights reserved|©"
    r"|\bsubscri|\bsign (?:up|in)\b|\blog ?in\b|terms (?:of|and)|unsubscribe|all fields|captcha"
    r"|accept all|lorem ipsum",
    re.IGNORECASE,
)
_ORGANIZATION = re.compile(
    r"(?:Organization|Corporation|LocalBusiness|Company|Store|Agency|ProfessionalService|NGO"
    r"|SoftwareCompany|EducationalOrganization|MedicalBusiness|FinancialService)$"
)
_MOST_VALUES = 20_000


@dataclass(frozen=True, slots=True)
class Block:
    """A line, and the headings it stands under, the widest first."""

    text: str
    headings: tuple[str, ...]
    level: int
    """Of a heading 1 to 6, else 0."""
    around: bool
    """It belongs to the frame of the site: its menu, its footer, a form."""
    linked: bool

    @property
    def is_paragraph(self) -> bool:
        return (
            len(self.text) >= _PARAGRAPH
            and not (self.level or self.around or self.linked)
            and self.text.count(" ") >= 5
            and (len(self.text) >= _LONG or self.text.rstrip("\"'”»)")[-1:] in ".!?:…")
            and not _NOISE.search(self.text)
        )


@dataclass(frozen=True, slots=True)
class Prose:
    url: str
    path: str
    title: str
    description: str
    """What the page says of itself in its head."""
    blocks: tuple[Block, ...]
    organizations: tuple[Node, ...]
    """The schema.org organizations that it states."""

    @property
    def text(self) -> str:
        """All that a reader sees, a line a block."""
        return "\n".join([self.description, *(block.text for block in self.blocks)])

    @property
    def paragraphs(self) -> list[Block]:
        return [block for block in self.blocks if block.is_paragraph]


def read(page: CompanyPage) -> Prose:
    """What a page says."""
    tree = LexborHTMLParser(nesting_limit.limit(page.html.encode("utf-8", "replace")))
    about = page_metadata.read(tree, page.url)
    descriptions = [line for line in about.about.split("\n")[:2] if line]
    return Prose(
        url=page.url,
        path=urlsplit(page.url).path.lower(),
        title=about.title,
        description=max(descriptions, key=len, default=""),
        blocks=tuple(_blocks(text_lines.read(tree.body).lines)),
        organizations=tuple(_organizations(tree)),
    )


def _blocks(found: list[Line]) -> Iterator[Block]:
    above: list[tuple[int, str]] = []
    frames: dict[int, bool] = {}
    for line in found:
        text = line.text
        level = _level(line)
        if level:
            above = [one for one in above if one[0] < level]
        yield Block(
            text,
            tuple(heading for _, heading in above),
            level if _HEADING.fullmatch(line.tag) else 0,
            _is_around(line.block, frames),
            line.linked,
        )
        if level:
            above.append((level, text))


def _level(line: Line) -> int:
    """Of a heading, also of one that is only a short line of its own; else 0."""
    if _HEADING.fullmatch(line.tag):
        return int(line.tag[1])
    short = len(line.text) <= _LABEL and not line.linked and line.text[-1:].isalnum()
    bold = any(run.tag in ("strong", "b") for run in line.runs)
    return _NO_LEVEL if short and (bold or line.tag in ("dt", "legend", "summary")) else 0


def _is_around(node: LexborNode | None, known: dict[int, bool]) -> bool:
    """Whether it lies in the frame of a site; `known` are the elements that were looked at."""
    for _ in range(_DEEPEST):
        if node is None:
            return False
        if node.tag in _AROUND:
            if node.mem_id not in known:
                known[node.mem_id] = not _holds_all(node)
            return known[node.mem_id]
        node = node.parent
    return False


def _holds_all(node: LexborNode) -> bool:
    """Some sites put the whole page into a form or header."""
    return node.css_first("h1") is not None and node.css_first("p") is not None


def _organizations(tree: LexborHTMLParser) -> Iterator[Node]:
    for script in tree.css('script[type*="ld+json"]'):
        for value in _within(lenient_json.values(script.text())):
            kinds = value.get("@type")
            named = cast(list[Any], kinds) if isinstance(kinds, list) else [kinds]
            if any(isinstance(one, str) and _ORGANIZATION.search(one) for one in named):
                yield value


def _within(values: list[Any]) -> Iterator[Node]:
    waiting = values[::-1]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        value: object = waiting.pop()
        if isinstance(value, dict):
            node = cast(Node, value)
            yield node
            # The organization of a posting or a review is somebody else.
            inner = [part for key, part in node.items() if key not in ("review", "author")]
            waiting += inner[::-1]
        elif isinstance(value, list):
            waiting += cast(list[Any], value)[::-1]
