"""Tests of the public log: a stranger can verify it, and learns nothing about persons."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from jobmill.db import Database, Tx
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.applications import offers, submissions, withdrawals
from jobmill.hiring.audit_log import fairness_proof, verify_fairness
from jobmill.hiring.audit_log.fairness_proof import PublicHeads, PublishedEvent
from jobmill.hiring.audit_log.verify_fairness import Verifier, canonical, chain_hash
from jobmill.hiring.forms import form_versions
from jobmill.hiring.forms.form_fields import parse_form
from jobmill.hiring.openings import lifecycle, posting_details
from jobmill.hiring.openings.posting_details import PostingDetails
from jobmill.hiring.records import applications, fairness_keys
from jobmill.hiring.records.applications import ApplicationId
from jobmill.hiring.records.fairness_keys import NoFairnessProof
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.stages.stage_moves import move_to_stage
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.change_past import age
from tests.hiring.helpers import apply, make_applicant, make_opening

MINUTES = dt.timedelta(minutes=6)


async def make_public_log(tx: Tx) -> tuple[Opening, list[ApplicationId]]:
    """
    1 OPENED, 2-6 APPLIED, 7 WITHDRAWN with a note, 8 PROMOTED, 9 DECAY_TRIGGERED, 10 PROMOTED,
    11 ACKNOWLEDGED, 12 CAPACITY_CHANGED and 13 PROMOTED out of turn, 14 APPLIED, 15 EDITED.
    """
    opening = await make_opening(tx, 1, fairness_proof=True)
    ids = [(await apply(tx, opening)).application.id for _ in range(5)]
    await withdrawals.withdraw(tx, ids[0], LOCAL, reason="no longer there")
    await age(tx, opening.id, MINUTES)
    await expire_due_openings(tx)
    await offers.acknowledge(tx, ids[2], LOCAL)
    await offers.offer_out_of_turn(tx, ids[4], LOCAL, reason="an old friend", add_slot=True)
    ids.append((await apply(tx, opening)).application.id)
    await lifecycle.edit(tx, opening.id, LOCAL, max_missed=2, title="Night baker")
    return opening, ids


async def export(tx: Tx, opening: Opening) -> list[str]:
    return [line async for line in fairness_proof.iter_lines(tx, opening.id)]


def verify(lines: list[str], *heads: str) -> list[tuple[str, int, str]]:
    verifier = Verifier()
    for line in lines:
        verifier.read(line)
    verifier.finish(list(heads))
    return verifier.faults


async def test_a_stranger_verifies_the_log_with_the_downloaded_script(
    tx: Tx, tmp_path: Path
) -> None:
    opening, ids = await make_public_log(tx)
    lines = await export(tx, opening)
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(lines) + "\n")
    key = await fairness_keys.get_published(tx, opening.id)
    applicant_id = (await applications.get(tx, ids[1])).applicant_id
    who = fairness_proof.make_pseudonym(key, applicant_id)
    hash = json.loads(lines[5])["hash"]

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", verify_fairness.__file__, str(log), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    result = run("--head", f"5:{hash}", "--who", who)
    assert result.returncode == 0, result.stdout + result.stderr
    # Applied, was offered a place, missed the offer.
    assert [json.loads(line)["seq"] for line in result.stdout.splitlines()[:3]] == [3, 8, 9]
    assert "15 events, 6 people: 1 ACKNOWLEDGED, 6 APPLIED" in result.stdout
    assert result.stdout.count("    ok  ") == len(verify_fairness.CHECKS)
    assert "Offered out of turn by the company: events [13]" in result.stdout
    assert f"Head: 15:{json.loads(lines[-2])['hash']}" in result.stdout
    log.write_text("\n".join(lines[:3] + lines[4:]) + "\n")
    result = run("--head", f"5:{hash}")
    assert result.returncode == 1
    assert "FAILED  No line was changed" in result.stdout


def tamper(lines: list[str]) -> Iterator[tuple[object, list[str]]]:
    for index, line in enumerate(lines):
        before, after = lines[:index], lines[index + 1 :]
        yield ("drop", index), before + after
        yield ("repeat", index), [*before, line, line, *after]
        yield ("insert", index), [*before, line.replace('"seq":', '"seq":1'), line, *after]
        if after:
            yield ("swap", index), [*before, after[0], line, *after[1:]]
        for place, character in enumerate(line):
            other = "0" if character != "0" else "1"
            yield (
                ("change", index, place),
                [*before, line[:place] + other + line[place + 1 :], *after],
            )


async def test_any_changed_dropped_moved_or_inserted_line_is_found(tx: Tx) -> None:
    opening = await make_opening(tx, 1, fairness_proof=True)
    ids = [(await apply(tx, opening)).application.id for _ in range(3)]
    await withdrawals.withdraw(tx, ids[0], LOCAL)
    lines = await export(tx, opening)
    assert verify(lines) == []
    assert [what for what, changed in tamper(lines) if not verify(changed)] == []


Edit = tuple[int, str, object]
"""An event, a field, and its new value; `=8` is that of event 8, and None removes the field."""


def forge(lines: list[str], edits: list[Edit]) -> list[str]:
    """The log after a change by a company that computes all hashes again."""
    header, *events = [json.loads(line) for line in lines[:-1]]
    before = [dict(event) for event in events]
    for seq, name, value in edits:
        if isinstance(value, str) and value.startswith("="):
            value = before[int(value[1:]) - 1][name]
        events[seq - 1][name] = value
    forged, hash = [canonical(header)], header["hash"]
    for event in events:
        content = {name: value for name, value in event.items() if value is not None}
        hash = chain_hash(hash, content)
        forged.append(canonical({**content, "hash": hash}))
    return [*forged, canonical({"end": len(events), "hash": hash})]


@pytest.mark.parametrize(
    ("edits", "check"),
    [
        ([(8, "who", "=5")], "states"),
        ([(3, "who", "=4"), (4, "who", "=3")], "order"),
        ([(13, "outOfTurn", None)], "order"),
        ([(1, "capacity", 9)], "order"),
        ([(12, "capacity", None)], "places"),
        ([(seq, "at", "=8") for seq in range(9, 16)], "deadlines"),
        ([(9, "place", 4)], "order"),
        ([(9, "missed", 2)], "states"),
        ([(8, "deadline", "2000-01-01T00:00Z")], "deadlines"),
        ([(11, "at", "2999-01-01T00:00Z")], "deadlines"),
        ([(9, "type", "EDITED"), (9, "who", None)], "deadlines"),
        ([(1, "type", "PAUSED")], "order"),
    ],
)
async def test_a_log_with_new_hashes_is_found_by_the_rules_and_by_a_saved_head(
    tx: Tx, edits: list[Edit], check: str
) -> None:
    opening, _ = await make_public_log(tx)
    lines = await export(tx, opening)
    head = f"15:{json.loads(lines[-2])['hash']}"
    assert verify(lines, head) == []
    forged = forge(lines, edits)
    assert check in {fault[0] for fault in verify(forged)}
    assert "chain" not in {fault[0] for fault in verify(forged)}
    assert "chain" in {fault[0] for fault in verify(forged, head)}


async def test_a_newcomer_skips_the_place_of_a_person_who_missed_an_offer(tx: Tx) -> None:
    opening = await make_opening(tx, 1, fairness_proof=True)
    ids = [(await apply(tx, opening)).application.id for _ in range(3)]
    await withdrawals.withdraw(tx, ids[0], LOCAL)
    await age(tx, opening.id, MINUTES)
    await expire_due_openings(tx)
    later = [(await apply(tx, opening)).application for _ in range(2)]
    # Place 4 is that of the missed offer.
    assert [application.queue_key for application in later] == [3, 5]
    assert verify(await export(tx, opening)) == []


async def test_other_changes_first_end_overdue_offers(tx: Tx) -> None:
    opening = await make_opening(tx, 1, fairness_proof=True, require_acknowledgement=True)
    form = parse_form({"fields": [{"key": "why", "label": "Why?", "type": "short_text"}]})
    changes = (
        form_versions.save_form(tx, opening.id, form, LOCAL),
        posting_details.save_details(
            tx, opening.id, PostingDetails(employment_type="FULL_TIME"), LOCAL
        ),
    )
    for change in changes:
        application = (await apply(tx, opening)).application
        await age(tx, opening.id, MINUTES)
        await change
        await withdrawals.withdraw(tx, application.id, LOCAL)
    types = [json.loads(line)["type"] for line in (await export(tx, opening))[1:-1]]
    assert types[2:5] == ["DECAY_TRIGGERED", "PROMOTED", "FORM_CHANGED"]
    assert types[7:10] == ["DECAY_TRIGGERED", "PROMOTED", "EDITED"]
    assert verify(await export(tx, opening)) == []


def write_log(terms: Mapping[str, object], *events: Mapping[str, object]) -> list[str]:
    """The log of an opening with one place; an event may leave out what most have in common."""
    header = fairness_proof.make_header(1, bytes(32))
    common = {"at": "2030-01-01T12:00Z", "by": "company"}
    opened = {"type": "OPENED", "capacity": 1, "terms": {"maxMissed": 3, **terms}}
    lines = [canonical(header)]
    for event in (opened, *events):
        lines.append(canonical({**common, **event, "seq": len(lines)}))
    return forge([*lines, "{}"], [])


APPLIED_FIRST = {"type": "APPLIED", "who": "a", "to": "ACTIVE"}
WAITING = {"type": "APPLIED", "who": "b", "to": "WAITLIST", "place": 1}
OFFERED = {
    "type": "APPLIED",
    "who": "a",
    "to": "PENDING_ACKNOWLEDGMENT",
    "deadline": "2030-01-02T12:00Z",
}
ENTERED = {"type": "APPLIED", "who": "a", "to": "IN_REVIEW"}
SEED = bytes(range(32))
FIXED = {"type": "LOTTERY_OPENED", "seedDigest": hashlib.sha256(SEED).hexdigest()}
DRAWN = {"type": "LOTTERY_DRAWN", "seed": SEED.hex()}
IN_LOTTERY = {"admission": "lottery"}


def step(type: str, who: str, before: str | None, after: str, **more: object) -> dict[str, object]:
    return {"type": type, "who": who, **({"from": before} if before else {}), "to": after, **more}


@pytest.mark.parametrize(
    ("terms", "events", "check"),
    [
        # The last event of each is the forged one.
        (
            {},
            [
                APPLIED_FIRST,
                WAITING,
                {**WAITING, "who": "c", "place": 2},
                step("ADDRESS_CONFIRMED", "c", "WAITLIST", "WAITLIST", place=1),
            ],
            "states",
        ),
        (
            {"requireAcknowledgement": True},
            [
                OFFERED,
                step(
                    "ADDRESS_CONFIRMED",
                    "a",
                    "PENDING_ACKNOWLEDGMENT",
                    "PENDING_ACKNOWLEDGMENT",
                    deadline="2031-01-02T12:00Z",
                ),
            ],
            "states",
        ),
        (
            {},
            [
                APPLIED_FIRST,
                WAITING,
                {"type": "CAPACITY_CHANGED", "capacity": 2},
                step("STAGE_CHANGED", "b", "WAITLIST", "ACTIVE"),
            ],
            "states",
        ),
        (
            {},
            [
                APPLIED_FIRST,
                WAITING,
                {"type": "CAPACITY_CHANGED", "capacity": 2},
                step("INVENTED", "b", "WAITLIST", "ACTIVE"),
            ],
            "states",
        ),
        ({}, [{"type": "INVENTED"}], "states"),
        ({}, [{"type": "CLOSED"}, {"type": "PAUSED"}], "states"),
        ({}, [{"type": "CLOSED"}, step("ACCEPTED", "a", None, "WAITLIST", place=1)], "states"),
        ({"admission": "review"}, [APPLIED_FIRST], "order"),
        ({}, [ENTERED], "order"),
        ({"requireAcknowledgement": True}, [APPLIED_FIRST], "order"),
        (
            IN_LOTTERY,
            [FIXED, ENTERED, step("ACCEPTED", "a", "IN_REVIEW", "WAITLIST", place=1)],
            "draws",
        ),
        (IN_LOTTERY, [ENTERED, FIXED, DRAWN], "draws"),
        (IN_LOTTERY, [FIXED, FIXED], "draws"),
        (IN_LOTTERY, [{**FIXED, "seedDigest": "00"}, DRAWN], "draws"),
        (
            IN_LOTTERY,
            [FIXED, *({**ENTERED, "who": who} for who in "abcd"), DRAWN]
            + [
                step("ACCEPTED", who, "IN_REVIEW", "WAITLIST", place=place)
                for place, who in enumerate("abcd", 1)
            ],
            "draws",
        ),
    ],
)
def test_steps_that_the_rules_do_not_know_are_found(
    terms: dict[str, object], events: list[dict[str, object]], check: str
) -> None:
    assert check in {fault[0] for fault in verify(write_log(terms, *events))}
    # Up to the forged steps the log is right, except where a seed is fixed too late.
    honest = [event for event in events[:-1] if event["type"] not in ("ACCEPTED", "LOTTERY_DRAWN")]
    assert verify(write_log(terms, *honest)) == []


def test_very_many_overdue_offers_end_in_parts() -> None:
    at_once = verify_fairness.EXPIRED_AT_ONCE
    people = [f"p{number}" for number in range(2 * at_once + 1)]
    late = {"at": "2030-01-03T12:00Z"}
    expired = [
        step("LAPSED", who, "PENDING_ACKNOWLEDGMENT", "INACTIVE", missed=1, **late)
        for who in people
    ]
    events = [
        {"type": "CAPACITY_CHANGED", "capacity": len(people)},
        *({**OFFERED, "who": who} for who in people),
        *expired[:at_once],
        {"type": "FORM_CHANGED", **late},
        {"type": "FORM_CHANGED", **late},
        *expired[at_once:],
    ]
    terms = {"requireAcknowledgement": True, "maxMissed": 1}
    assert verify(write_log(terms, *events)) == []
    # Without the first part, nothing else may happen before.
    events[len(people) + 1 : len(people) + 1 + at_once] = []
    assert "deadlines" in {fault[0] for fault in verify(write_log(terms, *events))}


async def test_scores_and_stages_are_neutral_lines(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="review", fairness_proof=True)
    id = (await apply(tx, opening)).application.id
    await decisions.score(tx, id, 73, LOCAL)
    await decisions.accept(tx, id, LOCAL)
    await offers.acknowledge(tx, id, LOCAL)
    await move_to_stage(tx, id, "interview", LOCAL, seen=None)
    lines = await export(tx, opening)
    internal = [json.loads(line) for line in lines if "INTERNAL" in line]
    assert [(line.keys(), line["seq"]) for line in internal] == [
        ({"seq", "type", "commitment", "hash"}, 3),
        ({"seq", "type", "commitment", "hash"}, 7),
    ]
    assert verify(lines) == []


async def test_a_lottery_is_verified_from_the_public_log(tx: Tx) -> None:
    opening = await make_opening(tx, 1, admission="lottery", fairness_proof=True)
    ids = [(await apply(tx, opening)).application.id for _ in range(5)]
    await decisions.reject(tx, ids[0], LOCAL)
    await lottery.draw(tx, opening.id, LOCAL)
    await apply(tx, opening)
    lines = await export(tx, opening)
    assert verify(lines) == []
    verifier = Verifier()
    for line in lines:
        verifier.read(line)
    assert verifier.marked == {"Removed by the company before the draw": [8]}
    swapped: list[Edit] = [(10, "who", "=11"), (11, "who", "=10")]
    assert "draws" in {fault[0] for fault in verify(forge(lines, swapped))}


async def test_the_log_names_nobody_and_links_no_two_openings(tx: Tx) -> None:
    person = await make_applicant(tx, "Okafor")
    pseudonyms: list[str] = []
    for _ in range(2):
        opening = await make_opening(tx, 1, fairness_proof=True, title="Secret title")
        application = (await apply(tx, opening, person.id)).application
        await withdrawals.withdraw(tx, application.id, LOCAL, reason="private words")
        lines = await export(tx, opening)
        for text in ("Okafor", "private", "Secret", "applicant:", f'"{person.id}"'):
            assert text not in "".join(lines)
        events = [json.loads(line) for line in lines[1:-1]]
        assert all(len(event["at"]) == len("2026-11-17T12:45Z") for event in events)
        assert set().union(*events) == {
            *("seq", "at", "type", "by", "who", "from", "to", "capacity", "terms"),
            *("commitment", "hash"),
        }
        pseudonyms.append(events[1]["who"])
    assert len(set(pseudonyms)) == 2


async def test_the_lines_commit_to_the_audit_log(tx: Tx) -> None:
    opening, _ = await make_public_log(tx)
    before = await export(tx, opening)
    key = await fairness_keys.get_published(tx, opening.id)
    # Any change of an internal event changes its hash, and so the commitment and the public head.
    await age(tx, opening.id, dt.timedelta(microseconds=1000))
    after = await export(tx, opening)
    assert (
        json.loads(after[0]) == json.loads(before[0]) == fairness_proof.make_header(opening.id, key)
    )
    assert json.loads(after[1])["commitment"] != json.loads(before[1])["commitment"]
    assert after[-1] != before[-1]


async def test_erased_persons_still_verify_and_keep_the_head(tx: Tx) -> None:
    opening, ids = await make_public_log(tx)
    lines = await export(tx, opening)
    for id in ids[:2]:
        applicant_id = (await applications.get(tx, id)).applicant_id
        await privacy.erase_applicant(tx, applicant_id, LOCAL)
    later = await export(tx, opening)
    assert later[: len(lines) - 1] == lines[:-1]
    assert verify(later, f"15:{json.loads(lines[-2])['hash']}") == []


async def test_the_proof_is_off_until_the_company_switches_it_on(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    await apply(tx, opening)
    with pytest.raises(NoFairnessProof):
        await export(tx, opening)
    await lifecycle.edit(tx, opening.id, LOCAL, fairness_proof=True)
    lines = await export(tx, opening)
    await lifecycle.edit(tx, opening.id, LOCAL, fairness_proof=False)
    with pytest.raises(NoFairnessProof):
        await PublicHeads().find(tx, opening.id)
    await lifecycle.edit(tx, opening.id, LOCAL, fairness_proof=True)
    # The same pseudonyms and hashes as before, with two more events.
    assert (await export(tx, opening))[:-3] == lines[:-1]


async def test_the_head_in_memory_is_the_end_of_the_log(database: Database) -> None:
    heads = PublicHeads()
    async with database.transaction() as tx:
        opening = await make_opening(tx, 2, fairness_proof=True)
    async with database.transaction() as older:
        await older.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        first = head = await PublicHeads().find(older, opening.id)
        for _ in range(3):
            async with database.transaction() as tx:
                await apply(tx, opening)
                head = await heads.find(tx, opening.id)
                end = json.loads((await export(tx, opening))[-1])
                assert (head.seq, head.hash) == (end["end"], end["hash"])
        # A reader with an older snapshot does not see later events, nor spoil the head for others.
        assert await heads.find(older, opening.id) == first
    async with database.transaction() as tx:
        assert await heads.find(tx, opening.id) == head


async def test_an_interrupted_reader_keeps_its_progress_and_others_the_head(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 2, fairness_proof=True)
        for _ in range(3):
            await apply(tx, opening)
        head = await PublicHeads().find(tx, opening.id)
    heads = PublicHeads()
    assert heads.lock(opening.id) is heads.lock(opening.id)
    async with database.transaction() as tx:
        # An event that cannot be read, as a statement timeout would end the reading.
        await tx.execute("ALTER TABLE hiring.event DISABLE TRIGGER event_append_only")
        await tx.execute(
            """
            UPDATE hiring.event SET metadata = metadata || '{"confirmBy": "never"}'
             WHERE opening_id = %s AND seq = %s
            """,
            [opening.id, head.seq],
        )
        with pytest.raises(ValueError, match="never"):
            await heads.find(tx, opening.id)
        # The head so far was kept: events before it are not read again.
        await tx.execute(
            "UPDATE hiring.event SET hash = '\\x00' WHERE opening_id = %s AND seq < %s",
            [opening.id, head.seq],
        )
        await tx.execute(
            "UPDATE hiring.event SET metadata = metadata - 'confirmBy' WHERE opening_id = %s",
            [opening.id],
        )
        assert await heads.find(tx, opening.id) == head
        await tx.execute("ALTER TABLE hiring.event ENABLE TRIGGER event_append_only")


async def test_two_members_who_switch_it_on_at_once_get_one_key(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 2)

    async def switch_on() -> list[str]:
        async with database.transaction() as tx:
            await lifecycle.edit(tx, opening.id, LOCAL, fairness_proof=True)
            return await export(tx, opening)

    logs = await asyncio.gather(*(switch_on() for _ in range(4)))
    # Heads that were saved before the proof was switched off stay valid when it is on again.
    async with database.transaction() as tx:
        await lifecycle.edit(tx, opening.id, LOCAL, fairness_proof=False)
    logs.append(await switch_on())
    assert len({log[0] for log in logs}) == 1


async def test_applications_at_once_give_one_log_that_verifies(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 3, fairness_proof=True)
        people = [(await make_applicant(tx)).id for _ in range(12)]

    async def come_and_go(id: int) -> None:
        async with database.transaction() as tx:
            placement = await submissions.apply(tx, opening.id, id, by_applicant(id))
        if id % 3 == 0:
            async with database.transaction() as tx:
                await withdrawals.withdraw(tx, placement.application.id, by_applicant(id))

    await asyncio.gather(*map(come_and_go, people))
    async with database.transaction() as tx:
        assert verify(await export(tx, opening)) == []


def test_published_hashes_never_change() -> None:
    """If this fails, heads that people saved no longer fit: give the format a new number."""
    key = bytes(range(32))
    at = dt.datetime(2026, 11, 17, 12, 45, 59, tzinfo=dt.UTC)
    terms = {"maxMissed": 3, "applyUntil": "2026-12-01T00:00:00+00:00", "title": "Baker"}
    events = [
        PublishedEvent(
            seq=1, type="OPENED", applicant_id=None, from_status=None, to_status=None, queue_key=None,
            deadline=None, metadata={"capacity": 2, **terms}, rule=None, actor="local",
            created_at=at, hash=b"1" * 32,
        ),
        PublishedEvent(
            seq=2, type="PROMOTED", applicant_id=7, from_status="WAITLIST",
            to_status="PENDING_ACKNOWLEDGMENT", queue_key=None, deadline=at, metadata={},
            rule="next in line", actor="applicant:7 link:person:1", created_at=at, hash=b"2" * 32,
        ),
    ]  # fmt: skip
    line = fairness_proof.make_header(5, key)
    for event in events:
        line = fairness_proof.make_line(event, key, line["hash"])
    assert line["hash"] == "c51741d7c0a77f151b1e8d2101bdfe64b3710cb43e617bd98e4bbca35f3c773b"
