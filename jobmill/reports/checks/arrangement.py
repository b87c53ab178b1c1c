"""Compare where people work: from home, in the office, or both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jobmill.reports.checks.parsed_claim import ParsedClaim, PartVerdict
from jobmill.reports.claim_words import content_stems, is_negative
from jobmill.reports.quantities import find_quantities
from jobmill.reports.site_statements import SiteStatement

Arrangement: TypeAlias = Literal["remote", "hybrid", "onsite"]

_WORK_DAYS: Final = 5
_FULLY: Final = r"(?:fully|entirely|completely|100 ?%|all|only|full time)"
_FULLY_REMOTE: Final = re.compile(
    rf"\b{_FULLY}[- ](?:remote|from home|distributed)|\bremote[- ](?:first|only)\b|\bwork(?:s|ing)? from anywhere\b",
    re.IGNORECASE,
)
_HOME: Final = re.compile(
    r"\b(?:remote(?:ly)?|from home|at home|home[- ]?office|telework\w*|teach(?:ing)? online|online teaching|anywhere)\b",
    re.IGNORECASE,
)
_ON_SITE: Final = re.compile(
    r"\bon-site\b(?! (?!work|role|job|position|presence|and|or|for|at|in|full|every|only|days?|three|two|four|five)[a-z])"
    r"|\b(?:on site|onsite|on campus|in[- ]person|(?:in|from|to) (?:the|our) office|in[- ]office|presence in the office"
    r"|back at the office)\b",
    re.IGNORECASE,
)
_HYBRID: Final = re.compile(
    r"\bhybrid\b|\bbetween home and (?:the )?office|\bwhere(?:ver)? (?:you like|they work|to work)\b",
    re.IGNORECASE,
)
_PERMISSION: Final = re.compile(
    r"\b(?:may|can|could|allow\w*|lets?|option\w*|possible|up to)\b", re.IGNORECASE
)
_EVERY_DAY: Final = re.compile(
    r"\bevery (?:working )?day\b|\bfive days\b|\b5 days\b|\bfull[- ]time\b", re.IGNORECASE
)
_WEEKDAY: Final = re.compile(r"\b(Mon|Tues|Wednes|Thurs|Fri)days?\b")
_CHANGED: Final = re.compile(r"\b(?:since (?:19|20)\d\d|back|no longer|now)\b", re.IGNORECASE)
_WORKING: Final = re.compile(
    r"\b(?:work|works|working|remote\w*|hybrid|on[- ]site|onsite|office|campus|teach\w*|roles?|jobs?|employees|staff|schedule)\b",
    re.IGNORECASE,
)
_ARRANGEMENT_STEMS: Final = frozenset(
    ("home", "site", "day", "week", "hybrid", "onlin", "two", "three")
)
_OPENED: Final = re.compile(r"\b(?:offices? in [A-Z]|headquarter|interview)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatedArrangement:
    kind: Arrangement
    office_days: float | None
    """Each week; None if not stated."""
    permitted: bool
    """Whether working from home is allowed rather than the rule."""


def check_arrangement(
    claim: ParsedClaim, statements: Sequence[SiteStatement]
) -> PartVerdict | None:
    """Whether people work where the claim says."""
    claimed = read_arrangement(claim.text)
    policies = [statement for statement in statements if statement.fact == "remote_policy"]
    if not claimed or not policies:
        return None
    options = [
        (len((claim.stems - _ARRANGEMENT_STEMS) & content_stems(clause)), option, clause, statement)
        for statement in policies
        for clause, option in _stated(statement)
    ]
    if not options:
        return None
    # max() keeps the first of equals: the general rule stands before its exceptions.
    _, option, clause, statement = max(options, key=lambda entry: entry[0])
    if _agree(claimed, option):
        return PartVerdict("true", "The site states this policy.", statement)
    if _CHANGED.search(clause):
        return PartVerdict("outdated", "The site states a policy that replaced it.", statement)
    return PartVerdict("contradicted", "The site states another policy.", statement)


def read_arrangement(text: str) -> StatedArrangement | None:
    """Where people work by this sentence; None if it does not say."""
    home, site = _HOME.search(text), _ON_SITE.search(text)
    if (
        not (home or site or _HYBRID.search(text))
        or not _WORKING.search(text)
        or _OPENED.search(text)
    ):
        return None
    days = _days(text)
    permitted = bool(_PERMISSION.search(text))
    if days is not None and (home or site):
        office = _WORK_DAYS - days if home and not _is_nearer(site, home) else days
        kind: Arrangement = (
            "onsite" if office >= _WORK_DAYS else "hybrid" if office > 0 else "remote"
        )
        return StatedArrangement(kind, office, permitted)
    if _HYBRID.search(text) or (home and site and not is_negative(text)):
        return StatedArrangement("hybrid", None, permitted)
    if home and not is_negative(text):
        return StatedArrangement("remote", None, permitted and not _FULLY_REMOTE.search(text))
    if home or (site and not is_negative(text)):
        return StatedArrangement("onsite", None, permitted=False)
    return None


def _stated(statement: SiteStatement) -> Iterator[tuple[str, StatedArrangement]]:
    """What each clause states; the sentence as a whole if no clause does."""
    parts = [part for part in re.split(r"\s*;\s*", statement.text) if part]
    stated = [(part, option) for part in parts if (option := read_arrangement(part))]
    whole = read_arrangement(statement.text) or read_arrangement(f"work {statement.value}")
    yield from stated or ([(statement.text, whole)] if whole else [])


def _agree(claimed: StatedArrangement, site: StatedArrangement) -> bool:
    if claimed.office_days is not None and site.office_days is not None:
        return claimed.office_days == site.office_days
    if claimed.kind == site.kind:
        return True
    return claimed.kind == "remote" and claimed.permitted and site.kind == "hybrid"


def _days(text: str) -> float | None:
    """Days a week."""
    for quantity in find_quantities(text):
        if quantity.units[:1] == ("day",) and quantity.high <= _WORK_DAYS:
            return quantity.high
    weekdays = len(set(_WEEKDAY.findall(text)))
    if weekdays and _ON_SITE.search(text):
        return float(weekdays)
    return float(_WORK_DAYS) if _EVERY_DAY.search(text) and _ON_SITE.search(text) else None


def _is_nearer(site: re.Match[str] | None, home: re.Match[str]) -> bool:
    """Whether the days are those in the office: "three days in the office, two at home"."""
    return site is not None and site.start() < home.start()
