from __future__ import annotations

import datetime as dt
from dataclasses import asdict, replace
from typing import Any, LiteralString

import pytest

from jobmill.catalog import listing_search
from jobmill.db import Tx
from jobmill.matching import inbox, matches
from jobmill.matching.matches import MatchQuery
from tests.matching import judged

PLENTY = 3_000
PATIENT = dt.timedelta(seconds=10)


async def crowd(tx: Tx) -> judged.Place:
    """A profile with enough matches that a query plan shows whether all of them are read."""
    place = await judged.make(tx)
    await tx.execute(
        """
        INSERT INTO catalog.listing (identity, url, url_hash, title, company, location, arrangement,
                                     description, listed_hash, first_seen_at, last_seen_at, changed_at)
        SELECT 'x:' || n, 'https://x.example/' || n, md5('u' || n)::uuid,
               CASE WHEN n %% 500 = 0 THEN 'Zither Maker' ELSE 'Pump Engineer' END, 'Wells ' || n %% 100,
               (ARRAY['Porto', 'Lisbon', 'Faro'])[1 + n %% 3], (ARRAY['remote', 'onsite'])[1 + n %% 2],
               repeat('water ', 50), md5('l' || n)::uuid, now() - n * interval '1 minute', now(), now()
          FROM generate_series(1, %(plenty)s) AS n
        """,
        {"plenty": PLENTY},
    )
    await tx.execute(
        """
        INSERT INTO matching.match (profile_id, listing_id, profile_version, match_score,
                                    application_priority, matched_skills, skill_gaps, resume_intake,
                                    items, scored_by, status, created_at)
        SELECT %(profile)s, id, 1, 60 + id %% 40, 'High', '{}', '{}', '{}', '[]', 'local',
               CASE WHEN id %% 100 = 0 THEN 'applied' ELSE 'new' END::matching.match_status,
               first_seen_at
          FROM catalog.listing WHERE identity LIKE 'x:%%'
        """,
        {"profile": place.profile},
    )
    for table in ("catalog.listing", "matching.match"):
        await tx.execute(f"ANALYZE {table}")  # pyright: ignore[reportArgumentType, reportCallIssue]
    return place


async def plan(tx: Tx, sql: LiteralString, params: dict[str, Any]) -> str:
    cursor = await tx.execute(f"EXPLAIN {sql}", params)
    return "\n".join(line for (line,) in await cursor.fetchall())


LISTED = ["new", "saved", "applied"]


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({"statuses": LISTED}, "match_best"),
        ({"statuses": LISTED, "order": "newest"}, "match_newest"),
        ({"statuses": LISTED, "order": "newest", "arrangement": "remote"}, "match_newest"),
        ({"statuses": LISTED, "arrangement": "remote"}, "match_best"),
        ({"statuses": ["applied"]}, "match_best_of_status"),
        ({"statuses": ["applied"], "order": "newest"}, "match_newest_of_status"),
        ({"statuses": LISTED, "q": "water", "scan_limit": 100}, "match_best"),
    ],
)
async def test_no_list_of_matches_reads_all_of_them(
    tx: Tx, filters: dict[str, Any], index: str
) -> None:
    place = await crowd(tx)
    query = MatchQuery(profile_id=place.profile, limit=26, **filters)
    query_plan = await plan(tx, matches.build_select(query), matches.query_params(query))
    assert f"using {index} on match" in query_plan
    for reads_all in ("Seq Scan on match", "Seq Scan on listing", "Sort Key: match.sort_score"):
        assert reads_all not in query_plan


async def test_a_match_with_a_dealbreaker_comes_after_those_without(tx: Tx) -> None:
    place = await judged.make(tx, listings=4)
    rated = [(95, "Low"), (72, "Medium"), (88, "High"), (66, "Low")]
    for listing, (score, priority) in zip(place.listings, rated, strict=True):
        await matches.save_verdict(tx, place.word(score, listing, priority=priority, threshold=60))
    query, scores = MatchQuery(profile_id=place.profile, limit=1), list[int]()
    while page := await matches.find(tx, query):
        scores += [match.match_score for match in page]
        query = replace(query, after=page[-1].id)
    assert scores == [88, 72, 95, 66]


async def test_common_words_are_searched_page_by_page(tx: Tx) -> None:
    place = await crowd(tx)
    await tx.execute("UPDATE catalog.listing SET title = 'Zither' WHERE identity LIKE 'x:2__%'")
    many = replace(MatchQuery(profile_id=place.profile, order="newest", limit=50), q="zither")
    seen_ids: list[int] = []
    for _ in range(100):
        page = await inbox.read_page(tx, many, patience=PATIENT)
        seen_ids += [match.id for match in page.matches]
        if page.next is None:
            break
        many = replace(many, after=page.next)
    everyone = await matches.find(tx, replace(many, after=None, limit=PLENTY))
    assert seen_ids == [match.id for match in everyone]


