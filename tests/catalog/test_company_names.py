# ruff: noqa: RUF001 (letters that look alike are what this is about)
from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.boards.name_matching import names_company
from jobmill.catalog import company_names


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Acme", "ACME, Inc."),
        ("Acme", "  Acme  ,  Inc.  "),
        ("Acme", "Acme Corporation Ltd"),
        ("Acme", "Acme GmbH & Co. KG"),
        ("Acme", "Acme S.A."),
        ("Acme", "Acme S.p.A."),
        ("Acme", "Acme SpA"),
        ("Acme", "Acme Sp. z o.o."),
        ("Acme", "Acme S.A. de C.V."),
        ("Acme", "Acme A/S"),
        ("Acme", "Acme AS"),
        ("Acme", "Acme Pty Ltd"),
        ("Acme", "Acme Careers"),
        ("Acme", "Acme Inc. Jobs"),
        ("Acme", "ＡＣＭＥ"),
        ("株式会社北風", "北風"),
        ("北風株式会社", "北風"),
        ("ﬁne Oak", "Fine Oak"),
        ("Fjord & Sons", "Fjord and Sons"),
        ("O'Hara", "OHara"),
        ("BlueFjord", "Blue Fjord"),
        ("İzmir Tekstil", "Izmir Tekstil"),
        ("IŞIK", "Işık"),
        ("Brontë", unicodedata.normalize("NFD", "Brontë")),
        ("Żuraw", unicodedata.normalize("NFD", "Żuraw")),
        ("Fenster Weiß", "FENSTER WEISS"),
    ],
)
def test_spellings_of_one_company_have_the_same_key(name: str, other: str) -> None:
    assert company_names.same_company(name, other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Škoda", "Koda"),
        ("Škoda", "Skoda"),
        ("Żubr", "Zubr"),
        ("Ėmė", "Eme"),
        ("Ġenerali", "Generali"),
        ("Brontë", "Bront"),
        ("北風", "南風"),
        ("Harbour Day Spa", "Harbour Day"),
        ("Acme Group", "Acme"),
        ("Acme Labs", "Acme"),
        ("Limited", "Company"),
        ("", ""),
        (None, None),
    ],
)
def test_different_companies_have_different_keys(name: str | None, other: str | None) -> None:
    assert not company_names.same_company(name, other)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Limited", "limited"),
        ("AG", "ag"),
        ("株式会社", "株式会社"),
        ("The Company", "the"),
        ("H2O.example", "h2o example"),
        (None, ""),
        ("", ""),
        ("!?", ""),
    ],
)
def test_a_key_is_never_empty(name: str | None, key: str) -> None:
    assert company_names.company_key(name) == key


@given(st.text(st.characters(categories=["L", "N"]), min_size=1))
def test_letters_and_numbers_of_any_script_make_a_key(name: str) -> None:
    assert company_names.company_key(name)


@given(st.text())
def test_composed_and_decomposed_forms_have_one_key(name: str) -> None:
    composed, apart = (unicodedata.normalize(form, name) for form in ("NFC", "NFD"))
    assert company_names.company_key(composed) == company_names.company_key(apart)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("  Acme \n Inc. ", "Acme Inc."),
        ("Acme Careers", "Acme"),
        ("Acme | Jobs", "Acme"),
        ("Careers", "Careers"),
        ("Steve Jobs Archive", "Steve Jobs Archive"),
        (None, ""),
    ],
)
def test_a_name_is_shown_without_careers(name: str | None, shown: str) -> None:
    assert company_names.display_name(name) == shown


@pytest.mark.parametrize(
    ("text", "name", "named"),
    [
        ("About\nWe are Acme Robotics, Inc. and build robots.", "ACME Robotics GmbH", True),
        ("We are Škoda.", "Skoda", True),
        ("株式会社リクルート", "リクルート", True),
        ("We build robots. Careers", "Careers", True),
        ("We build robots.", "Acme", False),
    ],
)
def test_a_name_is_found_in_a_text_in_every_spelling(text: str, name: str, named: bool) -> None:
    assert names_company(text, name) is named


def test_a_text_in_which_a_name_is_searched_is_not_kept() -> None:
    names_company("We are Acme. " * 1_000, "Acme")
    before = company_names.company_key.cache_info().misses
    company_names.company_key("We are Acme. " * 1_000)
    assert company_names.company_key.cache_info().misses == before + 1
