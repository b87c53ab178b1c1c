"""A listing from URL to verdict, with real PostgreSQL, a real worker and a small fake network."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from jobmill import app, queue
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, listings, save_posting
from jobmill.catalog.posting import Posting
from jobmill.db import Database
from jobmill.matching import judging_feed, matches, profiles, verdicts
from jobmill.matching.matches import Match, MatchQuery
from jobmill.matching.profile import Profile, StopLists
from jobmill.matching.verdicts import Verdict
from jobmill.outside.model_question import (
    ModelAnswer,
    ModelBlocked,
    ModelFailed,
    ModelQuestion,
    ModelRefused,
    ModelResult,
    T,
    no_model,
)
from jobmill.outside.request import FetchFailure
from jobmill.pipelines import judging
from jobmill.pipelines.listing import route
from jobmill.queue import ItemId, Worker, operator_actions
from jobmill.queue.feed import feed_batch
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source, posting, run
from tests.fakes import Net, ok
from tests.queue.helpers import fetch, item

HOUR = dt.timedelta(hours=1)
URL = "https://deepwells.example/careers/engineer"
TEXT = (
    "Deep Wells makes controllers for pumps. You will build services that read them.\n"
    "Requirements:\n- 5+ years of experience\n- Python\n- PostgreSQL\n"
    "Nice to have:\n- Kubernetes\nWe work remotely in the United States, on Pacific time."
)
PROFILE = Profile.model_validate(
    {
        "person": {"name": "Dana Pell"},
        "summary": "Backend engineer who builds services in Python on PostgreSQL.",
        "experience_years": 9,
        "titles": ["Senior Backend Engineer", "Backend Engineer"],
        "seniority": ["senior"],
        "skills": [
            {"name": "Python", "rank": "primary"},
            {"name": "PostgreSQL", "rank": "strong"},
            "Kubernetes",
        ],
    }
)


def page(title: str = "Senior Backend Engineer", text: str = TEXT, **facts: Any) -> str:
    node = {
        "@type": "JobPosting",
        "title": title,
        "description": text.replace("\n", "<br>"),
        "jobLocationType": "TELECOMMUTE",
        "datePosted": "2026-11-01",
        "hiringOrganization": {"name": "Deep Wells"},
        "applicantLocationRequirements": {"name": "United States"},
        **facts,
    }
    return f'<html><script type="application/ld+json">{json.dumps(node)}</script></html>'


class ListingPipeline:
    """A database with a profile, and the stages that work on it."""

    def __init__(self, database: Database, net: Any, model: Any = no_model) -> None:
        self.database = database
        self.net = net
        self.tools = Tools(database, net, model)
        self.stages = app.build_stages(self.tools, Settings())
        self.profile_id = 0

    async def begin(self, profile: Profile = PROFILE) -> ListingPipeline:
        async with self.database.transaction() as tx:
            await queue.declare_stages(tx, self.stages)
            await profiles.save(tx, "main", profile)
            self.profile_id = (await profiles.get(tx)).profile_id
        return self

    async def judge(self, url: str = URL, **options: Any) -> ItemId:
        async with self.database.transaction() as tx:
            id = await queue.submit(tx, judging.new_item_for_url(url, self.profile_id, **options))
        await self.drain()
        return id

    async def drain(self) -> None:
        await Worker(self.database, self.stages).drain()

    async def matches(self) -> list[Match]:
        async with self.database.transaction() as tx:
            return await matches.find(tx, MatchQuery((await profiles.get(tx)).profile_id))

    async def word(self, id: int) -> Verdict | None:
        async with self.database.transaction() as tx:
            return await verdicts.get(tx, self.profile_id, id)

    async def listing_at(self, url: str = URL) -> int:
        async with self.database.transaction() as tx:
            id = await listings.find_by_url(tx, url, PLATFORM_RULES)
        assert id is not None
        return id


@pytest.fixture
async def bed(database: Database) -> ListingPipeline:
    net = Net()
    net.on(URL, ok(page(), URL))
    return await ListingPipeline(database, net).begin()


@pytest.mark.parametrize(
    ("holds", "stage"),
    [
        ((), "scrape"),
        (("job_data",), "filter"),
        (("job_data", "filter_result"), "analyze"),
        (("job_data", "filter_result", "local_result"), "ask"),
        (("job_data", "filter_result", "local_result", "match_result"), "save"),
        (("job_data", "filter_result", "match_result"), "save"),
    ],
)
def test_the_items_data_decides_the_next_stage(holds: Sequence[str], stage: str) -> None:
    assert route({key: {} for key in holds}) == stage


async def test_a_page_that_fits_becomes_a_match_with_every_field(bed: ListingPipeline) -> None:
    id = await bed.judge()
    done = await item(bed.database, id)
    assert (done.status, done.stage) == ("SUCCESS", "save"), done.message
    [match] = await bed.matches()
    assert (match.title, match.company, match.url) == ("Senior Backend Engineer", "Deep Wells", URL)
    assert match.match_score == sum(part["points"] for part in match.items) >= 80
    assert set(match.matched_skills) >= {"Python", "PostgreSQL"}
    assert (match.status, match.scored_by, match.scrape_method) == ("new", "local", "json-ld")
    assert (match.profile, match.profile_version) == ("main", 1)
    assert "Python" in match.resume_intake["prioritized_skills"]
    assert {"job_data", "filter_result", "match_result"} <= set(done.data)


async def test_a_filtered_listing_has_a_reason_and_no_match(bed: ListingPipeline) -> None:
    bed.net.on(URL, ok(page(jobLocationType=None, applicantLocationRequirements=None,
        jobLocation={"address": {"addressLocality": "Oslo", "addressCountry": "Norway"}},
        description="Work in our office in Oslo five days a week, on site. " + TEXT[:200]), URL))  # fmt: skip
    id = await bed.judge()
    done = await item(bed.database, id)
    assert done.status == "FILTERED"
    word = await bed.word(await bed.listing_at())
    assert word
    assert (word.outcome, word.match_result) == ("filtered", None)
    assert word.filter_result.hard_rejections[0].rule == "not_remote"
    assert await bed.matches() == []


async def test_a_low_score_is_skipped_with_its_reasons(bed: ListingPipeline) -> None:
    text = TEXT.replace("Python", "COBOL").replace("PostgreSQL", "good manners")
    bed.net.on(URL, ok(page("Senior Mainframe Engineer", text), URL))
    id = await bed.judge()
    done = await item(bed.database, id)
    assert done.status == "SKIPPED", done.message
    assert "is below 80" in (done.message or "")
    word = await bed.word(await bed.listing_at())
    assert word
    assert word.outcome == "skipped"


async def test_stop_lists_reject_before_anything_is_fetched(database: Database) -> None:
    stopped = StopLists(domains=("deepwells.example",))
    bed = await ListingPipeline(database, Net()).begin(
        PROFILE.model_copy(update={"stop_lists": stopped})
    )
    id = await bed.judge()
    assert (await item(database, id)).status == "FILTERED"
    assert bed.net.requests == []


async def test_a_forced_listing_becomes_a_match_and_keeps_the_filter_result(
    bed: ListingPipeline,
) -> None:
    bed.net.on(URL, ok(page("Junior COBOL Intern", TEXT.replace("Python", "COBOL")), URL))
    await bed.judge(force=True)
    [match] = await bed.matches()
    word = await bed.word(match.listing_id)
    assert word
    assert (word.forced, word.outcome) == (True, "matched")
    assert word.filter_result.strikes or word.filter_result.hard_rejections


async def test_a_forced_match_stays_when_its_listing_changes(bed: ListingPipeline) -> None:
    bed.net.on(URL, ok(page("Junior COBOL Intern", TEXT.replace("Python", "COBOL")), URL))
    await bed.judge(force=True)
    async with bed.database.transaction() as tx:
        await judging.add_listings(tx, [(await bed.matches())[0].listing_id])
        await feed_batch(tx, judging.FEED)
    await bed.drain()
    assert len(await bed.matches()) == 1


async def test_a_listing_that_is_removed_between_two_stages_is_skipped(
    bed: ListingPipeline,
) -> None:
    only = [("listing", "scrape")]
    async with bed.database.transaction() as tx:
        id = await queue.submit(tx, judging.new_item_for_url(URL, bed.profile_id))
    await Worker(bed.database, bed.stages, only=only).drain()
    async with bed.database.transaction() as tx:
        await tx.execute("DELETE FROM catalog.listing")
    await bed.drain()
    done = await item(bed.database, id)
    assert (done.status, done.message) == ("SKIPPED", "the listing was deleted in the meantime")


async def test_a_closed_page_is_skipped_and_closes_its_listing(bed: ListingPipeline) -> None:
    await bed.judge()
    bed.net.plays.clear()
    async with bed.database.transaction() as tx:
        await tx.execute("UPDATE catalog.listing SET last_seen_at = now() - interval '2 days'")
    id = await bed.judge()
    assert (await item(bed.database, id)).status == "SKIPPED"
    assert await fetch(bed.database, "SELECT closed_at IS NOT NULL FROM catalog.listing") == [True]


async def test_a_page_with_a_form_to_report_closed_jobs_can_be_added(bed: ListingPipeline) -> None:
    form = "<input type=radio name=why> Position no longer available<br>"
    bed.net.on(URL, ok(page().replace("</html>", f"<body>{form}</body></html>"), URL))
    id = await bed.judge()
    assert (await item(bed.database, id)).status == "SUCCESS"


def test_a_page_with_and_without_its_id_as_a_parameter_has_one_key() -> None:
    plain = judging.new_item_for_url("https://deepwells.example/careers/401", 1)
    named = judging.new_item_for_url("https://deepwells.example/careers/401?gh_jid=401", 1)
    assert named.key == plain.key


@pytest.mark.server_clock(-2 * HOUR)
async def test_a_page_that_the_server_saw_within_a_day_is_not_fetched_again(
    bed: ListingPipeline,
) -> None:
    await bed.judge()
    async with bed.database.transaction() as tx:
        await tx.execute("UPDATE catalog.listing SET last_seen_at = now() - interval '23 hours'")
    calls = len(bed.net.requests)
    await bed.judge()
    assert len(bed.net.requests) == calls


@pytest.mark.server_clock(2 * HOUR)
async def import_application(bed: ListingPipeline) -> None:
    """Store what somebody else typed about an application for the job at the URL."""
    typed = Posting("Typed by somebody", URL, company="Secret Plans")
    async with bed.database.transaction() as tx:
        await save_posting.save_private(tx, typed, PLATFORM_RULES)


async def test_what_one_person_typed_about_a_page_is_not_judged_for_another(
    bed: ListingPipeline,
) -> None:
    await import_application(bed)
    await bed.judge()
    [match] = await bed.matches()
    assert (match.title, match.company) == ("Senior Backend Engineer", "Deep Wells")
    async with bed.database.transaction() as tx:
        listing = await listings.get(tx, match.listing_id)
    assert (listing.private, bool(listing.description)) == (False, True)


async def test_what_one_person_typed_is_not_shown_where_the_page_is_gone(
    bed: ListingPipeline,
) -> None:
    await import_application(bed)
    bed.net.plays.clear()
    id = await bed.judge()
    assert "Typed by somebody" not in str(await item(bed.database, id))
    assert await bed.matches() == []
    assert await fetch(bed.database, "SELECT closed_at IS NULL FROM catalog.listing") == [True]


async def test_a_page_that_the_server_saw_over_a_day_ago_is_fetched_again(
    bed: ListingPipeline,
) -> None:
    await bed.judge()
    async with bed.database.transaction() as tx:
        await tx.execute("UPDATE catalog.listing SET last_seen_at = now() - interval '25 hours'")
    calls = len(bed.net.requests)
    await bed.judge()
    assert len(bed.net.requests) > calls


@pytest.mark.server_clock(2 * HOUR)
async def test_a_listing_is_kept_with_the_time_of_the_server(bed: ListingPipeline) -> None:
    await bed.judge()
    ages = "SELECT greatest(now() - first_seen_at, now() - last_seen_at, now() - changed_at)"
    [age] = await fetch(bed.database, f"{ages} FROM catalog.listing")
    assert age < dt.timedelta(minutes=2)


@pytest.mark.server_clock(-2 * HOUR)
async def test_a_listing_does_not_wait_for_a_company_that_was_analysed_lately(
    bed: ListingPipeline,
) -> None:
    async with bed.database.transaction() as tx:
        id = await companies.get_or_create(tx, "Deep Wells", "https://deepwells.example")
        await tx.execute(
            """
            UPDATE catalog.company
               SET analysis_status = 'sparse', analyzed_at = now() - %s + interval '1 hour'
             WHERE id = %s
            """,
            [companies.REANALYZE_AFTER, id],
        )
    done = await item(bed.database, await bed.judge())
    assert done.status == "SUCCESS"
    assert await fetch(bed.database, "SELECT kind FROM queue.items WHERE kind = 'company'") == []


async def test_a_site_that_does_not_answer_costs_retries(bed: ListingPipeline) -> None:
    bed.net.on(URL, FetchFailure(URL, "server", "status 500", 500))
    id = await bed.judge()
    waits = await item(bed.database, id)
    assert (waits.status, waits.retry_count) == ("PENDING", 1)


async def test_a_status_survives_being_judged_again(bed: ListingPipeline) -> None:
    await bed.judge()
    [match] = await bed.matches()
    async with bed.database.transaction() as tx:
        await matches.set_status(tx, match.id, "applied", actor="dana")
        await profiles.save(tx, "main", PROFILE.model_copy(update={"skills": (), "titles": ()}))
    await bed.judge()
    [again] = await bed.matches()
    assert (again.id, again.status, again.dropped_at) == (match.id, "applied", None)


async def test_a_match_drops_out_and_comes_back(bed: ListingPipeline) -> None:
    await bed.judge()
    for profile, left in (
        (PROFILE.model_copy(update={"skills": (), "titles": ()}), 0),
        (PROFILE, 1),
    ):
        async with bed.database.transaction() as tx:
            await profiles.save(tx, "main", profile)
        await bed.judge()
        assert len(await bed.matches()) == left


class Clerk:
    """A model that gives prepared answers and records the questions."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results)
        self.asked: list[str] = []

    async def __call__(self, ask: ModelQuestion[T]) -> ModelResult[T]:
        self.asked.append(ask.purpose)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, dict):
            return ModelAnswer(ask.answer_type.model_validate(result), "anthropic:strong", None)
        return result


