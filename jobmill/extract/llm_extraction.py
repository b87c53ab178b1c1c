"""Ask a cheap language model for a posting that no rule could read, and keep only words of the
page."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict
from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog.posting import Posting
from jobmill.outside.model_question import ModelQuestion
from jobmill.places import location_text

from .fields import dates, salary, work_arrangement
from .fields import html_text as texts
from .fields.missing_fields import fill_missing_fields
from .page import nesting_limit, page_metadata, visible_lines
from .page.visible_lines import TextLine

PROMPT_VERSION = "1"
MAX_TOKENS = 1_500

MAX_TEXT_LENGTH = 16_000
"""Characters of a page that are sent to the model."""
_MAX_HTML_LENGTH = 4_000_000
_MAX_VALUE_LENGTH = 200
"""Characters of a title, a name or a place."""
_MIN_DESCRIPTION_LENGTH = 80
"""A shorter description is incomplete."""

INSTRUCTIONS = """\
The document is the text of a web page. If it is one job posting, copy from it, verbatim, the words that
say each thing. Leave null what it does not say; do not infer, translate or complete. If it is no
posting, or a list of several, leave all of it null. Every answer is looked up in the page, and dropped
if it is not there."""

_TAG = re.compile(r"<(?:!doctype|html|head|body|div|p|br|h[1-6]|ul|table|section|main|span|a)\b", re.IGNORECASE)  # fmt: skip
_WORD_SEPARATOR = r"[\s*•·-]+"
"""Words of a page may be separated by a line break and a bullet."""
_APOSTROPHE = re.compile("['\u2018\u2019]")


class ExtractedWords(BaseModel):
    """Words of a page, as the model copied them."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    title: str | None = None
    """Of the posting, without company and place."""
    company: str | None = None
    """The employer; not the site that shows the posting."""
    location: str | None = None
    arrangement: str | None = None
    """The words that say whether it is remote, hybrid or on site."""
    salary: str | None = None
    """With its currency and period."""
    posted: str | None = None
    """The date, or how long ago."""
    first_words: str | None = None
    """The first 5 to 8 words of the description."""
    last_words: str | None = None
    """Its last 5 to 8 words, before buttons, forms and other postings."""


def build_question(
    text: str, *, item: int | None, run: str | None
) -> ModelQuestion[ExtractedWords]:
    """The question to the model about the visible text of a page."""
    return ModelQuestion(
        tier="cheap",
        purpose="read page",
        instructions=INSTRUCTIONS,
        text=text,
        answer_type=ExtractedWords,
        prompt_version=PROMPT_VERSION,
        max_tokens=MAX_TOKENS,
        item=item,
        run=run,
    )


def visible_text(html_or_text: str, url: str) -> str:
    """The visible text of a page, its title first."""
    if not _TAG.search(html_or_text):
        return (texts.clean_text(html_or_text[:_MAX_HTML_LENGTH]) or "")[:MAX_TEXT_LENGTH]
    html = html_or_text.encode(errors="replace")[:_MAX_HTML_LENGTH]
    tree = LexborHTMLParser(nesting_limit.truncate_deep_html(html))
    lines = [_format_line(line) for line in visible_lines.read_lines(tree.body).lines]
    return (
        texts.clean_text("\n".join([page_metadata.read_metadata(tree, url).title, *lines])) or ""
    )[:MAX_TEXT_LENGTH]


def _format_line(line: TextLine) -> str:
    return f"- {line.text}" if line.tag == "li" else line.text


def build_posting(extracted: ExtractedWords, text: str, url: str) -> Posting | None:
    """The posting in the words of the page; None if its text does not contain the title."""
    title = _find_line(extracted.title, text)
    if not title:
        return None
    place = _find_line(extracted.location, text)
    return fill_missing_fields(
        Posting(
            title=title,
            url=url,
            company=_find_line(extracted.company, text),
            location=place if place and location_text.names_place(place) else None,
            arrangement=work_arrangement.from_label(_find_line(extracted.arrangement, text)),
            salary=salary.from_text(_find_line(extracted.salary, text)),
            posted_at=dates.parse_date(_find_line(extracted.posted, text)),
            description=_description(extracted, text),
        )
    )


def _find_line(words: str | None, text: str) -> str | None:
    """The words as the page writes them."""
    match = _find(words, text)
    return texts.single_line(match[0]) if match else None


def _description(extracted: ExtractedWords, text: str) -> str | None:
    """The text between the first and last words of the description, else the whole page."""
    first = _find(extracted.first_words, text)
    start = first.start() if first else 0
    last = _find(extracted.last_words, text, start)
    end = last.end() if last else len(text)
    return texts.clean_text(text[start:end] if end - start >= _MIN_DESCRIPTION_LENGTH else text)


def _find(words: str | None, text: str, start: int = 0) -> re.Match[str] | None:
    """Find words in the text, whatever their case and the spaces between them."""
    parts = (words or "").split()
    if not any(map(str.isalnum, words or "")) or len(" ".join(parts)) > _MAX_VALUE_LENGTH:
        return None
    inner = _APOSTROPHE.sub(_APOSTROPHE.pattern, _WORD_SEPARATOR.join(map(re.escape, parts)))
    # Only whole words: "Cook" is not in "Cookies".
    pattern = re.compile(rf"(?<!\w){inner}(?!\w)", re.IGNORECASE)
    return pattern.search(text, start)
