"""Pages of one question: what each asks otherwise than the first."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from jobmill.outside.request import Request


def beyond(first: Request, request: Request) -> dict[str, Any]:
    """What `request` asks otherwise than `first`, by name, and None for what it leaves out.

    Two that differ in more than order never have the same, unless a site moves a name from its
    address to its body.
    """
    before, now = _asked(first), _asked(request)
    gone: dict[str, Any] = dict.fromkeys(sorted(before.keys() - now.keys()))
    return {name: one for name, one in now.items() if before.get(name) != one} | gone


def _asked(request: Request) -> dict[str, Any]:
    parts = urlsplit(request.url)
    found: dict[str, list[Any]] = {
        "at": [parts._replace(query="").geturl()],
        "method": [request.method],
    }
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        found.setdefault(name, []).append(text)
    for name, one in _body(request).items():
        # Told apart from what the address says under the same name.
        found[name] = [*found[name], {"body": one}] if name in found else [one]
    return {name: ones[0] if len(ones) == 1 else ones for name, ones in found.items()}


def _body(request: Request) -> dict[str, Any]:
    body = request.json
    if isinstance(body, dict):
        return cast(dict[str, Any], body)
    return {} if body is None else {"body": body}