OPINION = {
    "fit": 91, "reasons": [{"quote": "build services", "speaks_for": True}],
    "matched_skills": ["Python", "PostgreSQL"], "gaps": [], "summary": "", "prioritized_skills": [],
    "highlights": [], "projects": [], "achievement_angles": [], "ats_keywords": [],
}  # fmt: skip


async def test_a_model_reviews_scores_near_the_threshold(bed: ListingPipeline) -> None:
    clerk = Clerk(OPINION)
    bed = await ListingPipeline(bed.database, bed.net, clerk).begin()
    await bed.judge()
    [match] = await bed.matches()
    assert match.scored_by == "anthropic:strong"
    assert clerk.asked == ["match"]


@pytest.mark.parametrize(
    "result",
    [ModelBlocked("no_key", "no key"), ModelRefused("no"), ModelFailed("malformed", "what?", True)],
)
async def test_without_a_model_the_local_score_stands(bed: ListingPipeline, result: Any) -> None:
    bed = await ListingPipeline(bed.database, bed.net, Clerk(result)).begin()
    await bed.judge()
    [match] = await bed.matches()
    assert match.scored_by == "local"


async def test_a_spent_budget_blocks_and_the_item_goes_on_by_itself(bed: ListingPipeline) -> None:
    clerk = Clerk(ModelBlocked("spent_out", "the day's budget is spent", use_local=False), OPINION)
    bed = await ListingPipeline(bed.database, bed.net, clerk).begin()
    id = await bed.judge()
    assert (await item(bed.database, id)).status == "BLOCKED"
    async with bed.database.transaction() as tx:
        await operator_actions.unblock_items(tx, "budget")
    await bed.drain()
    assert len(await bed.matches()) == 1


