"""Openings and applications by the field names of the public API, for exports and JSON output."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from jobmill.db import Tx
from jobmill.hiring import timestamps
from jobmill.hiring.forms import form_versions, stored_answers
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicantRow, ApplicationRow
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening, OpeningStatus

PAGE_SIZE = 2_000

_OPENING_FIELDS = """
    id title capacity status activeCount waitlistCount inReviewCount employer location remote
    requireAcknowledgement acknowledgeWindowSeconds maxMissed waitlistLimit applyUntil keepDays
    fairnessProof admission reviewOrder timeZone quietFrom quietUntil createdAt description
"""
_APPLICATION_FIELDS = """
    applicationId applicantId applicantName applicantEmail status queuePosition penaltyCount
    appliedAt promotedAt acknowledgeDeadline score stage
"""
OPENING_FIELDS = tuple(_OPENING_FIELDS.split())
APPLICATION_FIELDS = tuple(_APPLICATION_FIELDS.split())


def opening_fields(opening: Opening) -> dict[str, Any]:
    fields = {
        **{name: getattr(opening, _snake_case(name), None) for name in OPENING_FIELDS},
        "activeCount": opening.occupied,
        "waitlistCount": opening.waiting,
        "inReviewCount": opening.in_review,
        "acknowledgeWindowSeconds": round(opening.acknowledge_window.total_seconds()),
    }
    return {name: to_json_value(value) for name, value in fields.items()}


async def list_openings(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int = PAGE_SIZE
) -> list[Opening]:
    """Openings with the counts that readers see: an expired offer takes no slot. Needs a snapshot."""
    page = await openings.list_openings(tx, status=status, after=after, limit=limit)
    page_counts = await applicant_lists.list_counts(tx, status=status, after=after, limit=limit)
    return [
        replace(opening, occupied=counts.active_count, waiting=counts.waitlist_count)
        for opening, counts in zip(page, page_counts, strict=True)
    ]


async def iter_openings(tx: Tx) -> AsyncIterator[dict[str, Any]]:
    """All openings, oldest first. Needs a snapshot."""
    after = 0
    while page := await list_openings(tx, after=after):
        for opening in page:
            yield opening_fields(opening)
        after = page[-1].id


async def find_application_fields(tx: Tx, opening_id: int) -> Sequence[str]:
    """The fields of an exported application: the fixed ones, then the questions of all form versions."""
    return (*APPLICATION_FIELDS, *(await _find_questions(tx, opening_id)).values())


async def _find_questions(tx: Tx, opening_id: int) -> dict[str, str]:
    """A column for each key that a version of the form has used, named by its latest label."""
    versions = await form_versions.find_versions(tx, opening_id)
    labels = {field.key: field.label for form in versions.values() for field in form.fields}
    repeated = Counter([*labels.values(), *APPLICATION_FIELDS])
    return {
        key: f"{label} ({key})" if repeated[label] > 1 else label for key, label in labels.items()
    }


async def iter_applications(tx: Tx, opening_id: int) -> AsyncIterator[dict[str, Any]]:
    """All applications of an opening with their answers: with a slot, waiting, in review, then ended."""
    questions = await _find_questions(tx, opening_id)
    async for page in _iter_pages(tx, opening_id):
        ids = [row.application_id for row in page] if questions else []
        answered = await stored_answers.find_by_applications(tx, opening_id, ids) if ids else {}
        for row in page:
            form = answered.get(row.application_id)
            texts = {field.field.key: field.text for field in form.fields} if form else {}
            answers = {name: texts.get(key) for key, name in questions.items()}
            yield {**application_fields(row), **answers}


async def _iter_pages(
    tx: Tx, opening_id: int
) -> AsyncIterator[Sequence[ApplicantRow | ApplicationRow]]:
    page = await applicant_lists.get_detail(tx, opening_id, limit=PAGE_SIZE)
    while True:
        yield (*page.active, *page.waiting)
        if page.next is None:
            break
        page = await applicant_lists.get_detail(tx, opening_id, after=page.next, limit=PAGE_SIZE)
    for status in ("IN_REVIEW", "INACTIVE"):
        after = 0
        while rows := await applicant_lists.list_applications(
            tx, opening_id, status=status, after=after, limit=PAGE_SIZE
        ):
            yield rows
            after = rows[-1].application_id


def application_fields(row: ApplicantRow | ApplicationRow) -> dict[str, Any]:
    fields = to_json_fields(row)
    return {name: fields.get(name) for name in APPLICATION_FIELDS}


def to_json_fields(record: Any) -> dict[str, Any]:
    """A dataclass with the field names and time format of the public API."""
    return {_camel_case(name): to_json_value(value) for name, value in asdict(record).items()}


def to_json_value(value: object) -> object:
    match value:
        case dt.datetime():
            return timestamps.format_timestamp(value)
        case dt.time():
            return timestamps.format_time_of_day(value)
        case _:
            return value


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _snake_case(name: str) -> str:
    return "".join(f"_{mark.lower()}" if mark.isupper() else mark for mark in name)
