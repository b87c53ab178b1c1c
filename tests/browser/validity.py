"""Check HTML against the parts of the standard that our pages use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from justhtml import Element, JustHTML

GLOBAL = (
    "autocapitalize autofocus class dir draggable hidden id inert itemid itemprop itemscope itemtype lang popover role "
    "spellcheck tabindex title translate"
)
OWN = {
    "a": "download href hreflang ping referrerpolicy rel target type",
    "button": "disabled form formaction formmethod formnovalidate name popovertarget "
    "popovertargetaction type value",
    "col": "span",
    "data": "value",
    "details": "name open",
    "dialog": "open closedby",
    "fieldset": "disabled form name",
    "form": "accept-charset action autocomplete enctype method name novalidate target",
    "html": "",
    "iframe": "height loading name sandbox src width",
    "img": "alt decoding height loading src srcset sizes width",
    "input": "accept autocomplete capture checked dirname disabled form inputmode list max "
    "maxlength min minlength multiple name pattern placeholder readonly required size step type "
    "value",
    "label": "for",
    "li": "value",
    "link": "as href hreflang media rel sizes type",
    "meta": "charset content http-equiv media name property",
    "meter": "high low max min optimum value",
    "ol": "reversed start type",
    "optgroup": "disabled label",
    "option": "disabled label selected value",
    "output": "for form name",
    "progress": "max value",
    "script": "async defer src type",
    "select": "autocomplete disabled form multiple name required size",
    "td": "colspan headers rowspan",
    "textarea": "autocomplete disabled form maxlength minlength name placeholder readonly required "
    "rows cols wrap",
    "th": "abbr colspan headers rowspan scope",
    "time": "datetime",
}
PLAIN = (
    "abbr address article aside b bdi bdo blockquote body br caption cite code colgroup dd del dfn "
    "div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 head header hgroup hr i ins kbd legend "
    "main mark menu nav noscript p pre q s samp search section small span strong sub summary sup "
    "table tbody template tfoot thead title tr u ul var wbr datalist"
)
OPEN_ENDED = ("data-", "aria-", "hx-")
BLOCK = (
    "address article aside blockquote details dialog div dl fieldset figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr main nav ol p pre section table ul"
)
PHRASING = (
    "abbr b bdi button cite code dfn em h1 h2 h3 h4 h5 h6 i kbd label mark output p pre q s samp "
    "small span strong sub sup time u var"
)
"""Elements that hold only text and inline elements."""
INTERACTIVE = "a button details input label select textarea"
CHILDREN = {
    "ul": "li template script",
    "ol": "li template script",
    "dl": "dt dd div template script",
    "table": "caption colgroup thead tbody tfoot",
    "thead": "tr",
    "tbody": "tr template script",
    "tr": "td th template script",
    "select": "option optgroup hr button",
}
REFERENCES = (
    "for", "form", "list", "popovertarget", "aria-labelledby", "aria-describedby", "aria-controls",
    "data-open", "data-copy",
)  # fmt: skip
UNLABELLED = "hidden submit button reset image"


def _in(word: str | None, words: str) -> bool:
    return word in words.split()


def faults(html: str) -> list[str]:
    """All problems with their lines."""
    parsed = JustHTML(html, sanitize=False, collect_errors=True, track_node_locations=True)
    nodes = list(_elements(parsed.root))
    problems = [f"line {error.line}: {error.code}" for error in parsed.errors]
    for check in (_attributes, _nesting, _references, _labels, _outline):
        problems += check(nodes)
    return problems


def _elements(node: object) -> Iterator[Element]:
    if isinstance(node, Element):
        yield node
    for child in getattr(node, "children", None) or ():
        yield from _elements(child)


def _said(node: Element) -> str:
    attrs = node.attrs
    named = attrs.get("id") or attrs.get("name") or attrs.get("class") or ""
    return f"line {node.origin_line}: <{node.name} {named}>"


def _is_html(node: Element) -> bool:
    return node.namespace in (None, "html")


def _attributes(nodes: Sequence[Element]) -> Iterator[str]:
    for node in nodes:
        bad = [name for name in node.attrs if name == "style" or name.startswith("on")]
        if _is_html(node):
            if node.name not in OWN and not _in(node.name, PLAIN):
                yield f"{_said(node)} is no element that we know"
            allowed = {*GLOBAL.split(), *OWN.get(node.name, "").split()}
            bad += [
                name
                for name in node.attrs
                if not name.startswith(OPEN_ENDED) and name not in allowed
            ]
        for name in dict.fromkeys(bad):
            yield f"{_said(node)} may not have {name}"


def _above(node: Element) -> Iterator[Element]:
    parent = node.parent
    while isinstance(parent, Element):
        yield parent
        parent = parent.parent


def _nesting(nodes: Sequence[Element]) -> Iterator[str]:
    for node in filter(_is_html, nodes):
        parent = node.parent
        within = CHILDREN.get(parent.name, node.name) if isinstance(parent, Element) else node.name
        if not _in(node.name, within):
            yield f"{_said(node)} stands directly in another than its own"
        for outer in _above(node):
            if _in(node.name, BLOCK) and _in(outer.name, PHRASING):
                yield f"{_said(node)} stands in <{outer.name}>"
            if _in(node.name, INTERACTIVE) and outer.name in ("a", "button"):
                yield f"{_said(node)} stands in <{outer.name}>"
            if node.name == outer.name == "form":
                yield f"{_said(node)} stands in a form"


def _references(nodes: Sequence[Element]) -> Iterator[str]:
    ids = Counter(node.attrs["id"] for node in nodes if "id" in node.attrs)
    yield from (f"id {target} stands {many} times" for target, many in ids.items() if many > 1)
    for node in filter(_is_html, nodes):
        for name in REFERENCES:
            for target in (node.attrs.get(name) or "").split():
                if target not in ids:
                    yield f"{_said(node)}: {name}={target} leads nowhere"
        href = node.attrs.get("href") or ""
        if href.startswith("#") and href[1:] not in ids:
            yield f"{_said(node)}: {href} leads nowhere"


def _labels(nodes: Sequence[Element]) -> Iterator[str]:
    labelled = {node.attrs.get("for") for node in nodes if node.name == "label"}
    for node in filter(_is_html, nodes):
        attrs = node.attrs
        if attrs.get("aria-label") or attrs.get("aria-labelledby"):
            continue
        if node.name in ("input", "select", "textarea") and not _in(attrs.get("type"), UNLABELLED):
            inside = any(ancestor.name == "label" for ancestor in _above(node))
            if not inside and attrs.get("id") not in labelled:
                yield f"{_said(node)} has no label"
        if node.name in ("button", "a") and not node.to_text().strip() and not _pictured(node):
            yield f"{_said(node)} says nothing"


def _pictured(node: Element) -> bool:
    return any(element.attrs.get("alt") or element.name == "title" for element in _elements(node))


def _outline(nodes: Sequence[Element]) -> Iterator[str]:
    def all_(is_meant: Callable[[Element], bool]) -> list[Element]:
        return [node for node in nodes if _is_html(node) and is_meant(node)]

    for name in ("h1", "main", "title"):
        if len(all_(lambda node, name=name: node.name == name)) != 1:
            yield f"there must be one <{name}>"
    yield from (
        f"{_said(heading)} has no alt"
        for heading in all_(lambda node: node.name == "img")
        if "alt" not in heading.attrs
    )
    yield from (
        f"{_said(heading)} has no scope"
        for heading in all_(lambda node: node.name == "th")
        if "scope" not in heading.attrs
    )
    inside = all_(lambda node: _in(node.name, "h1 h2 h3 h4 h5 h6"))
    levels = [
        int(heading.name[1])
        for heading in inside
        if any(up.name == "main" for up in _above(heading))
    ]
    yield from (
        f"<h{after}> follows <h{before}>"
        for before, after in pairwise(levels)
        if after > before + 1
    )