async def test_a_score_far_below_the_threshold_asks_no_model(bed: ListingPipeline) -> None:
    clerk = Clerk(OPINION)
    bed = await ListingPipeline(bed.database, bed.net, clerk).begin()
    text = TEXT.replace("Python", "COBOL").replace("PostgreSQL", "good manners")
    bed.net.on(URL, ok(page("Senior Mainframe Engineer", text), URL))
    await bed.judge()
    assert clerk.asked == []


async def test_a_page_that_neither_rules_nor_the_cheap_model_understand_fails(
    bed: ListingPipeline,
) -> None:
    bed.net.on(URL, ok("<html><div id=app></div></html>", URL))
    clerk = Clerk(ModelRefused("no"))
    bed = await ListingPipeline(bed.database, bed.net, clerk).begin()
    id = await bed.judge()
    failed = await item(bed.database, id)
    assert failed.status == "FAILED"
    assert "no job could be read" in (failed.error_text or "")
    assert clerk.asked == ["read page"]


async def test_listings_of_a_source_are_fed_in_the_lineage_that_found_them(
    bed: ListingPipeline,
) -> None:
    async with bed.database.transaction() as tx:
        source = await make_source(tx)
        saved = await run(tx, source, 0, [posting(1, description=TEXT), posting(2)])
        parent = await queue.submit(tx, queue.NewItem("upkeep", "prune", "finder"))
        assert await judging.add_listings(tx, saved.added, parent=parent) == 2
        assert await judging.add_listings(tx, saved.added, parent=parent) == 0
    async with bed.database.transaction() as tx:
        assert await feed_batch(tx, judging.FEED) == 2
        assert await judging_feed.count(tx) == 0
    rows = await fetch(bed.database, "SELECT parent_id FROM queue.item WHERE kind = 'listing'")
    assert rows == [parent, parent]
    await bed.drain()
    assert bed.net.requests == []
    assert await fetch(bed.database, "SELECT count(*) FROM matching.verdict") == [2]


