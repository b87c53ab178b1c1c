"""HTML from strangers, as a tree, and the posting that a vendor's page states in it."""

from __future__ import annotations

import re
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.ingest import foreign
from jobmill.ingest.fields import text
from jobmill.ingest.page import structured
from jobmill.ingest.page.schema import from_schema

TAG = re.compile(r"<(/?)([a-z][a-z0-9-]{0,30})", re.IGNORECASE)
# These have no end tag, or do without: they stand beside each other, not inside.
FLAT = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "dd",
        "dt",
        "embed",
        "hr",
        "img",
        "input",
        "li",
        "link",
        "meta",
        "option",
        "p",
        "param",
        "source",
        "td",
        "th",
        "tr",
        "wbr",
    ]
)
DEEPEST = 5_000


def tree(body: bytes) -> LexborHTMLParser:
    """The page; OutsideError for one so deeply nested that reading it would take minutes."""
    html = foreign.page(body)
    if html.count("<") > DEEPEST and _too_deep(html):
        raise OutsideError("the page is nested too deeply", permanent=True)
    return LexborHTMLParser(html)


def _too_deep(html: str) -> bool:
    levels: dict[str, int] = {}
    for tag in TAG.finditer(html):
        name = tag[2].lower()
        if name not in FLAT:
            level = levels[name] = max(0, levels.get(name, 0) + (-1 if tag[1] else 1))
            if level > DEEPEST:
                return True
    return False


def stated(page: LexborHTMLParser, url: str, department: str = "") -> Posting | None:
    """The one posting that a page states as JSON-LD; None where it states none or several.
    `department` is where the vendor puts it."""
    found = [
        (one, node)
        for node in structured.nodes(page.css("script"))
        if (one := from_schema(node, url))
    ]
    if len(found) != 1:
        return None
    one, node = found[0]
    return replace(one, department=one.department or text.line(node.get(department)))


def posting(body: bytes, url: str, department: str = "") -> Posting:
    """The posting that a page states; OutsideError where it states none."""
    found = stated(tree(body), url, department)
    if found is None:
        raise OutsideError("the page states no posting: it may be gone", permanent=True)
    return found
