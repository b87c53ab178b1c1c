"""Companies and boards that are met in listings: their site is learned, they are analyzed and linked."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill import queue
from jobmill.boards import company_site
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import board_sightings, companies, sources
from jobmill.catalog.posting import Posting
from jobmill.db import Database
from jobmill.matching import profiles
from jobmill.pipelines import company, judging, maintenance
from jobmill.queue.feed import feed_batch
from jobmill.rotation import bundled_companies
from tests.catalog.helpers import make_source, run
from tests.extract.company.helpers import ABOUT, html
from tests.fakes import Net, ok
from tests.pipelines.test_listing import PROFILE, TEXT, ListingPipeline
from tests.queue.helpers import fetch
from tests.recorded_calls import recorded_calls

SITE = "https://deepwells.example"
LONG = f"{TEXT}\n" + "We look after wells and the people who depend on them. " * 20
API = "https://boards-api.greenhouse.io/v1/boards/deepwells"


def posting(**facts: Any) -> Posting:
    facts = {"platform": "remotive", "via": "Remotive", "vendor_id": "7", **facts}
    return Posting(
        "Senior Backend Engineer", "https://remotive.com/jobs/7", "Deep Wells",
        arrangement="remote", location="United States",
        description=facts.pop("description", LONG), **facts,
    )  # fmt: skip


@pytest.fixture
async def bed(database: Database) -> ListingPipeline:
    net = Net()
    for path in ("/about", "/"):
        net.on(f"{SITE}{path}", ok(html(ABOUT), f"{SITE}{path}"))
    return await ListingPipeline(database, net).begin()


async def show(bed: ListingPipeline, *postings: Posting) -> None:
    """Let an aggregator show postings, and judge them."""
    async with bed.database.transaction() as tx:
        id = await make_source(tx, source_type="remotive")
        saved = await run(tx, id, 0, postings, inventory=False)
        await judging.add_listings(tx, saved.added)
        await feed_batch(tx, judging.FEED)
    await bed.drain()


async def read_company(bed: ListingPipeline, name: str = "Deep Wells") -> companies.Company:
    async with bed.database.transaction() as tx:
        return await companies.get_by_name(tx, name)


async def discoveries(bed: ListingPipeline) -> list[Any]:
    return await fetch(bed.database, "SELECT key FROM queue.items WHERE kind = 'source_discovery'")


@pytest.mark.parametrize(
    "facts",
    [
        {"apply_url": f"{SITE}/apply/7"},
        {"description": f"{LONG} Write to jobs@deepwells.example."},
        {"description": f"{LONG} See www.deepwells.example/teams."},
    ],
    ids=["apply link", "e-mail", "link"],
)
async def test_a_company_met_in_a_listing_is_analyzed_before_the_listing_is_scored(
    bed: ListingPipeline, facts: dict[str, Any]
) -> None:
    await show(bed, posting(**facts))
    record = await read_company(bed)
    assert (record.website, record.analysis_status) == (SITE, "complete")
    assert record.tier
    [match] = await bed.matches()
    assert match.company_id == record.id
    events = await fetch(
        bed.database, "SELECT type FROM catalog.event WHERE subject_type = 'company'"
    )
    assert "website learned" in events


@pytest.mark.parametrize(
    ("name", "link", "text", "site"),
    [
        ("Deep Wells GmbH", "https://careers.deepwells.example/1", "", SITE),
        ("Deep Wells", "", "hr@getdeepwells.example", "https://getdeepwells.example"),
        ("Deep Wells Energy", "", "hr@deepwells.example", SITE),
        ("Remote", "https://remoteok.com/1", "remote@gmail.com", None),
        ("Gmail Fans", "", "gmail@gmail.com", None),
        ("Lever", "https://jobs.lever.co/lever/1", "", None),
        ("Acme", "https://boards.greenhouse.io/acme", "recruiter@agency.example", None),
    ],
)
def test_only_a_domain_with_the_companys_name_is_its_site(
    name: str, link: str, text: str, site: str | None
) -> None:
    assert company_site.find_site(name, [link], [text]) == site


async def add_gitlab(bed: ListingPipeline, about: str) -> companies.Company:
    """Add GitLab by its name, with this page on the website of the bundled list."""
    listed = bundled_companies.find_by_name("GitLab")
    assert listed
    for path in ("/about", "/"):
        page = f"{listed.website}{path}"
        bed.net.on(page, ok(html(about, title="About"), page))
    async with bed.database.transaction() as tx:
        id = await company.ensure_company(tx, "GitLab")
        await queue.submit(tx, company.new_item(id))
    await bed.drain()
    return await read_company(bed, "GitLab")


async def test_a_company_is_added_by_name_where_the_bundled_list_knows_it(
    bed: ListingPipeline,
) -> None:
    listed = bundled_companies.find_by_name("gitlab inc.")
    assert listed
    record = await add_gitlab(bed, ABOUT.replace("Brinewell", "GitLab"))
    assert (record.website, record.analysis_status) == (listed.website, "complete")
    assert (record.job_board_type, record.job_board_confidence) == ("greenhouse", "high")
    assert await discoveries(bed) == ["https://job-boards.greenhouse.io/gitlab"]


async def test_nothing_is_taken_from_a_bundled_website_that_does_not_name_the_company(
    bed: ListingPipeline,
) -> None:
    record = await add_gitlab(bed, ABOUT)
    assert (record.analysis_status, record.about, record.job_board_url) == ("sparse", None, None)
    assert await discoveries(bed) == []


async def test_the_companys_name_is_searched_in_a_child_process(bed: ListingPipeline) -> None:
    forms = 400
    with recorded_calls() as calls:
        record = await add_gitlab(bed, f"<p>{ABOUT}</p><p>{'inc ag ' * forms}</p>")
    assert calls["extract"], "the stage runs here"
    assert calls["fold_case"] < forms, "and the words of the page are not looked at here"
    assert record.analysis_status != "complete"


async def test_a_board_on_the_companys_pages_is_preferred_to_the_bundled_one(
    bed: ListingPipeline,
) -> None:
    link = "<a href='https://jobs.lever.co/gitlab'>Open roles</a>"
    record = await add_gitlab(bed, ABOUT.replace("Brinewell", "GitLab") + link)
    assert record.job_board_type == "lever"


async def test_a_sparse_company_is_analyzed_once_a_listing_tells_its_website(
    bed: ListingPipeline,
) -> None:
    async with bed.database.transaction() as tx:
        id = await companies.get_or_create(tx, "Deep Wells")
        await queue.submit(tx, company.new_item(id))
    await bed.drain()
    assert (await read_company(bed)).analysis_status == "sparse"
    await show(bed, posting(apply_url=f"{SITE}/apply/7"))
    assert (await read_company(bed)).analysis_status == "complete"


async def test_an_everyday_word_in_a_listing_is_not_taken_for_a_bundled_company(
    database: Database,
) -> None:
    bed = await ListingPipeline(database, Net()).begin()
    async with database.transaction() as tx:
        id = await companies.get_or_create(tx, "Compass")
        await queue.submit(tx, company.new_item(id))
    await bed.drain()
    async with database.transaction() as tx:
        assert (await companies.get(tx, id)).website is None
        assert (await companies.get(tx, await company.ensure_company(tx, "Compass"))).website


def test_every_bundled_company_has_a_website() -> None:
    for listed in bundled_companies.all_companies():
        assert PLATFORM_RULES.canonical(listed.website).startswith("https://"), listed


async def test_pending_companies_are_analyzed_without_a_listing_that_waits(
    bed: ListingPipeline,
) -> None:
    async with bed.database.transaction() as tx:
        id = await make_source(tx, source_type="remotive")
        await run(tx, id, 0, [posting(apply_url=f"{SITE}/apply/7")], inventory=False)
        await queue.submit(tx, queue.NewItem(maintenance.KIND, "pending_companies", "test"))
    await bed.drain()
    assert (await read_company(bed)).analysis_status == "complete"


async def test_a_board_is_linked_to_the_only_company_that_it_lists(database: Database) -> None:
    async with database.transaction() as tx:
        url = "https://boards.greenhouse.io/wells"
        id = await make_source(tx, url=url)
        await run(tx, id, 0, [Posting("Digger", f"{url}/jobs/{n}", "Wells & Co", platform="greenhouse",
            board="wells", vendor_id=str(n)) for n in (1, 2)])  # fmt: skip
        board = await sources.get(tx, id)
        assert board.company_id
        owner = await companies.get(tx, board.company_id)
    assert (owner.name, owner.sources, owner.job_board_url) == ("Wells & Co", 1, url)


def _greenhouse(bed: ListingPipeline) -> None:
    job = {"id": 1, "title": "Gardener", "absolute_url": "https://boards.greenhouse.io/deepwells/jobs/1",
           "location": {"name": "Oslo"}, "content": LONG, "company_name": "Deep Wells",
           "updated_at": "2026-11-01T10:00:00-05:00"}  # fmt: skip
    for request in ("jobs?content=true&pay_transparency=true", "jobs?content=true"):
        bed.net.on(f"{API}/{request}", ok({"jobs": [job], "meta": {"total": 1}}))


BOARD = {"apply_url": "https://boards.greenhouse.io/deepwells/jobs/1"}


async def test_a_board_that_a_listing_links_to_is_discovered_once(bed: ListingPipeline) -> None:
    _greenhouse(bed)
    await show(bed, posting(**BOARD), posting(**BOARD, vendor_id="8"))
    boards = await fetch(
        bed.database,
        """
        SELECT token, discovered_via, status::text, company_id IS NOT NULL FROM catalog.source
         WHERE source_type = 'greenhouse'
        """,
    )
    assert boards == [("deepwells", "automated_scan", "active", True)]
    assert len(await discoveries(bed)) == 1


@pytest.mark.parametrize("why", ["rejected", "stop list", "discovered lately"])
async def test_a_board_that_is_known_or_refused_is_not_discovered(
    bed: ListingPipeline, why: str
) -> None:
    _greenhouse(bed)
    async with bed.database.transaction() as tx:
        if why == "rejected":
            id = await make_source(tx, token="DeepWells")
            await sources.reject(tx, id, "not wanted")
        elif why == "discovered lately":
            await board_sightings.record(tx, "greenhouse", "DeepWells", url="", listing_id=1)
        else:
            stops = PROFILE.stop_lists.model_copy(update={"domains": ("greenhouse.io",)})
            await profiles.save(tx, "main", PROFILE.model_copy(update={"stop_lists": stops}))
    await show(bed, posting(**BOARD))
    assert await discoveries(bed) == []
