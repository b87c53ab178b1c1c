"""Reads lines that an older queue exported, one JSON object each. Pure functions, which run in a sandbox."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from uuid import UUID

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jobmill.catalog import listings, posting_json
from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid
from jobmill.pipelines import company, discovery, judging
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue.legacy_import import MAX_LEGACY_ID_LENGTH, LegacyItem, LegacyStatus
from jobmill.queue.retry import fingerprint_text
from jobmill.queue.value_encoding import check_priority, encode_row

KINDS: Mapping[str, str] = {
    "company": company.KIND,
    "job": judging.KIND,
    "listing": judging.KIND,
    "source_discovery": discovery.KIND,
}
"""The kinds of this queue by the types of the older one."""
STAGES: Mapping[str, tuple[str, ...]] = {
    company.KIND: ("fetch", "extract", "analyze", "save"),
    judging.KIND: ("scrape", "filter", "analyze", "save"),
    discovery.KIND: ("discover", "validate", "configure", "test"),
}
"""The stages that the older queue had for each kind of this one, which has stages with the same names."""

POSTING_TIMES = ("posted_at", "updated_at", "valid_through")

NAMED_FIELDS = (
    "url",
    "company_name",
    "company_website",
    "source_discovery_config",
    "job_data",
    "scraped_data",
)
"""Fields that an export may have at the top level or in `data` or `pipeline_state`."""

Text = Annotated[str, BeforeValidator(lambda raw: str(raw) if isinstance(raw, int) else raw)]


class _ExportedItem(BaseModel):
    """One line; a field may have its name in the older queue or in this one."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[Text, Field(min_length=1, max_length=MAX_LEGACY_ID_LENGTH)] | None = None
    type: str = Field(validation_alias=AliasChoices("kind", "type"))
    url: str | None = Field(default=None, validation_alias=AliasChoices("key", "url"))
    stage: str | None = Field(
        default=None,
        validation_alias=AliasChoices("stage", "company_sub_task", "sub_task", "pipeline_stage"),
    )
    status: LegacyStatus = "pending"
    data: dict[str, Any] = Field(
        default_factory=dict, validation_alias=AliasChoices("data", "pipeline_state")
    )
    company_name: str | None = None
    company_website: str | None = None
    source_discovery_config: dict[str, Any] | None = None
    job_data: dict[str, Any] | None = Field(
        default=None, validation_alias=AliasChoices("job_data", "scraped_data")
    )
    priority: int = 100
    tracking_id: str | None = None
    ancestry: list[Text] | None = Field(
        default=None, validation_alias=AliasChoices("ancestry", "ancestry_chain")
    )
    spawn_depth: int | None = Field(default=None, ge=0, le=1_000)
    max_spawn_depth: int | None = Field(default=None, ge=0, le=1_000)
    parent: Text | None = Field(
        default=None, validation_alias=AliasChoices("parent_id", "parent_item_id")
    )
    retry_count: int = Field(default=0, ge=0, le=1_000)
    max_retries: int | None = Field(default=None, ge=0, le=1_000)
    message: str | None = Field(
        default=None, validation_alias=AliasChoices("message", "result_message")
    )
    error: str | None = Field(
        default=None, validation_alias=AliasChoices("error_text", "error_details")
    )
    created_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class LegacyLine:
    """What one line says: an item, still without its key, and the subject of its work."""

    number: int
    item: LegacyItem
    url: str | None
    company_name: str | None
    company_website: str | None
    discovery: DiscoveryConfig | None
    posting: Posting | None
    """The job, if the older queue had read it completely."""


@dataclass(frozen=True, slots=True)
class BadLine:
    number: int
    problem: str


def read_lines(
    lines: Sequence[tuple[int, bytes]], rename: Mapping[str, str]
) -> list[LegacyLine | BadLine]:
    """Read numbered lines, and name the problem of each that cannot be imported."""
    answers: list[LegacyLine | BadLine] = []
    for number, raw in lines:
        try:
            answers.append(_read_line(number, raw, rename))
        except Invalid as error:
            answers.append(BadLine(number, str(error)))
    return answers


