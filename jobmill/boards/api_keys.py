"""Keys of the sites that want one: named in a request, put in just before it goes out."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import quote

from jobmill.errors import Unavailable
from jobmill.outside.request import Request

from .platform import Config, Platform

PLACE = re.compile(r"\{(basic:)?([A-Z][A-Z0-9_]*)\}")


def key_names(platform: Platform, config: Config | None = None) -> tuple[str, ...]:
    """The environment variables that its requests may name, and no others."""
    own: str | None = getattr(config, "api_key_env", None)
    return (*platform.key_names, own) if own else platform.key_names


def missing_keys(
    platform: Platform, config: Config | None, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Which of them are not set."""
    return tuple(name for name in key_names(platform, config) if not environ.get(name))


def insert_keys(request: Request, allowed: tuple[str, ...], environ: Mapping[str, str]) -> Request:
    """The request with `{NAME}` and `{basic:NAME}` replaced in its address and headers.

    Only `allowed` names are; all else in braces stays as it is. What holds a key moves to where
    it is not shown. Unavailable names a variable that is not set.
    """
    url = _put(request.url, allowed, environ, lambda value: quote(value, safe=""))
    headers = {name: _put(value, allowed, environ) for name, value in request.headers.items()}
    secret = {name: _put(value, allowed, environ) for name, value in request.secret.items()}
    shown = {name: value for name, value in headers.items() if value == request.headers[name]}
    return replace(
        request,
        private_url=url if url != request.url else request.private_url,
        headers=shown,
        secret={**{name: headers[name] for name in headers.keys() - shown.keys()}, **secret},
    )


def mask_keys(request: Request, allowed: tuple[str, ...], environ: Mapping[str, str]) -> Request:
    """The request with `{NAME}` for each key that a site has written into an address of its own."""
    url = request.url
    for name in allowed:
        if key := environ.get(name, "").strip():
            url = url.replace(quote(key, safe=""), f"{{{name}}}").replace(key, f"{{{name}}}")
    return replace(request, url=url)


def _put(
    text: str,
    allowed: tuple[str, ...],
    environ: Mapping[str, str],
    quoted: Callable[[str], str] = str,
) -> str:
    def value(place: re.Match[str]) -> str:
        if place[2] not in allowed:
            return place[0]
        key = environ.get(place[2], "").strip()
        if not key:
            raise Unavailable(f"set the environment variable {place[2]} to use this source")
        return quoted(_basic(key) if place[1] else key)

    return PLACE.sub(value, text)


def _basic(key: str) -> str:
    """For HTTP Basic: `user:password`, or a key that stands for the user."""
    return base64.b64encode((key if ":" in key else f"{key}:").encode()).decode()
