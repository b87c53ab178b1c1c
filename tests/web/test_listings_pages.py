from __future__ import annotations

import re

import httpx2
import pytest

from jobmill.catalog import duplicate_links
from jobmill.catalog.posting import Salary
from jobmill.db import Database
from jobmill.matching import matches, verdicts
from jobmill.matching.profile import Profile, Skill
from jobmill.matching.verdict import FilterResult, Rejection, Strike
from jobmill.people.persons import Role
from jobmill.web.page_query import PageQuery
from jobmill.web.pages.listings import list_page
from tests.catalog import helpers
from tests.matching import judged
from tests.people.helpers import bearer
from tests.web.helpers import site_with
from tests.web.test_matches_pages import EVIL, TAG, next_page


def shown(page: httpx2.Response) -> list[int]:
    """The ids of the listings on a page, in order."""
    return [int(id) for id in re.findall(r'<h2><a href="/jobs/(\d+)', page.text)]


async def test_all_jobs_are_listed_with_their_decision(
    site: httpx2.AsyncClient, database: Database
) -> None:
    offer = helpers.posting(
        1, location="Remote, US", arrangement="remote", salary=Salary(50, None, "USD", "hour", "text")
    )  # fmt: skip
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=[offer, *(helpers.posting(n) for n in (2, 3, 4))])
        first, two, three, _ = place.listings
        await matches.save_verdict(tx, place.word(91, first))
        await matches.save_verdict(tx, place.word(62, two))
        await matches.save_verdict(tx, place.filtered(three))
    page = await site.get("/jobs")
    assert page.status_code == 200
    assert sorted(shown(page)) == sorted(place.listings)
    for words in (
        "<b>91</b> Match", "<b>62</b> Score too low", "Score 62 (needs 80)",
        "Seniority mismatch (too senior): director; asks for Madrid", "Not scored", "USD 50 an hour", "Remote, US",
    ):  # fmt: skip
        assert words in page.text, words


async def test_job_filters_are_query_parameters(
    site: httpx2.AsyncClient, database: Database
) -> None:
    postings = [
        helpers.posting(1, "Pump Engineer", company="Wells & Co", location="Porto", arrangement="remote"),
        helpers.posting(2, "Valve Poet", company="Brine Ltd", location="Madrid", arrangement="onsite"),
        helpers.posting(3, "Valve Engineer", company="Brine Ltd", location="Porto"),
    ]  # fmt: skip
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=postings)
        pump, poet, valve = place.listings
        await judged.close(tx, valve)
    for query, expected in {
        "": {pump, poet},
        "?q=&company=&location=&arrangement=&days=&state=open&sort=newest": {pump, poet},
        "?q=poet": {poet},
        "?q=poet&sort=best": {poet},
        "?sort=best": {pump, poet},
        "?company=brine": {poet},
        "?location=porto&state=all": {pump, valve},
        "?state=closed": {valve},
        "?arrangement=onsite": {poet},
        "?q=nothing": set[int](),
    }.items():
        assert set(shown(await site.get(f"/jobs{query}"))) == expected, query
    for query in ("state=lost", "days=0", "days=x", "arrangement=moon", "q=%00"):
        assert (await site.get(f"/jobs?{query}")).status_code == 422, query
    assert (await site.get("/jobs?after=nonsense")).status_code == 400
    page = await site.get("/jobs?company=Brine&state=all")
    assert 'name="company" maxlength="200" value="Brine"' in page.text


async def test_paging_is_stable_while_jobs_arrive(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=list_page.PAGE_SIZE + 5)
    first = await site.get("/jobs?company=wells")
    more = next_page(first)
    assert more is not None
    assert "company=wells" in more
    async with database.transaction() as tx:
        await helpers.run(tx, await helpers.make_source(tx), 9, [helpers.posting(999, "Newcomer")])
    second = await site.get(more)
    listed = shown(first) + shown(second)
    assert len(shown(first)) == list_page.PAGE_SIZE
    assert sorted(listed) == sorted(place.listings)
    assert next_page(second) is None
    assert "First page" in second.text


