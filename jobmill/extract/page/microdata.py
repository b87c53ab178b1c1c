"""Find postings in the microdata or RDFa attributes of a page."""

from __future__ import annotations

from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .schema_job_posting import SchemaNode

_MAX_PROPERTIES = 400
"""Properties of one item that are read."""
_MAX_DEPTH = 60
_MAX_LENGTH = 2_000_000
"""Characters of all values of a page: nested items would repeat their text at each level."""

# The attributes that start an item, give its type, and name a property.
_DIALECTS = (("itemscope", "itemtype", "itemprop"), ("typeof", "typeof", "property"))
_LINKS = {"a": "href", "link": "href", "img": "src", "time": "datetime", "data": "value"}


def find_job_postings(tree: LexborHTMLParser) -> list[SchemaNode]:
    """The JobPosting items of a page, in the same form as JSON-LD."""
    budget = _MAX_LENGTH
    postings: list[SchemaNode] = []
    for begins, kind, name in _DIALECTS:
        for scope in tree.css(f'[{kind}*="JobPosting"]')[:50]:
            posting, length = _item(scope, begins, name, budget)
            postings.append(posting)
            budget -= length
    return postings


def _item(scope: LexborNode, begins: str, name: str, budget: int) -> tuple[SchemaNode, int]:
    """An item, and the length of its values, which ends once it exceeds the budget."""
    length = 0
    top: SchemaNode = {"@type": "JobPosting"}
    items = {scope.mem_id: top}
    for element in scope.css(f"[{name}]")[:_MAX_PROPERTIES]:
        if length > budget:
            break
        keys = (element.attributes.get(name) or "").split()
        owner = _owner(element, items)
        if owner is None or element.mem_id == scope.mem_id:
            continue
        value: Any = _value(element, keys)
        length += len(value or "")
        if begins in element.attributes:
            # Its text is its name until a property names it: many items contain only text.
            value = items[element.mem_id] = {"@value": value}
        for key in keys:
            _add(owner, key.rpartition(":")[2].rpartition("/")[2], value)
    return top, length


def _owner(element: LexborNode, items: dict[int, SchemaNode]) -> SchemaNode | None:
    node = element.parent
    for _ in range(_MAX_DEPTH):
        if node is None:
            return None
        if node.mem_id in items:
            return items[node.mem_id]
        node = node.parent
    return None


def _value(element: LexborNode, keys: list[str]) -> str | None:
    attributes = element.attributes
    if content := attributes.get("content"):
        return content
    if "description" in keys:
        return element.html
    link = attributes.get(_LINKS.get(element.tag or "", "-"))
    # A link with text that is not a URL property is represented by its text.
    if link and (element.tag != "a" or "url" in keys):
        return link
    return element.text(separator=" ")


def _add(owner: SchemaNode, key: str, value: Any) -> None:
    if key not in owner:
        owner[key] = value
    elif isinstance(owner[key], list):
        owner[key].append(value)
    else:
        owner[key] = [owner[key], value]
