"""Read a posting from the visible text of a page."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from jobmill.catalog.posting import Posting

from ..fields import dates, employment, salary, work_arrangement
from . import (
    byline,
    company_name,
    job_title,
    labelled_values,
    main_text,
    page_locations,
    page_metadata,
    page_type,
    posted_date,
    visible_lines,
)
from .label_vocabulary import FieldName
from .labelled_values import LabelledValue
from .page_metadata import PageMetadata
from .text_checks import absolute_url, normalize
from .visible_lines import PageText, TextLine

_POSTING_LINK = re.compile(
    r"/(?:jobs?|positions?|vacanc\w{1,4}|stellen\w{0,10}|o|openings?)/[^/?#]*(?:\d{2}|\w-\w+-\w)",
    re.IGNORECASE,
)
_MAX_LINKS = 1_000
_APPLIES = re.compile("apply|bewerb", re.IGNORECASE)
_APPLY = re.compile(
    r"(?:apply|(?:jetzt )?bewerben|postuler|solicitar|inscribirme|candidati|solliciteer)\b.{0,30}",
    re.IGNORECASE,
)
_EMPLOYMENT_TYPES = frozenset(
    ("full_time", "part_time", "contract", "temporary", "internship", "apprenticeship")
)
_DAY_FIRST = re.compile(r"(?!en$|en-us|en_us)[a-z]{2}")


@dataclass(frozen=True, slots=True)
class VisiblePage:
    """The visible lines of a page, prepared once for all fields."""

    lines: list[TextLine]
    top_lines: list[TextLine]
    """The lines that may contain title, company and place."""
    labelled: list[LabelledValue]
    metadata: PageMetadata
    posting_link_count: int
    """Links to pages that may be postings."""
    times: set[str]
    """The `datetime` values of <time> elements."""

    def labelled_value(self, name: FieldName) -> str | None:
        """The first labelled value of a field."""
        return next((entry.value for entry in self.labelled if entry.field == name), None)

    def labelled_fields(self) -> set[FieldName]:
        """The labelled fields that only a posting has."""
        return {entry.field for entry in self.labelled if entry.field in page_type.POSTING_FIELDS}

    @property
    def day_first(self) -> bool:
        """Whether 3/4 is a day in April."""
        return bool(_DAY_FIRST.match(self.metadata.language))

    def posted_at(self) -> dt.datetime | None:
        return posted_date.find_posted_date(
            self.top_lines, self.labelled, self.times, day_first=self.day_first
        )


def read_page(page_text: PageText, about: PageMetadata) -> VisiblePage:
    """Find the labels among the lines."""
    return VisiblePage(
        page_text.lines,
        visible_lines.top_lines(page_text.lines),
        labelled_values.find_labelled_values(page_text.lines),
        page_metadata.add_page_text(about, page_text),
        len(_posting_links(page_text)),
        page_text.times,
    )


def _posting_links(page_text: PageText) -> set[str]:
    """Targets of links that look like postings: below a list, with a number or a slug."""
    return {href for href in page_text.hrefs if _POSTING_LINK.search(href[:500])}


def read_posting(page: VisiblePage, url: str, *, expected: bool) -> Posting | None:
    """The posting in the visible text; None if the page is not a posting, or has several. On a page
    that is `expected` to be one, a title is enough."""
    description = main_text.find_main_text(page.lines)
    if expected:
        if page_type.is_error(page.metadata) or not page.lines:
            return None
    elif not page_type.is_posting(
        page.lines, page.labelled, page.metadata, description, page.posting_link_count
    ):
        return None
    title, company = _title_and_company(page, expected=expected)
    if not title:
        return None
    below = byline.byline_place(
        byline.read_byline(page.top_lines, normalize(title)), normalize(company)
    )
    return Posting(
        title=title,
        url=url,
        company=company,
        location=page_locations.find_location(
            page.top_lines, page.labelled, page.metadata, title, below
        ),
        arrangement=work_arrangement.from_label(page.labelled_value("mode")),
        department=page.labelled_value("team"),
        employment_type=_employment_type(page),
        posted_at=page.posted_at(),
        updated_at=posted_date.find_updated_date(page.labelled, day_first=page.day_first),
        valid_through=dates.parse_deadline(page.labelled_value("until")),
        salary=salary.from_text(page.labelled_value("pay")),
        description=description,
        requisition_id=page.labelled_value("number"),
    )


def _title_and_company(page: VisiblePage, *, expected: bool) -> tuple[str | None, str | None]:
    """Title and company, each with the knowledge of the other."""
    votes = job_title.collect_candidates(page.top_lines, page.labelled, page.metadata)
    # With labels of a posting a single heading is enough, and with many labels any separate text.
    labelled_count = len(page.labelled_fields())
    min_evidence = 0.4 if expected or labelled_count >= 4 else 1.0 if labelled_count >= 2 else 2.0
    likely = job_title.choose_title(votes, page.metadata, None, min_evidence)
    title = job_title.choose_title(votes, page.metadata, None, 2) or ""
    below = byline.byline_company(byline.read_byline(page.top_lines, normalize(likely)))
    company = company_name.find_company(
        page.top_lines, page.lines, page.labelled, page.metadata, title, below
    )
    chosen = job_title.choose_title(votes, page.metadata, company, min_evidence)
    if not chosen and expected:
        chosen = job_title.first_possible_title(page.top_lines, page.metadata)
    return chosen, company


def complete_posting(posting: Posting, page: VisiblePage) -> Posting:
    """Complete a posting with values that the page labels clearly."""
    return replace(
        posting,
        company=posting.company or _certain_value(page, "company"),
        location=posting.location or _certain_value(page, "location"),
        posted_at=posting.posted_at or page.posted_at(),
        description=posting.description or main_text.find_main_text(page.lines),
    )


def find_apply_link(links: list[LexborNode], url: str) -> str | None:
    """The target of the link to apply."""
    for link in links[:_MAX_LINKS]:
        if not _APPLY.fullmatch(link.text().strip()[:60]):
            continue
        attributes = link.attributes
        href = attributes.get("href") or ""
        named = f"{href} {attributes.get('class')} {attributes.get('id')}"
        if _APPLIES.search(named) and not href.startswith(("#", "javascript:")):
            return absolute_url(href, url)
    return None


def _employment_type(page: VisiblePage) -> str | None:
    types = (
        employment.parse_employment_type(entry.value)
        for entry in page.labelled
        if entry.field == "kind"
    )
    return next((kind for kind in types if kind in _EMPLOYMENT_TYPES), None)


def _certain_value(page: VisiblePage, name: FieldName) -> str | None:
    """The value of a label with high confidence, if no other label contradicts it."""
    values = {
        entry.value for entry in page.labelled if entry.field == name and entry.confidence >= 0.8
    }
    return values.pop() if len(values) == 1 else None