async def test_empty_lists_say_what_to_do_next(
    site: httpx2.AsyncClient, database: Database
) -> None:
    page = await site.get("/jobs")
    assert "No jobs found yet." in page.text
    assert "there is no profile yet" in page.text
    async with database.transaction() as tx:
        await judged.make(tx)
    page = await site.get("/jobs?q=nothing")
    assert "No jobs match this search." in page.text
    assert 'href="/jobs?q=nothing&amp;state=all"' in page.text
    assert "No jobs match this search." in (await site.get("/jobs?state=closed")).text


async def test_a_job_page_explains_the_decision_with_rules_and_quoted_words(
    site: httpx2.AsyncClient, database: Database
) -> None:
    both = FilterResult(
        False, 1, (Rejection("not_remote", "onsite", "come in"),),
        (Strike("location", "asks for Madrid", 1, "Madrid office"),), "onsite",
    )  # fmt: skip
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=5)
        first, two, three, four, _ = place.listings
        await matches.save_verdict(tx, place.filtered(first))
        await matches.save_verdict(tx, place.filtered(two, why=both))
        await matches.save_verdict(tx, place.word(62, three))
        match = await matches.save_verdict(tx, place.word(91, four))
    for listing, texts in {
        first: ["Why this is not a match", "Filtered out: 5 strikes (limit 5)", "Director of Pumps", "3 strikes"],
        two: ["1 dealbreaker, 1 strike", "Not remote", "come in"],
        three: ["Not a match: score 62 (needs 80), 0 strikes", "1 of 2 requested skills", ">Go<"],
        four: ["Why this is a match", f'href="/matches/{match}"', "Match: score 91"],
        place.listings[4]: ["Not scored yet", "Would "],
    }.items():  # fmt: skip
        page = await site.get(f"/jobs/{listing}")
        assert page.status_code == 200
        for words in texts:
            assert words in page.text, words
    assert (await site.get("/jobs/999999999")).status_code == 404


async def test_a_job_page_shows_details_duplicates_and_history(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        source = await helpers.make_source(tx)
        postings = [
            helpers.posting(1, department="Wells", location="Porto"),
            helpers.posting(2, "Poet"),
        ]
        await helpers.run(tx, source, 0, postings)
        cursor = await tx.execute("SELECT id FROM catalog.listing ORDER BY vendor_id")
        (first,), (second,) = await cursor.fetchall()
        await duplicate_links.link(tx, second, first, actor="ada")
    page = await site.get(f"/jobs/{first}")
    for words in (
        "<dd>Wells</dd>",
        "Porto",
        f'href="/jobs/{second}"',
        "opened",
        "no profile yet",
    ):
        assert words in page.text, words
    assert "What if?" not in page.text
    page = await site.get(f"/jobs/{second}")
    for words in (f'href="/jobs/{first}"', "linked by hand", f"linked to job {first} · by ada"):
        assert words in page.text, words


async def test_what_if_scores_the_job_again_and_saves_nothing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    text = f"{helpers.TEXT} Requirements: 3 years of Go. You must know Go and Kubernetes."
    # No summary, so that no embedding model is loaded.
    profile = Profile(skills=(Skill(name="Python"),))
    async with database.transaction() as tx:
        place = await judged.make(
            tx, postings=[helpers.posting(1, description=text)], profile=profile
        )
        await matches.save_verdict(tx, place.word(62))
        before = await verdicts.get(tx, place.profile, place.listing)
    path = f"/jobs/{place.listing}"
    assert "Nothing was saved" not in (await site.get(path)).text
    page = await site.get(f"{path}?having=Go:strong,%20Kubernetes&without=")
    assert page.status_code == 200
    assert "Nothing was saved." in page.text
    assert 'value="Go:strong, Kubernetes"' in page.text
    assert '<th scope="col">Then</th>' in page.text
    async with database.transaction() as tx:
        assert await verdicts.get(tx, place.profile, place.listing) == before


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("without=Cobol", "The profile does not list the skill Cobol. It lists Python"),
        ("having=Go:wizard", "wizard is not a skill rank. The rank of Go can be primary, strong, familiar"),
        ("having=Kubernets", "Unknown skill: Kubernets. Did you mean Kubernetes?"),
        ("having=Go,Basketry", "Unknown skill: Basketry. The job does not mention it; it mentions Terraform"),
        ("place=Atlantis", "Unknown place: Atlantis. The job does not mention it; it mentions Porto"),
        ("place=Remote", "Unknown place: Remote"),
    ],
)  # fmt: skip
async def test_unknown_skills_and_places_are_refused_with_suggestions(
    site: httpx2.AsyncClient, database: Database, query: str, message: str
) -> None:
    offer = helpers.posting(
        1, location="Porto", description=f"{helpers.TEXT} You must know Terraform."
    )
    async with database.transaction() as tx:
        place = await judged.make(
            tx, postings=[offer], profile=Profile(skills=(Skill(name="Python"),))
        )
    page = await site.get(f"/jobs/{place.listing}?{query}")
    assert page.status_code == 422
    assert message in page.text
    # The typed value is kept and linked to the error.
    name, _, typed = query.partition("=")
    assert re.search(
        rf'name="{name}" [^>]*value="{typed}"[^>]* aria-describedby="what-if-error"', page.text
    )
    assert "Nothing was saved" not in page.text


