"""Find the data that page scripts start with (Next.js, Nuxt, assigned JSON)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

from selectolax.lexbor import LexborNode

from . import lenient_json

_MAX_TRIES = 40
"""Positions in one script that are tried as the start of JSON."""
_ASSIGNED = re.compile(r'[=(]\s{0,20}(?=\{\s{0,20}"|\[\s{0,20}\{)')
_QUOTED = re.compile(r'JSON\.parse\(\s{0,20}("(?:[^"\\]+|\\.)*+")', re.DOTALL)
_STREAMED = re.compile(r"__next_f\.push\((?=\[)")
_ROW = re.compile(r"^[0-9a-f]{1,6}:(?=[\[{])", re.MULTILINE)
# Each pattern starts with plain letters, which are found fast.
_LONG_TEXTS = tuple(
    re.compile(name + r'\\{0,2}"\s{0,5}:\s{0,5}\\{0,2}"(?:[^"\\]|\\.){100}', re.DOTALL)
    for name in (r"escription\w{0,10}", "ontent", "body")
)
_MAX_DEPTH = 6


def find_script_data(scripts: list[LexborNode]) -> Iterator[Any]:
    """Every object or list that the scripts of a page contain or assign."""
    stream: list[str] = []
    for script in scripts:
        code = script.text()
        kind = script.attributes.get("type") or ""
        if "__next_f" in code:
            stream += _pushed_strings(code)
        elif script.attributes.get("id") == "__NUXT_DATA__" or (
            "ld+json" not in kind and _may_hold_description(code)
        ):
            yield from (
                map(_restore_nuxt_data, lenient_json.parse_values(code))
                if "json" in kind
                else _assigned_values(code)
            )
    yield from _streamed_values("".join(stream))


def _may_hold_description(code: str) -> bool:
    """Whether the script has a long text under a name used for descriptions; most scripts have
    none."""
    return "itle" in code and any(text.search(code) for text in _LONG_TEXTS)


def _assigned_values(code: str) -> Iterator[Any]:
    """Values that are assigned or passed as JSON, or parsed from a quoted string."""
    for quoted in islice(_QUOTED.finditer(code), _MAX_TRIES):
        for inner in lenient_json.parse_values(f"[{quoted[1]}]"):
            yield from lenient_json.parse_values(str(inner[0]))
    at = 0
    for _ in range(_MAX_TRIES):
        begin = _ASSIGNED.search(code, at)
        if not begin:
            return
        value, at = lenient_json.parse_value_at(code, begin.end())
        if value is not None:
            yield value


def _pushed_strings(code: str) -> Iterator[str]:
    for begin in islice(_STREAMED.finditer(code), _MAX_TRIES):
        value, _ = lenient_json.parse_value_at(code, begin.end())
        if isinstance(value, list):
            yield from (part for part in cast(list[Any], value) if isinstance(part, str))


def _streamed_values(rows: str) -> Iterator[Any]:
    """The rows of a streamed page: a number, a colon, JSON."""
    for begin in islice(_ROW.finditer(rows), 10 * _MAX_TRIES):
        value, _ = lenient_json.parse_value_at(rows, begin.end())
        if value is not None:
            yield value


def _restore_nuxt_data(value: Any) -> Any:
    """Rebuild Nuxt 3 data, in which values are indexes into one flat list."""
    flat = cast(list[Any], value) if isinstance(value, list) else []
    if not (len(flat) > 20 and any(isinstance(value, str) for value in flat)):
        return cast(Any, value)
    records = [cast(dict[str, Any], entry) for entry in flat if isinstance(entry, dict)]
    return [_resolve(entry, flat, _MAX_DEPTH) for entry in records if "title" in entry]


def _resolve(value: Any, flat: list[Any], depth: int) -> Any:
    def there(place: Any) -> Any:
        is_reference = isinstance(place, int) and 0 <= place < len(flat) and depth > 0
        return _resolve(flat[place], flat, depth - 1) if is_reference else place

    if isinstance(value, dict):
        return {key: there(reference) for key, reference in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [there(reference) for reference in cast(list[Any], value)[:50]]
    return value
