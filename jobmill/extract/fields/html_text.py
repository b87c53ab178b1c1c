"""Convert HTML to plain text: block elements start a new line, scripts are removed.

This uses patterns instead of a parser. Each pattern reads the text once, while a parser that builds
a tree takes quadratic time for tags nested ten thousand levels deep.
"""

from __future__ import annotations

import html as entities
import re

from jobmill.plain_text import remove_invisible, single_line

__all__ = ["clean_text", "from_escaped_html", "from_html", "join_sections", "single_line"]

# As in browsers, an element without an end tag extends to the end, so no pattern has to backtrack.
_INVISIBLE_ELEMENT = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|noscript|template|svg|title|iframe|object)\b[^>]*+(?:>.*?(?:</\1\b[^>]*+>?"
    r"|\Z)|\Z)"
    r"|<[!?][^>]*+>?",
    re.IGNORECASE | re.DOTALL,
)
# A quoted value may contain ">". The bounds prevent repeated scans of a text with unpaired
# quotes.
_TAG_END = r"""\b(?:(?>[^"'>]++|"[^"]{0,400}+"|'[^']{0,400}+'){0,40}+>|[^>]*+>?)"""
_LIST_ITEM = re.compile(rf"<li{_TAG_END}", re.IGNORECASE)
_EMPTY_LIST_ITEM = re.compile(rf"<li{_TAG_END}\s*+</li>", re.IGNORECASE)
_TABLE_ROW = re.compile(rf"<tr{_TAG_END}", re.IGNORECASE)
_TABLE_CELL = re.compile(rf"<t[dh]{_TAG_END}", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:p|div|br|li|[uod]l|h[1-6r]|t[rdh]|table|thead|tbody|tfoot|caption|section|article"
    r"|header"
    r"|footer|main|aside|nav|form|fieldset|legend|figure|figcaption|address|details|summary|center"
    rf"|d[dt]|blockquote|pre|option|button|body|html|head){_TAG_END}",
    re.IGNORECASE,
)
_TAG = re.compile(rf"</?[a-z]{_TAG_END}".replace(r"\b", "", 1), re.IGNORECASE)
_PREFORMATTED = re.compile(r"<pre\b.*?(?:</pre|\Z)", re.IGNORECASE | re.DOTALL)
_ESCAPED_TAG = re.compile(r"&(?:amp;)*lt;/?[a-z]", re.IGNORECASE)
# The entities that an escaper writes; others belong to the HTML. "&amp;" is last, as it produces
# others.
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&"))
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_EMPTY_DASHES = re.compile(r"\n-(?:\s+-)*(?:\s+|\Z)")
_ROW_MARK, _CELL_MARK = "\ue000", "\ue001"


def from_html(html: str | None) -> str | None:
    """Plain text with one line per block and a dash before list items; None if nothing is left."""
    if not html or not (html := _INVISIBLE_ELEMENT.sub("", html) if "<" in html else html):
        return None
    if "<" in html:
        html = _without_tags(html)
    text = clean_text(entities.unescape(html) if "&" in html else html)
    return _tidy_lists(text) if text and "-" in text else text


def from_escaped_html(html: str | None) -> str | None:
    """Like `from_html`, for HTML with tags that may be escaped once or twice (Greenhouse)."""
    for _ in range(3):
        if not html or _TAG.search(html) or not _ESCAPED_TAG.search(html):
            break
        for entity, sign in _ENTITIES:
            html = html.replace(entity, sign)
    return from_html(html)


def clean_text(text: str | None) -> str | None:
    """Collapse spaces and blank lines and remove invisible characters; None if nothing is left."""
    if not text:
        return None
    text = "\n".join([" ".join(line.split()) for line in remove_invisible(text).splitlines()])
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip() or None


def join_sections(*parts: str | None) -> str | None:
    """Join texts with a blank line between them."""
    return "\n\n".join(part for part in parts if part) or None


def _without_tags(html: str) -> str:
    if not _BLOCK_TAG.search(html):
        return _TAG.sub("", html)
    # A line break in the source is a space, unless the HTML has no other line breaks.
    if _PREFORMATTED.search(html):
        html = _PREFORMATTED.sub(lambda part: part[0].replace("\n", "<br>"), html)
    for end in _LINE_ENDS:
        html = html.replace(end, " ")
    html = _LIST_ITEM.sub(
        "\n- ",
        _EMPTY_LIST_ITEM.sub("", _TABLE_CELL.sub(_CELL_MARK, _TABLE_ROW.sub(_ROW_MARK, html))),
    )
    text = _TAG.sub("", _BLOCK_TAG.sub("\n", html))
    return "\n".join(map(_join_cells, text.split(_ROW_MARK))) if _CELL_MARK in text else text


def _join_cells(row: str) -> str:
    """The cells of a row in one line, separated by bars, with the text after the table apart."""
    *cells, last = row.split(_CELL_MARK)
    filled = [cell.strip() for cell in cells if cell.strip()]
    return " | ".join([*filled, last.lstrip()]) if last.strip() else " | ".join(filled)


def _tidy_lists(text: str) -> str:
    """Put the text of a list item next to its dash, remove empty items and blank lines between
    items."""
    # A pattern that starts with a literal is found many times faster than one that starts with "^".
    text = _EMPTY_DASHES.sub("\n- ", f"\n{text}")
    return text.replace("\n\n- ", "\n- ").strip()