def _read_line(number: int, raw: bytes, rename: Mapping[str, str]) -> LegacyLine:
    line = _parse(raw)
    # Checked here, so that an error of the database cannot fail the whole file.
    check_priority(line.priority)
    encode_row(line.model_dump(exclude={"created_at"}))
    kind = _kind(line.type, rename)
    config = _read_config(line) if kind == discovery.KIND else None
    posting = _read_posting(line) if kind == judging.KIND else None
    item = LegacyItem(
        id=line.id or hashlib.md5(raw, usedforsecurity=False).hexdigest(),
        kind=kind,
        stage=_stage(kind, line.stage),
        key="",
        data=encode_row(line.data),
        status=line.status,
        tracking_id=str(_tracking_id(line, raw)),
        parent=line.parent,
        ancestry=tuple(line.ancestry or ()),
        spawn_depth=line.spawn_depth,
        max_spawn_depth=line.max_spawn_depth,
        retry_count=line.retry_count,
        max_retries=line.max_retries,
        priority=line.priority,
        message=line.message,
        error=line.error,
        error_fingerprint=fingerprint_text(line.error) if line.error else None,
        created_at=_utc(line.created_at),
        restart_stage=STAGES[kind][0] if line.status in ("pending", "processing", "blocked") else None,
    )  # fmt: skip
    job = line.job_data or {}
    return LegacyLine(
        number=number,
        item=item,
        url=line.url or None,
        company_name=line.company_name or _text(job.get("company")),
        company_website=line.company_website or _text(job.get("company_website")),
        discovery=config,
        posting=posting,
    )


def _parse(raw: bytes) -> _ExportedItem:
    try:
        fields = json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise Invalid(f"not UTF-8 at byte {error.start + 1}") from error
    except (ValueError, RecursionError) as error:
        raise Invalid(f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise Invalid("not a JSON object")
    try:
        return _ExportedItem.model_validate(_lift(fields))  # pyright: ignore[reportUnknownArgumentType]
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise Invalid(f"{where or 'line'}: {problem['msg']}") from error


def _lift(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of the top level, completed by those that an export nests in its state."""
    state = fields.get("data") or fields.get("pipeline_state")
    if not isinstance(state, dict):
        return fields
    nested: dict[str, Any] = {name: state[name] for name in NAMED_FIELDS if state.get(name)}  # pyright: ignore[reportUnknownMemberType]
    return nested | {name: value for name, value in fields.items() if value is not None}


def _kind(type: str, rename: Mapping[str, str]) -> str:
    name = rename.get(type, type)
    if name not in KINDS:
        raise Invalid(
            f"unknown kind {name!r}; the kinds are: {', '.join(KINDS)} "
            f"(map it to one of them with --rename {type}=…)"
        )
    return KINDS[name]


def _stage(kind: str, name: str | None) -> str:
    """The stage that an item had reached; the first one if the older queue does not say."""
    # The older queue also wrote COMPANY_FETCH and JOB_SCRAPE.
    last = (name or "").lower().rpartition("_")[2]
    return last if last in STAGES[kind] else STAGES[kind][0]


def _tracking_id(line: _ExportedItem, raw: bytes) -> UUID:
    """The lineage; derived from the item if the export has none, so that a second import finds it again."""
    if line.tracking_id:
        try:
            return UUID(line.tracking_id)
        except ValueError:
            return _hash(f"lineage {line.tracking_id}".encode())
    return _hash(f"item {line.id}".encode() if line.id else raw)


def _hash(value: bytes) -> UUID:
    return UUID(hashlib.md5(value, usedforsecurity=False).hexdigest())


def _read_config(line: _ExportedItem) -> DiscoveryConfig:
    """The config, without fields of the older queue; its company ids mean nothing here."""
    config = line.source_discovery_config or {}
    names = set(DiscoveryConfig.model_fields) - {"company_id"}
    kept = {name: value for name, value in config.items() if name in names and value is not None}
    if not (kept.get("url") or line.url):
        raise Invalid("a source discovery needs source_discovery_config.url or url")
    return discovery.parse_config({"url": line.url, "company_name": line.company_name} | kept)


def _read_posting(line: _ExportedItem) -> Posting | None:
    job = line.job_data
    if not job:
        return None
    renamed = {"posted_at": job.get("posted_date"), "company_url": job.get("company_website")}
    posting = posting_json.from_record({"url": line.url} | renamed | job)
    times = {name: _utc(getattr(posting, name)) for name in POSTING_TIMES}
    posting = listings.make_storable(replace(posting, **times))
    return posting if listings.is_minimal(posting) else None


def _utc(at: dt.datetime | None) -> dt.datetime | None:
    """The time in UTC, which is also assumed if the older queue wrote no time zone."""
    return at and (at.astimezone(dt.UTC) if at.tzinfo else at.replace(tzinfo=dt.UTC))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
