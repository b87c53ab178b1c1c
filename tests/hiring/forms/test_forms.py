"""Forms are versioned with their opening, and answers and files are stored with the application."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications import apply_requests, submissions
from jobmill.hiring.applications.submissions import AnswersNeeded, ApplyRequest
from jobmill.hiring.audit_log import explanations, replay, verification
from jobmill.hiring.forms import answers, form_versions, stored_answers, uploads
from jobmill.hiring.forms.answers import AnswerEndsApplication, FormSubmission, InvalidAnswers
from jobmill.hiring.forms.form_fields import ApplicationForm, parse_form, parse_form_file
from jobmill.hiring.forms.uploads import CheckedFile, UploadExpired, UploadSpaceFull
from jobmill.hiring.import_export import exports
from jobmill.hiring.messages.signed_links import ConfirmationToken
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import parse_contact
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.hiring.records.openings import Opening
from tests.cli.forked import ForkedProgram
from tests.hiring import uncommitted_writes
from tests.hiring.change_past import unguarded
from tests.hiring.helpers import make_applicant, make_opening
from tests.hiring.log_rules import check_log, read_log
from tests.queue.helpers import fetch

ADA = parse_contact("Ada", "ada@example.org")
ROOT = Path(__file__).parents[3]
CONTENT = bytes(range(256)) * 3_000
"""Three chunks."""
CV: dict[str, Any] = {"type": "file", "label": "CV", "required": True}
SHIFTS: dict[str, Any] = {"type": "choices", "label": "Shifts", "choices": ["Day", "Night"]}
LICENCE: dict[str, Any] = {
    "type": "yes_no",
    "label": "Do you have a licence?",
    "knockout": {"answers": ["no"], "message": "We need a licence. Please come back with one."},
}


def form_of(*fields: dict[str, Any]) -> ApplicationForm:
    return parse_form({"fields": fields})


async def save(tx: Tx, opening: Opening, *fields: dict[str, Any]) -> form_versions.FormVersion:
    return await form_versions.save_form(tx, opening.id, form_of(*fields), LOCAL)


async def upload(tx: Tx, opening: Opening, key: str = "cv", content: bytes = CONTENT) -> str:
    checked = CheckedFile(key, "Adas CV ü.pdf", "application/pdf", len(content))
    return str((await uploads.store(tx, opening.id, checked, io.BytesIO(content))).id)


async def read_file(tx: Tx, id: Any) -> bytes:
    parts = await fetch(
        tx, "SELECT data FROM hiring.file_chunk WHERE file_id = %s ORDER BY number", [id]
    )
    return b"".join(parts)


async def send(tx: Tx, opening: Opening, submission: FormSubmission | None) -> int:
    """Apply with answers as a new applicant; returns the application."""
    applicant = await make_applicant(tx)
    request = ApplyRequest(applicant.id, by_applicant(applicant.id), submission=submission)
    results = await submissions.apply_all(tx, opening.id, [request])
    return submissions.single_result(results).application.id


async def test_a_change_is_a_new_version_and_old_applications_keep_their_questions(tx: Tx) -> None:
    opening = await make_opening(tx, 5)
    first = await save(tx, opening, {"type": "short_text", "label": "Why us?"})
    assert [field.key for field in first.form.fields] == ["why_us"]
    assert await save(tx, opening, {"type": "short_text", "label": "Why us?"}) == first
    submission = answers.make_submission(first.form, 1, {"why_us": ["Bread"]}, {})
    old = await send(tx, opening, submission)
    renamed = {"type": "short_text", "label": "Why bread?", "key": "why_us"}
    # A removed key is not used for another question.
    second = await save(tx, opening, {"type": "number", "label": "Why us?"}, renamed)
    assert [field.key for field in second.form.fields] == ["why_us_2", "why_us"]
    third = await save(tx, opening)
    assert (third.version, third.form.fields) == (3, ())
    answered = await stored_answers.find_by_application(tx, opening.id, old)
    assert answered
    assert [(field.field.label, field.text) for field in answered.fields] == [("Why us?", "Bread")]
    with pytest.raises(Conflict, match="changed meanwhile"):
        await form_versions.save_form(tx, opening.id, first.form, LOCAL, based_on=2)

    events = [event for event in await read_log(tx, opening.id) if event.type == "FORM_CHANGED"]
    assert [event.metadata["version"] for event in events] == [1, 2, 3]
    await check_log(tx, opening.id)
    assert (await verification.verify_log(tx, opening.id)).faults == []
    explained = await explanations.explain_event(tx, opening.id, events[1].seq)
    assert "version 2 of the form, with 2 questions" in str(explained)
    shown = await replay.state_at(tx, opening.id, events[2].seq)
    assert (shown.status, shown.capacity) == ("open", 5)
    columns = await exports.find_application_fields(tx, opening.id)
    assert columns[-2:] == ("Why bread?", "Why us?")
    [row] = [row async for row in exports.iter_applications(tx, opening.id)]
    assert (row["Why bread?"], row["Why us?"]) == ("Bread", None)
    with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
        async with tx.transaction():
            await tx.execute("UPDATE hiring.application_form SET fields = '[]'")
    async with unguarded(tx):
        await tx.execute("UPDATE hiring.application_form SET fields = '[]' WHERE version = 1")
        await tx.execute("UPDATE hiring.opening SET form_version = 2")
    [changed, shows] = (await verification.verify_log(tx, opening.id)).faults
    assert (changed.seq, changed.what) == (
        events[0].seq,
        "version 1 of the form was changed or removed",
    )
    assert shows.what == "the opening shows version 2 of the form, the log has 3"


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (
            {"type": "choice", "label": "x", "choices": ["a"]},
            "Question 1: enter at least two choices",
        ),
        ({"type": "number", "label": "x", "choices": ["a", "b"]}, "only a choice question"),
        ({"type": "choice", "label": "x", "choices": ["a", "a"]}, "should be different"),
        ({"type": "file", "label": ""}, "Question 1, label: enter a text"),
        ({"type": "file"}, "Question 1, label: is missing"),
        ({"type": "magic", "label": "x"}, "Question 1, type: "),
        ({"type": "file", "label": "x", "requird": True}, "requird: is not a property"),
        ({"type": "file", "label": "x", "key": "Ü"}, "lower-case letters"),
        ({"type": "file", "label": "x", "knockout": {"answers": ["no"]}}, "can end an application"),
        ({"type": "yes_no", "label": "x", "knockout": {}}, "which answer ends"),
        (
            {"type": "yes_no", "label": "x", "knockout": {"answers": ["maybe"]}},
            "one of the choices",
        ),
        ({"type": "yes_no", "label": "x", "knockout": {"answers": ["yes", "no"]}}, "at least one"),
        ({"type": "yes_no", "label": "x", "knockout": {"below": 1}}, "only a number"),
        ({"type": "file", "label": "a\u200bb"}, "invisible"),
    ],
)
def test_a_form_that_makes_no_sense_is_refused(field: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        form_of(field)


def test_a_form_has_limits() -> None:
    question = {"type": "short_text", "label": "x"}
    for fields, words in (
        ([question] * 31, "30"),
        ([CV] * 4, "3 files at most"),
        ([question | {"key": "a"}] * 2, "used once"),
    ):
        with pytest.raises(Invalid, match=words):
            form_of(*fields)
    with pytest.raises(Invalid, match="not JSON"):
        parse_form_file("{")


@pytest.mark.parametrize(
    ("type", "sent", "value"),
    [
        ("short_text", ["  a \n b "], "a b"),
        ("long_text", ["a\r\nb"], "a\nb"),
        ("phone", ["+44 (20) 7946-0018"], "+44 (20) 7946-0018"),
        ("number", ["2,50"], 2.5),
        ("number", ["-3"], -3),
        ("yes_no", ["no"], False),
        ("choice", ["Day"], "Day"),
        ("choices", ["Night", "Day", "Night"], ["Night", "Day"]),
        (
            "links",
            ["example.org/me\nhttp://a.example"],
            ["https://example.org/me", "http://a.example"],
        ),
        ("consent", ["yes"], True),
        ("short_text", ["  "], None),
        ("consent", ["no"], None),
        ("phone", ["call me"], Invalid),
        ("number", ["many"], Invalid),
        ("number", ["9" * 13], Invalid),
        ("yes_no", ["maybe"], Invalid),
        ("choice", ["Evening"], Invalid),
        ("links", ["javascript://x.example/%0aalert(1)"], Invalid),
        ("links", ["\n".join(f"a{n}.example" for n in range(6))], Invalid),
        ("links", ["https://[::1"], Invalid),
        ("short_text", ["x" * 501], Invalid),
        ("long_text", ["\ud800"], Invalid),
    ],
)
def test_answers_are_parsed_by_type(type: str, sent: list[str], value: object) -> None:
    choices = {"choices": ["Day", "Night"]} if type.startswith("choice") else {}
    form = form_of({"key": "q", "type": type, "label": "Q", **choices})
    parsed = answers.parse_answers(form, {"q": sent})
    if value is Invalid:
        assert parsed.problems["q"].endswith((".", ")"))
    else:
        assert (parsed.problems, parsed.values.get("q")) == ({}, value)


def test_every_problem_is_reported_and_knockouts_end_or_mark_the_application() -> None:
    form = form_of({**CV, "key": "cv"}, {**LICENCE, "key": "licence", "required": True})
    with pytest.raises(InvalidAnswers) as refusal:
        answers.make_submission(form, 1, {"other": ["x"]}, {})
    assert refusal.value.problems.keys() == {"cv", "licence", "other"}
    with pytest.raises(AnswerEndsApplication, match="come back with one"):
        answers.make_submission(form, 1, {"licence": ["no"]}, {"cv": "1"})
    years = {
        "key": "years",
        "type": "number",
        "label": "Years",
        "knockout": {"below": 2, "above": 9, "keepForReview": True},
    }
    shifts = {**SHIFTS, "key": "shifts", "knockout": {"answers": ["Day"]}}
    form = form_of(years, shifts)
    for count, marked in (("1", ("years",)), ("2", ()), ("10", ("years",)), ("", ())):
        submission = answers.make_submission(form, 1, {"years": [count]}, {})
        assert submission.knockouts == marked
    with pytest.raises(AnswerEndsApplication, match="Shifts"):
        answers.make_submission(form, 1, {"shifts": ["Night", "Day"]}, {})
    assert answers.raw_from_json({"a": True, "b": 2.5, "c": ["x"]}) == {
        "a": ["yes"],
        "b": ["2.5"],
        "c": ["x"],
    }
    with pytest.raises(InvalidAnswers):
        answers.raw_from_json({"a": {}})


async def test_a_required_form_needs_answers_except_from_the_company(tx: Tx) -> None:
    opening = await make_opening(tx, 9)
    version = (await save(tx, opening, CV)).version
    with pytest.raises(AnswersNeeded):
        await send(tx, opening, None)
    with pytest.raises(AnswersNeeded):
        await submissions.apply_with_contact(tx, opening.id, ADA)
    with pytest.raises(AnswersNeeded):
        await apply_requests.submit(tx, opening.id, ADA, dt.timedelta(days=1))
    # A refused application leaves no applicant.
    gone = ApplyRequest(ADA, submission=FormSubmission(version, "{}", (str(ROOT),)))
    [result] = await submissions.apply_all(tx, opening.id, [gone])
    assert isinstance(result, UploadExpired)
    assert await applicants.find_by_email_key(tx, ADA.email_key) is None

    await submissions.apply(tx, opening.id, (await make_applicant(tx)).id, LOCAL)
    id = await upload(tx, opening)
    application = await send(tx, opening, FormSubmission(version, "{}", (id,)))
    answered = await stored_answers.find_by_application(tx, opening.id, application)
    assert answered
    [file] = answered.fields[0].files
    assert (file.name, file.size, await read_file(tx, file.id)) == (
        "Adas CV ü.pdf",
        len(CONTENT),
        CONTENT,
    )
    # A file belongs to one application.
    with pytest.raises(UploadExpired):
        await send(tx, opening, FormSubmission(version, "{}", (id,)))
    await check_log(tx, opening.id)


async def test_answers_wait_for_the_confirmation_and_are_erased_with_the_person(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    form = await save(tx, opening, CV, {"type": "short_text", "label": "Why?", "key": "why"})
    for text in ("first", "second"):
        submission = FormSubmission(
            form.version, json.dumps({"why": text}), (await upload(tx, opening),)
        )
        await apply_requests.submit(tx, opening.id, ADA, dt.timedelta(days=1), submission)
    [request] = await fetch(tx, "SELECT id FROM hiring.apply_request")
    # The files of the first attempt are gone.
    assert await fetch(tx, "SELECT count(*) FROM hiring.uploaded_file") == [1]
    token = ConfirmationToken("request", request)
    # A person who has applied elsewhere also gets the files of a request that is not confirmed yet.
    known = await applicants.add(tx, ADA)
    exported = await privacy.export_personal_data(tx, known.id)
    assert [file["name"] for file in exported["files"]] == ["Adas CV ü.pdf"]
    # A change of the form does not touch what was answered before.
    await save(tx, opening, {"type": "consent", "label": "New", "required": True})
    shown = await apply_requests.find_answers(tx, token)
    assert shown
    assert [field.text for field in shown.fields] == ["Adas CV ü.pdf", "second"]
    applied = await apply_requests.confirm(tx, token)
    assert await apply_requests.confirm(tx, token) == applied
    answered = await stored_answers.find_by_application(tx, opening.id, applied.application_id)
    assert answered
    assert [field.text for field in answered.fields] == ["Adas CV ü.pdf", "second"]

    exported = await privacy.export_personal_data(tx, applied.applicant_id)
    assert exported["answers"][0]["answers"] == {"why": "second"}
    assert exported["answers"][0]["questions"][1]["label"] == "Why?"
    assert exported["files"][0]["name"] == "Adas CV ü.pdf"
    await privacy.erase_applicant(tx, applied.applicant_id, LOCAL)
    for table in ("form_answer", "uploaded_file", "file_chunk", "apply_request"):
        assert await fetch(tx, f"SELECT count(*) FROM hiring.{table}") == [0], table
    assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_files_that_no_application_takes_over_are_deleted_after_two_hours(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    version = (await save(tx, opening, CV)).version
    used, unused, fresh = [await upload(tx, opening) for _ in range(3)]
    await send(tx, opening, FormSubmission(version, "{}", (used,)))
    await tx.execute(
        "UPDATE hiring.uploaded_file SET uploaded_at = now() - interval '121 minutes' WHERE id <> %s",
        [fresh],
    )
    assert await uploads.delete_unused(tx) == 1
    left = {str(id) for id in await fetch(tx, "SELECT id FROM hiring.uploaded_file")}
    assert left == {used, fresh}
    assert await read_file(tx, unused) == b""
    assert len(await fetch(tx, "SELECT DISTINCT file_id FROM hiring.file_chunk")) == 2


async def test_unused_files_of_one_network_have_a_limit_also_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_UNUSED_BYTES_OF_NETWORK", 2_000)
    monkeypatch.setattr(uploads, "MAX_UNUSED_BYTES", 5_000)
    async with database.transaction() as tx:
        opening = await make_opening(tx, 9)
        version = (await save(tx, opening, CV)).version

    async def store(network: str) -> str:
        checked = CheckedFile("cv", "cv.pdf", "application/pdf", 900, network)
        try:
            async with database.transaction() as tx:
                return str(
                    (await uploads.store(tx, opening.id, checked, io.BytesIO(bytes(900)))).id
                )
        except UploadSpaceFull:
            return ""

    stored = [id for id in await asyncio.gather(*[store("a") for _ in range(6)]) if id]
    assert len(stored) == 2
    # A file that an application uses does not count any more.
    async with database.transaction() as tx:
        await send(tx, opening, FormSubmission(version, "{}", (stored[0],)))
        assert await fetch(tx, "SELECT network FROM hiring.uploaded_file ORDER BY network") == [
            "a",
            None,
        ]
    assert await store("a")
    total = [await store(network) for network in "bbcc"]
    assert [bool(id) for id in total] == [True, True, True, False]


async def test_the_answers_of_a_batch_are_stored_with_their_own_files(tx: Tx) -> None:
    opening = await make_opening(tx, 9)
    form = await save(tx, opening, CV, {"type": "short_text", "label": "Why?", "key": "why"})
    requests = [
        ApplyRequest(
            (await make_applicant(tx)).id,
            request_id=f"request {n}",
            submission=FormSubmission(
                form.version, json.dumps({"why": str(n)}), (await upload(tx, opening),), knockouts
            ),
        )
        for n, knockouts in enumerate([("why",), (), ("why", "cv")])
    ]
    first = await submissions.apply_all(tx, opening.id, requests)
    # The retry of a whole batch finds its own applications; another request is a duplicate.
    other = replace(requests[0], request_id="other")
    again = await submissions.apply_all(tx, opening.id, [other, *requests])
    assert isinstance(again[0], DuplicateApplication)
    assert [submissions.single_result([result]).application.id for result in again[1:]] == [
        submissions.single_result([result]).application.id for result in first
    ]
    for n, result in enumerate(first):
        application = submissions.single_result([result]).application
        stored = await stored_answers.find_by_application(tx, opening.id, application.id)
        assert stored
        assert [field.text for field in stored.fields] == ["Adas CV ü.pdf", str(n)]
        assert [field.needs_review for field in stored.fields] == [n == 2, n != 1]
        [file] = stored.fields[0].files
        submission = requests[n].submission
        assert submission
        assert (str(file.id),) == submission.files


async def test_two_applications_at_once_cannot_have_the_same_file(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 9)
        version = (await save(tx, opening, CV)).version
        id = await upload(tx, opening)
        people = [(await make_applicant(tx)).id for _ in range(4)]

    async def apply(applicant_id: int) -> str:
        submission = FormSubmission(version, "{}", (id,))
        request = ApplyRequest(applicant_id, submission=submission)
        async with database.transaction() as tx:
            [result] = await submissions.apply_all(tx, opening.id, [request])
        return type(result).__name__

    results = sorted(await asyncio.gather(*map(apply, people)))
    assert results == ["Placement", *["UploadExpired"] * 3]
    async with database.transaction() as tx:
        assert await fetch(tx, "SELECT count(*) FROM hiring.form_answer") == [1]
        await check_log(tx, opening.id)


async def test_a_killed_process_leaves_no_half_application_and_no_half_file(
    url: str, database: Database
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1)
        await save(tx, opening, CV)
    process = ForkedProgram(uncommitted_writes.apply_with_file, url, opening.id)
    assert await asyncio.to_thread(process.stdout.readline) == "written\n"
    process.close()
    # Waits until PostgreSQL has noticed and released the locks of the dead process.
    async with database.transaction() as tx:
        await send(tx, opening, FormSubmission(1, "{}", (await upload(tx, opening),)))
    async with database.transaction() as tx:
        assert await fetch(tx, "SELECT count(*) FROM hiring.form_answer") == [1]
        assert await fetch(tx, "SELECT size FROM hiring.uploaded_file") == [len(CONTENT)]
        assert len((await check_log(tx, opening.id)).occupied) == 1
