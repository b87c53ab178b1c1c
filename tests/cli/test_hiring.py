"""`jobmill hiring`."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest

from jobmill.db import Database
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import withdrawals
from jobmill.hiring.interviews import interview_times
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.openings import Opening
from jobmill.people import secrets
from tests.cli import forked
from tests.cli.forked import Run, json_lines
from tests.hiring.helpers import apply, let_pass, make_applicant, make_opening
from tests.hiring.interview_helpers import make_times

RESULT = {"applicationId", "applicantId", "jobId", "status", "queuePosition", "message"}
STANDING = {
    "applicationId", "jobId", "jobTitle", "status", "queuePosition", "appliedAt", "promotedAt",
    "acknowledgeDeadline", "timeInCurrentStateSeconds",
}  # fmt: skip
EVENT = {
    "id", "applicationId", "eventType", "fromStatus", "toStatus", "metadata", "createdAt",
}  # fmt: skip
QUEUED = {
    "applicationId", "applicantId", "applicantName", "position", "appliedAt", "penaltyCount",
}  # fmt: skip
SUMMARY = {
    "jobId", "jobTitle", "capacity", "activeCount", "waitlistCount", "inactiveCount",
    "totalApplications", "avgTimeToPromotionSeconds", "avgAcknowledgmentTimeSeconds",
    "decayEvents",
}  # fmt: skip


@pytest.fixture
def run(home: Path, url: str) -> Run:
    return forked.runner(home, url)


async def fill(
    database: Database, capacity: int, people: int, **terms: Any
) -> tuple[Opening, list[int]]:
    async with database.transaction() as tx:
        opening = await make_opening(tx, capacity, **terms)
        return opening, [(await apply(tx, opening)).application.id for _ in range(people)]


async def state(database: Database, id: int) -> str:
    async with database.transaction() as tx:
        return (await applications.get(tx, id)).status


async def test_an_applicant_applies_is_promoted_and_confirms(run: Run, database: Database) -> None:
    opening, (first,) = await fill(database, 1, 1)
    words = ["hiring", "apply", opening.id, "--name", "Bea", "--email", "bea@a.example"]
    (waits,) = json_lines(await run(*words, "--json"))
    assert waits.keys() == RESULT
    assert (waits["status"], waits["queuePosition"]) == ("WAITLIST", 1)
    assert waits["message"] == "You have been added to the waitlist at position 1."
    again = await run(*words)
    assert (again.returncode, "already has an active application" in again.stderr) == (4, True)
    early = await run("hiring", "ack", waits["applicationId"])
    assert (early.returncode, "has no offer" in early.stderr) == (4, True)
    (left,) = json_lines(await run("hiring", "withdraw", first, "--for-applicant", "--json"))
    assert (left["status"], left["message"]) == (
        "INACTIVE",
        "Application withdrawn successfully.",
    )
    shown = (await run("hiring", "status", "BEA@a.example")).stdout
    assert "offered, by " in shown
    done = await run("hiring", "ack", waits["applicationId"])
    assert "You are now ACTIVE." in done.stdout
    (status,) = json_lines(await run("hiring", "status", "bea@a.example", "--json"))
    assert status["applications"][0].keys() == STANDING
    events = json_lines(await run("hiring", "timeline", "bea@a.example", "--json"))
    assert [event["eventType"] for event in events] == ["APPLIED", "PROMOTED", "ACKNOWLEDGED"]
    assert events[0].keys() >= EVENT
    assert [event["actor"] for event in events][2] == "local"


async def test_a_late_answer_fails_and_the_missed_offer_is_saved(
    run: Run, database: Database
) -> None:
    opening, (first, second, third) = await fill(database, 1, 3)
    async with database.transaction() as tx:
        await withdrawals.withdraw(tx, first, LOCAL)
        await let_pass(tx, opening, dt.timedelta(minutes=6))
    done = await run("hiring", "ack", second)
    assert (done.returncode, done.stdout) == (4, "")
    assert (
        "Acknowledgment window has expired. You have been returned to the waitlist with a penalty."
    ) in done.stderr
    assert await state(database, second) == "WAITLIST"
    assert await state(database, third) == "PENDING_ACKNOWLEDGMENT"
    shown = (await run("hiring", "queue", opening.id)).stdout
    assert "position 1 · missed 1 offer" in shown
    (queue,) = json_lines(await run("hiring", "queue", opening.id, "--json"))
    assert queue["waitlistEntries"][0].keys() == QUEUED
    assert "Offer declined" in (await run("hiring", "decline", third)).stdout


async def test_overdue_offers_are_settled_before_they_are_shown(
    run: Run, database: Database
) -> None:
    opening, (first, second, _) = await fill(database, 1, 3)
    async with database.transaction() as tx:
        await withdrawals.withdraw(tx, first, LOCAL)
        await let_pass(tx, opening, dt.timedelta(minutes=6))
    (shown,) = json_lines(await run("opening", "show", opening.id, "--json"))
    assert [row["applicationId"] for row in shown["waitlistApplicants"]] == [second]


async def test_an_applicant_is_promoted_out_of_turn_with_a_reason(
    run: Run, database: Database
) -> None:
    opening, ids = await fill(database, 1, 3)
    words = ["hiring", "promote", ids[2], "--reason", "knows the ovens"]
    full = await run(*words)
    assert (full.returncode, "no free place" in full.stderr) == (4, True)
    assert "out of turn" in (await run(*words, "--add-slot")).stdout
    assert await state(database, ids[2]) == "PENDING_ACKNOWLEDGMENT"
    (why,) = json_lines(await run("hiring", "why", opening.id, 6, "--json"))
    assert (why["rule"], why["ahead"]["first"]) == ("out of turn, by the company", [ids[1]])
    explanation = " ".join((await run("hiring", "why", opening.id, 6)).stdout.split())
    async with database.transaction() as tx:
        names = await applicants.find_names(tx, ids)
    assert f"The company offered it to {names[ids[2]]} ({ids[2]}) out of turn." in explanation
    assert f"Passed over: 1 application ({names[ids[1]]} ({ids[1]}))." in explanation
    assert re.search(r"open until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.", explanation)
    assert "knows the ovens" in explanation
    assert (await run("hiring", "why", opening.id, 99)).returncode == 3
    assert (await run("hiring", "promote", ids[1])).returncode == 2


async def test_a_personal_link_is_printed_and_renewed(run: Run, database: Database) -> None:
    async with database.transaction() as tx:
        applicant = await make_applicant(tx)
        signer = LinkSigner(await secrets.get_signing_key(tx))
    home = "http://127.0.0.1:8000/my/"
    first = (await run("hiring", "link", applicant.email, JOBMILL_WEB_PORT="8000")).stdout.strip()
    link = signer.read_personal(first.removeprefix(home))
    assert (link.applicant_id, link.version) == (applicant.id, applicant.link_version)
    base = {"JOBMILL_PUBLIC_URL": "https://jobs.example.org"}
    (new,) = json_lines(await run("hiring", "link", applicant.id, "--renew", "--json", **base))
    token = new["url"].removeprefix("https://jobs.example.org/my/")
    renewed = signer.read_personal(token)
    assert (renewed.applicant_id, renewed.version) == (applicant.id, applicant.link_version + 1)
    assert (await run("hiring", "link", 10**6)).returncode == 3


async def test_errors_say_opening_instead_of_job(run: Run, database: Database) -> None:
    opening, _ = await fill(database, 1, 0)
    await run("opening", "pause", opening.id)
    refused = await run("hiring", "apply", opening.id, "--name", "Ada", "--email", "ada@a.example")
    assert (refused.returncode, "Applications are paused." in refused.stderr) == (4, True)
    gone = await run("hiring", "why", opening.id, 99)
    assert f"`jobmill hiring replay {opening.id}` lists" in gone.stderr
    lines = await run("hiring", "withdraw-many", opening.id, 10**6, "--reason", "x")
    assert f"refused: opening {opening.id} has no such application" in lines.stdout


async def test_a_missing_record_is_reported_with_a_command_that_lists_the_existing_ones(
    run: Run,
) -> None:
    for words in (["summary", 7], ["queue", 7], ["replay", 7], ["verify", 7], ["status", 7]):
        done = await run("hiring", *words)
        assert (done.returncode, "jobmill opening" in done.stderr) == (3, True), words
    assert (await run("hiring", "status", "ada@a.example")).returncode == 3
    assert (await run("hiring", "status", "ada")).returncode == 2
    assert (await run("hiring", "status", "9" * 30)).returncode == 3
    assert "no openings to verify" in (await run("hiring", "verify")).stdout


async def test_replay_shows_an_earlier_state(run: Run, database: Database) -> None:
    opening, ids = await fill(database, 1, 2)
    async with database.transaction() as tx:
        await withdrawals.withdraw(tx, ids[0], LOCAL, reason="gone")
    (then,) = json_lines(await run("hiring", "replay", opening.id, "--seq", 3, "--json"))
    assert [row["applicationId"] for row in then["activeApplicants"]] == [ids[0]]
    assert [row["queuePosition"] for row in then["waitlistApplicants"]] == [1]
    assert [row["eventType"] for row in then["events"]] == ["APPLIED", "APPLIED"]
    assert then.keys() >= {"jobId", "asOf"}
    now = (await run("hiring", "replay", opening.id)).stdout
    assert "offered" in now
    assert "WITHDRAWN · active → ended" in now
    assert "did not exist at" in (await run("hiring", "replay", opening.id, "--at", "2020-01-01")).stdout  # fmt: skip
    assert (await run("hiring", "replay", opening.id, "--at", "then")).returncode == 2
    (summary,) = json_lines(await run("hiring", "summary", opening.id, "--json"))
    assert summary.keys() == SUMMARY
    assert (summary["inactiveCount"], summary["totalApplications"]) == (1, 2)


async def test_tampering_with_the_audit_log_is_detected(
    run: Run, database: Database, home: Path
) -> None:
    opening, _ = await fill(database, 1, 2)
    async with database.transaction() as tx:
        [time] = await make_times(tx, opening, 1)
    heads = home / "heads.jsonl"
    assert "2 logs" in (await run("hiring", "verify", "--save", heads)).stdout
    assert f'"jobId": {time.id},' in heads.read_text()
    assert (await run("hiring", "verify", "--against", heads)).returncode == 0
    heads.write_text(heads.read_text() + '{"jobId": 999, "seq": 1, "hash": "aa"}\n')
    lost = await run("hiring", "verify", "--against", heads)
    assert (lost.returncode, "opening 999: the opening and its log are gone" in lost.stdout) == (
        1,
        True,
    )
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE hiring.event DISABLE TRIGGER USER")
        await tx.execute(
            "UPDATE hiring.event SET actor = 'nobody' WHERE opening_id = %s AND seq = 2",
            [opening.id],
        )
        await tx.execute(
            "UPDATE hiring.event SET actor = 'nobody' WHERE opening_id = %s", [time.id]
        )
    everything = (await run("hiring", "verify")).stdout
    assert f"opening {opening.id}, interview {time.id} on " in everything
    new = home / "new.jsonl"
    done = await run("hiring", "verify", opening.id, "--save", new)
    assert done.returncode == 1
    assert f"opening {opening.id}, event 2: " in done.stdout
    assert not new.exists()
    bad = await run("hiring", "verify", "--against", "-", stdin="{}\n")
    assert (bad.returncode, "-:1 was not written by" in bad.stderr) == (2, True)


async def test_bulk_actions_can_be_tried_with_a_dry_run(run: Run, database: Database) -> None:
    opening, ids = await fill(database, 1, 4)
    words = ["hiring", "withdraw-many", opening.id, ids[0], ids[1], 10**6, "--reason", "cut"]
    dry = await run(*words, "--dry-run")
    assert dry.returncode == 1
    assert [line.split("  ")[-1] for line in dry.stdout.splitlines()] == [
        "withdrawn: had a place",
        "withdrawn: was waiting",
        f"refused: opening {opening.id} has no such application",
        "offered: next in line",
        "Nothing was changed.",
    ]
    assert await state(database, ids[0]) == "ACTIVE"
    done = await run(*words, "--json")
    assert [json.loads(line)["outcome"] for line in done.stdout.splitlines()] == [
        "withdrawn",
        "withdrawn",
        "refused",
        "offered",
    ]
    assert await state(database, ids[2]) == "PENDING_ACKNOWLEDGMENT"
    json_lines(await run(
        "hiring", "message-many", opening.id, "--all-waiting", "--reason", "delay",
        "--file", "-", "--json", stdin="One more week.",
    ))  # fmt: skip
    (result,) = json_lines(
        await run("hiring", "promote-many", opening.id, ids[3], "--reason", "x", "--add-slots", "--json")
    )  # fmt: skip
    assert result["outcome"] == "offered"
    both = await run("hiring", "promote-many", opening.id, ids[3], "--all-waiting", "--reason", "x")
    assert both.returncode == 2


async def test_importing_applicants_twice_reports_repeats(
    run: Run, database: Database, home: Path
) -> None:
    opening, _ = await fill(database, 1, 0)
    file = home / "people.csv"
    file.write_text("name,email\nAda,ada@a.example\nBen,ben@a.example\nAda,ADA@a.example\n")
    words = ["hiring", "import-applicants", opening.id, file]
    dry = await run(*words, "--dry-run")
    assert "2 would have applied (1 on the waitlist), 1 listed twice." in dry.stdout
    first = json_lines(await run(*words, "--json"))
    assert [row["outcome"] for row in first] == ["applied", "applied", "repeated"]
    again = await run(*words)
    assert again.stdout == "0 applied (0 on the waitlist), 2 already applied, 1 listed twice.\n"
    file.write_text("name,email\nAda,ada+baking@a.example\n")
    fold = {"JOBMILL_FOLD_EMAIL_ALIASES": "true"}
    assert [row["outcome"] for row in json_lines(await run(*words, "--json", **fold))] == ["known"]
    file.write_bytes("name,email\nJosé,j@a.example\n".encode("latin-1"))
    bad = await run(*words)
    assert (bad.returncode, "row 2: not UTF-8" in bad.stderr) == (2, True)
    async with database.transaction() as tx:
        await lifecycle.close(tx, opening.id, LOCAL)
    closed = await run(*words[:-1], "-", stdin="name,email\nEve,eve@a.example\n")
    assert (closed.returncode, "Applications are closed." in closed.stderr) == (1, True)


async def test_personal_data_is_exported_and_erased(run: Run, database: Database) -> None:
    opening, (id,) = await fill(database, 1, 1)
    async with database.transaction() as tx:
        applicant_id = (await applications.get(tx, id)).applicant_id
    (data,) = json_lines(await run("hiring", "export-person", applicant_id, "--json"))
    assert data["applicant"]["name"] == "Ada"
    unconfirmed = await run("hiring", "erase-person", applicant_id)
    assert (unconfirmed.returncode, "--yes" in unconfirmed.stderr) == (2, True)
    (done,) = json_lines(await run("hiring", "erase-person", applicant_id, "--yes", "--json"))
    assert done == {"applicantId": applicant_id, "erased": True, "ended": [id]}
    assert "already erased" in (await run("hiring", "erase-person", applicant_id, "--yes")).stderr
    assert (await run("hiring", "verify", opening.id)).returncode == 0


async def test_sample_data_is_created_once(run: Run) -> None:
    assert "and 5 applicants." in (await run("seed")).stdout
    assert "nothing was changed" in (await run("seed")).stdout
    assert len(json_lines(await run("opening", "list", "--json"))) == 3


async def test_the_public_log_is_shown_and_saved(
    run: Run, database: Database, tmp_path: Path
) -> None:
    opening, _ = await fill(database, 1, 2)
    off = await run("hiring", "fairness", str(opening.id))
    assert off.returncode != 0
    assert "does not publish a fairness proof" in off.stderr
    await run("opening", "edit", str(opening.id), "--fairness-proof")
    log = tmp_path / "log.jsonl"
    [head] = json_lines(
        await run("hiring", "fairness", str(opening.id), "--save", str(log), "--json")
    )
    assert head["url"].endswith(f"/openings/{opening.id}/fairness")
    assert json.loads(log.read_text().splitlines()[-1]) == {"end": 4, "hash": head["hash"]}
    assert f"4:{head['hash']}" in (await run("hiring", "fairness", opening.id)).stdout


async def test_an_application_is_rated_tagged_and_noted(run: Run, database: Database) -> None:
    _, (id,) = await fill(database, 1, 1)
    (noted,) = json_lines(await run("hiring", "note", id, "Calls back on Monday", "--json"))
    assert (noted["text"], noted["author"]) == ("Calls back on Monday", "local")
    assert "Saved note" in (await run("hiring", "edit-note", noted["id"], "Called")).stdout
    await run("hiring", "rate", id, 4)
    await run("hiring", "rate", id, 5, "--criterion", "Baking")
    await run("hiring", "tag", id, "Senior")
    (review,) = json_lines(await run("hiring", "review", id, "--json"))
    assert (review["average"], review["tags"]) == (4.5, ["senior"])
    assert [note["text"] for note in review["notes"]] == ["Called"]
    shown = (await run("hiring", "review", id)).stdout
    assert "rated 4.5 of 5 · tags: senior" in shown
    await run("hiring", "rate", id, 0)
    await run("hiring", "tag", id, "senior", "--remove")
    assert "Deleted note" in (await run("hiring", "delete-note", noted["id"])).stdout
    (review,) = json_lines(await run("hiring", "review", id, "--json"))
    assert (review["average"], review["tags"], review["notes"]) == (5.0, [], [])
    missing = await run("hiring", "review", 999)
    assert missing.returncode == 3


async def test_openings_are_not_changed_by_the_number_of_an_interview_time(
    run: Run, database: Database
) -> None:
    async with database.transaction() as tx:
        [time] = await make_times(tx, await make_opening(tx), 1)
    for command in (
        ("edit", time.id, "--title", "Cook"),
        ("capacity", time.id, 5),
        ("pause", time.id),
        ("close", time.id),
        ("close", time.id, "--tell", "nothing"),
        ("posting", time.id, "--type", "FULL_TIME"),
    ):
        refused = await run("opening", *command)
        assert refused.returncode == 3, command
    async with database.transaction() as tx:
        assert (await interview_times.get_interview(tx, time.id)).capacity == 1


async def test_interview_times_are_planned_and_booked(run: Run, database: Database) -> None:
    opening, (ada, ben) = await fill(database, 2, 2)
    added = await run(
        "interview", "add", opening.id, "2040-01-16", "09:00", "10:00", "--time-zone", "Europe/Oslo"
    )
    assert "Added 2 interview times." in added.stdout
    first, second = json_lines(await run("interview", "list", opening.id, "--json"))
    assert first["startsAt"] == "2040-01-16T08:00:00.000Z"
    (booked,) = json_lines(await run("interview", "book", ada, first["id"], "--json"))
    assert booked["status"] == "ACTIVE"
    assert "number 1 on the waitlist" in (await run("interview", "book", ben, first["id"])).stdout
    assert (await run("interview", "book", ada, 999)).returncode == 3
    moved = await run("interview", "move", second["id"], "--start", "2040-01-16T13:00")
    assert "13:00 (Europe/Oslo)" in moved.stdout
    await run("interview", "unbook", ada)
    shown = (await run("interview", "list", opening.id)).stdout
    assert "(PENDING_ACKNOWLEDGMENT)" in shown
    assert "Cancelled" in (await run("interview", "cancel", first["id"], "--reason", "ill")).stdout
    wrong = await run("interview", "add", opening.id, "soon", "09:00", "10:00")
    assert wrong.returncode == 2
