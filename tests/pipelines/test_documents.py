"""Documents written by a worker: drafts, rewordings within the budget, killed attempts, erased searches."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from jobmill import app, queue
from jobmill.db import Database
from jobmill.documents import store, text_file
from jobmill.documents.document import edit_line, map_lines
from jobmill.documents.rewording import RewordedLine, RewordingAnswer
from jobmill.documents.store import StoredDocument
from jobmill.matching import job_search_erasure, matches, profiles
from jobmill.matching.matches import MatchId
from jobmill.matching.profiles import ProfileId
from jobmill.outside.model_question import (
    Model,
    ModelAnswer,
    ModelBlocked,
    ModelQuestion,
    ModelResult,
    T,
    no_model,
)
from jobmill.people.persons import LOCAL
from jobmill.pipelines import documents
from jobmill.queue import AcceptedItem
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog import helpers
from tests.documents.samples import POSTING, TRAINED, make_profile
from tests.matching import judged
from tests.queue.helpers import claim_twice, drain, fetch, lose_leases

SHORTER = "Trained 12 nurses in ventilator management"
HOSTILE = (
    ("summary", "Nurse with a PhD from Stanford who keeps calm."),
    ("resume.experience.0.highlights.1", TRAINED.replace("12", "1,200")),
    ("resume.education.0", "MD, Medicine, Harvard"),
)


class StandIn:
    """Answers every question with the same rewordings, after `before` has run."""

    def __init__(self, *lines: tuple[str, str]) -> None:
        self.lines = lines
        self.questions: list[str] = []
        self.before: Callable[[], Any] | None = None

    async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
        self.questions.append(question.text)
        if self.before:
            await self.before()
        lines = [RewordedLine(key=key, text=text) for key, text in self.lines]
        answer = RewordingAnswer(lines=lines).model_dump()
        return ModelAnswer(question.answer_type.model_validate(answer), "stand:in", None)


class DocumentBed:
    def __init__(self, database: Database, model: Model = no_model) -> None:
        self.database = database
        self.stages = app.build_stages(Tools(database, model=model), Settings())

    async def begin(self, count: int = 1) -> list[MatchId]:
        made: list[MatchId] = []
        async with self.database.transaction() as tx:
            await queue.declare_stages(tx, self.stages)
            postings = [
                helpers.posting(n, f"{POSTING.title} {n}", description=POSTING.description)
                for n in range(1, count + 1)
            ]
            place = await judged.make(tx, postings=postings, profile=make_profile())
            self.profile_id: ProfileId = place.profile
            for listing in place.listings:
                id = await matches.save_verdict(tx, place.word(90, listing))
                assert id is not None
                made.append(id)
        return made

    async def submit(self, match_id: int, **options: Any) -> None:
        async with self.database.transaction() as tx:
            await queue.submit(tx, documents.new_item(match_id, self.profile_id, **options))

    async def write(self, match_id: int, **options: Any) -> StoredDocument:
        await self.submit(match_id, **options)
        await drain(self.database, self.stages)
        return await self.read(match_id)

    async def read(self, match_id: int) -> StoredDocument:
        async with self.database.transaction() as tx:
            id = await store.find_id(tx, match_id, "resume")
            assert id is not None
            return await store.get(tx, id)


async def test_the_documents_of_the_ten_best_matches_are_written_once(database: Database) -> None:
    bed = DocumentBed(database)
    made = await bed.begin(12)
    for expected in (10, 10):
        async with database.transaction() as tx:
            items = await documents.list_best_items(tx, bed.profile_id, reword=False, actor="ana")
            answers = await queue.submit_all(tx, items)
            again = await queue.submit_all(tx, items)
            best = [match.id for match in await documents.find_best(tx, bed.profile_id)]
            assert await documents.is_being_written(tx, best[0], bed.profile_id)
        assert [type(answer) for answer in answers] == [AcceptedItem] * expected
        assert not any(isinstance(answer, AcceptedItem) for answer in again)
        await drain(database, bed.stages)
    rows = await fetch(database, "SELECT match_id, kind FROM matching.document")
    assert len(rows) == len(set(rows)) == 20
    assert {match_id for match_id, _ in rows} == set(best) < set(made)
    assert set(await fetch(database, "SELECT version FROM matching.document_version")) == {1}


async def test_a_hostile_model_prints_nothing_and_every_claim_is_counted(
    database: Database,
) -> None:
    model = StandIn(*HOSTILE)
    bed = DocumentBed(database, model)
    [match_id] = await bed.begin()
    stored = await bed.write(match_id, kinds=["resume"], reword=True)
    document = stored.document()
    assert (len(document.dropped), document.model) == (3, "stand:in")
    text = text_file.write_text(document)
    assert not any(words in text for words in ("PhD", "Stanford", "1,200", "Harvard"))
    assert TRAINED in text
    [message] = await fetch(database, "SELECT message FROM queue.items")
    assert message == "resume written, 0 lines reworded, 3 rewordings dropped"
    [question] = model.questions
    assert "Maria" not in question


async def test_a_line_that_the_person_edits_meanwhile_keeps_their_words(database: Database) -> None:
    model = StandIn(("resume.experience.0.highlights.1", SHORTER), ("summary", "Calm nurse."))
    bed = DocumentBed(database, model)
    [match_id] = await bed.begin()
    stored = await bed.write(match_id, kinds=["resume"])

    async def edit() -> None:
        mine = map_lines(
            stored.document(),
            lambda line: edit_line(line, "My words") if line.key == "summary" else line,
        )
        async with database.transaction() as tx:
            await store.save(tx, stored.id, mine, based_on=1)

    model.before = edit
    stored = await bed.write(match_id, kinds=["resume"], reword=True)
    text = text_file.write_text(stored.document())
    assert stored.version == 3
    assert "My words" in text
    assert SHORTER in text


async def test_an_attempt_that_lost_its_lease_writes_nothing(database: Database) -> None:
    bed = DocumentBed(database)
    [match_id] = await bed.begin()
    await bed.submit(match_id)
    stale, _ = await claim_twice(database, documents.KIND, "write")
    move = await bed.stages[documents.KIND, "write"].run(stale)
    assert move is not None
    assert await fetch(database, "SELECT count(*) FROM matching.document") == [0]
    await lose_leases(database)
    await drain(database, bed.stages)
    assert await fetch(database, "SELECT count(*) FROM matching.document") == [2]


async def test_without_budget_the_item_waits_and_without_a_model_the_own_words_stand(
    database: Database,
) -> None:
    blocked: list[ModelBlocked] = [
        ModelBlocked("spent_out", "the day is spent", dt.timedelta(hours=1), use_local=False),
        ModelBlocked("no_key", "no key"),
    ]

    async def model(question: ModelQuestion[T]) -> ModelResult[T]:
        return blocked[0]

    bed = DocumentBed(database, model)
    [match_id] = await bed.begin()
    await bed.submit(match_id, kinds=["resume"], reword=True)
    await drain(database, bed.stages)
    assert await fetch(database, "SELECT status::text FROM queue.items") == ["BLOCKED"]
    assert await fetch(database, "SELECT count(*) FROM matching.document") == [0]
    blocked.pop(0)
    async with database.transaction() as tx:
        await queue.operator_actions.unblock_items(tx, "budget")
    await drain(database, bed.stages)
    assert (await bed.read(match_id)).document().dropped == ()


async def test_a_job_search_that_is_erased_meanwhile_gets_no_documents(database: Database) -> None:
    model = StandIn(("summary", "Calm nurse."))
    bed = DocumentBed(database, model)
    [first, second] = await bed.begin(2)
    await bed.submit(first, reword=True)
    await bed.submit(second)

    async def erase() -> None:
        async with database.transaction() as tx:
            if await profiles.find_all(tx, owner=LOCAL):
                await job_search_erasure.erase_search(tx, LOCAL)

    model.before = erase
    await drain(database, bed.stages)
    assert await fetch(database, "SELECT count(*) FROM matching.document") == [0]
    assert await fetch(database, "SELECT DISTINCT status::text FROM queue.items ORDER BY 1") in (
        ["SKIPPED", "SUCCESS"],
        ["SUCCESS"],
    )