async def test_a_search_scans_no_further_than_its_limit(tx: Tx) -> None:
    place = await crowd(tx)
    near = MatchQuery(
        profile_id=place.profile, order="newest", q="zither", scan_limit=600, limit=50
    )
    assert len(await matches.find(tx, near)) == 1
    edge = await matches.find_scan_end(tx, near)
    assert edge is not None
    beyond = await matches.find(tx, replace(near, after=edge))
    assert len(beyond) == 1
    assert await matches.find_scan_end(tx, replace(near, scan_limit=PLENTY + 1)) is None


async def test_rare_words_are_found_wherever_they_are(tx: Tx) -> None:
    place = await crowd(tx)
    page = await inbox.read_page(
        tx,
        MatchQuery(profile_id=place.profile, order="newest", q="zither", limit=25),
        patience=PATIENT,
    )
    assert len(page.matches) == PLENTY // 500
    assert not page.partial


async def test_the_beginning_of_a_rare_word_is_found_by_the_text_index(tx: Tx) -> None:
    place = await crowd(tx)
    query = MatchQuery(profile_id=place.profile, order="newest", q="maker zit", limit=25)
    page = await inbox.read_page(tx, query, patience=PATIENT)
    assert (len(page.matches), page.partial) == (PLENTY // 500, False)
    search = f"SELECT id FROM catalog.listing WHERE search @@ {listing_search.WORDS}"
    assert "Scan on listing_search" in await plan(tx, search, {"words": "maker zit"})


@pytest.mark.parametrize(
    ("query", "is_rare"),
    [
        (listing_search.ListingQuery(company="wel 1"), True),
        (listing_search.ListingQuery(words="zither"), True),
        (listing_search.ListingQuery(words="water"), False),
        (listing_search.ListingQuery(location="porto", words="water"), True),
        (listing_search.ListingQuery(arrangement="remote"), False),
    ],
)
async def test_rare_words_are_distinguished_from_common_ones(
    tx: Tx, query: listing_search.ListingQuery, is_rare: bool
) -> None:
    await crowd(tx)
    few = await listing_search.find_rare(tx, query, max_duration=PATIENT)
    assert (few is not None) is is_rare


@pytest.mark.parametrize("sort", ["newest", "best"])
async def test_a_search_that_stops_early_says_so_and_can_continue(tx: Tx, sort: Any) -> None:
    await crowd(tx)
    rare = listing_search.ListingQuery(words="zither", sort=sort)
    results = await listing_search.find(tx, rare, limit=10, max_scanned=300, max_duration=PATIENT)
    assert (len(results.hits), results.partial) == (6, False)
    common = listing_search.ListingQuery(
        words="water", arrangement="remote", platform="none", sort=sort
    )
    results = await listing_search.find(tx, common, limit=10, max_scanned=300, max_duration=PATIENT)
    assert (results.hits, results.partial) == ([], True)
    assert (results.next is None) is (sort == "best")


async def test_continued_searches_find_the_same_as_one_full_search(tx: Tx) -> None:
    await crowd(tx)
    query = listing_search.ListingQuery(words="water", company="wells 7", state="all")
    everything = [hit.id for hit in (await listing_search.find(tx, query, limit=PLENTY)).hits]
    seen_ids, after = list[int](), None
    for _ in range(100):
        page = await listing_search.find(tx, query, after=after, limit=5, max_scanned=100)
        seen_ids += [hit.id for hit in page.hits]
        after = page.next
        if after is None:
            break
    assert seen_ids == everything


async def test_no_page_of_listings_reads_all_of_them(tx: Tx) -> None:
    await crowd(tx)
    nowhere = {
        "after_id": None,
        "after_at": None,
        "after_rank": None,
        "max_scanned": 300,
        "limit": 51,
    }
    for query in (
        listing_search.ListingQuery(),
        listing_search.ListingQuery(words="water", sort="best"),
        listing_search.ListingQuery(
            company="wells", location="porto", words="pump", arrangement="remote"
        ),
    ):
        params = asdict(query) | nowhere
        query_plan = await plan(
            tx, listing_search.build_select(query, params, newest_only=True), params
        )
        assert "using listing_newest on listing" in query_plan
        assert "Seq Scan on listing" not in query_plan
