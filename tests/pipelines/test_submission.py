"""Whatever a person submits leaves a record at once, and the record says what became of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobmill import app, queue
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import approvals, listings, save_posting, sources, submissions
from jobmill.catalog.posting import Posting
from jobmill.catalog.submissions import Submission
from jobmill.db import Database
from jobmill.errors import Invalid, NotFound
from jobmill.matching import matches, profiles
from jobmill.matching.matches import MatchQuery
from jobmill.matching.profile import StopLists
from jobmill.outside.request import FetchFailure, PageGone
from jobmill.pipelines import submission
from jobmill.pipelines.submission import SubmittedText, SubmittedUrl
from jobmill.queue import operator_actions
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.extract.company.helpers import ABOUT, html
from tests.fakes import Net, ok
from tests.people.helpers import make_person
from tests.pipelines.test_discovery import API, BOARD, POST
from tests.pipelines.test_listing import PROFILE, TEXT, URL, page
from tests.queue.helpers import drain, fetch, item, make_due

PASTED = f"Senior Backend Engineer at Deep Wells\nLocation: Remote, United States\n\n{TEXT}"


class Desk:
    """A database with a profile, a small network, and the stages of the application."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.net = Net()
        self.stages = app.build_stages(Tools(database, self.net), Settings())
        self.profile_id = 0

    async def open(self) -> Desk:
        async with self.database.transaction() as tx:
            await queue.declare_stages(tx, self.stages)
            await profiles.save(tx, "main", PROFILE)
            self.profile_id = (await profiles.get(tx)).profile_id
        return self

    async def submit(self, text: str, **options: Any) -> Submission:
        entered = await submission.read_input(text)
        async with self.database.transaction() as tx:
            return await submission.submit(tx, entered, profile_id=self.profile_id, **options)

    async def work(self) -> None:
        for _ in range(8):
            await drain(self.database, self.stages)
            if await fetch(self.database, "SELECT EXISTS (SELECT FROM queue.live)") == [False]:
                return
            await make_due(self.database)

    async def record(self, id: int) -> Submission:
        async with self.database.transaction() as tx:
            return await submissions.get(tx, id)


@pytest.fixture
async def desk(database: Database) -> Desk:
    return await Desk(database).open()


async def test_a_pasted_text_becomes_a_complete_match_without_a_request(desk: Desk) -> None:
    record = await desk.submit(PASTED)
    assert (record.kind, record.state) == ("text", "done")
    await desk.work()
    assert desk.net.requests == []
    async with desk.database.transaction() as tx:
        [match] = await matches.find(tx, MatchQuery((await profiles.get(tx)).profile_id))
        assert record.listing_id is not None
        listing = await listings.get(tx, record.listing_id)
    assert (match.title, match.company) == ("Senior Backend Engineer", "Deep Wells")
    assert match.match_score >= 80
    assert listing.location == "Remote, United States"
    assert TEXT in (listing.description or "")
    assert set(match.matched_skills) >= {"Python", "PostgreSQL"}


async def test_a_record_is_visible_before_any_worker_runs(desk: Desk) -> None:
    record = await desk.submit(URL)
    assert (record.state, record.url, record.kind) == ("waiting", URL, "page")
    assert (await item(desk.database, record.item_id)).status == "PENDING"  # pyright: ignore[reportArgumentType]
    async with desk.database.transaction() as tx:
        assert [row.id for row in await submissions.find(tx)] == [record.id]


async def test_the_record_and_the_item_are_written_together_or_not_at_all(desk: Desk) -> None:
    with pytest.raises(RuntimeError):
        async with desk.database.transaction() as tx:
            await submission.submit(tx, SubmittedUrl(URL), profile_id=desk.profile_id)
            raise RuntimeError
    assert await fetch(desk.database, "SELECT count(*) FROM catalog.submission") == [0]
    assert await fetch(desk.database, "SELECT count(*) FROM queue.items") == [0]


