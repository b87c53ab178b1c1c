"""Stages of applications with a slot."""

from __future__ import annotations

import pytest

from jobmill.db import Tx, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.audit_log import events, explanations, replay, verification
from jobmill.hiring.messages import notices
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.stages.stage_definitions import DEFAULT_STAGES, list_stages, make_key
from jobmill.hiring.stages.stage_moves import StageMoved, move_to_stage
from tests.hiring.helpers import apply, make_opening
from tests.hiring.notices_helpers import states

TWO_STAGES = [
    {"key": "trial", "name": "Trial day", "kind": "open"},
    {"key": "no", "name": "Not suitable", "kind": "rejected"},
]


async def test_an_application_moves_through_stages_and_a_rejection_frees_the_slot(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first = (await apply(tx, opening)).application.id
    second = (await apply(tx, opening)).application.id
    with pytest.raises(Conflict, match="Only ACTIVE"):
        await move_to_stage(tx, second, "interview", LOCAL, seen=None)
    await move_to_stage(tx, first, "interview", LOCAL, seen="screen")
    with pytest.raises(StageMoved, match="it is in Interview now"):
        await move_to_stage(tx, first, "offer", LOCAL, seen="screen")
    with pytest.raises(StageMoved, match="already"):
        await move_to_stage(tx, first, "interview", LOCAL, seen="interview")
    with pytest.raises(NotFound):
        await move_to_stage(tx, first, "nowhere", LOCAL, seen="interview")
    await move_to_stage(tx, first, "hired", LOCAL, seen="interview")
    hired = await applications.get(tx, first)
    assert (hired.status, hired.stage) == ("ACTIVE", "hired")
    assert (await openings.get(tx, opening.id)).occupied == 1

    ended = await move_to_stage(
        tx, first, "rejected", LOCAL, seen=None, reason="Left", tell_reason=True
    )
    assert (ended.status, ended.stage) == ("INACTIVE", "rejected")
    assert (await applications.get(tx, second)).status == "PENDING_ACKNOWLEDGMENT"
    log = await events.find_by_opening(tx, opening.id)
    moved = [event for event in log if event.type == "STAGE_CHANGED"]
    assert [(event.metadata["from"], event.metadata["to"]) for event in moved] == [
        ("screen", "interview"),
        ("interview", "hired"),
        ("hired", "rejected"),
    ]
    was = await replay.replay_at(tx, opening.id, seq=moved[0].seq)
    assert [application.stage for application in was.active] == ["Interview"]
    offer = await explanations.explain_event(tx, opening.id, log[-1].seq)
    assert (
        f"Event {moved[-1].seq} freed it: application {first} was moved to Rejected."
        in offer.sentences
    )
    moved_on = await explanations.explain_event(tx, opening.id, moved[0].seq)
    assert (
        moved_on.sentences[0] == f"The company moved application {first} from Screen to Interview."
    )
    assert (await verification.verify_log(tx, opening.id)).faults == []
    await tx.execute("UPDATE hiring.application SET stage = 'offer' WHERE id = %s", [first])
    [fault] = (await verification.verify_log(tx, opening.id)).faults
    assert fault.what == f"application {first}: stage should be rejected but is offer"


async def test_the_letter_of_a_place_is_sent_after_a_move_but_not_after_a_rejection(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    application = (await apply(tx, opening)).application
    id = await fetch_value(tx, int, "SELECT max(id) FROM hiring.notice WHERE kind = 'applied'")
    await move_to_stage(tx, application.id, "interview", LOCAL, seen="screen")
    letter = await notices.find_letter(tx, id or 0)
    assert letter
    assert notices.reason_not_to_send(letter) is None
    await tx.execute(
        "UPDATE hiring.application SET confirm_by = now() + interval '1 day' WHERE id = %s",
        [application.id],
    )
    await move_to_stage(tx, application.id, "rejected", LOCAL, seen=None)
    letter = await notices.find_letter(tx, id or 0)
    assert letter
    assert notices.reason_not_to_send(letter) == "the application has changed since"
    # The address is not confirmed, so it may belong to a stranger.
    assert await states(tx, "rejected") == []


async def test_stages_can_be_renamed_but_not_taken_from_people(tx: Tx) -> None:
    opening = await make_opening(tx, 2)
    first = (await apply(tx, opening)).application.id
    await apply(tx, opening)
    default = [
        {"key": stage.key, "name": stage.name, "kind": stage.kind} for stage in DEFAULT_STAGES
    ]
    with pytest.raises(Conflict, match="2 people are in Screen"):
        await lifecycle.edit(tx, opening.id, LOCAL, stages=TWO_STAGES)
    await move_to_stage(tx, first, "interview", LOCAL, seen=None)
    for stages, complaint in (
        ([default[0], *default[2:]], "1 person is in Interview"),
        ([*default[1:], default[0]], "Keep it first"),
        ([default[0], {**default[1], "kind": "rejected"}], "before you change its kind"),
    ):
        with pytest.raises(Conflict, match=complaint):
            await lifecycle.edit(tx, opening.id, LOCAL, stages=stages)
    renamed = [default[0], {**default[1], "name": "  First   talk "}, default[4]]
    after = await lifecycle.edit(tx, opening.id, LOCAL, stages=renamed)
    assert [stage.name for stage in list_stages(after)] == ["Screen", "First talk", "Rejected"]
    edited = (await events.find_by_opening(tx, opening.id))[-1]
    assert (edited.type, edited.metadata["stages"]) == ("EDITED", after.stages)
    await move_to_stage(tx, first, "screen", LOCAL, seen="interview")
    assert (await lifecycle.edit(tx, opening.id, LOCAL, stages=default)).stages is None


@pytest.mark.parametrize(
    "stages",
    [
        [],
        TWO_STAGES[::-1],
        [TWO_STAGES[0], {**TWO_STAGES[1], "key": "trial"}],
        [TWO_STAGES[0], {**TWO_STAGES[1], "name": "trial DAY"}],
        [{**TWO_STAGES[0], "key": "Trial day"}],
        [{**TWO_STAGES[0], "kind": "maybe"}],
        [{**TWO_STAGES[0], "name": " "}],
    ],
)
async def test_bad_stages_are_refused(tx: Tx, stages: list[dict[str, str]]) -> None:
    with pytest.raises(Invalid):
        await make_opening(tx, 1, stages=stages)


def test_keys_of_new_stages_are_unique() -> None:
    assert make_key("Second Interview!", []) == "second-interview"
    assert make_key("Offer", ["offer", "offer-2"]) == "offer-3"
    assert make_key("面接", []) == "stage"
