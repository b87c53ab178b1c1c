"""Pinpoint."""

from __future__ import annotations

import re

from jobmill.catalog.platform_rules import ID_UUID, LANGUAGE, SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, work_arrangement
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, base_url, board_token, board_url


class _Named(ExternalRecord):
    name: Maybe[str] = None


class _Position(ExternalRecord):
    requisition_id: Maybe[str] = None
    department: Maybe[_Named] = None


class _Location(ExternalRecord):
    name: Maybe[str] = None
    city: Maybe[str] = None
    province: Maybe[str] = None


class _Posting(ExternalRecord):
    id: str
    title: Line
    url: Link = None
    description: Maybe[str] = None
    key_responsibilities: Maybe[str] = None
    key_responsibilities_header: Maybe[str] = None
    skills_knowledge_expertise: Maybe[str] = None
    skills_knowledge_expertise_header: Maybe[str] = None
    benefits: Maybe[str] = None
    benefits_header: Maybe[str] = None
    compensation: Maybe[str] = None
    compensation_minimum: Maybe[float] = None
    compensation_maximum: Maybe[float] = None
    compensation_currency: Maybe[str] = None
    compensation_frequency: Maybe[str] = None
    compensation_visible: Maybe[bool] = None
    deadline_at: Maybe[str] = None
    employment_type: Maybe[str] = None
    employment_type_text: Maybe[str] = None
    workplace_type: Maybe[str] = None
    workplace_type_text: Maybe[str] = None
    department: Maybe[_Named] = None
    job: Maybe[_Position] = None
    location: Maybe[_Location] = None


class _Board(ExternalRecord):
    data: list[object] | _Posting


HOST = re.compile(r"^https?://([\w-]+)\.pinpointhq\.com/", re.IGNORECASE)


def first_request(config: BoardConfig) -> Request:
    return Request(f"{base_url(config, 'pinpointhq.com')}/postings.json")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """All postings, or a single one."""
    data = _Board.model_validate(lenient_models.parse_json(body)).data
    if isinstance(data, _Posting):
        return BoardPage((_posting(data, config),))
    records, stubs = lenient_models.parse_records(_Posting, data)
    return BoardPage(
        tuple(_posting(record, config) for record in records), total=len(data), stubs=stubs
    )


def _posting(record: _Posting, config: BoardConfig) -> Posting:
    position = record.job or _Position()
    department = position.department or record.department
    location = _place(record.location)
    skills = _section(record.skills_knowledge_expertise_header, record.skills_knowledge_expertise)
    return Posting(
        title=record.title,
        url=record.url or "",
        location=location,
        locations=location_text.unique_locations(location),
        arrangement=work_arrangement.from_label(
            record.workplace_type or record.workplace_type_text
        ),
        department=html_text.single_line(department.name) if department else None,
        employment_type=employment.parse_employment_type(
            record.employment_type or record.employment_type_text
        ),
        valid_through=dates.parse_deadline(record.deadline_at),
        salary=_salary(record),
        description=html_text.join_sections(
            html_text.from_html(record.description),
            _section(record.key_responsibilities_header, record.key_responsibilities),
            skills,
            _section(record.benefits_header, record.benefits),
        ),
        requirements=html_text.from_html(record.skills_knowledge_expertise),
        board=board_token(config, HOST, record.url or ""),
        vendor_id=record.id,
        requisition_id=html_text.single_line(position.requisition_id),
    )


def _section(header: str | None, html: str | None) -> str | None:
    content = html_text.from_html(html)
    return "\n".join(filter(None, (html_text.single_line(header), content))) if content else None


def _place(location: _Location | None) -> str | None:
    if location is None:
        return None
    return html_text.single_line(location.name) or location_text.format_address(
        location.city, location.province
    )


def _salary(record: _Posting) -> Salary | None:
    if record.compensation_visible is False:
        return None
    return salary.from_fields(
        record.compensation_minimum,
        record.compensation_maximum,
        record.compensation_currency,
        record.compensation_frequency,
    ) or salary.from_text(record.compensation)


PLATFORM = Platform(
    name="pinpoint",
    title="Pinpoint",
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.pinpointhq\.com",
            rf"{LANGUAGE}/postings/{ID_UUID}(?:/.*)?",
            "https://{board}.pinpointhq.com/postings/{id}",
            lowercase=True,
        ),
        unique=True,
    ),
    board_urls=(board_url("pinpointhq.com", r"(?P<token>[a-z0-9-]+)"),),
    first_request=first_request,
    read=read,
)
