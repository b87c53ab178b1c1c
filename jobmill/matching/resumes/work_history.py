"""Read job titles and dates of employment from a resume, and derive years and seniority."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from jobmill.catalog.posting import Seniority

from ..posting_facts import role_type
from ..rules.seniority_distance import STEPS
from . import date_ranges

BULLET: Final = re.compile(r"^\s*(?:[-\u2013\u2014*•·▪◦●‣]|\d{1,2}[.)])\s+")
_ROLES: Final = (
    r"engineer|developer|programmer|architect|scientist|analyst|designer|administrator|manager"
    r"|director|consultant|researcher|specialist|technician|writer|recruiter|accountant|nurse"
    r"|teacher|coordinator|strategist|officer|tester|lead|sre|cto|ceo|cfo|coo|intern|working student"
    r"|chef|(?:line|prep|head|lead|pastry|school) cook|lawyer|attorney|counsel|solicitor|barrister|paralegal"
    r"|clerk|associate|assistant|supervisor|(?:warehouse|production|factory|social|care|support) worker"
    r"|(?:forklift|machine) operator|driver|picker|packer|mechanic|electrician|plumber|welder|therapist"
    r"|physician|pharmacist|paramedic|midwife|caregiver|aide|tutor|lecturer|instructor|professor|librarian"
    r"|receptionist|secretary|bookkeeper|cashier|bartender|barista|waiter|waitress|representative|executive"
    r"|\w{0,20}(?:entwickler|ingenieur|berater|leiter|architekt|techniker|pfleger|lehrer|praktikant)(?:in)?"
    r"|werkstudent(?:in)?|stagiaire"
)
ROLE: Final = re.compile(
    rf"\b(?:{_ROLES})(?: (?:i{{1,3}}|iv|v|[1-5]))?$"
    # Languages in which the role comes first.
    r"|^(?:développeu(?:r|se)|ingénieure?|chef(?:fe)? de projet|technicien(?:ne)?|infirmi(?:er|ère)"
    r"|chef de (?:partie|cuisine)|comptable|desarrollador(?:a)?|ingenier[oa]|head of|vp of|director of)\b",
    re.IGNORECASE,
)
ROLE_WORD: Final = re.compile(rf"\b(?:{_ROLES})\b", re.IGNORECASE)
SEPARATOR: Final = re.compile(
    r"\s+(?:at|@|bei|chez)\s+|\s*[,|•·(\t]\s*|\s+[-\u2013\u2014]+\s+|\s{3,}"
)
EDGES: Final = " :;.)*_\u2013\u2014-"

MAX_LINE_LENGTH: Final = 200
"""Characters of a line to look at; text after the dates describes the work."""
MAX_LINES: Final = 3_000
"""Lines."""

DEGREE: Final = re.compile(
    r"^\W{0,3}(?:education|ausbildung|formation)\b|\b(?:bachelor\w{0,2}|masters|master['\u2019]s|master (?:of|in)|b\.?sc|m\.?sc|mba"
    r"|ph\.?d|degree|diploma|abitur|studium|baccalauréat)\b",
    re.IGNORECASE,
)
SCHOOL: Final = re.compile(
    r"\b(?:universit\w{1,4}|college|school|academy|\w{0,10}hochschule|gymnasium|lycée|école|courses?|bootcamp)\b",
    re.IGNORECASE,
)
_LEVELS: Final[dict[Seniority, str]] = {
    "executive": r"c[efiot]o|chief|vp|[se]vp|vice[- ]president|president|geschäftsführer(?:in)?",
    "director": r"director|head|direktor(?:in)?|direct(?:eur|rice)",
    "manager": r"manager|mgr|(?:abteilungs|bereichs)leiter(?:in)?",
    "principal": r"principal|distinguished",
    "staff": r"staff (?:\w{1,20} ){0,3}(?:engineer|developer|scientist|designer|architect|sre)",
    "lead": r"lead|(?:team|tech)lead|teamleiter(?:in)?|leitende[rn]?",
    "senior": r"senior|sr|sénior",
    "mid": r"mid|mid-?level|intermediate",
    "junior": r"junior|jr",
    "entry": r"trainee|graduate|apprentice",
    "intern": r"intern|praktikant(?:in)?|werkstudent(?:in)?|working student|stagiaire",
}
"""Ordered from the highest; the first level that a title names counts."""
LEVELS: Final[dict[Seniority, re.Pattern[str]]] = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _LEVELS.items()
}
LEADING: Final = ("executive", "director", "manager")


class Employment(NamedTuple):
    """A period of employment, in months since year 0; `end` is exclusive."""

    start: int
    end: int
    titles: Sequence[str]


def find_titles(lines: Iterable[str]) -> list[str]:
    """Find job titles: parts of short lines that end with the name of a role."""
    titles: dict[str, str] = {}
    for line in lines:
        if BULLET.match(line) or len(line) > MAX_LINE_LENGTH:
            continue
        for part in map(_strip_edges, SEPARATOR.split(_without_dates(line.strip()))):
            if part and len(part.split()) <= 6 and part[0].isupper() and ROLE.search(part):
                titles.setdefault(part.casefold(), part)
    return list(titles.values())[:50]


def find_headline_titles(lines: Iterable[str]) -> list[str]:
    """Find the titles that the person uses for themselves, on lines without dates."""
    return find_titles(
        line for line in lines if len(line) <= MAX_LINE_LENGTH and _without_dates(line) == line
    )


def _without_dates(line: str) -> str:
    return date_ranges.SINCE.sub(" | ", date_ranges.RANGE.sub(" | ", line))


def _strip_edges(part: str) -> str:
    return part.strip(EDGES)


def find_employments(
    lines: Sequence[str], today: dt.date, *, sure: bool = True
) -> list[Employment]:
    """Find periods of employment. If the section may not be about work (`sure` is False), count
    only those next to a job title, and no schools."""
    rows = [line[:MAX_LINE_LENGTH].strip() for line in lines if line.strip()][:MAX_LINES]
    dated = {n: spans for n, row in enumerate(rows) if (spans := list(_spans(row, today)))}
    used: set[int] = set(dated)
    employments: list[Employment] = []
    for n, spans in dated.items():
        titles = _titles_near(rows, n, used)
        if _is_work(rows[n], titles, sure=sure):
            employments += [Employment(start, end, titles) for start, end in spans]
    return employments


def _is_work(row: str, titles: Sequence[str], *, sure: bool) -> bool:
    if sure:
        return not DEGREE.search(row) or bool(find_titles([row]))
    return bool(titles) and not DEGREE.search(row) and not SCHOOL.search(row)


def _titles_near(rows: Sequence[str], n: int, used: set[int]) -> list[str]:
    """Find the titles on the line of the dates, else on the lines around it that no other job has
    used."""
    if titles := find_titles([BULLET.sub("", rows[n])]):
        return titles
    for place in (n - 1, n + 1, n - 2, n + 2):
        if 0 <= place < len(rows) and place not in used and (titles := find_titles([rows[place]])):
            used.add(place)
            return titles
    return []


def _spans(row: str, today: dt.date) -> Iterator[tuple[int, int]]:
    now = today.year * 12 + today.month - 1
    bare = BULLET.sub("", row)
    for match in date_ranges.RANGE.finditer(bare):
        # A bullet point describes the work, unless it starts with the dates.
        if bare == row or match.start() < 3:
            start = date_ranges.month_number(match, 1, ends=False)
            end = date_ranges.month_number(match, 2, ends=True) if match["year2"] else now
            yield from _plausible(start, min(end, now))
    # Elsewhere it may be the age of a company.
    since = date_ranges.SINCE.search(bare)
    if since and (since.start() == 0 or (bare == row and find_titles([row]))):
        yield from _plausible(date_ranges.month_number(since, 1, ends=False), now)


def _plausible(start: int, end: int) -> Iterator[tuple[int, int]]:
    if 1950 * 12 <= start < end <= start + 60 * 12:
        yield start, end


def total_years(employments: Iterable[Employment]) -> float | None:
    """Sum up all employment, each month once, to the nearest half year; None if it is almost
    nothing."""
    months = last = 0
    for start, end, _ in sorted(employments, key=lambda employment: employment[:2]):
        months += max(0, end - max(start, last))
        last = max(last, end)
    return (months + 2) // 6 / 2 or None


def derive_seniority(headline: Sequence[str], employments: Sequence[Employment]) -> list[Seniority]:
    """The levels that the headline and the latest titles name. Years say nothing: a nurse with ten
    of them applies for the same jobs as one with three."""
    last = max((employment.end for employment in employments), default=0)
    titles = [
        *headline,
        *(
            title
            for employment in employments
            if employment.end == last
            for title in employment.titles
        ),
    ]
    levels: set[Seniority] = {level for level in map(_level, titles) if level}
    return sorted(levels, key=lambda level: STEPS[level])


def _level(title: str) -> Seniority | None:
    leads = role_type.read_role(title, "")[0] == "management"
    for name, words in LEVELS.items():
        if words.search(title) and (leads or name not in LEADING):
            return name
    return None
