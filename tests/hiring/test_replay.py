"""Tests of replaying an opening at any instant."""

from __future__ import annotations

import datetime as dt
import random

import pytest

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring.actor import LOCAL, SYSTEM
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.audit_log import replay
from jobmill.hiring.audit_log.replay import EventNotFound, OpeningReplay, ReplayedApplication
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.openings import Opening, OpeningNotFound
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from tests.hiring.change_past import age
from tests.hiring.helpers import apply, make_opening

WINDOW = dt.timedelta(minutes=5)
DAY = dt.timedelta(days=1)


async def read_live(
    tx: Tx, opening: Opening, at: dt.datetime
) -> tuple[list[ReplayedApplication], list[ReplayedApplication]]:
    """The applications as the live tables show them at this instant."""
    cursor = await tx.execute(
        """
        SELECT application.id, applicant_id, name, status,
               CASE WHEN status = 'WAITLIST'
                    THEN 1 + (SELECT count(*) FROM hiring.application AS other
                               WHERE other.opening_id = %(opening)s AND other.status = 'WAITLIST'
                                 AND other.queue_key < application.queue_key) END,
               acknowledge_deadline, penalty_count
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE opening_id = %(opening)s AND status <> 'INACTIVE'
         ORDER BY queue_key, acknowledge_deadline, application.id
        """,
        {"opening": opening.id},
    )
    applications = [ReplayedApplication(*line) for line in await cursor.fetchall()]
    late = [
        application
        for application in applications
        if application.deadline and application.deadline <= at
    ]
    active = [
        application
        for application in applications
        if application.position is None and application not in late
    ]
    active.sort(key=lambda application: application.application_id)
    return active, [application for application in applications if application.position] + late


async def shot(tx: Tx, opening: Opening, at: dt.datetime) -> OpeningReplay:
    """The live opening in the shape of a replay."""
    now = await openings.get(tx, opening.id)
    active, waiting = await read_live(tx, opening, at)
    return OpeningReplay(
        opening.id,
        at,
        now.last_seq,
        now.status,
        now.capacity,
        len(active),
        active,
        waiting,
    )


async def step(tx: Tx, opening: Opening, ids: list[int], chance: random.Random) -> None:
    """Take a random step, if it is possible."""
    application = chance.choice(ids) if ids else 0
    match chance.choice(["apply"] * 4 + ["withdraw", "ack", "settle", "resize", "pause", "resume"]):
        case "withdraw" if ids:
            await withdrawals.withdraw(tx, application, LOCAL)
        case "ack" if ids:
            await offers.acknowledge(tx, application, LOCAL)
        case "settle":
            async with lock_and_expire_offers(tx, opening.id, SYSTEM):
                pass
        case "resize":
            await lifecycle.set_capacity(tx, opening.id, chance.randint(1, 4), LOCAL)
        case "pause":
            await lifecycle.pause(tx, opening.id, LOCAL)
        case "resume":
            await lifecycle.resume(tx, opening.id, LOCAL)
        case _:
            ids.append((await apply(tx, opening)).application.id)


@pytest.mark.parametrize("seed", range(3))
async def test_every_instant_is_replayed_as_it_was(tx: Tx, seed: int) -> None:
    chance = random.Random(seed)
    opening = await make_opening(tx, 2, max_missed=3, require_acknowledgement=seed == 1)
    replays: list[OpeningReplay] = []
    ids: list[int] = []
    for _ in range(40):
        try:
            async with tx.transaction():
                await step(tx, opening, ids, chance)
        except Conflict:
            pass
        now = (await openings.get(tx, opening.id)).now
        replays.append(await shot(tx, opening, now))
        # Offers may expire until the next step.
        span = dt.timedelta(minutes=chance.choice([1, 2, 4]))
        replays.append(await shot(tx, opening, now + span - dt.timedelta(seconds=1)))
        await age(tx, opening.id, span)
        replays = [moved(replayed, span) for replayed in replays]
    await age(tx, opening.id, DAY)
    for replayed in (moved(replayed, DAY) for replayed in replays):
        assert await replay.replay_at(tx, opening.id, as_of=replayed.as_of) == replayed
    assert any(entry.deadline for replayed in replays for entry in replayed.waiting), (
        "no offer ran out"
    )


