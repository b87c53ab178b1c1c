from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog.posting import Posting
from jobmill.catalog.posting_identity import (
    fingerprint,
    identity,
    jaccard_similarity,
    shingles,
    split_words,
)

POSTING = Posting(
    "Welder",
    "https://acme.example/careers/10042",
    "Acme Inc.",
    "Oslo",
    description="You weld hulls at night.\n- You like the sea",
)
TEXT = " ".join(f"word{number}" for number in range(200))


def alike(first: str | None, second: str | None) -> float:
    return jaccard_similarity(shingles(split_words(first)), shingles(split_words(second)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"platform": "greenhouse", "board": "Acme", "vendor_id": "7"}, "greenhouse:acme:7"),
        ({"platform": "workday", "board": "acme/Site", "vendor_id": "R7"}, "workday:acme/Site:R7"),
        ({"platform": "x", "board": "a:b", "vendor_id": "c"}, "x:a%3Ab:c"),
        (
            {"url": "https://job-boards.greenhouse.io/Acme/jobs/7?gh_src=x"},
            "greenhouse:acme:7",
        ),
        ({"vendor_id": "7"}, "url:https://acme.example/careers/10042"),
        ({"url": "http://www.acme.example/careers/10042/?utm_source=x"}, "url:https://acme.example/careers/10042"),
    ],
)  # fmt: skip
def test_the_most_reliable_identity_is_used(changes: dict[str, str], expected: str) -> None:
    assert identity(replace(POSTING, **changes), PLATFORM_RULES) == expected


def test_without_a_url_the_identity_is_company_title_and_place() -> None:
    bare = replace(POSTING, url="")
    assert identity(bare, PLATFORM_RULES) == identity(
        replace(bare, title="WELDER (m/f/d)", company="acme"), PLATFORM_RULES
    )
    for changed in ({"title": "Painter"}, {"company": "Apex"}, {"location": "Bergen"}):
        assert identity(replace(bare, **changed), PLATFORM_RULES) != identity(bare, PLATFORM_RULES)


def test_postings_on_the_same_list_page_have_different_identities() -> None:
    listed = replace(POSTING, url="https://acme.example/careers")
    assert identity(listed, PLATFORM_RULES) != identity(
        replace(listed, title="Painter"), PLATFORM_RULES
    )
    assert identity(listed, PLATFORM_RULES) == identity(
        replace(listed, description="Other words"), PLATFORM_RULES
    )


def test_the_fingerprint_depends_on_the_content_only() -> None:
    same = replace(
        POSTING,
        title="WELDER  (m/f/d)",
        company="acme",
        url="",
        vendor_id="8",
        location="Bergen",
        description="<p>You weld hulls, at night.</p> <li>You LIKE the sea</li>",
    )
    assert fingerprint(same) == fingerprint(POSTING)
    for changed in ({"title": "Painter"}, {"company": "Apex"}, {"description": "You paint"}):
        assert fingerprint(replace(POSTING, **changed)) != fingerprint(POSTING)


def test_similar_texts_are_similar() -> None:
    assert alike(TEXT, TEXT.upper()) == 1
    assert alike(TEXT, TEXT.replace("word50 ", "other ")) == pytest.approx(0.96, abs=0.01)
    assert alike(TEXT, TEXT.replace("word", "other")) == 0
    assert alike("船を溶接する仕事です", "船を溶接する仕事です。") == 1
    assert alike("船を溶接する仕事です", "海で魚を釣るのが好き") < 0.2


@given(st.text(), st.text())
def test_similarity_is_symmetric_and_between_0_and_1(first: str, second: str) -> None:
    assert 0 <= alike(first, second) <= 1
    assert alike(first, second) == alike(second, first)


def test_an_empty_text_is_similar_to_nothing() -> None:
    assert alike("", "") == alike(None, TEXT) == 0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://wells.example/posts/1", True),
        ("https://wells.example/careers/pump-engineer", True),
        ("https://wells.example/careers", False),
        ("https://wells.example/about/careers", False),
        ("https://wells.example/about/careers/", False),
        ("https://wells.example/company/people#pump-engineer", False),
        ("https://wells.example/", False),
    ],
)
def test_a_page_below_another_belongs_to_one_posting(url: str, expected: bool) -> None:
    renamed = [
        identity(Posting(title, url), PLATFORM_RULES) for title in ("Pump Engineer", "Diver")
    ]
    assert (renamed[0] == renamed[1]) == expected
