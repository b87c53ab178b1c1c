"""Remote OK: a legal notice first, zero for no salary, wrongly decoded text, words generated per
reader."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import remoteok
from jobmill.catalog.posting import Posting, Salary

from . import answer, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("remoteok", answer("remoteok/feed.json"), {}).postings


def test_the_legal_notice_is_neither_a_posting_nor_a_stub() -> None:
    page = read("remoteok", answer("remoteok/feed.json"), {})
    assert [posting.title for posting in page.postings] == ["Map Reader", "Chart Maker"]
    assert page.stubs == 0


def test_a_feed_with_only_the_notice_is_empty() -> None:
    assert read("remoteok", b'[{"legal": "x", "last_updated": 1}]', {}).postings == ()


def test_a_salary_of_zero_is_unknown(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary is None
    assert postings[1].salary == Salary(60000, 90000, "USD", "year", "structured")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("donâ\x80\x99t", "don\u2019t"),
        ("donâ€™t", "don\u2019t"),
        ("CafÃ©", "Café"),
        ("10Â€", "10Â€"),
        ("São Paulo", "São Paulo"),
        ("ð\x9f\x9a\x80", "🚀"),
        ("Übergröße, naïve, Ångström", "Übergröße, naïve, Ångström"),
    ],
)
def test_wrongly_decoded_characters_are_repaired(wrong: str, right: str) -> None:
    assert remoteok.fix_encoding(wrong) == right


def test_words_generated_for_each_reader_are_removed(postings: tuple[Posting, ...]) -> None:
    assert postings[0].description == (
        "You don\u2019t get lost.\n\nPlease mention the word and tag when applying to show you read"
        " the job post completely. This is a beta feature to avoid spam applicants."
    )


def test_company_location_and_date_are_read(postings: tuple[Posting, ...]) -> None:
    posting, other = postings
    assert (posting.company, posting.location, posting.arrangement) == (
        "Café Nord",
        "Oslo",
        "remote",
    )
    assert other.posted_at
    assert (other.location, other.apply_url) == (None, None)


def test_a_tag_narrows_the_feed() -> None:
    assert (
        remoteok.first_request(remoteok.RemoteOkFeed(tag="Dev Ops")).url
        == "https://remoteok.com/api?tags=dev-ops"
    )
