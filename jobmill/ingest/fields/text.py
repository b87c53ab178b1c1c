"""From HTML to text: blocks stay apart, scripts go."""

from __future__ import annotations

import html as entities
import re

from selectolax.lexbor import LexborHTMLParser

BLOCKS = re.compile(
    r"<(/?)(p|div|br|li|ul|ol|h[1-6]|tr|table|section|article|header|footer|hr|dd|dt|blockquote|pre)\b[^>]*>",
    re.IGNORECASE,
)


def from_html(html: str | None) -> str | None:
    """Plain text with a line per block and a dash before list entries; None where nothing is left."""
    if not html:
        return None
    marked = BLOCKS.sub(
        lambda tag: "\n- " if tag[1] == "" and tag[2].lower() == "li" else "\n", html
    )
    tree = LexborHTMLParser(marked)
    tree.strip_tags(["script", "style", "noscript", "template"], recursive=True)
    return clean(tree.body.text() if tree.body else None)


def from_escaped(html: str | None) -> str | None:
    """The same for HTML whose tags are written as entities (Greenhouse)."""
    return from_html(entities.unescape(html)) if html else None


def clean(text: str | None) -> str | None:
    """Without spaces that nobody sees; at most one empty line in a row; None where nothing is left."""
    if not text:
        return None
    lines = (" ".join(line.split()) for line in text.replace("\x00", "").splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() or None


def line(text: object) -> str | None:
    """One line of text, entities resolved; None where nothing is left or it is no text."""
    return " ".join(entities.unescape(text).split()) or None if isinstance(text, str) else None


def join(*parts: str | None) -> str | None:
    """Sections, one below the other."""
    return "\n\n".join(part for part in parts if part) or None
