"""A listing's text as HTML: all vendors take it from here, each in its own wrapping."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from jobmill.demo import roles
from jobmill.demo.world import Listing


def html(one: Listing) -> str:
    """The whole text."""
    parts = [f"<p>{escape(one.intro)}</p>"]
    for head, lines in sections(one):
        parts.append(f"<h3>{escape(head)}</h3>{bullets(lines)}")
    return "".join([*parts, closing(one)])


def sections(one: Listing) -> list[tuple[str, Sequence[str]]]:
    words = roles.WORDS[one.company.language]
    found = [(words.duties, one.duties), (words.required, one.required), (words.nice, one.nice)]
    return [(head, lines) for head, lines in found if lines]


def bullets(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def closing(one: Listing) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in one.closing)
