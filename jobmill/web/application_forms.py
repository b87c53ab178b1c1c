"""Read a submitted application form: answers, and files that are checked and stored one by one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Annotated

from fastapi import Depends, Request
from starlette.datastructures import FormData, UploadFile

from jobmill.errors import Conflict, Invalid
from jobmill.hiring.applications.submissions import reason_to_refuse
from jobmill.hiring.forms import answers, document_check, form_versions, uploads
from jobmill.hiring.forms.answers import (
    AnswerEndsApplication,
    FormSubmission,
    InvalidAnswers,
    RawAnswers,
)
from jobmill.hiring.forms.form_fields import (
    EMPTY_FORM,
    MAX_FIELDS,
    MAX_FILE_FIELDS,
    ApplicationForm,
)
from jobmill.hiring.forms.form_versions import FormVersion
from jobmill.hiring.forms.uploads import CheckedFile, UploadedFile
from jobmill.hiring.records import apply_limits, openings
from jobmill.plain_text import clean_file_name
from jobmill.sandbox import ReaderStopped, read_untrusted
from jobmill.web import auth
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.form import read_long_form
from jobmill.web.translations import say

ANSWER, UPLOAD, VERSION = "answer-", "upload-", "form_version"
"""How the fields of the page are named: `answer-phone`, and `upload-cv` for a file that was sent before."""
STORE_SECONDS = 30.0
MAX_VALUES = MAX_FIELDS * 50
MAX_VALUE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class SubmittedForm:
    values: Mapping[str, Sequence[str]]
    files: Mapping[str, UploadFile]

    def get(self, name: str, default: str = "") -> str:
        return self.values[name][-1] if self.values.get(name) else default


async def read_submitted_form(request: Request) -> AsyncGenerator[SubmittedForm]:
    """A form with or without files. Files are written to disk as they arrive and deleted at the end."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        yield SubmittedForm(await read_long_form(request), {})
        return
    async with request.form(
        max_files=MAX_FILE_FIELDS, max_fields=MAX_VALUES, max_part_size=MAX_VALUE_BYTES
    ) as form:
        yield _split(form)


def _split(form: FormData) -> SubmittedForm:
    values: dict[str, list[str]] = {}
    files: dict[str, UploadFile] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            values.setdefault(name, []).append(value)
        elif value.filename:
            # A file field that was left empty has no file name.
            files[name] = value
    if any("\0" in value for texts in values.values() for value in texts):
        raise Invalid(say("Text cannot contain null characters."))
    return SubmittedForm(values, files)


Submitted = Annotated[SubmittedForm, Depends(read_submitted_form)]


@dataclass(frozen=True, slots=True)
class FormState:
    """What the page shows of a form: the questions, what was answered, and what is wrong with it."""

    version: int = 0
    form: ApplicationForm = EMPTY_FORM
    raw: RawAnswers = field(default_factory=dict[str, Sequence[str]])
    files: Mapping[str, UploadedFile] = field(default_factory=dict[str, UploadedFile])
    problems: Mapping[str, str] = field(default_factory=dict[str, str])
    is_current: bool = True
    """Whether the applicant saw the current version."""

    @classmethod
    def of(cls, current: FormVersion) -> FormState:
        return cls(current.version, current.form)


async def read_form_state(
    request: Request,
    db: RequestDatabase,
    visitor: Visitor,
    opening_id: int,
    submitted: SubmittedForm,
) -> FormState:
    """Check the answers and store the files, so that a correction of the form need not send them again."""
    async with db.transaction() as tx:
        current = await form_versions.find_current(tx, opening_id)
        sent_before = [submitted.get(f"{UPLOAD}{field.key}") for field in current.form.fields]
        kept = await uploads.find_unused(tx, opening_id, sent_before)
    files = {file.field_key: file for file in kept}
    problems: dict[str, str] = {}
    for question in current.form.fields:
        upload = submitted.files.get(f"{ANSWER}{question.key}")
        if question.type == "file" and upload:
            try:
                network = await check_upload(request, db, visitor, opening_id)
                files[question.key] = await store_file(
                    db, opening_id, question.key, upload.filename or "", upload.file, network
                )
            except Invalid as error:
                files.pop(question.key, None)
                problems[question.key] = str(error)
    raw = {
        question.key: submitted.values.get(f"{ANSWER}{question.key}", ())
        for question in current.form.fields
    }
    parsed = answers.parse_answers(current.form, raw, files)
    return FormState(
        current.version,
        current.form,
        raw,
        files,
        {**parsed.problems, **problems},
        submitted.get(VERSION, "0") == str(current.version),
    )


