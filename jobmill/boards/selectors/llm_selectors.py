"""Asks a language model for selectors, with a reduced skeleton of the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import escape

from pydantic import BaseModel, Field
from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.extract.fields import html_text
from jobmill.outside.model_question import ModelQuestion

PROMPT_VERSION = "selectors-1"
MAX_SKELETON_LENGTH = 20_000
"""The maximum length of a skeleton."""
_MAX_TEXT_LENGTH = 60
_MAX_DEPTH = 60
MAX_SIMILAR_ELEMENTS = 4
"""The number of similar elements in a row that are shown."""
_DROPPED_TAGS = """
    script style svg noscript template iframe head link meta img picture video audio canvas footer nav
    form input select option textarea object source path use br hr"""
_DROPPED = frozenset(_DROPPED_TAGS.split())
_SHOWN_ATTRIBUTES = (
    "id",
    "class",
    "href",
    "itemprop",
    "itemtype",
    "rel",
    "datetime",
    "data-testid",
    "aria-label",
)

INSTRUCTIONS = """
The document is the skeleton of a company's careers page: tags, a few attributes, the beginning of each text.
Find the list of open positions, and give CSS selectors for it. `job_list` selects each position's element, one for
each position. The others are relative to it: `title` the position's name, `link` its link, `location`, `posted_date`,
`salary`, `company`. `next_button` selects the link to the next page of the list.
Prefer names that say what a thing is; avoid names that look generated, and nth-child. Leave null what the page does not
show. If the page lists no open positions, `job_list` and `title` are null. Navigation, articles, people and departments are
no positions.
"""


class ProposedSelectors(BaseModel):
    """The answer of the model."""

    job_list: str | None = Field(None, max_length=300)
    title: str | None = Field(None, max_length=300)
    link: str | None = Field(None, max_length=300)
    location: str | None = Field(None, max_length=300)
    company: str | None = Field(None, max_length=300)
    posted_date: str | None = Field(None, max_length=300)
    salary: str | None = Field(None, max_length=300)
    next_button: str | None = Field(None, max_length=300)

    def selectors(self) -> dict[str, str]:
        """The selectors that the model named."""
        return self.model_dump(exclude={"next_button"}, exclude_none=True)


def selector_question(
    skeleton: str, *, item: int | None = None, run: str | None = None
) -> ModelQuestion[ProposedSelectors]:
    return ModelQuestion(
        tier="cheap",
        purpose="selectors",
        instructions=INSTRUCTIONS,
        text=skeleton,
        answer_type=ProposedSelectors,
        prompt_version=PROMPT_VERSION,
        max_tokens=1_000,
        item=item,
        run=run,
    )


def skeleton(tree: LexborHTMLParser) -> str:
    """The elements that show the structure of the page, in at most `MAX_SKELETON_LENGTH` characters."""
    lines: list[str] = []
    size = 0
    root = tree.css_first("main") or tree.body
    for line in _lines(root, 0) if root is not None else ():
        size += len(line) + 1
        if size > MAX_SKELETON_LENGTH:
            break
        lines.append(line)
    return "\n".join(lines)


def _lines(node: LexborNode, level: int) -> Iterator[str]:
    text = html_text.single_line("".join(_own_texts(node)))
    yield f"{' ' * min(level, 12)}<{node.tag}{_attributes(node)}>{escape((text or '')[:_MAX_TEXT_LENGTH])}"
    similar: Counter[str] = Counter()
    for child in node.iter() if level < _MAX_DEPTH else ():
        if child.tag in _DROPPED:
            continue
        kind = f"{child.tag} {child.attributes.get('class')}"
        similar[kind] += 1
        if similar[kind] <= MAX_SIMILAR_ELEMENTS:
            yield from _lines(child, level + 1)


def _own_texts(node: LexborNode) -> Iterator[str]:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            yield child.text_content or ""


def _attributes(node: LexborNode) -> str:
    attributes = ((name, node.attributes.get(name)) for name in _SHOWN_ATTRIBUTES)
    short = ((name, re.sub(r"\s+", " ", value)[:100]) for name, value in attributes if value)
    return "".join(f' {name}="{escape(value)}"' for name, value in short)
