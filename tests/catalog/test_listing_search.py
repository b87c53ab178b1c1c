from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from jobmill.catalog import listing_search
from jobmill.catalog.listing_search import ListingQuery
from jobmill.catalog.posting import Salary
from jobmill.db import Tx
from jobmill.errors import Invalid

from .helpers import TEXT, at, make_source, posting, run


async def titles(tx: Tx, **query: Any) -> list[str | None]:
    return [hit.title for hit in (await listing_search.find(tx, ListingQuery(**query))).hits]


@pytest.fixture
async def shelf(tx: Tx) -> Tx:
    """Listings that differ in every search criterion."""
    source = await make_source(tx)
    pay = Salary(80_000, 100_000, "EUR", "year", "structured")
    await run(tx, source, 0, [
        posting(1, "C++ Engineer", location="Porto, Portugal", arrangement="remote", salary=pay),
        posting(2, ".NET Developer", description="We write C# all day.", company="Brine AG"),
        posting(3, "Java Developer", arrangement="onsite", seniority="senior",
                salary=Salary(40, 60, "USD", "hour", "structured")),
        posting(4, "Cook", description="You make soup. JavaScript is not needed.", employment_type="part_time"),
    ])  # fmt: skip
    return tx


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"words": "c++"}, ["C++ Engineer"]),
        ({"words": "c#"}, [".NET Developer"]),
        ({"words": ".net"}, [".NET Developer"]),
        ({"words": "java"}, ["Java Developer", "Cook"]),
        ({"words": '"java"'}, ["Java Developer"]),
        ({"words": "java developer"}, ["Java Developer"]),
        ({"words": "developer jav"}, ["Java Developer"]),
        ({"words": "soup or eng"}, ["Cook", "C++ Engineer"]),
        ({"words": "developer -jav"}, ["Java Developer", ".NET Developer"]),
        ({"words": "developer - jav"}, ["Java Developer", ".NET Developer"]),
        ({"words": "developer (-java)"}, [".NET Developer"]),
        # A hyphen at the end of a word excludes nothing.
        ({"words": "cook- or engineer"}, ["Cook", "C++ Engineer"]),
        ({"words": '"make sou"'}, []),
        ({"words": "no"}, []),
        ({"words": "po", "arrangement": "remote"}, ["C++ Engineer"]),
        ({"words": "developer -java"}, [".NET Developer"]),
        ({"words": '"make soup"'}, ["Cook"]),
        ({"words": "cook or engineer", "sort": "best"}, ["Cook", "C++ Engineer"]),
        ({"company": "brine"}, [".NET Developer"]),
        ({"location": "portugal"}, ["C++ Engineer"]),
        ({"arrangement": "onsite"}, ["Java Developer"]),
        ({"seniority": "senior"}, ["Java Developer"]),
        ({"employment_type": "part_time"}, ["Cook"]),
        ({"min_salary": 110_000}, ["Java Developer"]),
        ({"state": "closed"}, []),
        ({"since": at(1)}, []),
        ({"words": "' ; \" ) -- :* &|!"}, []),
    ],
)
async def test_listings_are_found_by_words_and_fields(
    shelf: Tx, query: dict[str, Any], expected: list[str]
) -> None:
    assert sorted(await titles(shelf, **query), key=str) == sorted(expected)


@pytest.mark.parametrize("sort", ["newest", "best"])
async def test_paging_shows_each_listing_once_while_listings_arrive(tx: Tx, sort: Any) -> None:
    source = await make_source(tx)
    await run(
        tx, source, 0, [posting(id, f"Pump {id}", description=f"text {id}") for id in range(23)]
    )
    query, shown, after = ListingQuery(words="pump", sort=sort), [], None
    for page in range(10):
        result = await listing_search.find(tx, query, after=after, limit=5)
        shown += [hit.id for hit in result.hits]
        later = posting(100 + page, f"Pump {100 + page}", description=f"text {100 + page}")
        await run(tx, source, page + 1, [later], outcome="truncated")
        after = result.next
        if after is None:
            break
    assert len(shown) == len(set(shown))
    assert len(shown) >= 23


async def test_a_search_for_rare_words_keeps_the_limits_of_its_transaction(tx: Tx) -> None:
    """A connection pooler keeps no settings of a session: each transaction sets its own limits."""
    await tx.execute("SET LOCAL statement_timeout = '7s'")
    await listing_search.find_rare(tx, ListingQuery(words="pump"))
    for name, value in (("statement_timeout", "7s"), ("enable_seqscan", "on")):
        cursor = await tx.execute("SELECT current_setting(%s)", [name])
        assert await cursor.fetchone() == (value,)