@pytest.mark.parametrize(
    ("query", "change"),
    [
        ("place=Porto", "filtered"),
        ("place=Porto&arrangement=onsite", "filtered"),
        ("arrangement=any", None),
    ],
)
async def test_what_if_changes_location_and_arrangement(
    site: httpx2.AsyncClient, database: Database, query: str, change: str | None
) -> None:
    offer = helpers.posting(1, location="Porto, Portugal", arrangement="onsite")
    profile = Profile(skills=(Skill(name="Python"),), arrangements=("remote", "onsite"))
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=[offer], profile=profile)
    page = await site.get(f"/jobs/{place.listing}?{query}")
    assert page.status_code == 200
    goes = re.search(r'<span class="badge">removed</span> <strong>not remote</strong>', page.text)
    assert bool(goes) is (change is not None)
    moon = await site.get(
        f"/jobs/{place.listing}?arrangement=moon", headers={"Accept": "text/html"}
    )
    assert moon.status_code == 422
    assert "“arrangement” in the address must be any, remote, hybrid or onsite." in moon.text


@pytest.mark.parametrize(("role", "reads"), [(None, 401), ("viewer", 200), ("admin", 200)])
async def test_a_viewer_may_read_jobs(database: Database, role: Role | None, reads: int) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx)
    headers = await bearer(database, role) if role else {}
    async with site_with(database) as client:
        for path in ("/jobs", f"/jobs/{place.listing}"):
            assert (await client.get(path, headers=headers)).status_code == reads


@pytest.mark.parametrize("evil", EVIL)
async def test_text_from_sites_is_escaped(
    site: httpx2.AsyncClient, database: Database, evil: str
) -> None:
    bad = helpers.posting(
        1, evil, company=evil, location=evil, department=evil, via=evil, url="javascript:alert(1)",
        description=f"{evil} {helpers.TEXT}", employment_type=evil,
    )  # fmt: skip
    why = FilterResult(
        False, 3, (Rejection(evil, evil, evil),), (Strike(evil, evil, 3, evil),), evil
    )
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=[bad])
        await matches.save_verdict(tx, place.filtered(why=why))
    for path in ("/jobs", f"/jobs/{place.listing}"):
        for params in ({}, {"q": evil, "company": evil}, {"without": evil, "having": ""}):
            page = await site.get(path, params=params)
            assert page.status_code in (200, 422)
            assert not TAG.search(page.text)
            assert "javascript:" not in page.text


def test_a_query_url_omits_default_values() -> None:
    class Some(PageQuery):
        a: int | None = None
        b: str = "x"

    assert Some.model_validate({"a": "", "b": " "}) == Some()
    query = Some(a=1, b="y & z")
    assert query.url("/p") == "/p?a=1&b=y+%26+z"
    assert query.url("/p", a=None) == "/p?b=y+%26+z"
    assert query.without("a", "b").url("/p") == "/p"
