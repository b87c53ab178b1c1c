"""Close-and-tell: everyone without a place ends and is told once, whatever is killed or repeated."""

from __future__ import annotations

import asyncio

import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import closing, submissions, withdrawals
from jobmill.hiring.applications.closing import ClosingResult
from jobmill.hiring.audit_log import events, explanations, verification
from jobmill.hiring.messages import letter_templates
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from tests.cli.forked import ForkedProgram
from tests.hiring import uncommitted_writes
from tests.hiring.helpers import apply, make_applicant, make_opening
from tests.hiring.log_rules import check_log
from tests.hiring.notices_helpers import states
from tests.queue.helpers import fetch

TEXT = LetterText("Sorry: $title", "$greeting\n\n$company has closed $title.\n")


async def fill(tx: Tx, *, waiting: int, **terms: object) -> Opening:
    """An opening with one taken place, one offer, and a waitlist."""
    opening = await make_opening(tx, 2, **terms)
    first = await apply(tx, opening)
    for _ in range(waiting + 2):
        await apply(tx, opening)
    await withdrawals.withdraw(tx, first.application.id, LOCAL)
    return opening


async def test_closing_ends_and_tells_everyone_without_a_place_and_keeps_the_others(tx: Tx) -> None:
    opening = await fill(tx, waiting=3, keep_days=30)
    preview = await closing.close_and_tell(tx, opening.id, LOCAL, tell=True, dry_run=True)
    assert preview == ClosingResult(opening.id, ended=4, offers=1, letters=4, kept=1)
    assert (await openings.get(tx, opening.id)).status == "open"
    assert await states(tx, "closed") == []

    with pytest.raises(Invalid, match="at most 2,000 characters"):
        await closing.close_and_tell(tx, opening.id, LOCAL, tell=True, reason="x" * 2_001)
    result = await closing.close_and_tell(
        tx, opening.id, LOCAL, tell=True, text=TEXT, reason=" No flour.\r\n"
    )
    assert result == preview
    texts = await fetch(tx, "SELECT data->>'text' FROM hiring.notice WHERE kind = 'closed'")
    assert texts == ["No flour."] * 4
    after = await openings.get(tx, opening.id)
    assert (after.status, after.occupied, after.waiting) == ("closed", 1, 0)
    assert await states(tx, "closed") == [("closed", "waiting", None)] * 4
    assert await letter_templates.find_text(tx, "closed", opening.id) == TEXT
    assert await letter_templates.find_text(tx, "closed", None) is None
    log = await events.find_by_opening(tx, opening.id, after=opening.last_seq)
    assert [event.why.get("rule") for event in log[-4:]] == ["opening closed"] * 4
    closed = await explanations.explain_event(tx, opening.id, log[-5].seq)
    assert closed.sentences[-1] == (
        "4 applications without a place ended, with 4 emails. People with a place keep it."
    )
    ended = await explanations.explain_event(tx, opening.id, log[-1].seq)
    assert ended.sentences[0].startswith("The company closed the opening and ended application")
    assert (await verification.verify_log(tx, opening.id)).faults == []
    await check_log(tx, opening.id)
    with pytest.raises(Conflict, match="nobody is waiting"):
        await closing.close_and_tell(tx, opening.id, LOCAL, tell=True)


async def test_retention_counts_from_the_closing(tx: Tx) -> None:
    opening = await fill(tx, waiting=2, keep_days=30)
    await closing.close_and_tell(tx, opening.id, LOCAL, tell=False)
    assert await states(tx, "closed") == []
    assert await privacy.erase_expired(tx) == 0
    await tx.execute(
        "UPDATE hiring.application SET entered_at = entered_at - interval '31 days' WHERE opening_id = %s",
        [opening.id],
    )
    # Everyone but the person with a place.
    assert await privacy.erase_expired(tx) == 4
    left = await fetch(
        tx, "SELECT status FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id"
        " WHERE opening_id = %s AND erased_at IS NULL", [opening.id],
    )  # fmt: skip
    assert left == ["ACTIVE"]


async def test_people_of_an_opening_that_was_closed_before_can_still_be_told(tx: Tx) -> None:
    opening = await fill(tx, waiting=1)
    await lifecycle.close(tx, opening.id, LOCAL)
    with pytest.raises(Invalid, match=r"uses \$nmae"):
        await closing.close_and_tell(
            tx, opening.id, LOCAL, tell=True, text=LetterText("Hi", "$nmae")
        )
    result = await closing.close_and_tell(tx, opening.id, LOCAL, tell=True)
    assert (result.ended, result.letters) == (2, 2)
    reopened = await lifecycle.reopen(tx, opening.id, LOCAL)
    assert (reopened.waiting, reopened.occupied) == (0, 1)


async def test_an_unconfirmed_address_gets_no_letter(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    await apply(tx, opening)
    await apply(tx, opening)
    await tx.execute(
        "UPDATE hiring.application SET confirm_by = now() + interval '1 day' WHERE status = 'WAITLIST'"
        " AND opening_id = %s",
        [opening.id],
    )
    result = await closing.close_and_tell(tx, opening.id, LOCAL, tell=True)
    assert (result.ended, result.letters) == (1, 0)


async def make_full_opening(database: Database, waiting: int) -> Opening:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1)
        ids = [(await make_applicant(tx)).id for _ in range(waiting + 1)]
        await submissions.apply_all(
            tx, opening.id, [submissions.ApplyRequest(id, LOCAL) for id in ids]
        )
    return opening


async def check_told_once(database: Database, opening: Opening, waiting: int) -> None:
    letters = await fetch(
        database,
        "SELECT count(*) FROM hiring.notice WHERE kind = 'closed' GROUP BY application_id",
    )
    assert letters == [1] * waiting
    async with database.transaction() as tx:
        assert (await openings.get(tx, opening.id)).status == "closed"
        assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_a_double_click_tells_everyone_once(database: Database) -> None:
    opening = await make_full_opening(database, 40)

    async def close() -> ClosingResult:
        async with database.transaction() as tx:
            return await closing.close_and_tell(tx, opening.id, LOCAL, tell=True, text=TEXT)

    results = await asyncio.gather(*(close() for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(result, ClosingResult) for result in results) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 3
    await check_told_once(database, opening, 40)


async def test_a_process_that_is_killed_before_the_commit_has_told_nobody(
    database: Database, url: str
) -> None:
    opening = await make_full_opening(database, 20)
    process = ForkedProgram(uncommitted_writes.close_opening, url, opening.id)
    assert await asyncio.to_thread(process.stdout.readline) == "written\n"
    process.close()
    async with database.transaction() as tx:
        # Waits until PostgreSQL has noticed that the process is gone.
        await closing.close_and_tell(tx, opening.id, LOCAL, tell=True)
    await check_told_once(database, opening, 20)