async def test_an_invalid_cursor_is_refused(tx: Tx) -> None:
    beyond = base64.urlsafe_b64encode(b'["newest", "2026-01-01T00:00:00+00:00", 1e30]').decode()
    deep = base64.urlsafe_b64encode(b"[" * 100_000).decode()
    endless = base64.urlsafe_b64encode(
        b'["newest", "2026-01-01T00:00:00+00:00", Infinity]'
    ).decode()
    for wrong in ("x", "e30", "WyJiZXN0IiwgMSwgMV0", "a" * 1000, beyond, deep, endless):
        with pytest.raises(Invalid):
            await listing_search.find(tx, ListingQuery(), after=wrong)
    with pytest.raises(Invalid, match="words"):
        await listing_search.find(tx, ListingQuery(sort="best"))


async def test_duplicates_are_shown_only_on_request(tx: Tx) -> None:
    original = posting(1)
    copy = replace(original, vendor_id="2", url="https://copy.example/1/2", via="X", platform="x")
    await run(tx, await make_source(tx), 0, [original, copy])
    hits = (await listing_search.find(tx, ListingQuery())).hits
    assert [hit.others for hit in hits] == [1]
    assert len((await listing_search.find(tx, ListingQuery(duplicates=True))).hits) == 2


async def test_a_closed_listing_does_not_hide_its_open_duplicate(tx: Tx) -> None:
    source = await make_source(tx)
    first = posting(1, location="Porto", locations=("Porto",), posted_at=at(-2_000))
    again = replace(first, vendor_id="2", url=f"{first.url}/2", posted_at=at(0))
    await run(tx, source, 0, [first])
    await run(tx, source, 1, [again])
    (hit,) = (await listing_search.find(tx, ListingQuery())).hits
    assert hit.url.endswith("/2")
    assert len((await listing_search.find(tx, ListingQuery(state="all"))).hits) == 1
    assert len((await listing_search.find(tx, ListingQuery(state="closed"))).hits) == 1


async def test_a_duplicate_is_found_by_its_own_place(
    tx: Tx,
) -> None:
    posts = [
        posting(place, location=place, locations=(place,), requisition_id="R-77", description=TEXT)
        for place in ("Porto", "Lisbon", "Faro", "Lisbon, Portugal")
    ]
    await run(tx, await make_source(tx), 0, posts)
    assert len((await listing_search.find(tx, ListingQuery())).hits) == 1
    hits = (await listing_search.find(tx, ListingQuery(location="lisbon"))).hits
    assert [hit.location for hit in hits] == ["Lisbon"]


async def test_excluded_words_may_contain_special_characters(shelf: Tx) -> None:
    assert await titles(shelf, words="developer -.net") == ["Java Developer"]
    assert await titles(shelf, words="engineer -c++") == []


TITLES = [
    "Registered Nurse, Nursing Administration",
    "Occupational Therapist",
    "Organizational Development and Staffing Manager",
    "Full-Stack Engineering Management",
    "Security Operations Supervisor",
    "Business Analyst, Analytics",
]


async def test_a_listing_stays_found_while_a_word_of_its_title_is_typed(tx: Tx) -> None:
    await run(tx, await make_source(tx), 0, [posting(n, title) for n, title in enumerate(TITLES)])
    missed = [
        (title, word[:length])
        for title in TITLES
        for word in title.replace(",", "").split()
        for length in range(1, len(word) + 1)
        if word != "and" and title not in await titles(tx, words=word[:length])
    ]
    assert missed == []


@pytest.mark.parametrize(
    "words",
    [
        *("'", "\\", "\\'", "it\\'", "a'b", "':*", ":*", "nurse :*", "!", "!!x", "(a | b", "a<->b"),
        *('"', '""', '"a', '" -', "-", "- -", "or", "or or", "a or", "$$", "%s", "%(x)s", "\u0301"),
        *(
            "x" * 5_000,
            "y " * 5_000,
            "'" * 2_500,
            "-" * 2_500,
            "<-" * 100,
            '"' * 2_501,
            "\\" * 2_501,
            "(" * 500,
        ),
    ],
)
async def test_no_input_is_an_error(shelf: Tx, words: str) -> None:
    for last in ("", " jav", "jav"):
        await titles(shelf, words=words + last)
        await titles(shelf, words=last + words)