async def test_a_listing_with_a_live_item_waits_to_be_judged_again(bed: ListingPipeline) -> None:
    async with bed.database.transaction() as tx:
        source = await make_source(tx)
        saved = await run(tx, source, 0, [posting(1, description=TEXT)])
        await judging.add_listings(tx, saved.added)
        await feed_batch(tx, judging.FEED)
        await judging.add_listings(tx, saved.added)
    async with bed.database.transaction() as tx:
        assert await feed_batch(tx, judging.FEED) == 1
        assert await judging_feed.count(tx) == 1
        assert await feed_batch(tx, judging.FEED) == 0


@pytest.mark.parametrize("vendor_id", ["7" * 5_000, "7\n7", "7\x077"])
@pytest.mark.parametrize("address", ["", f"https://boards.example/{'a' * 4_050}"])
async def test_a_posting_too_long_for_a_key_does_not_block_others(
    bed: ListingPipeline, address: str, vendor_id: str
) -> None:
    odd = replace(posting(1, description=TEXT, url=address), vendor_id=vendor_id)
    async with bed.database.transaction() as tx:
        saved = await run(tx, await make_source(tx), 0, [odd, posting(2)])
        await judging.add_listings(tx, saved.added)
    async with bed.database.transaction() as tx:
        assert await feed_batch(tx, judging.FEED) == 2
    await bed.drain()
    assert await fetch(bed.database, "SELECT count(*) FROM matching.verdict") == [2]


