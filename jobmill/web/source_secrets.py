"""Show the addresses and the configuration of sources without the secrets in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import SplitResult, quote, urlsplit

HIDDEN = "•••"
SECRET = re.compile(
    r"(?<![a-z])(?:api_?key|key|token|secret|passw(?:or)?d|auth|authorization|sig(?:nature)?)(?![a-z])",
    re.IGNORECASE,
)
NOT_SECRET = frozenset({"board_token", "api_key_env", "api_key_name", "auth_type"})
"""Settings that SECRET matches although they are not secret."""


def is_secret(name: str) -> bool:
    """Whether the value of a setting with this name must not be shown."""
    return name == "headers" or (name not in NOT_SECRET and bool(SECRET.search(name)))


def redact_config(name: str, value: Any) -> Any:
    """The value of a setting, or of a part of one, with every possible secret replaced."""
    if isinstance(value, Mapping):
        parts = cast("Mapping[str, Any]", value)
        hidden = bool(name) and is_secret(name)
        return {key: HIDDEN if hidden else redact_config(key, part) for key, part in parts.items()}
    if name and is_secret(name):
        return HIDDEN
    if isinstance(value, list | tuple):
        return [redact_config("", element) for element in cast("Sequence[Any]", value)]
    return hide_secrets(value) if isinstance(value, str) else value


def hide_secrets(text: str) -> str:
    """A URL with possible secrets replaced; any other text unchanged."""
    if "://" not in text:
        return text
    try:
        parts = urlsplit(text)
    except ValueError:
        return text
    query = "&".join(_hide_parameter(parameter) for parameter in parts.query.split("&"))
    return parts._replace(netloc=_hide_userinfo(parts), query=query).geturl()


def _hide_userinfo(parts: SplitResult) -> str:
    userinfo, at, host = parts.netloc.rpartition("@")
    return f"{quote(HIDDEN)}@{host}" if at and userinfo else host


def _hide_parameter(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}={HIDDEN}" if equals and SECRET.search(name) else parameter
