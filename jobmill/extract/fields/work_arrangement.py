"""Determine whether a job is remote, hybrid or on site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jobmill.catalog.posting import Arrangement

_HYBRID = re.compile(
    r"\bhybrid|\bhybryd|\bhíbrid|\bibrid|partial(?:ly)? remote|part[- ]?remote|flexible remote"
    r"|remote[ /-]+(?:on-?site|office)"
    r"|télétravail (?:partiel|ponctuel|occasionnel|fréquent|\d)|teilweise|\bdelvis"
)
_NOT_REMOTE = re.compile(
    r"\b(?:no|not|non|never|kein\w*|sans|pas de)[ -]+(?:\w+ )?(?:remote|home|télétravail)"
)
_REMOTE = re.compile(
    r"\bremot[eo]|\btelecommut|\btele-?work|\bwork(?:ing)? from (?:home|anywhere)|\bwfh\b"
    r"|\bhome[- ]?(?:based|office)\b|\bdistributed\b|\banywhere\b"
    r"|\bworldwide\b|\bvirtual\b|télétravail|\bzdaln|\bthuiswerk|\bdistansarbete|\bpå distans"
)
_ONSITE = re.compile(
    r"\bon[- ]?site\b|\bin[- ]?(?:office|person)\b|\boffice[- ]based\b|\bvor ort\b|\bprésentiel"
    r"|\bsur site|\bpresencial\b|\bstacjonarn|\bop kantoor"
    r"|\bpå plats|\bin sede"
)

_TRADE = (
    r"(?:sens|pilot|support|monitor|desktop|access|control|operat|patient|surg|infra|hands|system"
    r"|device|care\b|diagnos|deposit|proctor|"
    r"identi|cod|learning|teams?\b|work|cloud|vehicle|mobile|app|energy|power|electric)"
)
"""Words that follow "remote" and "hybrid" in names of trades: remote sensing, hybrid cloud."""
_TITLE_REMOTE = re.compile(
    rf"\bremote(?:ly)?\b(?![- ]+{_TRADE})|\bwork from home\b|\bhome[- ]?(?:based|office)\b"
    rf"|\btélétravail\b"
)
_TITLE_HYBRID = re.compile(
    r"(?:^|[(\[|,/\u2013\u2014-]\s*|\s)(?:hybrid|híbrido|hybride?)\s*(?:[)\]|,/\u2013\u2014-]|$"
    r"|remote|in\b|role|work)"
)
_TITLE_ONSITE = re.compile(
    r"(?:^|[(\[|,/\u2013\u2014-]\s*)(?:on-?site|in-?office|in-?person|vor ort"
    r"|presencial)\s*(?:[)\]|,/\u2013\u2014-]|$)"
    r"|[(|,\u2013\u2014-]\s*on-?site\b(?! (?:support|service|tech|coord|manage|super|eng))"
)

_HINTS = (
    "remote", "hybrid", "office", "onsite", "on-site", "on site", "in-person", "in person",
    "telecommut", "telework", "anywhere", "home", "télétravail", "présentiel", "vor ort", "híbrid", "presencial",
)  # fmt: skip
_DAY_COUNT = (
    r"(?<![\w.,])(?:[1-4]|one|two|three|four|ein|zwei|drei|vier)"
    r"(?: ?(?:-|\u2013|to|or|bis|à) ?(?:\d|two|three|four))?\+?(?: \([^)]{1,9}\))?"
)
_SOME_DAYS = re.compile(
    rf"{_DAY_COUNT}[- ](?:full |anchor )?(?:days?|tage?n?|jours?|x)\b(?:[ /](?:per|a|each|every|pro|par"
    rf"|/)? ?(?:week|woche|semaine)| weekly)?[^.,;\n]{{0,25}}?"
    r"\b(?:in[- ](?:the |our |an? |your )?(?:\w+ ){0,2}?offices?|in[- ]office|on[- ]?site"
    r"|in[- ]person|from (?:the|our|an?) (?:\w+ ){0,2}?office|remote|from home|im büro"
    r"|home ?office|de télétravail|im homeoffice)"
    rf"|(?:in[- ]office|on[- ]?site|in (?:the|our) office|in the (?:\w+ ){{0,2}}?office|télétravail"
    rf"|homeoffice|remote|from home)[^.\n]{{0,15}}? {_DAY_COUNT} (?:days?|tage?|jours?|x)"
)
_ALL_DAYS = re.compile(
    r"\b(?:5|five|4-5|all)[- ]days?\b[^.\n]{0,30}?(?:office|on[- ]?site|in[- ]person)"
)
# "A hybrid role between sales and support" is about the tasks, not about the place.
_NOT_MIXED_ROLE = r"(?! (?:role|position|job) (?:for|suited|combin|between|that|of|blend))"
_STATEMENTS = (
    re.compile(
        r"#li-?\s?(?:(?P<remote>remote)|(?P<hybrid>hybrid)|(?P<onsite>on-?site|in-?office))"
    ),
    re.compile(
        r"(?:work (?:location|style|arrangement|model|type|mode)|workplace(?: type)?"
        r"|location(?: type)?|telecommuting options|arbeitsort|lieu)\s*[:\u2013-]+\s*(?:-\s*)?"
        r"(?:(?P<hybrid>hybrid)|(?P<remote>(?:fully |100% )?remote|anywhere|home)"
        r"|(?P<onsite>on-?site|in[- ](?:office|person)))"
    ),
    re.compile(
        r"(?:role|position|job|opportunity|this) (?:is|can be|will be|may be) (?:also )?(?:an? )?"
        r"(?:\w+, )?(?:(?:based|open to|performed|100%|\w+ly) ){0,4}"
        rf"(?:(?P<hybrid>hybrid\b{_NOT_MIXED_ROLE})|(?P<remote>remote(?:ly)?\b(?! friendly|-friendly|-first))"
        r"|(?P<onsite>on[- ]?site|in[- ](?:office|person)))"
    ),
)
_PHRASES = re.compile(
    rf"(?P<hybrid>\bhybrid{_NOT_MIXED_ROLE}(?:-| |, )(?:[\w-]+ ){{0,2}}?"
    r"(?:work(?:ing|place|ers?|ed)?\b(?! ?load)|role"
    r"|position|schedule|model|arrangement|setup|policy|office|opportunity|job)"
    r"|hybrid \((?=\d)|hybrides arbeiten|travail hybride|modelo híbrido|trabajo híbrido)"
    r"|(?P<remote>\b(?:fully|100 ?%|completely|entirely)[- ](?:remote(?:ly)?|distributed|telework)\b"
    r"|\bremote (?:role|position|opportunity|job|freelance|contract)\b"
    r"|\bwork(?:ing)? (?:fully )?remote(?:ly)? from|\b100 ?% (?:home ?office|télétravail)"
    r"|\bfull remote\b|\bwork from anywhere\b|\b(?:done|performed) remotely\b"
    r"|\b(?:based|located|live|work(?:ing)?) (?:from )?anywhere (?:in|within)\b|\bremote ?[:?] ?yes\b"
    r"|\b(?:work[- ]from[- ]home|telecommut(?:e|ing)|telework) (?:role|position|opportunity|job)\b"
    r"|\bwork from remote\b|\bremote\W{1,3}(?:us|usa|uk|canada|europe|emea|united states)\b)"
    r"|(?P<onsite>\b(?:fully|100 ?%) (?:on[- ]?site|in[- ](?:office|person))\b|\b(?:on[- ]?site"
    r"|in[- ](?:office|person))[- ](?:role|position|job)\b"
    r"|\bnot (?:a )?remote\b|\bno remote\b|\bremote (?:work )?is not\b)"
)


def from_label(label: object) -> Arrangement | None:
    """The arrangement for a label of a site ("OnSite", "on-site", "Fully Remote"); None if it names
    none."""
    if not isinstance(label, str):
        return None
    text = label[:200].lower().replace("_", " ").strip()
    return "onsite" if text in ("office", "in the office") else _from_words(text)


def infer_arrangement(
    title: str, locations: Sequence[str], description: str | None
) -> Arrangement | None:
    """The arrangement by the locations, else by the title, else by the description."""
    from_locations = {
        arrangement for place in locations if (arrangement := _from_words(place[:200].lower()))
    }
    for candidate in ("remote", "hybrid", "onsite"):
        if candidate in from_locations:
            return candidate
    return _from_title(title[:300].lower()) or (_from_text(description) if description else None)


def _from_words(text: str) -> Arrangement | None:
    if _HYBRID.search(text):
        return "hybrid"
    if _NOT_REMOTE.search(text):
        return "onsite"
    if _REMOTE.search(text):
        return "remote"
    return "onsite" if _ONSITE.search(text) else None


def _from_title(title: str) -> Arrangement | None:
    if _TITLE_HYBRID.search(title):
        return "hybrid"
    if _TITLE_REMOTE.search(title) and not _NOT_REMOTE.search(title):
        return "remote"
    return "onsite" if _TITLE_ONSITE.search(title) else None


def _from_text(text: str) -> Arrangement | None:
    """What the text says about this posting; statements about the company culture are no evidence."""
    windows = list(_windows(text[:60_000].lower()))
    for pattern in _STATEMENTS:
        for window in windows:
            if match := pattern.search(window):
                arrangement = _matched_arrangement(match)
                # "This role is on-site" with three days a week in the office means hybrid.
                return (
                    "hybrid"
                    if arrangement == "onsite" and _has_some_office_days(windows)
                    else arrangement
                )
    if any(_ALL_DAYS.search(window) for window in windows):
        return "onsite"
    if _has_some_office_days(windows):
        return "hybrid"
    return next(
        (_matched_arrangement(match) for window in windows if (match := _PHRASES.search(window))),
        None,
    )


def _has_some_office_days(windows: list[str]) -> bool:
    return any(_SOME_DAYS.search(window) for window in windows)


def _matched_arrangement(match: re.Match[str]) -> Arrangement:
    return "remote" if match["remote"] else "hybrid" if match["hybrid"] else "onsite"


def _windows(text: str) -> Iterator[str]:
    """The text around each hint word; running the patterns over the whole text would be slow."""
    spots = sorted(spot for hint in _HINTS if hint in text for spot in _positions(text, hint))
    end = -1
    start = 0
    for spot in spots:
        if spot - 70 > end:
            if end >= 0:
                yield text[start:end]
            start = max(0, spot - 70)
        end = spot + 70
    if end >= 0:
        yield text[start:end]


def _positions(text: str, hint: str) -> Iterator[int]:
    spot = text.find(hint)
    while spot >= 0:
        yield spot
        spot = text.find(hint, spot + len(hint))
