"""Answers stored with an application or, until the address is confirmed, with a request to apply."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.hiring.forms import form_versions, uploads
from jobmill.hiring.forms.answers import AnswerValue, FormSubmission, format_answer
from jobmill.hiring.forms.form_fields import ApplicationForm, FormField
from jobmill.hiring.forms.uploads import UploadedFile


@dataclass(frozen=True, slots=True)
class AnsweredField:
    """A question of the version that the applicant saw, with the answer."""

    field: FormField
    value: AnswerValue | None
    files: Sequence[UploadedFile]
    needs_review: bool
    """Whether it is a knockout answer that the company wants to review."""

    @property
    def text(self) -> str:
        if self.files:
            return "; ".join(file.name for file in self.files)
        return "" if self.value is None else format_answer(self.value)

    @property
    def links(self) -> list[str]:
        """The web addresses that may be shown as links."""
        return self.value if self.field.type == "links" and isinstance(self.value, list) else []


@dataclass(frozen=True, slots=True)
class AnsweredForm:
    version: int
    answered_at: dt.datetime
    fields: Sequence[AnsweredField]

    @property
    def needs_review(self) -> bool:
        return any(field.needs_review for field in self.fields)


@dataclass(frozen=True, slots=True)
class _StoredAnswers:
    id: int
    """Of the application or the request."""
    opening_id: int
    form_version: int
    answers: Mapping[str, Any]
    knockouts: Sequence[str]
    answered_at: dt.datetime

    def describe(self, form: ApplicationForm, files: Sequence[UploadedFile]) -> AnsweredForm:
        fields = [
            AnsweredField(
                field,
                self.answers.get(field.key),
                [file for file in files if file.field_key == field.key],
                field.key in self.knockouts,
            )
            for field in form.fields
        ]
        return AnsweredForm(self.form_version, self.answered_at, fields)


async def insert_all(
    tx: Tx, opening_id: int, submissions: Mapping[int, tuple[FormSubmission, dt.datetime]]
) -> None:
    """Store the answers of new applications, in the transaction that adds them.

    A repeated request that finds its own application has stored them before.
    """
    if not submissions:
        return
    rows = [(id, submission, at) for id, (submission, at) in submissions.items()]
    cursor = await tx.execute(
        """
        INSERT INTO hiring.form_answer
               (application_id, opening_id, form_version, answers, knockouts, answered_at)
        SELECT application_id, %(opening)s, form_version, answers,
               ARRAY(SELECT jsonb_array_elements_text(knockouts)), answered_at
          FROM unnest(%(ids)s::bigint[], %(versions)s::int[], %(answers)s::jsonb[],
                      %(knockouts)s::jsonb[], %(times)s::timestamptz[])
               AS sent (application_id, form_version, answers, knockouts, answered_at)
        ON CONFLICT (application_id) DO NOTHING
        RETURNING application_id
        """,
        {
            "opening": opening_id,
            "ids": [id for id, _, _ in rows],
            "versions": [submission.version for _, submission, _ in rows],
            "answers": [submission.answers for _, submission, _ in rows],
            # Arrays of arrays need equal lengths, so each is JSON.
            "knockouts": [json.dumps(submission.knockouts) for _, submission, _ in rows],
            "times": [at for _, _, at in rows],
        },
    )
    stored = [id for (id,) in await cursor.fetchall()]
    files = {file_id: id for id in stored for file_id in submissions[id][0].files}
    if files:
        await uploads.attach_to_applications(tx, files)


async def insert_for_request(
    tx: Tx, apply_request_id: int, submission: FormSubmission | None
) -> None:
    """Replace the answers of a request to apply; the address is not confirmed yet."""
    await tx.execute(
        """
        UPDATE hiring.apply_request SET form_version = %s, answers = %s, knockouts = %s
         WHERE id = %s
        """,
        [
            submission.version if submission else None,
            submission.answers if submission else None,
            list(submission.knockouts) if submission else None,
            apply_request_id,
        ],
    )
    await uploads.attach_to_request(tx, apply_request_id, submission.files if submission else ())


async def move_to_application(tx: Tx, apply_request_id: int, application_id: int) -> None:
    """Move the answers and files of a confirmed request to its application.

    An application that the company has added meanwhile has no answers yet, so it gets these.
    """
    moved = await tx.execute(
        """
        INSERT INTO hiring.form_answer
               (application_id, opening_id, form_version, answers, knockouts, answered_at)
        SELECT %s, opening_id, form_version, answers, knockouts, requested_at
          FROM hiring.apply_request WHERE id = %s AND form_version IS NOT NULL
        ON CONFLICT (application_id) DO NOTHING
        """,
        [application_id, apply_request_id],
    )
    if moved.rowcount:
        await uploads.move_to_application(tx, apply_request_id, application_id)


async def find_by_applications(
    tx: Tx, opening_id: int, application_ids: Sequence[int]
) -> dict[int, AnsweredForm]:
    """What these applications of one opening answered; those without a form are missing."""
    stored = await fetch_all(
        tx,
        _StoredAnswers,
        """
        SELECT application_id AS id, opening_id, form_version, answers, knockouts, answered_at
          FROM hiring.form_answer WHERE application_id = ANY (%s)
        """,
        [list(application_ids)],
    )
    if not stored:
        return {}
    forms = await form_versions.find_versions(tx, opening_id, {row.form_version for row in stored})
    files = await uploads.list_by_application(tx, [row.id for row in stored])
    return {row.id: row.describe(forms[row.form_version], files.get(row.id, [])) for row in stored}


async def find_by_application(tx: Tx, opening_id: int, application_id: int) -> AnsweredForm | None:
    return (await find_by_applications(tx, opening_id, [application_id])).get(application_id)


async def find_by_request(tx: Tx, apply_request_id: int) -> AnsweredForm | None:
    stored = await fetch_one(
        tx,
        _StoredAnswers,
        """
        SELECT id, opening_id, form_version, answers, knockouts, requested_at AS answered_at
          FROM hiring.apply_request WHERE id = %s AND form_version IS NOT NULL
        """,
        [apply_request_id],
    )
    if stored is None:
        return None
    forms = await form_versions.find_versions(tx, stored.opening_id, [stored.form_version])
    files = await uploads.list_by_request(tx, apply_request_id)
    return stored.describe(forms[stored.form_version], files)
