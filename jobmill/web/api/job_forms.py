"""/api/jobs/{jobId}/form: the application form of an opening, its uploads and its answers."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field

from jobmill.errors import Invalid, NotFound
from jobmill.hiring.forms import form_versions, stored_answers, uploads
from jobmill.hiring.forms.form_fields import ApplicationForm, FormField
from jobmill.hiring.forms.form_versions import FormVersion
from jobmill.hiring.records import applications
from jobmill.web.api.callers import PublicCaller, RecruiterCaller, ViewerCaller
from jobmill.web.api.openapi import BINARY, file_answer, file_body, problems
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.application_forms import check_upload, receive_file, store_file
from jobmill.web.auth import Viewer
from jobmill.web.dependencies import Db
from jobmill.web.file_downloads import send_upload
from jobmill.web.parameters import ApplicationPathId, JobPathId, OutputTime

router = APIRouter(tags=["forms"])

BINARY_SAMPLE = BINARY | {"example": "%PDF-1.7 …"}
FILE_BODY = file_body("application/octet-stream", BINARY_SAMPLE)
FILE_ANSWER = file_answer(["application/pdf"], BINARY_SAMPLE, "The file, as a download.")


class JobForm(Schema):
    version: Annotated[int, Field(examples=[2])]
    """0: the opening has never had a form."""
    fields: list[FormField]


class JobFormBody(RequestBody):
    fields: list[FormField]
    version: int | None = None
    """The version that this change is based on; 409 if there is a newer one."""


class UploadedFileItem(Schema):
    id: UUID
    name: Annotated[str, Field(examples=["cv.pdf"])]
    media_type: str
    size: int
    """Bytes."""


class AnswerItem(Schema):
    key: str
    label: str
    type: str
    value: str | int | float | bool | list[str] | None
    text: str
    """The help of the question; of a consent, the text that was accepted."""
    files: list[UploadedFileItem]
    needs_review: bool
    """A knockout answer that the company wants to review."""


class ApplicationAnswers(Schema):
    application_id: int
    form_version: Annotated[int, Field(examples=[2])]
    answered_at: OutputTime
    answers: list[AnswerItem]


def _to_schema(version: FormVersion) -> JobForm:
    return JobForm(version=version.version, fields=list(version.form.fields))


@router.get("/jobs/{jobId}/form", response_model=JobForm, responses=problems(429))
async def show_job_form(job_id: JobPathId, caller: PublicCaller) -> Response:
    """What the opening asks besides the name and the address. The public does not see knockout answers."""
    async with caller.db.transaction() as tx:
        form = _to_schema(await form_versions.find_current(tx, job_id))
    if not caller.visitor.may("viewer"):
        form.fields = [field.model_copy(update={"knockout": None}) for field in form.fields]
    return caller.respond(form)


@router.put("/jobs/{jobId}/form", response_model=JobForm)
async def change_job_form(
    job_id: JobPathId, body: JobFormBody, caller: RecruiterCaller
) -> Response:
    """Save a new version of the form. Earlier applications keep the questions that they answered."""
    form = ApplicationForm(fields=tuple(body.fields))
    return await caller.run_once(
        lambda tx: form_versions.save_form(tx, job_id, form, caller.actor, based_on=body.version),
        to_schema=_to_schema,
    )


@router.post(
    "/jobs/{jobId}/files", response_model=UploadedFileItem, status_code=201, openapi_extra=FILE_BODY
)
async def upload_file(
    job_id: JobPathId,
    caller: PublicCaller,
    field: Annotated[str, Query(max_length=40, examples=["cv"])],
    name: Annotated[str, Query(max_length=300, examples=["cv.pdf"])],
) -> Response:
    """Upload a PDF or DOCX for a question, and send its id as the answer within two hours."""
    async with caller.db.transaction() as tx:
        current = await form_versions.find_current(tx, job_id)
    question = current.form.find_field(field)
    if question is None or question.type != "file":
        raise Invalid("The form has no question with this key that asks for a file.")
    network = await check_upload(caller.request, caller.db, caller.visitor, job_id)
    with await receive_file(caller.request) as content:
        file = await store_file(caller.db, job_id, field, name, content, network)
    return caller.respond(UploadedFileItem.of(file), status=201)


@router.get("/applications/{applicationId}/answers", response_model=ApplicationAnswers)
async def show_answers(application_id: ApplicationPathId, caller: ViewerCaller) -> Response:
    """The answers of an application, with the questions as they were then."""
    async with caller.db.transaction() as tx:
        opening_id = await applications.find_opening_id(tx, application_id)
        answered = await stored_answers.find_by_application(tx, opening_id, application_id)
    if answered is None:
        raise NotFound("form of application", application_id)
    return caller.respond(
        ApplicationAnswers.of(
            answered,
            application_id=application_id,
            form_version=answered.version,
            answers=[
                AnswerItem.of(
                    answer,
                    key=answer.field.key,
                    label=answer.field.label,
                    type=answer.field.type,
                    text=answer.field.help,
                )
                for answer in answered.fields
            ],
        )
    )


@router.get(
    "/applications/{applicationId}/files/{fileId}", response_class=Response, responses=FILE_ANSWER
)
async def download_file(
    application_id: ApplicationPathId,
    fileId: UUID,
    visitor: Viewer,
    db: Db,
) -> Response:
    """A file of an application."""
    async with db.transaction() as tx:
        file = await uploads.get_for_application(tx, application_id, fileId)
    return send_upload(db, file)
