"""Decide whether a page is a single posting, or a list, an error or something else."""

from __future__ import annotations

import re

from .label_vocabulary import FieldName
from .labelled_values import LabelledValue
from .page_metadata import PageMetadata
from .visible_lines import TextLine

POSTING_FIELDS: frozenset[FieldName] = frozenset(
    ("company", "location", "city", "posted", "until", "kind", "number", "pay", "team", "mode")
)
_ERROR_TITLE = re.compile(
    r"^(?:error )?40[34]\b(?!\()"
    r"|\b(?:page not found|not found|access denied|forbidden|just a moment|"
    r"attention required|service unavailable|server error|are you (?:a )?human|captcha|sign in|"
    r"log in|nicht gefunden)\b",
    re.IGNORECASE,
)
_LIST_TITLE = re.compile(
    r"(?:all |open |current |our |search |latest )*(?:careers?|jobs|positions|openings|vacancies|"
    r"job search|job openings|opportunities|stellenangebote|karriere|jobs und karriere|"
    r"empleos?)(?: (?:at|bei|in) .*)?",
    re.IGNORECASE,
)
_WORK_WORD = re.compile(
    r"\b(?:jobs?|careers?|vacanc|position|stelle|hiring|empleo|emploi|recruit)", re.IGNORECASE
)
_APPLY = re.compile(
    r"(?:apply|how to apply|bewerben|jetzt bewerben|online bewerben|postuler|inscribirme|candidati|"
    r"solliciteer)\b.{0,40}",
    re.IGNORECASE,
)
_STRONG_WORDS = (
    "responsibilities|qualificat|what you will do|what you'll do|we are looking for|wir suchen|"
    "candidate|applicant|resume|résumé|full-time|full time|"
    "part-time|your profile|you bring|years of experience|years experience|the role|"
    "this role|this position|the position|duties|equal opportunity|aufgaben|ihr profil|"
    "dein profil|wir bieten|bewerbung|kenntnisse|requisitos|funciones|ofrecemos|"
    "profil recherché|vos missions|vereisten|requisiti"
)
_STRONG = tuple(_STRONG_WORDS.split("|"))
_WEAK_WORDS = (
    "requirement|salary|you will|you have|we offer|degree|skills|benefits|experience|"
    "experiencia|compétences|erfahrung|ervaring|esperienza|our team"
)
_WEAK = tuple(_WEAK_WORDS.split("|"))
_YEARS = re.compile(
    r"\b(?:\d{1,2}\+?|one|two|three|four|five|ten) (?:or more )?years?\b(?! (?:ago|old|later))"
)
_MIN_EVIDENCE = 3
_MANY_LINKS = 10
_MAX_TEXT_READ = 10_000


def is_posting(
    lines: list[TextLine],
    labelled: list[LabelledValue],
    metadata: PageMetadata,
    description: str | None,
    links: int,
) -> bool:
    """Whether the page has enough evidence of a posting; `links` is the number of links to other
    postings."""
    if is_error(metadata):
        return False
    labelled_fields = {entry.field for entry in labelled} & POSTING_FIELDS
    if len(labelled_fields) >= 3 or (len(labelled_fields) == 2 and description):
        return True
    if not description or _is_list(metadata, description, links):
        return False
    text = description[:_MAX_TEXT_READ].lower()
    strong = min(3, sum(word in text for word in _STRONG))
    weak = min(3, sum(word in text for word in _WEAK)) / 2
    has_apply_button = any(_APPLY.fullmatch(line.text) for line in lines if len(line.text) < 60)
    mentions_work = bool(_WORK_WORD.search(f"{metadata.title} {_below_list(metadata.path)}"))
    mentions_years = bool(_YEARS.search(text))
    return (
        len(labelled_fields)
        + strong
        + weak
        + has_apply_button
        + mentions_years
        + 1.5 * mentions_work
        >= _MIN_EVIDENCE
    )


def _below_list(path: str) -> str:
    """The path of a page below a list ("/jobs/17"); empty for the list itself ("/jobs")."""
    last = path.rstrip("/").rpartition("/")[2].partition(".")[0]
    return "" if _LIST_TITLE.fullmatch(last.replace("-", " ")) else path


def is_error(metadata: PageMetadata) -> bool:
    """Whether the title says that the page is an error or asks to sign in."""
    return bool(_ERROR_TITLE.search(metadata.title))


def _is_list(metadata: PageMetadata, description: str, links: int) -> bool:
    first = re.split(r"\s+[-\u2013\u2014|:]\s+|\s*\|\s*", metadata.title)[0]
    return bool(_LIST_TITLE.fullmatch(first)) or (
        links >= _MANY_LINKS and len(description) < 300 * links
    )
