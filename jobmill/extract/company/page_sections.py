"""Read a company page as headings with the text below them, and its schema.org organizations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.catalog.company_pages import CompanyPage

from ..page import lenient_json, nesting_limit, page_metadata, visible_lines
from ..page.schema_job_posting import SchemaNode
from ..page.visible_lines import TextLine

_MIN_PARAGRAPH = 45
"""Characters from which a line is a statement and not a label."""
_LONG_PARAGRAPH = 140
"""Characters from which a line is a statement even if it does not end like a sentence."""
_MAX_HEADING = 70
_HEADING = re.compile(r"h[1-6]")
_UNMARKED_HEADING_LEVEL = 4
"""Level of a heading that has no heading tag."""
_FRAME_TAGS = frozenset(("nav", "footer", "header", "aside", "form", "dialog"))
_MAX_DEPTH = 40
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
_MAX_VALUES = 20_000


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A line and the headings above it, the highest level first."""

    text: str
    headings: tuple[str, ...]
    level: int
    """1 to 6 for a heading, else 0."""
    in_frame: bool
    """It belongs to the frame of the site: a menu, the footer or a form."""
    is_link: bool

    @property
    def is_paragraph(self) -> bool:
        return (
            len(self.text) >= _MIN_PARAGRAPH
            and not (self.level or self.in_frame or self.is_link)
            and self.text.count(" ") >= 5
            and (len(self.text) >= _LONG_PARAGRAPH or self.text.rstrip("\"'”»)")[-1:] in ".!?:…")
            and not _NOISE.search(self.text)
        )


@dataclass(frozen=True, slots=True)
class PageSections:
    url: str
    path: str
    title: str
    description: str
    """The description in the head of the page."""
    blocks: tuple[PageBlock, ...]
    organizations: tuple[SchemaNode, ...]
    """The schema.org organizations in the page."""

    @property
    def text(self) -> str:
        """All visible text, one line for each block."""
        return "\n".join([self.description, *(block.text for block in self.blocks)])

    @property
    def paragraphs(self) -> list[PageBlock]:
        return [block for block in self.blocks if block.is_paragraph]


def read_sections(page: CompanyPage) -> PageSections:
    """Parse a page into its sections."""
    tree = LexborHTMLParser(nesting_limit.truncate_deep_html(page.html.encode("utf-8", "replace")))
    metadata = page_metadata.read_metadata(tree, page.url)
    descriptions = [line for line in metadata.description.split("\n")[:2] if line]
    return PageSections(
        url=page.url,
        path=urlsplit(page.url).path.lower(),
        title=metadata.title,
        description=max(descriptions, key=len, default=""),
        blocks=tuple(_blocks(visible_lines.read_lines(tree.body).lines)),
        organizations=tuple(_organizations(tree)),
    )


def _blocks(lines: list[TextLine]) -> Iterator[PageBlock]:
    above: list[tuple[int, str]] = []
    frames: dict[int, bool] = {}
    for line in lines:
        text = line.text
        level = _level(line)
        if level:
            above = [(outer, heading) for outer, heading in above if outer < level]
        yield PageBlock(
            text,
            tuple(heading for _, heading in above),
            level if _HEADING.fullmatch(line.tag) else 0,
            _is_in_frame(line.block, frames),
            line.is_link,
        )
        if level:
            above.append((level, text))


def _level(line: TextLine) -> int:
    """The level of a heading, with or without a heading tag; 0 for other lines."""
    if _HEADING.fullmatch(line.tag):
        return int(line.tag[1])
    short = len(line.text) <= _MAX_HEADING and not line.is_link and line.text[-1:].isalnum()
    bold = any(run.tag in ("strong", "b") for run in line.runs)
    return (
        _UNMARKED_HEADING_LEVEL
        if short and (bold or line.tag in ("dt", "legend", "summary"))
        else 0
    )


def _is_in_frame(node: LexborNode | None, frames: dict[int, bool]) -> bool:
    """Whether an element is in the frame of the site; `frames` caches the answer for each element."""
    for _ in range(_MAX_DEPTH):
        if node is None:
            return False
        if node.tag in _FRAME_TAGS:
            if node.mem_id not in frames:
                frames[node.mem_id] = not _holds_page(node)
            return frames[node.mem_id]
        node = node.parent
    return False


def _holds_page(node: LexborNode) -> bool:
    """Whether the element contains the whole page: some sites wrap it in a form or header."""
    return node.css_first("h1") is not None and node.css_first("p") is not None


def _organizations(tree: LexborHTMLParser) -> Iterator[SchemaNode]:
    for script in tree.css('script[type*="ld+json"]'):
        for value in _walk(lenient_json.parse_values(script.text())):
            kinds = value.get("@type")
            named = cast(list[Any], kinds) if isinstance(kinds, list) else [kinds]
            if any(isinstance(name, str) and _ORGANIZATION.search(name) for name in named):
                yield value


def _walk(values: list[Any]) -> Iterator[SchemaNode]:
    waiting = values[::-1]
    for _ in range(_MAX_VALUES):
        if not waiting:
            return
        value: object = waiting.pop()
        if isinstance(value, dict):
            node = cast(SchemaNode, value)
            yield node
            # A review is about another organization, or written by one.
            inner = [part for key, part in node.items() if key not in ("review", "author")]
            waiting += inner[::-1]
        elif isinstance(value, list):
            waiting += cast(list[Any], value)[::-1]
