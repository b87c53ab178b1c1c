"""The text of a listing as HTML, shared by all platforms."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from jobmill.demo.state import DemoListing

from .. import roles


def html(listing: DemoListing) -> str:
    parts = [f"<p>{escape(listing.intro)}</p>"]
    for head, lines in sections(listing):
        parts.append(f"<h3>{escape(head)}</h3>{bullets(lines)}")
    return "".join([*parts, closing(listing)])


def sections(listing: DemoListing) -> list[tuple[str, Sequence[str]]]:
    words = roles.PHRASES[listing.company.language]
    parts = [
        (words.duties, listing.duties),
        (words.required, listing.required),
        (words.nice, listing.nice),
    ]
    return [(head, lines) for head, lines in parts if lines]


def bullets(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def closing(listing: DemoListing) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in listing.closing)