async def test_a_listing_deleted_before_its_turn_is_read_again(bed: ListingPipeline) -> None:
    async with bed.database.transaction() as tx:
        saved = await run(tx, await make_source(tx), 0, [posting(1, url=URL)])
        await judging.add_listings(tx, saved.added)
        await feed_batch(tx, judging.FEED)
        await tx.execute("DELETE FROM catalog.listing")
    await bed.drain()
    [match] = await bed.matches()
    assert match.listing_id != saved.added[0]


async def test_a_listing_that_closed_while_blocked_is_not_reviewed(bed: ListingPipeline) -> None:
    clerk = Clerk(ModelBlocked("spent_out", "the day's budget is spent", use_local=False), OPINION)
    bed = await ListingPipeline(bed.database, bed.net, clerk).begin()
    id = await bed.judge()
    async with bed.database.transaction() as tx:
        await tx.execute("UPDATE catalog.listing SET closed_at = now()")
        await operator_actions.unblock_items(tx, "budget")
    await bed.drain()
    assert ((await item(bed.database, id)).status, len(clerk.asked)) == ("SKIPPED", 1)


async def test_forced_listings_are_reviewed_before_better_scores(bed: ListingPipeline) -> None:
    spent = Clerk(ModelBlocked("spent_out", "the day's budget is spent", use_local=False))
    bed = await ListingPipeline(bed.database, bed.net, spent).begin()
    other = f"{URL}-4711"
    bed.net.on(other, ok(page("Junior COBOL Intern", TEXT.replace("Python", "COBOL")), other))
    best, insisted = await bed.judge(), await bed.judge(other, force=True)
    order = "SELECT id FROM queue.live WHERE stage = 'ask' ORDER BY priority"
    assert await fetch(bed.database, order) == [insisted, best]
