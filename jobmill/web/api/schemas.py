"""Request and response schemas of the API: names in camelCase, times in UTC to the millisecond."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    StrictBool,
    model_serializer,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError

from jobmill.hiring.admission.admission_changes import InReviewDecision
from jobmill.hiring.records.openings import Admission, OpeningStatus, ReviewOrder
from jobmill.hiring.stages.stage_definitions import DEFAULT_STAGES, MAX_STAGES, StageKind
from jobmill.hiring.transitions import ApplicationEventType, ApplicationStatus
from jobmill.time_zones import UTC
from jobmill.web.parameters import (
    PLAIN_TEXT,
    InputTime,
    OutputTime,
    TimeOfDay,
    TimeZoneName,
    WholeNumber,
)


def _seconds(span: object) -> object:
    return round(span.total_seconds()) if isinstance(span, dt.timedelta) else span


class _ExtendedObject:
    """An object with more attributes."""

    def __init__(self, source: object, more: Mapping[str, object]) -> None:
        self.__dict__.update(more)
        self._source = source

    def __getattr__(self, name: str) -> object:
        return getattr(self._source, name)


class Schema(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        from_attributes=True,
        use_attribute_docstrings=True,
    )

    @classmethod
    def of(cls, source: object = None, **more: object) -> Self:
        """From any object with attributes of the same names, and values that it does not have. Objects
        and lists inside it become schemas in the same way."""
        return cls.model_validate(_ExtendedObject(source, more) if more else source)


class ExtendedSchema(Schema):
    """Leaves out empty additions: clients of the original contract get the same bytes as ever."""

    additions: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = handler.resolve_ref_schema(handler(core_schema))
        schema["required"] = [
            name for name in schema.get("required", ()) if name not in cls.additions
        ]
        return schema

    @model_serializer(mode="wrap")
    def _drop_empty_additions(self, handler: SerializerFunctionWrapHandler):
        fields: dict[str, Any] = handler(self)
        return {
            name: value for name, value in fields.items() if value or name not in self.additions
        }


class RequestBody(Schema):
    @model_validator(mode="before")
    @classmethod
    def _require_object(cls, value: object) -> object:
        # Also catches requests without a content type, or with that of a form.
        if not isinstance(value, Mapping):
            raise PydanticCustomError("json", "should be an object, as application/json")
        return value  # pyright: ignore[reportUnknownVariableType]


class Job(Schema):
    id: Annotated[int, Field(examples=[1])]
    title: Annotated[str, Field(examples=["Baker"])]
    description: str | None
    capacity: Annotated[int, Field(examples=[2])]
    active_count: int
    """Slots taken by active applicants and open offers."""
    waitlist_count: int
    created_at: OutputTime


class JobApplicant(Schema):
    application_id: int
    applicant_id: int
    applicant_name: str
    applicant_email: str
    status: ApplicationStatus
    queue_position: int | None
    applied_at: OutputTime
    promoted_at: OutputTime | None
    acknowledge_deadline: OutputTime | None


class JobDetail(Job):
    active_applicants: list[JobApplicant]
    waitlist_applicants: list[JobApplicant]
    """By position."""


class ApplicantItem(Schema):
    id: int
    name: Annotated[str, Field(examples=["Ada Lovelace"])]
    email: Annotated[str, Field(examples=["ada@example.org"])]
    created_at: OutputTime


class ApplicationResult(Schema):
    application_id: int
    applicant_id: int
    job_id: int
    status: ApplicationStatus
    queue_position: int | None
    message: Annotated[str, Field(examples=["You have been added to the waitlist at position 3."])]


class UnconfirmedApplication(Schema):
    """The same for every address, so that it does not reveal who has applied."""

    application_id: None = None
    applicant_id: None = None
    job_id: int
    status: Literal["UNCONFIRMED"] = "UNCONFIRMED"
    queue_position: None = None
    message: Annotated[
        str,
        Field(examples=["Check your email: follow the link in it to complete your application."]),
    ]


class StandingItem(Schema):
    application_id: int
    job_id: int
    job_title: str
    status: ApplicationStatus
    queue_position: int | None
    applied_at: OutputTime
    promoted_at: OutputTime | None
    acknowledge_deadline: OutputTime | None
    time_in_current_state_seconds: int


class ApplicantStatus(Schema):
    applicant_id: Annotated[int, Field(validation_alias="id")]
    applicant_name: Annotated[str, Field(validation_alias="name")]
    applicant_email: Annotated[str, Field(validation_alias="email")]
    applications: list[StandingItem]


class ApplicationEvent(Schema):
    id: int
    application_id: int
    event_type: Annotated[ApplicationEventType, Field(validation_alias="type")]
    from_status: ApplicationStatus | None
    to_status: ApplicationStatus
    metadata: Mapping[str, Any] | None
    created_at: OutputTime


class QueueEntry(Schema):
    application_id: int
    applicant_id: int
    applicant_name: str
    position: Annotated[int, Field(validation_alias="queue_position")]
    applied_at: OutputTime
    penalty_count: int


class JobQueue(Schema):
    job_id: Annotated[int, Field(validation_alias="id")]
    job_title: Annotated[str, Field(validation_alias="title")]
    capacity: int
    active_count: int
    waitlist_entries: list[QueueEntry]


class JobSummary(ExtendedSchema):
    additions = frozenset({"inReviewCount"})

    job_id: Annotated[int, Field(validation_alias="opening_id")]
    job_title: Annotated[str, Field(validation_alias="title")]
    capacity: int
    active_count: int
    waitlist_count: int
    inactive_count: int
    total_applications: Annotated[int, Field(examples=[12])]
    avg_time_to_promotion_seconds: Annotated[float | None, Field(examples=[86.4])]
    avg_acknowledgment_time_seconds: float | None
    decay_events: int
    in_review_count: int
    """Left out if no application is in review."""


class ReplayedApplicant(ExtendedSchema):
    additions = frozenset({"stage"})

    application_id: int
    applicant_id: int
    applicant_name: str
    status: ApplicationStatus
    queue_position: Annotated[int | None, Field(validation_alias="position")]
    stage: str | None
    """The name of the stage; left out if the application was not moved."""


class JobReplay(ExtendedSchema):
    additions = frozenset({"inReviewApplicants"})

    job_id: int
    as_of: OutputTime
    active_applicants: list[ReplayedApplicant]
    waitlist_applicants: list[ReplayedApplicant]
    events: list[ApplicationEvent]
    in_review_applicants: list[ReplayedApplicant]
    """Left out if no application is in review."""


Title = Annotated[str, Field(min_length=1, max_length=200, examples=["Baker"]), PLAIN_TEXT]


class StageBody(RequestBody):
    key: Annotated[str, Field(max_length=40, examples=["first-interview"])]
    """Stays the same when the stage is renamed."""
    name: Annotated[str, Field(min_length=1, max_length=60, examples=["Interview"]), PLAIN_TEXT]
    kind: StageKind = "open"
    """`hired` keeps the slot like `open`; `rejected` ends the application and frees its slot."""


class JobTerms(RequestBody):
    description: Annotated[str, Field(max_length=50_000), PLAIN_TEXT] | None = None
    employer: Annotated[str, Field(max_length=200), PLAIN_TEXT] | None = None
    location: Annotated[str, Field(max_length=200), PLAIN_TEXT] | None = None
    remote: StrictBool = False
    require_acknowledgement: StrictBool = False
    """Whether a free slot taken at once must be confirmed, like an offer from the waitlist."""
    acknowledge_window_seconds: Annotated[WholeNumber, Field(ge=1, le=31_536_000)] = 172_800
    max_missed: Annotated[WholeNumber, Field(ge=1, le=1_000_000)] = 3
    """Missed offers after which the application lapses."""
    waitlist_limit: Annotated[WholeNumber, Field(ge=0, le=1_000_000)] | None = None
    apply_until: InputTime | None = None
    keep_days: Annotated[WholeNumber, Field(ge=1, le=1_000_000)] | None = None
    """Days after the end of their applications until data of applicants are erased."""
    fairness_proof: StrictBool = False
    """Whether the log is published under pseudonyms, for everyone to verify."""
    admission: Admission = "first_come"
    """`first_come`, `review` (applications wait for a decision) or `lottery` (for the draw)."""
    review_order: ReviewOrder = "applied"
    """The order in which applications that are accepted together join the waitlist."""
    stages: Annotated[list[StageBody], Field(max_length=MAX_STAGES)] | None = None
    """The stages of applications with a slot; null: the default ones."""
    time_zone: TimeZoneName = UTC
    """Letters tell times in it. Default: the setting `time_zone`."""
    quiet_from: TimeOfDay | None = None
    """The start of the quiet hours, in the opening's time zone. An offer made in them takes its slot at
    once, but its letter is sent and its time counts from their end."""
    quiet_until: TimeOfDay | None = None
    """The end of the quiet hours; both or none."""

    def terms(self) -> dict[str, Any]:
        """The given settings as `OpeningTerms` fields."""
        terms = {name: getattr(self, name) for name in self.model_fields_set}
        terms.pop("capacity", None)
        if "acknowledge_window_seconds" in terms:
            seconds = terms.pop("acknowledge_window_seconds")
            terms["acknowledge_window"] = dt.timedelta(seconds=seconds)
        if self.stages is not None and "stages" in terms:
            terms["stages"] = [stage.model_dump() for stage in self.stages]
        return terms


class NewJob(JobTerms):
    """Settings that are not given have their defaults."""

    title: Title
    capacity: Annotated[WholeNumber, Field(ge=1, le=1_000_000, examples=[2])]


def _drop_defaults(schema: dict[str, Any]) -> None:
    for field in schema["properties"].values():
        field.pop("default", None)


class JobChange(JobTerms):
    """Changes the given settings only."""

    model_config = ConfigDict(json_schema_extra=_drop_defaults)

    title: Title = ""
    in_review: InReviewDecision | None = None
    """What happens to applications in review if the admission becomes `first_come`."""


class StageItem(Schema):
    key: str
    name: str
    kind: StageKind


def _with_default_stages(stages: object) -> object:
    return list(DEFAULT_STAGES) if stages is None else stages


class JobSettings(Schema):
    id: int
    title: str
    description: str | None
    employer: str | None
    location: str | None
    remote: bool
    status: OpeningStatus
    capacity: int
    require_acknowledgement: bool
    acknowledge_window_seconds: Annotated[
        int, Field(validation_alias="acknowledge_window"), BeforeValidator(_seconds)
    ]
    max_missed: int
    waitlist_limit: int | None
    apply_until: OutputTime | None
    keep_days: int | None
    fairness_proof: bool
    admission: Admission
    review_order: ReviewOrder
    stages: Annotated[list[StageItem], BeforeValidator(_with_default_stages)]
    in_review_count: Annotated[int, Field(validation_alias="in_review")]
    drawn: bool
    """Whether the lottery is over."""
    time_zone: str
    quiet_from: TimeOfDay | None
    quiet_until: TimeOfDay | None
    created_at: OutputTime
