"""Detects the charset of a body; the content counts more than the declared charset."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LATIN = {"iso8859-1", "ascii"}
# Python codecs that pages use; others are slow (punycode) or unsafe (utf-7).
_ALLOWED_CODECS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|iso8859-\d+|cp\d{3,4}|koi8-[rtu]|mac-\w+|gb2312|gbk|gb18030"
    r"|big5(hkscs)?|shift_jis|euc_(jp|kr)|iso2022_jp|tis-620|ascii"
)
_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE | re.ASCII)
_IN_PAGE = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)"
    rb"|<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w.:-]+)",
    re.IGNORECASE,
)
_HEAD = 4096
_SAMPLE = 256 * 1024
"""Bytes by which a body is judged; this runs on the event loop."""
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xf4][\x80-\xbf]{2,3}")


def find_charset(content_type: str, body: bytes) -> str | None:
    """The charset by the byte order mark, otherwise UTF-8 if the body is valid UTF-8, otherwise as
    declared in the header or page; None if none of these can decode the body."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return name
    named = [name for name in map(_python_name, _declared_labels(content_type, body)) if name]
    # Text in another charset is almost never valid UTF-8 by accident, except for 7-bit shift codes
    # and UTF-16 with zero bytes.
    shifty = [name for name in named if _looks_like_utf8_by_accident(name, body)]
    for name in [*shifty, "utf-8", *named]:
        if _can_decode(body, name):
            return name
    return "utf-8" if _is_damaged_utf8(body) else None


def _declared_labels(content_type: str, body: bytes) -> list[str]:
    header = _IN_HEADER.search(content_type)
    page = _IN_PAGE.search(body[:_HEAD])
    labels = [header[1]] if header else []
    return labels + ([(page[1] or page[2]).decode("ascii")] if page else [])


def _python_name(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    # Browsers also read Latin-1 as Windows-1252.
    return ("cp1252" if name in _LATIN else name) if _ALLOWED_CODECS.fullmatch(name) else None


def _looks_like_utf8_by_accident(name: str, body: bytes) -> bool:
    zeros = b"\0" in body[:_HEAD]
    return name == "iso2022_jp" or (name.startswith("utf-16") and zeros)


def _can_decode(body: bytes, name: str) -> bool:
    try:
        # Not final: a truncated body may end within a character.
        codecs.getincrementaldecoder(name)().decode(body)
    except UnicodeError:
        return False
    return name != "utf-16" or b"\0" in body[:_HEAD]


def _is_damaged_utf8(body: bytes) -> bool:
    """UTF-8 with a few invalid bytes, which must not change the charset of all other characters."""
    first = _NOT_ASCII.search(body)
    sample = body[first.start() : first.start() + _SAMPLE] if first else b""
    # Not final: the sample may end within a character.
    damage = codecs.getincrementaldecoder("utf-8")("replace").decode(sample).count("\ufffd")
    return sum(1 for _ in _UTF8_LETTER.finditer(sample)) > 4 * damage