def moved(replayed: OpeningReplay, span: dt.timedelta) -> OpeningReplay:
    """The same replay, moved back in time."""

    def back(entry: ReplayedApplication) -> ReplayedApplication:
        return entry._replace(deadline=entry.deadline and entry.deadline - span)

    return OpeningReplay(
        replayed.opening_id,
        replayed.as_of - span,
        replayed.seq,
        replayed.status,
        replayed.capacity,
        replayed.occupied,
        [back(entry) for entry in replayed.active],
        [back(entry) for entry in replayed.waiting],
    )


async def test_each_event_can_be_replayed_by_its_number(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, second = [(await apply(tx, opening)).application.id for _ in range(2)]
    await withdrawals.withdraw(tx, first, LOCAL)
    shown = [await replay.replay_at(tx, opening.id, seq=seq) for seq in range(1, 6)]
    assert [(replayed.seq, replayed.occupied, len(replayed.waiting)) for replayed in shown] == [
        (1, 0, 0),
        (2, 1, 0),
        (3, 1, 1),
        (4, 0, 1),  # withdrawn, but the promotion of the same instant has not happened yet
        (5, 1, 0),
    ]
    assert [entry.application_id for entry in shown[3].waiting] == [second]
    assert shown[4].active[0].deadline == shown[4].as_of + WINDOW
    assert shown[4].as_of == shown[3].as_of


async def test_a_replay_includes_an_event_from_its_timestamp_on(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    await age(tx, opening.id, DAY)
    application = (await apply(tx, opening)).application
    await age(tx, opening.id, DAY)
    stamp = application.applied_at - DAY
    replayed = [
        (await replay.replay_at(tx, opening.id, as_of=stamp - span)).seq
        for span in (dt.timedelta(0), dt.timedelta(microseconds=1), 2 * DAY)
    ]
    assert replayed == [2, 1, 0]


async def test_an_expired_offer_takes_no_slot_in_a_replay(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    application = (await apply(tx, opening)).application
    await age(tx, opening.id, DAY)
    deadline = (await applications.get(tx, application.id)).acknowledge_deadline
    assert deadline
    before = await replay.replay_at(tx, opening.id, as_of=deadline - dt.timedelta(milliseconds=1))
    assert (before.occupied, len(before.active), before.waiting) == (1, 1, [])
    after = await replay.replay_at(tx, opening.id, as_of=deadline)
    assert (after.occupied, after.active) == (0, [])
    assert [(application.status, application.position) for application in after.waiting] == [
        ("PENDING_ACKNOWLEDGMENT", None)
    ]


async def test_a_replay_before_the_opening_existed_is_empty(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    long_ago = dt.datetime(2001, 1, 1, tzinfo=dt.UTC)
    assert await replay.replay_at(tx, opening.id, as_of=long_ago) == OpeningReplay(
        opening.id, long_ago, 0, None, 0, 0, [], []
    )


async def test_a_replay_of_the_future_is_the_current_state(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    await apply(tx, opening)
    shown = await replay.replay_at(tx, opening.id, as_of=dt.datetime(2999, 1, 1, tzinfo=dt.UTC))
    now = await replay.replay_at(tx, opening.id)
    assert shown.as_of <= now.as_of
    assert (shown.occupied, shown.active) == (now.occupied, now.active) == (1, now.active)


async def test_a_missing_opening_or_event_is_not_replayed(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    with pytest.raises(EventNotFound, match=f"Job {opening.id} has no event 2"):
        await replay.replay_at(tx, opening.id, seq=2)
    with pytest.raises(OpeningNotFound):
        await replay.replay_at(tx, opening.id + 1)
    with pytest.raises(Invalid):
        await replay.replay_at(tx, opening.id, seq=1, as_of=opening.created_at)
