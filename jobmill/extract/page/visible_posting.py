"""A posting from what a reader of the page sees."""

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
    text_lines,
)
from .label_vocabulary import Field
from .labelled_values import Pair
from .page_metadata import Head
from .text_checks import absolute, squeeze
from .text_lines import Line, View

_POSTING = re.compile(
    r"/(?:jobs?|positions?|vacanc\w{1,4}|stellen\w{0,10}|o|openings?)/[^/?#]*(?:\d{2}|\w-\w+-\w)",
    re.IGNORECASE,
)
_LINKS = 1_000
_APPLIES = re.compile("apply|bewerb", re.IGNORECASE)
_APPLY = re.compile(
    r"(?:apply|(?:jetzt )?bewerben|postuler|solicitar|inscribirme|candidati|solliciteer)\b.{0,30}",
    re.IGNORECASE,
)
_KINDS = frozenset(
    ("full_time", "part_time", "contract", "temporary", "internship", "apprenticeship")
)
_DAY_FIRST = re.compile(r"(?!en$|en-us|en_us)[a-z]{2}")


@dataclass(frozen=True, slots=True)
class Seen:
    """A page's lines, read once for all questions."""

    lines: list[Line]
    top: list[Line]
    """Where title, company and place must be."""
    pairs: list[Pair]
    head: Head
    links: int
    """To pages that may be postings."""
    times: set[str]
    """What <time> elements say to machines."""

    def value(self, name: Field) -> str | None:
        """What the first label of this field says."""
        return next((pair.value for pair in self.pairs if pair.name == name), None)

    def told(self) -> set[Field]:
        """The fields that labels tell and that only a posting has."""
        return {pair.name for pair in self.pairs if pair.name in page_type.OF_POSTING}

    @property
    def day_first(self) -> bool:
        """Whether 3/4 is a day in April."""
        return bool(_DAY_FIRST.match(self.head.language))

    def posted(self) -> dt.datetime | None:
        """The day it was posted."""
        return posted_date.posted(self.top, self.pairs, self.times, day_first=self.day_first)


def see(view: View, about: Head) -> Seen:
    """Find the labels among the lines."""
    return Seen(
        view.lines,
        text_lines.top(view.lines),
        labelled_values.pairs(view.lines),
        page_metadata.with_view(about, view),
        len(_others(view)),
        view.times,
    )


def _others(view: View) -> set[str]:
    """Where links lead that look like postings: below a list, with a number or a slug."""
    return {href for href in view.hrefs if _POSTING.search(href[:500])}


def posting(seen: Seen, url: str, *, expected: bool) -> Posting | None:
    """The posting that the lines tell of; None where they tell of none, or of many. Of a page that
    is `expected` to be one, a title is all that is asked."""
    description = main_text.find(seen.lines)
    if expected:
        if page_type.is_error(seen.head) or not seen.lines:
            return None
    elif not page_type.is_posting(seen.lines, seen.pairs, seen.head, description, seen.links):
        return None
    title, company = _names(seen, expected=expected)
    if not title:
        return None
    below = byline.place(byline.read(seen.top, squeeze(title)), squeeze(company))
    return Posting(
        title=title,
        url=url,
        company=company,
        location=page_locations.find(seen.top, seen.pairs, seen.head, title, below),
        arrangement=work_arrangement.word(seen.value("mode")),
        department=seen.value("team"),
        employment_type=_kind(seen),
        posted_at=seen.posted(),
        updated_at=posted_date.updated(seen.pairs, day_first=seen.day_first),
        valid_through=dates.deadline(seen.value("until")),
        salary=salary.from_text(seen.value("pay")),
        description=description,
        requisition_id=seen.value("number"),
    )


def _names(seen: Seen, *, expected: bool) -> tuple[str | None, str | None]:
    """Title and company: each is what the other is not."""
    votes = job_title.gather(seen.top, seen.pairs, seen.head)
    # Among labels of a posting, a lone heading will do, and among many, any words set apart.
    told = len(seen.told())
    least = 0.4 if expected or told >= 4 else 1.0 if told >= 2 else 2.0
    likely = job_title.choose(votes, seen.head, None, least)
    title = job_title.choose(votes, seen.head, None, 2) or ""
    below = byline.company(byline.read(seen.top, squeeze(likely)))
    company = company_name.find(seen.top, seen.pairs, seen.head, title, below)
    chosen = job_title.choose(votes, seen.head, company, least)
    if not chosen and expected:
        chosen = job_title.first(seen.top, seen.head)
    return chosen, company


def complete(posting: Posting, seen: Seen) -> Posting:
    """The posting with what labels of the page say outright, where it says nothing itself."""
    return replace(
        posting,
        company=posting.company or _told(seen, "company"),
        location=posting.location or _told(seen, "location"),
        posted_at=posting.posted_at or seen.posted(),
        description=posting.description or main_text.find(seen.lines),
    )


def apply_link(links: list[LexborNode], url: str) -> str | None:
    """Where the link leads that asks to apply."""
    for link in links[:_LINKS]:
        if not _APPLY.fullmatch(link.text().strip()[:60]):
            continue
        attributes = link.attributes
        href = attributes.get("href") or ""
        named = f"{href} {attributes.get('class')} {attributes.get('id')}"
        if _APPLIES.search(named) and not href.startswith(("#", "javascript:")):
            return absolute(href, url)
    return None


def _kind(seen: Seen) -> str | None:
    found = (employment.read(pair.value) for pair in seen.pairs if pair.name == "kind")
    return next((kind for kind in found if kind in _KINDS), None)


def _told(seen: Seen, name: Field) -> str | None:
    """What one sure label says, if no other contradicts it."""
    values = {pair.value for pair in seen.pairs if pair.name == name and pair.surely >= 0.8}
    return values.pop() if len(values) == 1 else None
