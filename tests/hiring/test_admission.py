"""Review before a slot, lotteries, and changes between them."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import replace

import pytest

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.admission.decisions import EntryAwaitsDraw, NotInReview
from jobmill.hiring.applications import bulk_actions, withdrawals
from jobmill.hiring.audit_log import draws, events, explanations, replay, summary, verification
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.audit_log.replay_preview import preview_at
from jobmill.hiring.import_export import exports
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import Opening
from tests.call_counts import count_calls
from tests.hiring.helpers import apply, make_opening


async def apply_many(tx: Tx, opening: Opening, count: int) -> list[int]:
    return [(await apply(tx, opening)).application.id for _ in range(count)]


async def list_statuses(tx: Tx, ids: list[int]) -> list[str]:
    return [(await applications.get(tx, id)).status for id in ids]


async def list_waiting(tx: Tx, opening: Opening) -> list[int]:
    waiting = await applications.find_first_waiting(tx, opening.id, 100)
    return [application.id for application in waiting]


async def list_events(tx: Tx, opening: Opening) -> list[AuditEvent]:
    return await events.find_by_opening(tx, opening.id)


async def list_letters(tx: Tx, opening: Opening) -> list[tuple[int, str, dict[str, object]]]:
    cursor = await tx.execute(
        """
        SELECT application_id, kind, data FROM hiring.notice
         WHERE opening_id = %s AND kind <> 'reminder' ORDER BY id
        """,
        [opening.id],
    )
    return await cursor.fetchall()


async def find_faults(tx: Tx, opening: Opening) -> list[str]:
    report = await verification.verify_log(tx, opening.id)
    return [fault.what for fault in report.faults]


async def test_reviewed_applications_take_slots_only_after_a_decision(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review")
    first, second, third = await apply_many(tx, opening, 3)
    after = await openings.get(tx, opening.id)
    assert (after.occupied, after.waiting, after.in_review) == (0, 0, 3)

    assert (await decisions.accept(tx, second, LOCAL)).status == "PENDING_ACKNOWLEDGMENT"
    accepted = await decisions.accept(tx, first, LOCAL, reason="strong portfolio")
    assert (accepted.status, await applications.find_position(tx, accepted)) == ("WAITLIST", 1)
    await decisions.reject(tx, third, LOCAL, reason="No licence", tell_reason=True)
    assert await list_statuses(tx, [first, second, third]) == [
        "WAITLIST",
        "PENDING_ACKNOWLEDGMENT",
        "INACTIVE",
    ]
    letters = await list_letters(tx, opening)
    assert [(id, kind) for id, kind, _ in letters] == [
        (first, "received"),
        (second, "received"),
        (third, "received"),
        (second, "promoted"),
        (first, "admitted"),
        (third, "rejected"),
    ]
    assert letters[-2][2] == {"position": 1}
    assert letters[-1][2] == {"text": "No licence"}
    for id in (first, second, third):
        with pytest.raises(NotInReview):
            await decisions.accept(tx, id, LOCAL)
        with pytest.raises(NotInReview):
            await decisions.reject(tx, id, LOCAL)
    assert await find_faults(tx, opening) == []


async def test_a_decision_is_not_mailed_to_an_unconfirmed_address(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review")
    first, second, third = await apply_many(tx, opening, 3)
    await tx.execute(
        """
        UPDATE hiring.application
           SET confirm_by = date_trunc('milliseconds', now()) + interval '1 day'
         WHERE opening_id = %s
        """,
        [opening.id],
    )
    # The letter of an offer asks for an answer, which confirms the address.
    await decisions.accept(tx, first, LOCAL)
    await decisions.accept(tx, second, LOCAL)
    await decisions.reject(tx, third, LOCAL, reason="No licence", tell_reason=True)
    kinds = [kind for _, kind, _ in await list_letters(tx, opening)]
    assert kinds == ["received"] * 3 + ["promoted"]
    assert await find_faults(tx, opening) == []


@pytest.mark.parametrize(
    ("order", "expected"), [("applied", [0, 1, 2, 3]), ("score", [2, 0, 3, 1])]
)
async def test_applications_accepted_together_are_ordered_as_the_company_chose(
    tx: Tx, order: str, expected: list[int]
) -> None:
    opening = await make_opening(tx, 1, admission="review", review_order=order)
    ids = await apply_many(tx, opening, 5)
    for id, points in zip(ids, (50, None, 90, 50, 10), strict=True):
        if points is not None:
            await decisions.score(tx, id, points, LOCAL)
    results = await bulk_actions.run_bulk_action(
        tx, opening.id, "accept", [*reversed(ids[:4]), 10**9], LOCAL, reason=""
    )
    assert sorted(result.outcome for result in results) == [
        "accepted",
        "accepted",
        "accepted",
        "offered",
        "refused",
    ]
    accepted = [
        event.application_id for event in await list_events(tx, opening) if event.type == "ACCEPTED"
    ]
    assert accepted == [ids[index] for index in expected]
    assert await list_waiting(tx, opening) == accepted[1:]
    # A later decision comes last, whatever its score: waiting applications keep their positions.
    await decisions.score(tx, ids[4], 100, LOCAL)
    await decisions.accept(tx, ids[4], LOCAL)
    assert (await list_waiting(tx, opening))[-1] == ids[4]
    assert await find_faults(tx, opening) == []


async def test_accepting_many_does_not_compare_each_with_all_others(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review")
    ids = await apply_many(tx, opening, 12)
    await decisions.accept(tx, ids[0], LOCAL)
    with count_calls(Application.__eq__) as count:
        results = await bulk_actions.run_bulk_action(
            tx, opening.id, "accept", ids, LOCAL, reason=""
        )
    assert [result.outcome for result in results] == ["refused", *["accepted"] * 11]
    assert count() == 0


async def test_scores_are_checked_and_logged_once(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review")
    [id] = await apply_many(tx, opening, 1)
    with pytest.raises(Invalid):
        await decisions.score(tx, id, 101, LOCAL)
    before = (await applications.get(tx, id)).entered_at
    for _ in range(2):
        await decisions.score(tx, id, 70, LOCAL)
    await decisions.score(tx, id, None, LOCAL)
    scored = [event for event in await list_events(tx, opening) if event.type == "SCORED"]
    assert [event.metadata["to"] for event in scored] == [70, None]
    assert (await applications.get(tx, id)).entered_at == before
    await decisions.accept(tx, id, LOCAL)
    with pytest.raises(NotInReview):
        await decisions.score(tx, id, 10, LOCAL)
    assert await find_faults(tx, opening) == []


async def test_applicants_leave_review_by_withdrawal_and_erasure(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review", waitlist_limit=2)
    first, second = await apply_many(tx, opening, 2)
    with pytest.raises(Conflict, match="full"):
        await apply(tx, opening)
    application = await applications.get(tx, first)
    await withdrawals.withdraw(tx, first, by_applicant(application.applicant_id))
    await privacy.erase_applicant(tx, (await applications.get(tx, second)).applicant_id, LOCAL)
    assert await list_statuses(tx, [first, second]) == ["INACTIVE", "INACTIVE"]
    assert (await openings.get(tx, opening.id)).in_review == 0
    again = await apply(tx, opening, application.applicant_id)
    assert again.application.status == "IN_REVIEW"
    assert await find_faults(tx, opening) == []


async def test_a_paused_opening_accepts_but_offers_nothing(tx: Tx) -> None:
    opening = await make_opening(tx, 2, admission="review")
    [id] = await apply_many(tx, opening, 1)
    await lifecycle.pause(tx, opening.id, LOCAL)
    assert (await decisions.accept(tx, id, LOCAL)).status == "WAITLIST"
    await lifecycle.resume(tx, opening.id, LOCAL)
    assert await list_statuses(tx, [id]) == ["PENDING_ACKNOWLEDGMENT"]


async def test_a_draw_follows_the_seed_that_was_committed_before(tx: Tx) -> None:
    opening = await make_opening(tx, 2, admission="lottery")
    with pytest.raises(Conflict, match="no entries"):
        await lottery.draw(tx, opening.id, LOCAL)
    ids = await apply_many(tx, opening, 6)
    before = await lottery.find_proof(tx, opening.id)
    assert before
    assert (before.seed, before.order) == (None, [])
    proof = await lottery.draw(tx, opening.id, LOCAL)
    assert proof.seed
    # What a stranger computes from the published numbers.
    seed = bytes.fromhex(proof.seed)
    assert hashlib.sha256(seed).hexdigest() == before.commitment
    numbers = await lottery.find_entry_numbers(tx, ids)
    lines = "".join(f"{numbers[id]}\n" for id in ids)
    assert proof.entries_digest == hashlib.sha256(lines.encode()).hexdigest()
    expected = sorted(
        ids, key=lambda id: hashlib.sha256(seed + str(numbers[id]).encode()).hexdigest()
    )
    assert proof.order == [numbers[id] for id in expected]
    first = await lottery.find_proof(tx, opening.id, limit=2)
    assert first
    assert (first.order, first.entries) == (proof.order[:2], 6)
    assert set(await list_statuses(tx, expected[:2])) == {"PENDING_ACKNOWLEDGMENT"}
    assert await list_waiting(tx, opening) == expected[2:]
    late = (await apply(tx, opening)).application
    assert (await list_waiting(tx, opening))[-1] == late.id
    with pytest.raises(Conflict, match="already"):
        await lottery.draw(tx, opening.id, LOCAL)
    assert await find_faults(tx, opening) == []


async def test_verification_finds_an_unfair_draw(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="lottery")
    await apply_many(tx, opening, 4)
    await lottery.draw(tx, opening.id, LOCAL)
    [draw] = await draws.find_draws(tx, opening.id)
    assert draws.find_fault(draw) is None
    await tx.execute("ALTER TABLE hiring.event DISABLE TRIGGER event_append_only")
    await tx.execute(
        """
        UPDATE hiring.event SET metadata = metadata || '{"commitment": "00"}'
         WHERE opening_id = %s AND type = 'LOTTERY_OPENED'
        """,
        [opening.id],
    )
    assert "the seed is not the one that the log committed to" in await find_faults(tx, opening)


async def test_nobody_is_preferred_before_the_draw(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="lottery", fairness_proof=True)
    friend, *others = await apply_many(tx, opening, 4)
    with pytest.raises(EntryAwaitsDraw):
        await decisions.accept(tx, friend, LOCAL)
    with pytest.raises(EntryAwaitsDraw):
        await decisions.score(tx, friend, 100, LOCAL)
    with pytest.raises(EntryAwaitsDraw):
        await bulk_actions.run_bulk_action(tx, opening.id, "accept", [friend], LOCAL, reason="")
    assert set(await list_statuses(tx, [friend, *others])) == {"IN_REVIEW"}
    # The company can remove entries, and the proof tells it.
    await decisions.reject(tx, others[0], LOCAL)
    await withdrawals.withdraw(tx, others[1], LOCAL)
    numbers = await lottery.find_entry_numbers(tx, [friend, *others])
    proof = await lottery.draw(tx, opening.id, LOCAL)
    assert proof.removed == [numbers[others[0]], numbers[others[1]]]
    assert sorted(proof.order) == sorted([numbers[friend], numbers[others[2]]])


async def test_the_seed_is_fixed_before_the_first_entry_and_only_once(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review")
    [id] = await apply_many(tx, opening, 1)
    with pytest.raises(Conflict, match="a lottery starts without entries"):
        async with tx.transaction():
            await lifecycle.edit(tx, opening.id, LOCAL, admission="lottery")
    await decisions.reject(tx, id, LOCAL)
    commitments: set[str] = set()
    for _ in range(3):
        await lifecycle.edit(tx, opening.id, LOCAL, admission="lottery")
        proof = await lottery.find_proof(tx, opening.id)
        assert proof
        commitments.add(proof.commitment)
        await lifecycle.edit(tx, opening.id, LOCAL, admission="review")
    assert len(commitments) == 1
    await lifecycle.edit(tx, opening.id, LOCAL, admission="lottery")
    await apply_many(tx, opening, 2)
    assert (await lottery.draw(tx, opening.id, LOCAL)).commitment in commitments
    [draw] = await draws.find_draws(tx, opening.id)
    assert draws.find_fault(draw) is None
    late = replace(draw, opened_seq=draw.entries[0] + 1)
    assert draws.find_fault(late) == "the seed was fixed when entries were known"
    assert await find_faults(tx, opening) == []
    # The next lottery has a new seed.
    await lifecycle.edit(tx, opening.id, LOCAL, admission="first_come")
    await lifecycle.edit(tx, opening.id, LOCAL, admission="lottery")
    proof = await lottery.find_proof(tx, opening.id)
    assert proof
    assert proof.commitment not in commitments


async def test_changing_the_admission_says_what_happens_to_those_in_review(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review", review_order="score")
    first, second = await apply_many(tx, opening, 2)
    await decisions.score(tx, second, 80, LOCAL)
    with pytest.raises(Conflict, match="2 applications are in review"):
        async with tx.transaction():
            await lifecycle.edit(tx, opening.id, LOCAL, admission="first_come")
    # The offer has the terms of the change that made it.
    month = dt.timedelta(days=30)
    await lifecycle.edit(
        tx,
        opening.id,
        LOCAL,
        admission="first_come",
        in_review="accept",
        acknowledge_window=month,
    )
    offered = await applications.get(tx, second)
    assert offered.acknowledge_deadline == offered.entered_at + month
    assert await list_statuses(tx, [first, second]) == ["WAITLIST", "PENDING_ACKNOWLEDGMENT"]
    assert (await apply(tx, opening)).position == 2

    await lifecycle.edit(tx, opening.id, LOCAL, admission="review")
    [third] = await apply_many(tx, opening, 1)
    await lifecycle.edit(tx, opening.id, LOCAL, admission="first_come", in_review="reject")
    assert await list_statuses(tx, [third]) == ["INACTIVE"]
    assert await find_faults(tx, opening) == []


async def test_replays_summaries_explanations_and_exports_know_review(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review")
    first, second, third = await apply_many(tx, opening, 3)
    await decisions.score(tx, first, 60, LOCAL)
    await decisions.accept(tx, first, LOCAL)
    await decisions.reject(tx, third, LOCAL, reason="Too far away")
    now = await replay.replay_at(tx, opening.id)
    assert [application.application_id for application in now.in_review] == [second]
    assert [application.application_id for application in now.active] == [first]
    preview = await preview_at(tx, opening.id, now.seq, now.as_of, limit=5)
    assert (preview.in_review_count, preview.in_review, preview.active) == (
        1,
        now.in_review,
        now.active,
    )
    figures = await summary.summarize(tx, opening.id)
    assert (figures.active_count, figures.in_review_count, figures.inactive_count) == (1, 1, 1)
    log = await list_events(tx, opening)
    sentences = {
        event.type: (await explanations.explain_event(tx, opening.id, event.seq)).sentences
        for event in log
    }
    assert sentences["APPLIED"] == [
        f"Application {third} was received and is waiting for a decision."
    ]
    assert sentences["SCORED"] == [f"The company set the score to 60 of application {first}."]
    assert sentences["ACCEPTED"] == [
        f"The company accepted application {first}.",
        "It joined the waitlist with nobody ahead.",
    ]
    assert sentences["PROMOTED"][0] == "A place was free (0 of 1 places taken)."
    assert sentences["REJECTED"][-1] == "Reason: Too far away"
    rows = [row async for row in exports.iter_applications(tx, opening.id)]
    assert [(row["status"], row["score"]) for row in rows] == [
        ("PENDING_ACKNOWLEDGMENT", 60),
        ("IN_REVIEW", None),
        ("INACTIVE", None),
    ]
