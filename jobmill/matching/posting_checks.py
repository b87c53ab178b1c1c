"""Facts about a posting that a person would check before applying: its age, its reposts, and what in
it contradicts itself. They are facts, not judgements: a posting is only called inactive if two of
them say so."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass

from jobmill.catalog.listings import Listing
from jobmill.db import Tx, fetch_value

LONG_OPEN_DAYS = 60
"""From here on, the age of a posting is a sign that the company does not hire for it."""
MANY_REPOSTS = 2
MAX_TEXT_LENGTH = 20_000
"""Characters of a description that are searched for contradictions."""

REMOTE_WORDS = re.compile(
    r"\b(?:100 ?% remote|fully remote|remote[- ]only|remote)\b", re.IGNORECASE
)
ONSITE_WORDS = re.compile(
    r"\b(?:not (?:a )?remote|no remote|on-?site only|(?:5|five) days (?:a|per) week in (?:the|our) office"
    r"|fully on-?site|100 ?% on-?site)\b",
    re.IGNORECASE,
)
FULLY_REMOTE_WORDS = re.compile(r"\b(?:100 ?% remote|fully remote|remote[- ]only)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PostingCheck:
    text: str
    is_warning: bool = False
    """Whether it deserves a question to the company."""


async def count_reposts(tx: Tx, listing: Listing) -> int:
    """How often the vacancy was posted again."""
    sql = """
        SELECT count(*) FROM catalog.listing
         WHERE duplicate_kind = 'repost' AND duplicate_of = %s
    """
    return await fetch_value(tx, int, sql, [listing.duplicate_of or listing.id]) or 0


def check_posting(listing: Listing, reposts: int, now: dt.datetime) -> list[PostingCheck]:
    """The facts to check, with what two of them together suggest first."""
    signs = list(_inactive_signs(listing, reposts, now))
    facts = [
        *_describe_age(listing, now),
        *_describe_reposts(reposts),
        *_contradictions(listing, now),
    ]
    if len(signs) < 2:
        return facts
    summary = f"It may not be hiring: {' and '.join(signs)}. Ask before you apply."
    return [PostingCheck(summary, is_warning=True), *facts]


def _days_open(listing: Listing, now: dt.datetime) -> int:
    return max(0, (now - (listing.posted_at or listing.first_seen_at)).days)


def _inactive_signs(listing: Listing, reposts: int, now: dt.datetime) -> Iterable[str]:
    if listing.closed_at is not None:
        return
    if (days := _days_open(listing, now)) >= LONG_OPEN_DAYS:
        yield f"it has been open for {days} days"
    if reposts >= MANY_REPOSTS:
        yield f"it was reposted {reposts} times"
    if listing.valid_through and listing.valid_through < now:
        yield "its closing date has passed"


def _describe_age(listing: Listing, now: dt.datetime) -> Iterable[PostingCheck]:
    days = _days_open(listing, now)
    event = "posted" if listing.posted_at else "first seen"
    if listing.closed_at is not None:
        yield PostingCheck("The posting is closed.", is_warning=True)
    elif days == 0:
        yield PostingCheck(f"{event.capitalize()} today.")
    else:
        unit = "day" if days == 1 else "days"
        yield PostingCheck(f"Open for {days} {unit} ({event} {_day(listing, now)}).")


def _day(listing: Listing, now: dt.datetime) -> str:
    day = listing.posted_at or listing.first_seen_at
    return f"{day:%B} {day.day}" if day.year == now.year else f"{day:%B} {day.day}, {day.year}"


def _describe_reposts(reposts: int) -> Iterable[PostingCheck]:
    if reposts:
        yield PostingCheck(f"Reposted {'once' if reposts == 1 else f'{reposts} times'}.")


def _contradictions(listing: Listing, now: dt.datetime) -> Iterable[PostingCheck]:
    for text in (_arrangement_contradiction(listing), _date_contradiction(listing, now)):
        if text:
            yield PostingCheck(text, is_warning=True)
    if listing.salary_min and listing.salary_max and listing.salary_min > listing.salary_max:
        yield PostingCheck("The lowest salary is above the highest one.", is_warning=True)


def _arrangement_contradiction(listing: Listing) -> str | None:
    title, text = listing.title or "", (listing.description or "")[:MAX_TEXT_LENGTH]
    if listing.arrangement == "onsite" and REMOTE_WORDS.search(title):
        return f"The title says remote, but the arrangement is onsite: “{title}”"
    pattern = {"remote": ONSITE_WORDS, "onsite": FULLY_REMOTE_WORDS}.get(listing.arrangement or "")
    found = pattern.search(text) if pattern else None
    if found is None:
        return None
    return f"The arrangement is {listing.arrangement}, but the text says “{found[0]}”."


def _date_contradiction(listing: Listing, now: dt.datetime) -> str | None:
    if listing.valid_through and listing.valid_through < now and listing.closed_at is None:
        return f"Still listed after its closing date, {listing.valid_through:%Y-%m-%d}."
    return None
