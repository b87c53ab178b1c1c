"""Reads a posting from the text of a job that a person pasted, without a page or a URL."""

from __future__ import annotations

import html
import re
from dataclasses import replace

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid
from jobmill.extract.page import page_reader

MIN_LENGTH = 100
"""A shorter text cannot be scored."""
MAX_LENGTH = 200_000
MAX_TITLE_LENGTH = 200
_BULLET = re.compile(r"\s*(?:[-*•·\u2013]|\d{1,2}[.)])\s+")
_TITLE_LABEL = re.compile(r"\s*(?:job ?title|title|position|role)\s*:\s*", re.IGNORECASE)
_AT_COMPANY = re.compile(r"(.{3,120}?)\s+(?:at|@)\s+([A-Z0-9][\w&.,' -]{1,80})")


def read_pasted_text(text: str) -> Posting:
    """The posting; its description is the whole text. Invalid if the text is too short."""
    text = text.replace("\x00", "").replace("\r\n", "\n").strip()[:MAX_LENGTH]
    if len(text) < MIN_LENGTH:
        raise Invalid(
            f"paste the whole text of the job: at least {MIN_LENGTH} characters, got {len(text)}"
        )
    title, company = _title_and_company(text)
    reading = page_reader.read_posting(_to_html(text, title), "", expected=True)
    posting = reading.posting or Posting(title, "")
    return replace(
        posting,
        title=title,
        url="",
        company=company or posting.company,
        description=text,
        apply_url=posting.apply_url or None,
    )


def _title_and_company(text: str) -> tuple[str, str | None]:
    """The title is the first line; it may name the company after "at"."""
    first = _TITLE_LABEL.sub("", text.partition("\n")[0], count=1).strip()[:MAX_TITLE_LENGTH]
    match = _AT_COMPANY.fullmatch(first)
    return (match[1], match[2].strip(" .,")) if match else (first, None)


def _to_html(text: str, title: str) -> str:
    """The text as the page that it was copied from, for the reader of pages."""
    lines = [
        f"<li>{html.escape(_BULLET.sub('', line, count=1))}</li>"
        if _BULLET.match(line)
        else f"<p>{html.escape(line)}</p>"
        for line in text.split("\n")[1:]
        if line.strip()
    ]
    return f"<html><body><h1>{html.escape(title)}</h1>{''.join(lines)}</body></html>"
