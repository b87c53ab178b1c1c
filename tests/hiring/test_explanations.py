"""Tests that every event can be explained."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any, get_args

import pytest

from jobmill.db import Tx
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.applications import apply_requests, offers, submissions, withdrawals
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.audit_log import explanations, replay
from jobmill.hiring.audit_log.explanations import (
    EventContext,
    EventExplanation,
    ExplainedEvent,
    Occupancy,
)
from jobmill.hiring.audit_log.replay import ApplicationsAhead, EventNotFound
from jobmill.hiring.forms import form_versions
from jobmill.hiring.forms.form_fields import parse_form
from jobmill.hiring.messages.signed_links import ConfirmationToken
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import OpeningNotFound
from jobmill.hiring.stages.stage_moves import move_to_stage
from jobmill.hiring.transitions import ApplicationEventType, OpeningEventType
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.helpers import apply, make_applicant, make_opening

from .change_past import age, unguarded

MINUTES = dt.timedelta(minutes=6)
NOON = dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC)
FACTS = {"penaltyCount": 1, "newPosition": 4, "capacity": 2, "from": 3, "to": 1, "occupied": 3}

EVENT = ExplainedEvent(
    opening_id=1,
    seq=9,
    application_id=7,
    type="APPLIED",
    from_status=None,
    to_status="ACTIVE",
    queue_key=None,
    deadline=None,
    metadata=FACTS,
    why={},
    actor="local",
    note=None,
    had_note=False,
    created_at=NOON,
)
OFFER = replace(EVENT, seq=5, type="PROMOTED", to_status="PENDING_ACKNOWLEDGMENT", deadline=NOON)


def scene(**changes: Any) -> EventContext:
    """An event after an offer."""
    return EventContext(
        replace(EVENT, **changes), OFFER, None, Occupancy(1, 2, 4), ApplicationsAhead(4, [2, 3, 4])
    )


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (
            scene(type="APPLIED"),
            [
                "A place was free (1 of 2 places taken) and nobody was waiting.",
                "Application 7 took it at once.",
            ],
        ),
        (
            scene(type="APPLIED", to_status="PENDING_ACKNOWLEDGMENT", deadline=NOON),
            [
                "A place was free (1 of 2 places taken) and nobody was waiting.",
                "It was offered to application 7 until 2030-01-01T12:00:00.000Z.",
            ],
        ),
        (
            scene(type="APPLIED", to_status="WAITLIST"),
            [
                "A place was free (1 of 2 places taken), but others were already waiting for it.",
                "Application 7 joined the waitlist behind 4 applications (2, 3, 4 and 1 more).",
            ],
        ),
        (
            replace(
                scene(type="APPLIED", to_status="WAITLIST"),
                occupancy=Occupancy(1, 1, 3),
                ahead=ApplicationsAhead(1, [2]),
            ),
            [
                "No place was free (1 of 1 places taken).",
                "Application 7 joined the waitlist behind 1 application (2).",
                "2 applications that missed an offer stayed behind this position.",
            ],
        ),
        (
            scene(type="ACKNOWLEDGED", why={"rule": "confirmed in time"}),
            [
                (
                    "The offer of event 5 was open until 2030-01-01T12:00:00.000Z and was accepted"
                    " in time."
                ),
                "Application 7 keeps the place.",
            ],
        ),
        (
            scene(type="WITHDRAWN", from_status="ACTIVE", why={"rule": "withdrawn"}),
            ["Application 7 withdrew.", "This freed the place."],
        ),
        (
            scene(type="WITHDRAWN", from_status="ACTIVE", why={"rule": "offer declined"}),
            ["Application 7 declined the offer.", "This freed the place."],
        ),
        (
            scene(
                type="WITHDRAWN",
                from_status="WAITLIST",
                why={"rule": "removed by the company"},
                note="rude",
                had_note=True,
            ),
            [
                "The company removed application 7.",
                "Until then on the waitlist, behind 4 applications (2, 3, 4 and 1 more).",
                "Reason: rude",
            ],
        ),
        (
            scene(type="WITHDRAWN", from_status="ACTIVE", why={"rule": "data erased: asked for"}),
            ["Application 7 left (data erased: asked for).", "This freed the place."],
        ),
        (
            scene(type="DECAY_TRIGGERED", why={"most": 3}),
            [
                (
                    "The offer of event 5 was open until 2030-01-01T12:00:00.000Z and was not"
                    " answered."
                ),
                "This was missed offer 1; the application ends after 3.",
                (
                    "Application 7 moved to the end of the waitlist, behind 4 applications (2, 3, 4"
                    " and 1 more): position 4 once the free places were offered."
                ),
                "The next application will be placed ahead.",
            ],
        ),
        (
            scene(type="LAPSED"),
            [
                (
                    "The offer of event 5 was open until 2030-01-01T12:00:00.000Z and was not"
                    " answered."
                ),
                "This was missed offer 1.",
                "The application has ended.",
            ],
        ),
        (scene(type="OPENED"), ["The company created the opening with 2 places."]),
        (
            scene(type="EDITED", metadata={"jobId": 1, "title": "Cook", "maxMissed": 2}),
            [
                "The company set the number of missed offers that end an application to 2.",
                "The company renamed the opening to “Cook”.",
                "Current offers keep their deadline.",
            ],
        ),
        (
            scene(type="CAPACITY_CHANGED"),
            [
                "The company changed the number of places from 3 to 1, with 3 taken.",
                "Nobody loses a place. The next place is free after 3 people have left.",
            ],
        ),
        (
            scene(
                type="CAPACITY_CHANGED", metadata={"from": 1, "to": 2, "occupied": 1}, had_note=True
            ),
            [
                "The company changed the number of places from 1 to 2, with 1 taken.",
                "1 place can be offered.",
                "The reason was erased with the applicant's data.",
            ],
        ),
        (
            scene(type="RESUMED"),
            ["The company resumed the opening.", "Open places are offered automatically again."],
        ),
    ],
)
def test_an_event_is_explained_in_plain_sentences(shown: EventContext, expected: list[str]) -> None:
    assert [
        explanations.render_sentence(sentence) for sentence in explanations.compose_sentences(shown)
    ] == expected


def test_pages_format_names_and_times_in_explanations() -> None:
    moved = scene(type="DECAY_TRIGGERED", why={"most": 3})
    names = {7: "ada", 2: "Bo", 3: "Cy"}
    rendered = [
        explanations.render_sentence(sentence, names, lambda at: f"{at:%H:%M}")
        for sentence in explanations.compose_sentences(moved)
    ]
    assert rendered[0] == "The offer of event 5 was open until 12:00 and was not answered."
    # An application without a name is called by its id.
    ahead = "behind 4 applications (Bo, Cy, 4 and 1 more)"
    position = "position 4 once the free places were offered"
    assert rendered[2] == f"ada moved to the end of the waitlist, {ahead}: {position}."


async def test_every_event_type_is_explained(tx: Tx) -> None:
    opening = await make_opening(tx, 1, max_missed=2)
    question = parse_form({"fields": [{"type": "file", "label": "CV"}]})
    await form_versions.save_form(tx, opening.id, question, LOCAL)
    ids = [(await apply(tx, opening)).application.id for _ in range(4)]
    await withdrawals.withdraw(tx, ids[0], LOCAL, reason="no longer there")
    for _ in range(4):
        await age(tx, opening.id, MINUTES)
        await expire_due_openings(tx)
    [offered] = (await replay.replay_at(tx, opening.id)).active
    await offers.acknowledge(tx, offered.application_id, LOCAL)
    for window in (1, 0):
        person = (await make_applicant(tx)).id
        request = ApplyRequest(person, LOCAL, dt.timedelta(days=window))
        result = submissions.single_result(await submissions.apply_all(tx, opening.id, [request]))
        if window:
            token = ConfirmationToken("application", result.application.id)
            await apply_requests.confirm(tx, token)
    await lifecycle.pause(tx, opening.id, LOCAL)
    await lifecycle.resume(tx, opening.id, LOCAL)
    await lifecycle.close(tx, opening.id, LOCAL)
    await lifecycle.reopen(tx, opening.id, LOCAL)
    await lifecycle.set_capacity(tx, opening.id, 2, LOCAL)
    await lifecycle.edit(tx, opening.id, LOCAL, title="Cook")
    await move_to_stage(tx, offered.application_id, "interview", LOCAL, seen=None)
    await lifecycle.edit(tx, opening.id, LOCAL, admission="review")
    undecided = (await apply(tx, opening)).application.id
    await decisions.score(tx, undecided, 50, LOCAL)
    await decisions.reject(tx, undecided, LOCAL)
    await lifecycle.edit(tx, opening.id, LOCAL, admission="lottery")
    await apply(tx, opening)
    await lottery.draw(tx, opening.id, LOCAL)
    last = (await openings.get(tx, opening.id)).last_seq
    explained = [
        await explanations.explain_event(tx, opening.id, seq) for seq in range(1, last + 1)
    ]
    assert {explanation.type for explanation in explained} == {
        *get_args(ApplicationEventType),
        *get_args(OpeningEventType),
    }
    for explanation in explained:
        assert explanation.sentences
        assert not any("None" in text for text in explanation.sentences), explanation


async def test_a_promotion_names_the_slot_and_the_applications_ahead(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, second, third = [(await apply(tx, opening)).application.id for _ in range(3)]
    await withdrawals.withdraw(tx, first, by_applicant(1))
    explanation = await explain(tx, opening.id, "PROMOTED")
    assert (explanation.application_id, explanation.rule, explanation.cause) == (
        second,
        "next in line",
        5,
    )
    assert explanation.sentences[:3] == [
        "A place was free (0 of 1 places taken).",
        f"Event 5 freed it: application {first} left (withdrawn).",
        f"Application {second} was next in line, with nobody ahead.",
    ]
    assert third not in explanation.ahead.first
    assert set(explanation.names) == {first, second}


async def explain(tx: Tx, opening_id: int, type: str) -> EventExplanation:
    """Explain the last event of a type."""
    cursor = await tx.execute(
        "SELECT max(seq) FROM hiring.event WHERE opening_id = %s AND type::text = %s",
        [opening_id, type],
    )
    row = await cursor.fetchone()
    assert row
    return await explanations.explain_event(tx, opening_id, row[0])


async def test_an_offer_out_of_turn_names_the_passed_over_and_its_reason_until_erased(
    tx: Tx,
) -> None:
    opening = await make_opening(tx, 1)
    placed = [(await apply(tx, opening)).application for _ in range(7)]
    await offers.offer_out_of_turn(tx, placed[5].id, LOCAL, reason="an old friend", add_slot=True)
    explanation = await explain(tx, opening.id, "PROMOTED")
    ahead = [application.id for application in placed[1:4]]
    assert explanation.ahead == ApplicationsAhead(4, ahead)
    passed = ", ".join(map(str, ahead))
    assert explanation.sentences[1:3] == [
        f"The company offered it to application {placed[5].id} out of turn.",
        f"Passed over: 4 applications ({passed} and 1 more).",
    ]
    assert explanation.sentences[-1] == "Reason: an old friend"
    await privacy.erase_applicant(tx, placed[5].applicant_id, LOCAL)
    for seq in (explanation.seq, explanation.seq - 1):
        explanation = await explanations.explain_event(tx, opening.id, seq)
        assert explanation.sentences[-1] == "The reason was erased with the applicant's data."


async def test_a_newcomer_in_a_gap_comes_before_an_application_that_missed_an_offer(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, second, _ = [(await apply(tx, opening)).application.id for _ in range(3)]
    await withdrawals.withdraw(tx, first, LOCAL)
    await age(tx, opening.id, MINUTES)
    await expire_due_openings(tx)
    decayed = await explain(tx, opening.id, "DECAY_TRIGGERED")
    assert decayed.application_id == second
    assert decayed.ahead.count == 1
    await apply(tx, opening)
    explanation = await explain(tx, opening.id, "APPLIED")
    assert explanation.sentences[1:] == [
        f"Application {explanation.application_id} joined the waitlist with nobody ahead.",
        "1 application that missed an offer stayed behind this position.",
    ]


async def test_missing_counts_are_computed_from_the_log(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    await apply(tx, opening)
    await apply(tx, opening)
    noted = await explanations.explain_event(tx, opening.id, 3)
    async with unguarded(tx):
        await tx.execute("UPDATE hiring.event SET why = '{}' WHERE opening_id = %s", [opening.id])
    derived = await explanations.explain_event(tx, opening.id, 3)
    assert derived.sentences == noted.sentences
    assert derived.sentences[0] == "No place was free (1 of 1 places taken)."


async def test_a_missing_event_is_not_explained(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    with pytest.raises(EventNotFound):
        await explanations.explain_event(tx, opening.id, 2)
    with pytest.raises(OpeningNotFound):
        await explanations.explain_event(tx, opening.id + 1, 1)
    assert (await replay.find_ahead(tx, opening.id, 1, 5)).count == 0