async def test_the_same_url_submitted_at_once_is_one_record_and_one_item(desk: Desk) -> None:
    records = await asyncio.gather(*(desk.submit(f"{URL}?utm_source={n}") for n in range(4)))
    assert len({record.id for record in records}) == 1
    assert len({record.item_id for record in records}) == 1
    assert await fetch(desk.database, "SELECT count(*) FROM queue.live") == [1]


async def test_a_job_page_is_detected_and_judged(desk: Desk) -> None:
    desk.net.on(URL, ok(page(), URL))
    record = await desk.submit(URL)
    await desk.work()
    record = await desk.record(record.id)
    assert (record.kind, record.state) == ("job", "done")
    async with desk.database.transaction() as tx:
        assert record.listing_id == await listings.find_by_url(tx, URL, PLATFORM_RULES)
        assert len(await matches.find(tx, MatchQuery((await profiles.get(tx)).profile_id))) == 1


async def test_a_page_that_is_gone_does_not_lead_to_what_somebody_else_typed(desk: Desk) -> None:
    answers = [ok(page(), URL)]
    desk.net.on(URL, lambda request: answers.pop() if answers else PageGone(URL, 404))
    record = await desk.submit(URL)
    async with desk.database.transaction() as tx:
        typed = Posting("Typed by somebody", URL, company="Secret Plans")
        await save_posting.save_private(tx, typed, PLATFORM_RULES)
    await desk.work()
    record = await desk.record(record.id)
    assert (record.state, record.listing_id) == ("unknown", None)


async def test_a_board_is_detected_and_becomes_a_source(desk: Desk) -> None:
    desk.net.on(API, ok({"jobs": [POST]}))
    record = await desk.submit(BOARD)
    assert record.kind == "board"
    await desk.work()
    record = await desk.record(record.id)
    assert (record.state, record.source_id is not None) == ("done", True)


async def test_a_board_of_somebody_who_may_not_add_sources_waits_for_approval(desk: Desk) -> None:
    desk.net.on(API, ok({"jobs": [POST]}))
    record = await desk.submit(BOARD, may_enable=False)
    await desk.work()
    record = await desk.record(record.id)
    async with desk.database.transaction() as tx:
        waiting = await approvals.count_waiting(tx, limit=10)
        enabled = [source for source in await sources.find(tx) if source.enabled]
    assert (waiting, enabled) == (1, [])


async def test_a_job_that_two_people_add_is_scored_for_each_and_told_to_each(desk: Desk) -> None:
    """Also while the first task runs: what it decides for one profile is not told to the other."""
    desk.net.on(URL, ok(page(), URL))
    anna = (await make_person(desk.database, "anna@example.org", "seeker")).id
    strict = PROFILE.model_copy(update={"stop_lists": StopLists(companies=("Deep Wells",))})
    async with desk.database.transaction() as tx:
        await profiles.save(tx, "main", strict, owner=anna)
        theirs = (await profiles.get(tx, owner=anna)).profile_id
        entered = await submission.read_input(URL)
        own = await submission.submit(tx, entered, profile_id=desk.profile_id)
        other = await submission.submit(tx, entered, owner=anna, profile_id=theirs)
        assert own.id != other.id
        assert own.item_id != other.item_id
    await desk.work()
    async with desk.database.transaction() as tx:
        own = await submissions.get(tx, own.id)
        other = await submissions.get(tx, other.id, owner=anna)
        assert (own.state, other.state) == ("done", "done")
        assert own.reason is None
        assert len(await matches.find(tx, MatchQuery(desk.profile_id))) == 1
        assert await matches.find(tx, MatchQuery(theirs)) == []
        with pytest.raises(NotFound):
            await submissions.get(tx, other.id)


async def test_a_careers_page_leads_to_its_board(desk: Desk) -> None:
    url = "https://wells.example/careers"
    desk.net.on(url, ok(f'<html><a href="{BOARD}">Our open positions</a></html>', url))
    desk.net.on(API, ok({"jobs": [POST]}))
    record = await desk.submit("wells.example/careers")
    await desk.work()
    record = await desk.record(record.id)
    assert (record.kind, record.state, record.source_id is not None) == ("board", "done", True)


