"""RSS and Atom feeds, with configurable names of the elements that hold a posting's fields."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

import feedparser  # pyright: ignore[reportMissingTypeStubs]

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary
from jobmill.extract.page.text_checks import absolute_url
from jobmill.outside.request import Request

from ..platform import BoardPage, Config, Platform

Entry = Mapping[str, Any]


class FeedConfig(Config):
    """A feed. Fields have the names that the feed uses: `pubDate`, `dc:creator`, `tt:location`."""

    url: str
    parse_format: Literal["standard", "title_company", "title_at_company"] = "standard"
    """Whether titles are "Role", "Company: Role" or "Role at Company"."""
    title_field: str = "title"
    description_field: str = "description"
    link_field: str = "link"
    company_field: str = "company"
    location_field: str = "location"
    date_field: str = "pubDate"
    expires_field: str = "expires_at"
    type_field: str = "type"
    salary_field: str = "salary"
    department_field: str = "department"
    company: str | None = None
    """The company of all postings, if the feed does not name it."""


# feedparser maps the elements of several formats to its own names.
_FEEDPARSER_NAMES = {
    "pubdate": "published", "dc:date": "updated", "guid": "id", "dc:creator": "author",
    "description": "summary", "dc:description": "summary", "content:encoded": "content",
    "dc:subject": "tags", "category": "tags", "dc:title": "title", "lastmod": "updated",
}  # fmt: skip
# Other names of a field, which are tried if the field itself is missing.
_SYNONYMS = {
    "pubDate": ("published", "updated", "created"),
    "description": ("content", "summary"),
    "company": ("company_name", "companyName", "employer"),
    "location": ("locationRestriction", "region", "city"),
    "type": ("job_type", "jobType", "employment_type", "employmentType"),
    "expires_at": (
        "expires",
        "expiryDate",
        "expiration_date",
        "closing_date",
        "closingDate",
        "advertiseToDateTimeUTC",
        "advertiseToDateTime",
    ),
    "salary_min": ("minimumSalary", "minSalary", "salaryMin"),
    "salary_max": ("maximumSalary", "maxSalary", "salaryMax"),
    "salary_currency": ("salaryCurrency", "currency"),
    "salary_period": ("salaryInterval", "salaryPeriod"),
}
# Sections that some feeds keep outside the description.
_SECTIONS = (
    "responsibilities",
    "examplesOfDuties",
    "requirements",
    "qualifications",
    "benefits",
    "supplementalInformation",
)
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_ENTRY_START = re.compile(rb"<(item|entry)[\s>]")
MAX_NAMESPACES = 1_000
"""The parser searches all of them for each element."""
MAX_ENTRIES = 5_000
"""Entries read from one feed. Longer feeds are archives, and would take minutes."""


def first_request(config: FeedConfig) -> Request:
    return Request(config.url)


def read(
    body: bytes,
    request: Request,
    config: FeedConfig,
    complete: Callable[[Posting, Entry], Posting] = lambda posting, entry: posting,
) -> BoardPage:
    """The postings of a feed; `complete` sets fields that only one site has."""
    entries, truncated = parse_entries(body)
    base = request.url or config.url
    postings = [
        complete(posting, entry)
        for entry in entries
        if (posting := read_entry(entry, base, config))
    ]
    if entries and not postings:
        raise OutsideError("no entry of the feed has a title and a link", permanent=True)
    return BoardPage(tuple(postings), truncated=truncated, stubs=len(entries) - len(postings))


def parse_entries(body: bytes) -> tuple[list[Entry], bool]:
    """The entries, and whether the feed was truncated; OutsideError if it is not a feed."""
    if _ENTITY.search(body):
        raise OutsideError("feeds that declare entities are not accepted", permanent=True)
    if body.count(b"xmlns") > MAX_NAMESPACES:
        raise OutsideError("the feed declares too many namespaces", permanent=True)
    full_length = len(body)
    body = _truncate(body)
    # As a stream: feedparser would take a string for a URL or a file name.
    feed = cast(
        Any,
        feedparser.parse(io.BytesIO(body), sanitize_html=False, resolve_relative_uris=False),  # pyright: ignore[reportUnknownMemberType]
    )
    entries = cast(list[Entry], feed.entries)
    if not entries and (feed.bozo or not feed.get("version")):
        reason = feed.get("bozo_exception") or "unknown format"
        raise OutsideError(f"the response is not a feed: {reason}", permanent=True)
    return entries, len(body) != full_length


def _truncate(body: bytes) -> bytes:
    for number, start in enumerate(_ENTRY_START.finditer(body)):
        if number == MAX_ENTRIES:
            end = b"</channel></rss>" if start[1] == b"item" else b"</feed>"
            return body[: start.start()] + end
    return body


def read_entry(entry: Entry, base: str, config: FeedConfig) -> Posting | None:
    """The posting of an entry; None without a title or a link."""
    title, company = split_title(_line(entry, config.title_field) or "", config.parse_format)
    url = lenient_models.parse_link(absolute_url(_text(entry, config.link_field) or "", base))
    if not title or not url:
        return None
    description = _description(entry, config)
    return Posting(
        title=title,
        url=url,
        company=_line(entry, config.company_field) or company or config.company,
        location=_line(entry, config.location_field),
        department=_line(entry, config.department_field),
        employment_type=employment.parse_employment_type(_line(entry, config.type_field)),
        posted_at=dates.parse_date(_text(entry, config.date_field)),
        valid_through=dates.parse_deadline(_text(entry, config.expires_field)),
        salary=_pay(entry) or salary.from_text(_line(entry, config.salary_field)),
        description=description,
        requirements=html_text.join_sections(
            _section(entry, "requirements"), _section(entry, "qualifications")
        ),
        vendor_id=_text(entry, "guid") or url,
        tags=_tags(entry),
        partial=description is None,
    )


def split_title(title: str, title_format: str) -> tuple[str, str | None]:
    """The role and, if the title names it, the company."""
    if title_format == "title_company":
        company, colon, role = title.partition(": ")
        return (role.strip(), company.strip() or None) if colon and role.strip() else (title, None)
    if title_format == "title_at_company":
        role, separator, company = title.rpartition(" at ")
        return (role.strip(), company.strip()) if separator and role.strip() else (title, None)
    return title, None


def _description(entry: Entry, config: FeedConfig) -> str | None:
    """The full text: feeds that also have a summary put the full text into `content`."""
    full_text = (
        _text(entry, "content:encoded") if config.description_field == "description" else None
    )
    text = html_text.from_html(full_text or _text(entry, config.description_field))
    sections = (_section(entry, name) for name in _SECTIONS)
    return html_text.join_sections(
        text, *(part for part in sections if part and part not in (text or ""))
    )


def _section(entry: Entry, name: str) -> str | None:
    return html_text.from_html(_text(entry, name))


def _pay(entry: Entry) -> Salary | None:
    parts = ("salary_min", "salary_max", "salary_currency", "salary_period")
    return salary.from_fields(*(_line(entry, part) for part in parts))


def _line(entry: Entry, name: str) -> str | None:
    return html_text.single_line(_text(entry, name))


def _text(entry: Entry, name: str) -> str | None:
    """The text of an element, by its name or by one of the synonyms."""
    names = (name, *_SYNONYMS.get(name, ()))
    for candidate in names:
        plain = candidate.lower()
        local = plain.rpartition(":")[2]
        for key in (
            _FEEDPARSER_NAMES.get(plain, plain),
            plain.replace(":", "_"),
            _FEEDPARSER_NAMES.get(local, local),
        ):
            if text := _to_text(entry.get(key)):
                return text
    # In any namespace: `job_listing:company` is a company.
    endings = [f"_{candidate.lower()}" for candidate in names]
    namespaced = (entry[key] for end in endings for key in entry if key.endswith(end))
    return next(
        (text.strip() for text in namespaced if isinstance(text, str) and text.strip()), None
    )


def _to_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        parts = [_to_text(part) for part in cast(list[Any], value)]
        return "; ".join(part for part in parts if part) or None
    if isinstance(value, Mapping):
        parts_by_name = cast(Mapping[str, Any], value)
        return next(
            (
                word
                for key in ("value", "term", "name", "title")
                if (word := _to_text(parts_by_name.get(key)))
            ),
            None,
        )
    return None


def _tags(entry: Entry) -> tuple[str, ...]:
    tags = cast(list[Any], entry.get("tags") or [])
    lines = [html_text.single_line(_to_text(tag)) for tag in tags]
    return tuple(dict.fromkeys(line for line in lines if line))


PLATFORM = Platform(
    name="rss",
    title="RSS or Atom feed",
    posting_ids=PostingIds(aggregator=True),
    config=FeedConfig,
    token=lambda config: config.url,
    first_request=first_request,
    read=read,
    confidence="high",
    inventory=False,
    is_shared_service=False,
    enable_on_response=True,
)