async def check_upload(
    request: Request, db: RequestDatabase, visitor: Visitor, opening_id: int
) -> str | None:
    """The network to count a file for, before it is received; None: of the company.

    Raises Conflict if the opening takes no applications, and RateLimited.
    """
    async with db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
        # A full waitlist is not a reason: it may have a place when the form is sent.
        if refusal := reason_to_refuse(opening, 1, 0, opening.now):
            raise Conflict(refusal)
        if visitor.is_company:
            return None
        host = auth.get_client_resolver(request).address(request)
        network = apply_limits.network_of(host)
        await apply_limits.count_attempt(tx, [apply_limits.upload_limit(host)])
        await uploads.check_space(tx, network)
        return network


async def store_file(
    db: RequestDatabase,
    opening_id: int,
    key: str,
    file_name: str,
    content: IO[bytes],
    network: str | None,
) -> UploadedFile:
    """Check a file in a child process and store it; raises Invalid, and RateLimited."""
    size = content.seek(0, os.SEEK_END)
    if size > uploads.MAX_FILE_BYTES:
        raise Invalid(
            say("The file is larger than 10 MB. Save it with smaller pictures, or as a PDF.")
        )
    name = clean_file_name(file_name)
    try:
        media_type = await read_untrusted(
            document_check.check_document,
            _share_with_child(content),
            name,
            cpu_seconds=document_check.CPU_SECONDS,
        )
    except ReaderStopped as error:
        raise Invalid(
            say("The file takes too long to check. Print it to a new PDF, and try again.")
        ) from error
    async with db.transaction(STORE_SECONDS) as tx:
        checked = CheckedFile(key, name, media_type, size, network)
        return await uploads.store(tx, opening_id, checked, content)


def _share_with_child(content: IO[bytes]) -> str | bytes:
    """A path that a child process can open, so that the file is not copied through this process.

    The file has no name: nothing of it is left if this process is killed.
    """
    content.flush()
    path = f"/proc/{os.getpid()}/fd/{content.fileno()}"
    if os.path.exists(path):
        return path
    content.seek(0)
    return content.read()


async def make_submission(
    db: RequestDatabase, opening_id: int, state: FormState
) -> FormSubmission | None:
    """The answers to store; None without a form. Raises InvalidAnswers and AnswerEndsApplication."""
    if not state.version and not state.problems:
        return None
    if not state.is_current:
        raise Conflict(
            say(
                "The company has changed the questions. Check your answers, then send the form again."
            )
        )
    files = {key: str(file.id) for key, file in state.files.items()}
    try:
        return answers.make_submission(state.form, state.version, state.raw, files, state.problems)
    except AnswerEndsApplication as error:
        async with db.transaction() as tx:
            await form_versions.record_refusal(tx, opening_id, state.version, error.key)
            await uploads.delete_unattached(tx, files.values())
        raise


async def parse_json_answers(
    db: RequestDatabase, opening_id: int, sent: Mapping[str, object], version: int | None
) -> FormSubmission | None:
    """The answers of an API request, in which a file is the id of an upload."""
    async with db.transaction() as tx:
        current = await form_versions.find_current(tx, opening_id)
        raw = answers.raw_from_json(sent)
        ids = [
            id for question in current.form.fields if question.type == "file"
            for id in raw.get(question.key, ())
        ]  # fmt: skip
        # Applying refuses files of other applications, after it has looked for an earlier attempt.
        uploaded = await uploads.find_by_ids(tx, opening_id, ids)
    files = {file.field_key: file for file in uploaded}
    for question in current.form.fields:
        if question.type == "file" and raw.pop(question.key, None) and question.key not in files:
            raise InvalidAnswers({question.key: str(uploads.UploadExpired())})
    parsed = answers.parse_answers(current.form, raw, files)
    state = FormState(
        current.version,
        current.form,
        raw,
        files,
        parsed.problems,
        version is None or version == current.version,
    )
    return await make_submission(db, opening_id, state)


async def receive_file(request: Request) -> IO[bytes]:
    """Write a request body to a temporary file without a name; the caller closes it."""
    content = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        async for chunk in request.stream():
            content.write(chunk)
    except BaseException:
        content.close()
        raise
    return content