async def test_a_company_site_becomes_a_company(desk: Desk) -> None:
    desk.net.on("https://brinewell.example", ok(html(ABOUT), url="https://brinewell.example"))
    record = await desk.submit("https://brinewell.example")
    await desk.work()
    record = await desk.record(record.id)
    assert (record.kind, record.state, record.company_id is not None) == ("company", "done", True)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (FetchFailure(URL, "forbidden", "it denied access", 403), "denied access"),
        (FetchFailure(URL, "timeout", "it timed out"), "timed out"),
        (FetchFailure(URL, "robots", "robots.txt disallows this page"), "robots.txt"),
        (None, "does not exist"),
    ],
)
async def test_what_cannot_be_read_is_kept_as_unknown_with_its_reason(
    desk: Desk, answer: FetchFailure | None, reason: str
) -> None:
    if answer:
        desk.net.on(URL, answer)
    record = await desk.submit(URL)
    await desk.work()
    record = await desk.record(record.id)
    assert record.state == "unknown"
    assert reason in (record.reason or "")
    # A retry after the site is back.
    desk.net.on(URL, ok(page(), URL))
    async with desk.database.transaction() as tx:
        again = await submission.retry(tx, record.id)
    assert (again.id, again.state) == (record.id, "waiting")
    await desk.work()
    assert (await desk.record(record.id)).state == "done"


async def test_an_unclear_job_is_kept_with_what_was_read_so_far(desk: Desk) -> None:
    desk.net.on(URL, ok(page(text="Come."), URL))
    record = await desk.submit(URL)
    await desk.work()
    record = await desk.record(record.id)
    assert (record.state, record.title) == ("unknown", "Senior Backend Engineer")
    assert "says too little" in (record.reason or "")


async def test_a_cancelled_task_leaves_its_record_as_unknown(desk: Desk) -> None:
    record = await desk.submit(URL)
    assert record.item_id
    async with desk.database.transaction() as tx:
        await operator_actions.cancel_item(tx, queue.ItemId(record.item_id), "not needed")
        await submission.keep_abandoned(tx)
    assert (await desk.record(record.id)).state == "unknown"


async def test_a_cancelled_task_is_noticed_behind_many_newer_submissions(desk: Desk) -> None:
    record = await desk.submit(URL)
    assert record.item_id
    async with desk.database.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO catalog.submission (key, url, kind)
            SELECT 'https://deepwells.example/' || n, 'https://deepwells.example/' || n, 'page'
              FROM generate_series(1, %s) AS n
            """,
            [submission.BATCH_SIZE + 1],
        )
        await operator_actions.cancel_item(tx, queue.ItemId(record.item_id), "not needed")
        await submission.keep_abandoned(tx)
    assert (await desk.record(record.id)).state == "unknown"


async def test_a_full_queue_keeps_the_record(database: Database) -> None:
    desk = Desk(database)
    desk.stages = app.build_stages(Tools(database, desk.net), Settings(queue_capacity=1))
    await desk.open()
    await desk.submit(URL)
    record = await desk.submit("https://deepwells.example/careers/diver")
    assert (record.state, "Queue full" in (record.reason or "")) == ("unknown", True)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://wells.example/jobs/1", "https://wells.example/jobs/1"),
        (" wells.example ", "https://wells.example"),
        ("wells.example/jobs?id=4", "https://wells.example/jobs?id=4"),
    ],
)
async def test_one_word_is_a_url(text: str, url: str) -> None:
    assert await submission.read_input(text) == SubmittedUrl(url)


@pytest.mark.parametrize("text", ["", "hello", "two words", "ftp://wells.example/x", "\x00"])
async def test_other_input_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(Invalid):
        await submission.read_input(text)


async def test_a_pasted_text_keeps_its_text_and_labels() -> None:
    entered = await submission.read_input(PASTED)
    assert isinstance(entered, SubmittedText)
    posting = entered.posting
    assert (posting.title, posting.company) == ("Senior Backend Engineer", "Deep Wells")
    assert (posting.description, posting.url) == (PASTED, "")
