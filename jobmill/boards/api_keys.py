"""Inserts API keys into requests just before they are sent; until then, requests only name the
keys."""

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
    """The environment variables that requests to the platform may name."""
    configured: str | None = getattr(config, "api_key_env", None)
    return (*platform.key_names, configured) if configured else platform.key_names


def missing_keys(
    platform: Platform, config: Config | None, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The environment variables that are not set."""
    return tuple(name for name in key_names(platform, config) if not environ.get(name))


def insert_keys(request: Request, allowed: tuple[str, ...], environ: Mapping[str, str]) -> Request:
    """Replace `{NAME}` and `{basic:NAME}` in the URL and headers of a request by the keys.

    Only `allowed` names are replaced. URLs and headers with a key move to fields that are not
    logged. Raises Unavailable with the name of a variable that is not set.
    """
    url = _put(request.url, allowed, environ, lambda value: quote(value, safe=""))
    headers = {name: _put(value, allowed, environ) for name, value in request.headers.items()}
    secret = {name: _put(value, allowed, environ) for name, value in request.secret.items()}
    public = {name: value for name, value in headers.items() if value == request.headers[name]}
    return replace(
        request,
        private_url=url if url != request.url else request.private_url,
        headers=public,
        secret={**{name: headers[name] for name in headers.keys() - public.keys()}, **secret},
    )


def mask_keys(request: Request, allowed: tuple[str, ...], environ: Mapping[str, str]) -> Request:
    """Replace keys that a site has put into its URLs by `{NAME}`."""
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
    """`user:password` for HTTP Basic; a key without a colon is the user."""
    return base64.b64encode((key if ":" in key else f"{key}:").encode()).decode()
