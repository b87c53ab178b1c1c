from __future__ import annotations

import tracemalloc

import pytest

from jobmill.outside.charset import find_charset
from jobmill.outside.request import Ok

GERMAN, POLISH, JAPANESE, RUSSIAN = "Köln und Zürich", "Łódź, Kraków", "東京の求人です", "Москва"

CASES = [
    ("nobody says anything", "", GERMAN.encode(), GERMAN),
    ("nobody says anything, and it is not UTF-8", "", GERMAN.encode("cp1252"), GERMAN),
    ("the header is right", "a/b; charset=ISO-8859-2", POLISH.encode("iso-8859-2"), POLISH),
    ("the header in quotes", 'a/b; charset="koi8-r"', RUSSIAN.encode("koi8-r"), RUSSIAN),
    ("the header is wrong", "a/b; charset=iso-8859-1", GERMAN.encode(), GERMAN),
    ("the header is wrong the other way", "a/b; charset=utf-8", GERMAN.encode("cp1252"), GERMAN),
    ("the header says nonsense", "a/b; charset=klingon", GERMAN.encode(), GERMAN),
    ("Latin-1 means the Windows one", "a/b; charset=latin1", b"\x80 50", "€ 50"),
    ("Shift_JIS", "a/b; charset=shift_jis", JAPANESE.encode("shift_jis"), JAPANESE),
    ("shifting 7-bit codes", "a/b; charset=iso-2022-jp", JAPANESE.encode("iso2022_jp"), JAPANESE),
    ("a mark wins", "a/b; charset=latin1", b"\xef\xbb\xbf" + GERMAN.encode(), GERMAN),
    ("UTF-16 with a mark", "", b"\xff\xfe" + GERMAN.encode("utf-16-le"), GERMAN),
    ("UTF-16 without", "a/b; charset=utf-16le", GERMAN.encode("utf-16-le"), GERMAN),
    ("UTF-16 that is none", "a/b; charset=utf-16", b"plain text!!", "plain text!!"),
    ("UTF-7 is a trick", "a/b; charset=utf-7", b"+ADw-script", "+ADw-script"),
    ("so is punycode", "a/b; charset=punycode", b"Mnchen-3ya", "Mnchen-3ya"),
    ("and what is no charset", "a/b; charset=zlib", b"text", "text"),
]  # fmt: skip


@pytest.mark.parametrize(("content_type", "body", "text"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])  # fmt: skip
def test_a_body_is_decoded_by_its_actual_charset(content_type: str, body: bytes, text: str) -> None:
    assert Ok("", body, charset=find_charset(content_type, body)).text == text


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="iso-8859-2">',
        "<META CHARSET=iso-8859-2>",
        '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2">',
        '<?xml version="1.0" encoding="ISO-8859-2"?>',
    ],
)
def test_a_charset_declared_in_the_page_is_used(head: str) -> None:
    assert find_charset("text/html", (head + POLISH).encode("iso-8859-2")) == "iso8859-2"


def test_one_invalid_byte_does_not_change_the_charset() -> None:
    body = (GERMAN * 9).encode() + b"\xff!"
    assert Ok("", body, charset=find_charset("", body)).text == GERMAN * 9 + "\ufffd!"


def test_a_body_cut_within_a_character_is_still_utf8() -> None:
    assert find_charset("", GERMAN.encode()[:2]) == "utf-8"


def test_a_large_body_is_judged_by_its_first_letters() -> None:
    letters = "\u00e4".encode() * 140_000
    assert find_charset("", b"x" * 300_000 + letters + b"\xff!" * 140_000) == "utf-8"
    assert find_charset("", b"x" * 300_000 + b"\xff!" * 140_000 + letters) is None


def test_the_letters_of_a_large_body_are_not_kept() -> None:
    """It is judged on the event loop: not every letter of 32 MB may become an object there."""
    body = b"x" * 300_000 + "\u00e4".encode() * 1_000_000 + b"\xff!"
    tracemalloc.start()
    try:
        assert find_charset("", body) == "utf-8"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000
