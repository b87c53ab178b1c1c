from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL, SYSTEM, by_applicant
from jobmill.hiring.applications import bulk_actions, offers, withdrawals
from jobmill.hiring.audit_log import explanations, verification
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications
from jobmill.hiring.records.openings import OpeningTerms
from jobmill.hiring.waitlist import deadlines
from jobmill.hiring.waitlist.quiet_hours import find_offer_start
from tests.hiring.helpers import apply, let_pass, make_opening
from tests.queue.helpers import fetch

HOUR = dt.timedelta(hours=1)
NIGHT = dt.time(21), dt.time(8)


@pytest.mark.parametrize(
    ("zone", "quiet", "at", "start"),
    [
        ("Europe/Berlin", NIGHT, "2026-11-17T20:59+01:00", "2026-11-17T20:59+01:00"),
        ("Europe/Berlin", NIGHT, "2026-11-17T21:00+01:00", "2026-11-18T08:00+01:00"),
        ("Europe/Berlin", NIGHT, "2026-11-18T07:59+01:00", "2026-11-18T08:00+01:00"),
        ("Europe/Berlin", NIGHT, "2026-11-18T08:00+01:00", "2026-11-18T08:00+01:00"),
        ("Asia/Kolkata", NIGHT, "2026-11-17T16:00Z", "2026-11-18T08:00+05:30"),
        # By day: the siesta.
        ("Europe/Madrid", (dt.time(13), dt.time(15)), "2026-07-01T14:00+02:00", "2026-07-01T15:00+02:00"),
        # The night in which the clocks go forward is an hour shorter, and the other an hour longer.
        ("Europe/Berlin", NIGHT, "2026-03-28T22:00+01:00", "2026-03-29T08:00+02:00"),
        ("Europe/Berlin", NIGHT, "2026-10-24T22:00+02:00", "2026-10-25T08:00+01:00"),
        ("America/New_York", NIGHT, "2026-03-08T01:30-05:00", "2026-03-08T08:00-04:00"),
        # Half past two does not exist in this night: quiet hours end as much later.
        ("Europe/Berlin", (dt.time(21), dt.time(2, 30)), "2026-03-29T01:00+01:00", "2026-03-29T03:30+02:00"),
        # Half past two comes twice in this night: quiet hours end at the first, and do not begin again.
        ("Europe/Berlin", (dt.time(21), dt.time(2, 30)), "2026-10-25T02:15+02:00", "2026-10-25T02:30+02:00"),
        ("Europe/Berlin", (dt.time(21), dt.time(2, 30)), "2026-10-25T02:15+01:00", "2026-10-25T02:15+01:00"),
        # Lord Howe Island changes its clocks by half an hour.
        ("Australia/Lord_Howe", NIGHT, "2026-10-03T23:00+10:30", "2026-10-04T08:00+11:00"),
    ],
)  # fmt: skip
def test_the_time_of_an_offer_begins_when_quiet_hours_end(
    zone: str, quiet: tuple[dt.time, dt.time], at: str, start: str
) -> None:
    terms = OpeningTerms("Baker", time_zone=zone, quiet_from=quiet[0], quiet_until=quiet[1])
    result = find_offer_start(terms, dt.datetime.fromisoformat(at))
    assert result == dt.datetime.fromisoformat(start)


async def make_quiet_opening(tx: Tx, **terms: Any) -> tuple[Any, dt.datetime]:
    """An opening in its quiet hours, and when they end."""
    [now] = await fetch(tx, "SELECT clock_timestamp()")
    end = (now + 2 * HOUR).astimezone(dt.UTC).replace(microsecond=0)
    quiet = {"quiet_from": (now - HOUR).astimezone(dt.UTC).time(), "quiet_until": end.time()}
    return await make_opening(tx, acknowledge_window=HOUR, **quiet, **terms), end


async def test_an_offer_in_quiet_hours_takes_its_slot_at_once_and_its_time_begins_later(
    tx: Tx,
) -> None:
    opening, end = await make_quiet_opening(tx, max_missed=2)
    first, second, third = [(await apply(tx, opening)).application for _ in range(3)]
    await withdrawals.withdraw(tx, first.id, by_applicant(first.applicant_id))
    offered = await applications.get(tx, second.id)
    assert (offered.status, offered.acknowledge_deadline) == (
        "PENDING_ACKNOWLEDGMENT",
        end + HOUR,
    )
    letters = await fetch(
        tx,
        "SELECT kind, due_at FROM hiring.notice WHERE application_id = %s AND kind <> 'applied'"
        " ORDER BY id",
        [second.id],
    )
    assert letters == [("promoted", end), ("reminder", end + HOUR * 0.8)]
    [seq] = await fetch(tx, "SELECT seq FROM hiring.event WHERE type = 'PROMOTED'")
    explanation = await explanations.explain_event(tx, opening.id, seq)
    assert "made in quiet hours" in explanation.sentences[-1]
    # Bulk promotion and the offer after a missed one follow the same rule.
    await bulk_actions.run_bulk_action(
        tx, opening.id, "promote", [third.id], LOCAL, reason="a second team", add_slots=True
    )
    assert (await applications.get(tx, third.id)).acknowledge_deadline == end + HOUR
    await offers.acknowledge(tx, third.id, by_applicant(third.applicant_id))
    await let_pass(tx, opening, 4 * HOUR)
    async with deadlines.lock_and_expire_offers(tx, opening.id, SYSTEM):
        pass
    again = await applications.get(tx, second.id)
    assert (again.penalty_count, again.acknowledge_deadline) == (1, end + HOUR)
    report = await verification.verify_log(tx, opening.id)
    assert not report.faults


async def test_a_free_place_that_must_be_accepted_counts_from_the_end_of_quiet_hours(
    tx: Tx,
) -> None:
    opening, end = await make_quiet_opening(tx, require_acknowledgement=True)
    application = (await apply(tx, opening)).application
    assert application.acknowledge_deadline == end + HOUR
    explanation = await explanations.explain_event(tx, opening.id, 2)
    assert "counts from" in explanation.sentences[-1]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"time_zone": "Eastern"}, r"IANA name such as America/New_York \(got 'Eastern'\)"),
        ({"time_zone": "../../etc/passwd"}, "IANA name"),
        ({"time_zone": "Europe"}, "IANA name"),
        ({"time_zone": "localtime"}, "IANA name"),
        ({"quiet_from": dt.time(21)}, "need a start and an end"),
        ({"quiet_until": dt.time(8)}, "need a start and an end"),
        ({"quiet_from": dt.time(8), "quiet_until": dt.time(8)}, "should differ"),
    ],
)
def test_invalid_hours_are_refused(terms: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        lifecycle.validate_terms(OpeningTerms("Baker", **terms))
