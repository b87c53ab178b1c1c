"""Compare where a company is: headquarters and other places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from jobmill.places.parsed_place import ParsedPlace, is_in, parse_all, parse_places
from jobmill.reports.checks.parsed_claim import ParsedClaim, PartVerdict
from jobmill.reports.site_statements import SiteStatement

_NAME: Final = r"[A-ZÀ-Þ][\w'\u2019.-]{1,40}"
_PHRASE: Final = re.compile(
    rf"(?:\b(?:in|near|to|from|at|of|outside)|:) (?:the |downtown |central )?({_NAME}(?:,? (?:and |the |& )?{_NAME}){{0,6}})"
)
_NOT_A_PLACE: Final = re.compile(
    r"^(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday"
    r"|Wednesday|Thursday|Friday|Saturday|Sunday|English|German|French|Spanish|I)\b"
)
_SEAT: Final = re.compile(
    r"\b(?:headquarter\w*|head office|hq|based|situated|located|lies|main (?:hospital|office|site|campus|plant))\b"
    r"|\bis (?:in|near|on)\b|\bis an? (?:[\w-]+ ){1,4}(?:in|near)\b|\bfind (?:us|it)\b",
    re.IGNORECASE,
)
_STRICT_SEAT: Final = re.compile(
    r"\b(?:headquarter\w*|head office|hq|main (?:hospital|office|site|campus|plant))\b",
    re.IGNORECASE,
)
_BRANCH: Final = re.compile(
    r"\b(?:offices?|shops?|stores?|branch(?:es)?|clinics?|warehouses?|studios?|base|plants?|campus|locations?)\b",
    re.IGNORECASE,
)
_ABOUT_REMOTE_WORK: Final = re.compile(r"\b(?:remote(?:ly)?|from home|anywhere)\b", re.IGNORECASE)


def check_places(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> PartVerdict | None:
    """Whether the company is where the claim puts it."""
    is_seat = bool(_SEAT.search(claim.text))
    if not is_seat and not (_BRANCH.search(claim.text) or claim.stems & {"mov", "relocat"}):
        return None
    if _ABOUT_REMOTE_WORK.search(claim.text) or claim.negative:
        return None
    claimed = find_places(claim.text)
    about_places = [statement for statement in statements if statement.fact == "places"]
    if not claimed or not about_places:
        return None
    if former := _first_with(claimed, about_places, former=True):
        return PartVerdict("outdated", "The site names this as an earlier place.", former)
    seats = [statement for statement in about_places if _STRICT_SEAT.search(statement.text)]
    if not (is_seat and seats):
        return _judge_any(claim, claimed, about_places, is_seat=is_seat)
    seat = _judge_seat(claim, claimed, seats)
    others = claimed[1:] if _BRANCH.search(claim.text) else ()
    if seat.verdict != "true" or not others:
        return seat
    branches = _judge_any(claim, others, about_places, is_seat=False)
    return seat if branches.verdict == "true" else branches


def find_places(text: str) -> tuple[ParsedPlace, ...]:
    """The places that a sentence names after a preposition."""
    phrases = [match[1].rstrip(".") for match in _PHRASE.finditer(text)]
    return parse_all(phrase for phrase in phrases if not _NOT_A_PLACE.match(phrase))


def _judge_seat(
    claim: ParsedClaim, claimed: Sequence[ParsedPlace], seats: Sequence[SiteStatement]
) -> PartVerdict:
    for statement in seats:
        clauses = [clause for clause in statement.clauses if _STRICT_SEAT.search(clause)]
        places = [place for clause in clauses for place in find_places(clause)]
        if places and _all_in(claimed[:1], places):
            return _confirm(claim, statement)
    return PartVerdict("contradicted", "The site names another seat.", seats[0])


def _judge_any(
    claim: ParsedClaim,
    claimed: Sequence[ParsedPlace],
    statements: Sequence[SiteStatement],
    *,
    is_seat: bool,
) -> PartVerdict:
    places = [place for statement in statements for place in _places_of(statement)]
    if _all_in(claimed, places):
        return _confirm(claim, _first_with(claimed, statements) or statements[0])
    if is_seat and not any(_all_in([place], places) for place in claimed):
        return PartVerdict("contradicted", "The site names other places.", statements[0])
    return PartVerdict("unsupported", "The site does not name this place.", None)


def _confirm(claim: ParsedClaim, statement: SiteStatement) -> PartVerdict:
    if claim.planned:
        return PartVerdict("outdated", "By the site, this has already happened.", statement)
    return PartVerdict("true", "The site names this place.", statement)


def _first_with(
    claimed: Sequence[ParsedPlace], statements: Sequence[SiteStatement], *, former: bool = False
) -> SiteStatement | None:
    for statement in statements:
        places = parse_places(statement.former) if former else _places_of(statement)
        if any(_all_in([place], places) for place in claimed):
            return statement
    return None


def _places_of(statement: SiteStatement) -> tuple[ParsedPlace, ...]:
    return parse_all(
        [statement.value, *(match[1] for match in _PHRASE.finditer(statement.current))]
    )


def _all_in(claimed: Iterable[ParsedPlace], places: Sequence[ParsedPlace]) -> bool:
    return all(
        any(is_in(place, home) or is_in(home, place) for home in places) for place in claimed
    )
