"""Requests name their keys; declared keys are inserted just before a request is sent."""

from __future__ import annotations

import base64

import pytest

from jobmill.boards import api_keys
from jobmill.boards.adapters import adzuna, greenhouse, jooble
from jobmill.errors import Unavailable
from jobmill.outside.request import Request

from .adapters import first_request

ENVIRON = {"JOOBLE_API_KEY": "k/1 2", "REED_API_KEY": "reed", "OTHER_API_KEY": "other"}


def test_a_key_in_a_url_is_quoted_and_not_shown() -> None:
    request = first_request("jooble")
    filled = api_keys.insert_keys(request, api_keys.key_names(jooble.PLATFORM), ENVIRON)
    assert filled.private_url == "https://jooble.org/api/k%2F1%202"
    assert filled.url == request.url
    assert "k%2F1" not in repr(filled)


def test_a_header_with_a_key_becomes_secret() -> None:
    request = Request("https://a.example", headers={"X-Key": "{REED_API_KEY}", "Accept": "x"})
    filled = api_keys.insert_keys(request, ("REED_API_KEY",), ENVIRON)
    assert (filled.headers, filled.secret) == ({"Accept": "x"}, {"X-Key": "reed"})
    assert "reed" not in repr(filled)


@pytest.mark.parametrize(("key", "login"), [("reed", "reed:"), ("ann:pass", "ann:pass")])
def test_a_key_for_basic_authentication_is_the_user_name(key: str, login: str) -> None:
    filled = api_keys.insert_keys(first_request("reed"), ("REED_API_KEY",), {"REED_API_KEY": key})
    encoded = filled.secret["Authorization"].removeprefix("Basic ")
    assert base64.b64decode(encoded).decode() == login


def test_only_declared_names_are_replaced() -> None:
    request = Request("https://a.example/{OTHER_API_KEY}", headers={"X": "{OTHER_API_KEY}"})
    filled = api_keys.insert_keys(request, ("REED_API_KEY",), ENVIRON)
    assert (filled.private_url, filled.headers) == ("", {"X": "{OTHER_API_KEY}"})


def test_a_value_that_looks_like_a_name_is_not_replaced_again() -> None:
    environ = {"A_API_KEY": "{B_API_KEY}", "B_API_KEY": "b"}
    request = Request("https://a.example", secret={"X": "{A_API_KEY}"})
    assert api_keys.insert_keys(request, ("A_API_KEY", "B_API_KEY"), environ).secret == {
        "X": "{B_API_KEY}"
    }


@pytest.mark.parametrize("environ", [{}, {"JOOBLE_API_KEY": ""}, {"JOOBLE_API_KEY": " \n"}])
def test_a_missing_key_is_named(environ: dict[str, str]) -> None:
    with pytest.raises(Unavailable, match="JOOBLE_API_KEY"):
        api_keys.insert_keys(first_request("jooble"), ("JOOBLE_API_KEY",), environ)


def test_a_newline_after_a_key_does_not_break_its_header() -> None:
    filled = api_keys.insert_keys(
        Request("https://a.example", secret={"X": "{A_API_KEY}"}),
        ("A_API_KEY",),
        {"A_API_KEY": "a\n"},
    )
    assert filled.secret == {"X": "a"}


def test_missing_keys_are_listed() -> None:
    assert api_keys.missing_keys(adzuna.PLATFORM, None, {"ADZUNA_APP_ID": "1"}) == (
        "ADZUNA_APP_KEY",
    )
    assert api_keys.missing_keys(greenhouse.PLATFORM, None, {}) == ()


def test_a_request_without_keys_is_unchanged() -> None:
    request = Request("https://a.example/{x}?y=%7BREED_API_KEY%7D", secret={"X": "y"})
    assert api_keys.insert_keys(request, ("REED_API_KEY",), ENVIRON) == request
