"""A posting from what a reader of the page sees."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from jobmill.catalog.posting import Posting
from jobmill.ingest.fields import arrangement, dates, employment, salary
from jobmill.ingest.page import body, companies, head, labels, lines, shape, spots, titles
from jobmill.ingest.page.head import Head
from jobmill.ingest.page.labels import Field, Pair
from jobmill.ingest.page.lines import Line, View
from jobmill.ingest.page.words import absolute

_POSTED_WORDS = (
    "posted", "published", "listed", "added", "veröffentlicht", "erschienen", "eingestellt",
    "publié", "publicad", "pubblicat", "geplaatst", "publicerad",
)  # fmt: skip
_POSTED = re.compile(
    r"\b(?:(?:re)?posted|published|listed|added|veröffentlicht|erschienen|eingestellt|publiée?|"
    r"publicad[oa]|pubblicat[oa]|geplaatst|publicerad)\b\s*(?:date|on|am|le|el|il|op|"
    r"em)?[:\s]*(.{3,40})$",
    re.IGNORECASE,
)
# Old pages write years in two digits; `dates` leaves those alone, as it cannot know which part is
# the year.
_SHORT_YEAR = re.compile(r"^(\d{1,2})([/-])(\d{1,2})\2(\d\d)(?!\d)")
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
        return {pair.name for pair in self.pairs if pair.name in shape.OF_POSTING}


def see(view: View, about: Head) -> Seen:
    """Find the labels among the lines."""
    return Seen(
        view.lines,
        lines.top(view.lines),
        labels.pairs(view.lines),
        head.with_view(about, view),
        len(_others(view)),
        view.times,
    )


def _others(view: View) -> set[str]:
    """Where links lead that look like postings: below a list, with a number or a slug."""
    found = (link.attributes.get("href") or "" for link in view.links)
    return {href for href in found if _POSTING.search(href[:500])}


def posting(seen: Seen, url: str) -> Posting | None:
    """The posting that the lines tell of; None where they tell of none, or of many."""
    description = body.find(seen.lines)
    if not shape.is_posting(seen.lines, seen.pairs, seen.head, description, seen.links):
        return None
    title, company = _names(seen)
    if not title:
        return None
    return Posting(
        title=title,
        url=url,
        company=company,
        location=spots.find(seen.top, seen.pairs, seen.head, title),
        arrangement=arrangement.word(seen.value("mode")),
        department=seen.value("team"),
        employment_type=_kind(seen),
        posted_at=posted(seen),
        valid_through=dates.deadline(seen.value("until")),
        salary=salary.from_text(seen.value("pay")),
        description=description,
        requisition_id=seen.value("number"),
    )


def _names(seen: Seen) -> tuple[str | None, str | None]:
    """Title and company: each is what the other is not."""
    votes = titles.gather(seen.top, seen.pairs, seen.head)
    title = titles.choose(votes, seen.head, None, 2) or ""
    company = companies.find(seen.top, seen.pairs, seen.head, title)
    # Among labels of a posting, a lone heading will do.
    least = 1.0 if len(seen.told()) >= 2 else 2.0
    return titles.choose(votes, seen.head, company, least), company


def complete(posting: Posting, seen: Seen) -> Posting:
    """The posting with what labels of the page say outright, where it says nothing itself."""
    return replace(
        posting,
        company=posting.company or _told(seen, "company"),
        location=posting.location or _told(seen, "location"),
        posted_at=posting.posted_at or posted(seen),
        description=posting.description or body.find(seen.lines),
    )


def posted(seen: Seen) -> dt.datetime | None:
    """The day it was posted: what a label says, else a line, a mark or a time element."""
    day_first = bool(_DAY_FIRST.match(seen.head.language))
    told = [pair.value for pair in seen.pairs if pair.name == "posted"]
    short = [line for line in seen.top if len(line.text) <= 100]
    telling = lines.holding(short, _POSTED_WORDS)
    said = [found[1] for line in telling if (found := _POSTED.search(line.text))]
    marked = [words for line in short for words, marks in line.parts if "posted" in marks]
    # One time on the whole page is its own; among several it is anybody's.
    timed = seen.times if len(seen.times) == 1 else ()
    for words in (*told, *said, *marked, *timed):
        day = _SHORT_YEAR.sub(r"\1\2\3\g<2>20\4", words.strip(" .|-\u2013•"))
        if found := dates.read(day, day_first=day_first):
            return found
    return None


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
