"""From HTML to text: blocks stay apart, scripts go.

Patterns instead of a parser: each reads the text once, whatever it holds, while a parser that
builds a tree takes quadratic time for tags nested ten thousands deep.
"""

from __future__ import annotations

import html as entities
import re

from jobmill.plain_text import remove_invisible, single_line

__all__ = ["clean_text", "from_escaped_html", "from_html", "join_sections", "single_line"]

# An end that never comes swallows the rest, as in browsers; so no pattern starts over in vain.
UNSEEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|noscript|template|svg|title|iframe|object)\b[^>]*+(?:>.*?(?:</\1\b[^>]*+>?"
    r"|\Z)|\Z)"
    r"|<[!?][^>]*+>?",
    re.IGNORECASE | re.DOTALL,
)
# A quoted value may hold ">". The bounds keep a text of unpaired quotes from being read again and
# again.
REST = r"""\b(?:(?>[^"'>]++|"[^"]{0,400}+"|'[^']{0,400}+'){0,40}+>|[^>]*+>?)"""
ENTRY = re.compile(rf"<li{REST}", re.IGNORECASE)
EMPTY = re.compile(rf"<li{REST}\s*+</li>", re.IGNORECASE)
ROW = re.compile(rf"<tr{REST}", re.IGNORECASE)
CELL = re.compile(rf"<t[dh]{REST}", re.IGNORECASE)
BLOCK = re.compile(
    r"</?(?:p|div|br|li|[uod]l|h[1-6r]|t[rdh]|table|thead|tbody|tfoot|caption|section|article"
    r"|header"
    r"|footer|main|aside|nav|form|fieldset|legend|figure|figcaption|address|details|summary|center"
    rf"|d[dt]|blockquote|pre|option|button|body|html|head){REST}",
    re.IGNORECASE,
)
TAG = re.compile(rf"</?[a-z]{REST}".replace(r"\b", "", 1), re.IGNORECASE)
PRE = re.compile(r"<pre\b.*?(?:</pre|\Z)", re.IGNORECASE | re.DOTALL)
ESCAPED = re.compile(r"&(?:amp;)*lt;/?[a-z]", re.IGNORECASE)
# What an escaper writes; what else there is belongs to the HTML. "&amp;" is last: it makes others.
SIGNS = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&"))
LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
DASHES = re.compile(r"\n-(?:\s+-)*(?:\s+|\Z)")
ROW_MARK, CELL_MARK = "\ue000", "\ue001"


def from_html(html: str | None) -> str | None:
    """Plain text, a line per block and a dash before list entries; None where nothing is left."""
    if not html or not (html := UNSEEN.sub("", html) if "<" in html else html):
        return None
    if "<" in html:
        html = _without_tags(html)
    text = clean_text(entities.unescape(html) if "&" in html else html)
    return _tidy_lists(text) if text and "-" in text else text


def from_escaped_html(html: str | None) -> str | None:
    """The same for HTML whose tags are entities (Greenhouse): once, twice, or not at all."""
    for _ in range(3):
        if not html or TAG.search(html) or not ESCAPED.search(html):
            break
        for entity, sign in SIGNS:
            html = html.replace(entity, sign)
    return from_html(html)


def clean_text(text: str | None) -> str | None:
    """Without spaces that nobody sees; at most one empty line in a row; None if nothing is left."""
    if not text:
        return None
    text = "\n".join([" ".join(line.split()) for line in remove_invisible(text).splitlines()])
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip() or None


def join_sections(*parts: str | None) -> str | None:
    """Sections, one below the other."""
    return "\n\n".join(part for part in parts if part) or None


def _without_tags(html: str) -> str:
    if not BLOCK.search(html):
        return TAG.sub("", html)
    # A line's end in the source is a space, except where nothing else ends lines.
    if PRE.search(html):
        html = PRE.sub(lambda part: part[0].replace("\n", "<br>"), html)
    for end in LINE_ENDS:
        html = html.replace(end, " ")
    html = ENTRY.sub("\n- ", EMPTY.sub("", CELL.sub(CELL_MARK, ROW.sub(ROW_MARK, html))))
    text = TAG.sub("", BLOCK.sub("\n", html))
    return "\n".join(map(_row, text.split(ROW_MARK))) if CELL_MARK in text else text


def _row(row: str) -> str:
    """The cells of a row in one line, a bar between them; what follows the table stays apart."""
    *cells, last = row.split(CELL_MARK)
    filled = [cell.strip() for cell in cells if cell.strip()]
    return " | ".join([*filled, last.lstrip()]) if last.strip() else " | ".join(filled)


def _tidy_lists(text: str) -> str:
    """An entry's text stands beside its dash, entries below one another, empty ones go."""
    # A pattern that begins with a sign is found many times faster than one that begins with "^".
    text = DASHES.sub("\n- ", f"\n{text}")
    return text.replace("\n\n- ", "\n- ").strip()
