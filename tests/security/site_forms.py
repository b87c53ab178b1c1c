"""Finds every page and form of the site, so that a new one is attacked by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx2
from selectolax.lexbor import LexborHTMLParser, LexborNode

HTML = {"Accept": "text/html"}
MAX_PAGES = 300
# These end what the walk needs: the visitor's own session or key, or the demo.
LEFT_OUT = re.compile(r"/(?:sign-out|sign-in|my/forget|people/keys/\d+/end|account/|demo|live)")
TEXT_TYPES = ("text", "search", "url", "email", "tel", "password", "hidden", "")
SAMPLES = {"email": "mallory@example.org", "url": "https://acme.example/jobs", "number": "1"}


@dataclass(frozen=True)
class SiteForm:
    method: str
    action: str
    values: Mapping[str, str]
    """The values that a browser would send."""
    texts: tuple[str, ...]
    """The fields that take any text."""

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for the forms of one route."""
        return (self.method, re.sub(r"\d+", "0", urlsplit(self.action).path), *sorted(self.values))


@dataclass
class SiteWalk:
    pages: dict[str, httpx2.Response] = field(default_factory=dict[str, httpx2.Response])
    forms: dict[tuple[str, ...], SiteForm] = field(default_factory=dict[tuple[str, ...], SiteForm])


async def walk_site(client: httpx2.AsyncClient, start: list[str]) -> SiteWalk:
    """Follow links from the start pages; one page of each kind is enough."""
    walk, queue, kinds = SiteWalk(), list(start), dict[str, int]()
    while queue and len(walk.pages) < MAX_PAGES:
        path = queue.pop(0)
        kind = _kind(path)
        if path in walk.pages or LEFT_OUT.search(path) or kinds.get(kind, 0) >= 1:
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        answer = await client.get(path, headers=HTML)
        walk.pages[path] = answer
        if "html" in answer.headers.get("content-type", ""):
            tree = LexborHTMLParser(answer.text)
            queue += _links(tree, path)
            for form in _forms(tree, path):
                walk.forms.setdefault(form.key, form)
    return walk


def _kind(url: str) -> str:
    """Equal for pages that differ only in their numbers or in what they filter by."""
    path, _, query = url.partition("?")
    names = sorted(part.partition("=")[0] for part in query.split("&"))
    return f"{re.sub(r'[0-9]+', '0', path)}?{'&'.join(names)}"


def _links(tree: LexborHTMLParser, path: str) -> Iterator[str]:
    for node in tree.css("a[href]"):
        url = urljoin(path, urldefrag(node.attributes["href"] or "")[0])
        if url.startswith("/") and not url.startswith("//"):
            yield url


def _forms(tree: LexborHTMLParser, path: str) -> Iterator[SiteForm]:
    for node in tree.css("form"):
        action = urljoin(path, node.attributes.get("action") or path)
        if not action.startswith("/") or LEFT_OUT.search(action):
            continue
        values, texts = dict[str, str](), list[str]()
        for control in node.css("input[name], textarea[name], select[name], button[name]"):
            name = control.attributes["name"] or ""
            kind = (control.attributes.get("type") or "").lower()
            if control.tag == "textarea" or (control.tag == "input" and kind in TEXT_TYPES):
                texts.append(name)
            if (value := _value(control, kind)) is not None:
                values.setdefault(name, value)
        method = (node.attributes.get("method") or "get").upper()
        yield SiteForm(method, action, values, tuple(dict.fromkeys(texts)))


def _value(control: LexborNode, kind: str) -> str | None:
    if control.tag == "select":
        options = control.css("option")
        chosen = next((node for node in options if "selected" in node.attributes), None)
        chosen = chosen or (options[0] if options else None)
        return (chosen.attributes.get("value") or chosen.text()) if chosen else None
    if kind in ("radio", "checkbox") and "checked" not in control.attributes:
        return None
    if kind in ("file", "submit", "reset"):
        return None
    text = control.text() if control.tag == "textarea" else control.attributes.get("value")
    return text or SAMPLES.get(kind, "")
