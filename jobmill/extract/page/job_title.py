"""Find the job title on a page."""

from __future__ import annotations

import re

from . import page_locations
from .label_vocabulary import field_of_label
from .labelled_values import LabelledValue, strip_separators
from .page_metadata import PageMetadata
from .text_checks import EvidenceTally, contains_words, normalize
from .visible_lines import TextLine

_HEADINGS = {"h1": 2.5, "h2": 1.5, "h3": 1.2, "h4": 0.8, "h5": 0.5, "h6": 0.4}
# Verbs count only with their usual objects: "Email this job" is not a title, "Email Developer" is.
_GENERIC = re.compile(
    r"(?:job |position |role |the |about the )*(?:description|summary|details?|information|"
    r"overview|requirements|qualifications|responsibilities|role|job|position|benefits|skills|"
    r"search|tools|duties|posting|opening|openings|opportunity|opportunities|profile)s?"
    r"|(?:current |open |all |featured )*(?:careers?|jobs?|positions|vacancies|home|"
    r"stellenangebote|karriere|empleo|emplois)"
    r"|(?:full|part) time|permanent|temporary|contract"
    r"|(?:browse|more|similar|related|welcome|apply|about|your|our|we|why|what|who|how|page not|"
    r"not found|error|access denied|cookies?|privacy|login|log in|log out|sign in|sign up|sign out|"
    r"contact us|contact info(?:rmation)?|contact details|join us|join our|advanced search)\b.*"
    r"|(?:search|find|view|email|e mail|save|share|print|post|create|select|register|contact)"
    r"(?: (?:this|it|a|an|the|all|for|us|now|here|with|on|to|your|which|jobs?|more|resumes?|by|"
    r"account|name|page|friend)\b.*)?"
)
_BEFORE = re.compile(
    r"^(?:(?:find |search |it |view )?(?:jobs?|careers?|job search|job details?|job opening|"
    r"vacancy|position|job posting|job description|stellenangebot|oferta de empleo|"
    r"offre d'emploi)\s*(?:[:|»\u2013\u2014-]+)\s+)+",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s+(?:jobs?|position|careers?|job opening|job vacancy|vacancy)?\s*\b(?:in|at|bei|chez|"
    r"posted by)\s+\S.{1,200}$|\s+(?:jobs?|job opening|job description|vacancy|careers)$",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}$"
    r"|^[\d/.-]{6,10}$",
    re.IGNORECASE,
)
_LEGAL = re.compile(r"\b(?:inc|llc|ltd|gmbh|corp|corporation|plc|university|hospital)$")
_SPLIT = re.compile(r"\s+[-\u2013\u2014|•·]+\s+|\s*[|»]\s*|\s*::\s*|:\s+")
_HIRING = re.compile(
    r"^.{2,60}?\s+(?:is\s+)?hiring\s+(?:an?\s+)?(.{3,100}?)(?:\s+in\s+.*)?$", re.IGNORECASE
)
_JOINT = re.compile(r"\s*[-\u2013\u2014|:]\s*")
_JOINT_BEFORE_COMPANY = re.compile(r"\s*(?:[-\u2013\u2014|:@,]|\bat\b|\bbei\b)\s*$", re.IGNORECASE)
_WORD = re.compile(r"\w")

Votes = list[tuple[str, str, float]]
"""Words, the kind of evidence, its weight."""


def collect_candidates(
    lines: list[TextLine], labelled: list[LabelledValue], metadata: PageMetadata
) -> Votes:
    """All texts of the page that may be its title."""
    votes: Votes = [
        (entry.value, "label", 2.5 * entry.confidence)
        for entry in labelled
        if entry.field == "title"
    ]
    title = normalize(f"{metadata.title} {metadata.shared_title}")
    for line in lines:
        # A line with several angle brackets is a breadcrumb.
        if len(line.text) <= 160 and line.text[-1] != ":" and line.text.count(">") < 2:
            votes += _candidates_in_line(line, title)
    votes += _candidates_above_labels(lines, labelled)
    return votes + _candidates_in_page_title(metadata)


def choose_title(
    votes: Votes, metadata: PageMetadata, company: str | None, least: float
) -> str | None:
    """The title with the most evidence, without company and site; None if all have too little."""
    tally = EvidenceTally()
    for words, kind, weight in votes:
        _vote(tally, _remove_company(words, company), kind, weight)
    _adjust(tally, metadata, normalize(company))
    return tally.best(least)


def first_possible_title(lines: list[TextLine], metadata: PageMetadata) -> str | None:
    """The first line that may be a title, when there is no evidence for any."""
    tally = EvidenceTally()
    for line in lines:
        place = page_locations.looks_like_place(line.text)
        if not (line.is_link or place or _is_site(line.key, metadata) or line.text[-1] in ".:!?"):
            _vote(tally, line.text[:200], "first", 1)
        if title := tally.best(1):
            return title
    return None


def _vote(tally: EvidenceTally, words: str, kind: str, weight: float) -> None:
    label, colon, value = words.partition(":")
    if colon and value and field_of_label(label + colon) == "title":
        words = value
    words = words.strip(" |-\u2013\u2014•·»>,;")
    if words[:1] in "'\"“" and words[-1:] in "'\"”":
        words = words[1:-1]
    key = normalize(words)
    if not 2 <= len(words) <= 160 or _DAY.search(words):
        return
    if not _GENERIC.fullmatch(key) and not field_of_label(words):
        tally.add(words, kind, weight)


def _candidates_in_line(line: TextLine, title: str) -> Votes:
    weight = _HEADINGS.get(line.tag, 0.0)
    if not weight and all(run.tag in ("b", "strong", "font") for run in line.runs):
        weight = 0.4
    hint = 2.0 if "title" in line.roles else 0.8 if "heading" in line.roles else 0.0
    if "aside" in line.roles:
        weight /= 2
    if "company" in line.roles and not hint:
        weight -= 1.5
    if weight + hint <= 0:
        weight = 0.3 if contains_words(line.key, title) else 0
    if weight + hint <= 0:
        return []
    return [(line.text, "line", weight + hint - (0.8 if line.is_link else 0))]


def _candidates_above_labels(lines: list[TextLine], labelled: list[LabelledValue]) -> Votes:
    """The short lines right before the first label: titles are above the facts."""
    sure = [entry.line_index for entry in labelled if entry.confidence >= 0.7]
    above = lines[max(0, sure[0] - 4) : sure[0]] if sure else []
    return [
        (line.text, "above", 0.8)
        for line in above
        if line.tag != "li"
        and not line.is_link
        and 4 <= len(line.text) <= 120
        and line.text[-1] not in ".:!?"
    ]


def _candidates_in_page_title(metadata: PageMetadata) -> Votes:
    """The parts of the page title that may be the job title."""
    votes: Votes = []
    for words in filter(None, (metadata.shared_title, metadata.title)):
        if hiring := _HIRING.match(words):
            votes.append((hiring[1], "head", 1.4))
        full_title = _BEFORE.sub("", words)
        parts = [_AFTER.sub("", part) for part in _SPLIT.split(full_title)]
        if all(
            _GENERIC.fullmatch(normalize(part)) or _is_site(normalize(part), metadata)
            for part in parts
        ):
            continue
        # If it has parts, the whole is more often title and company than a title.
        votes.append((_AFTER.sub("", full_title), "head", 1.0))
        votes += [(part, "head", 1.2 if n == 0 else 0.6) for n, part in enumerate(parts[:3])]
    return votes


def _adjust(tally: EvidenceTally, metadata: PageMetadata, company: str) -> None:
    shown = [key for key, kinds in tally.votes.items() if kinds.keys() & {"line", "label", "above"}]
    title, about = normalize(metadata.title), normalize(metadata.description)
    known_in_head = any(" " in key and contains_words(key, title) for key in shown)
    for key in tally.candidates():
        if key in shown:
            _adjust_for_confirmation(tally, key, metadata)
            if known_in_head and not contains_words(key, title):
                tally.adjust(key, "not in title", -1)
        else:
            # Evidence from the page title cannot be confirmed by the page title.
            tally.adjust(key, "in head only", 0.8)
        if contains_words(key, about):
            tally.adjust(key, "in meta", 0.8)
        if _is_in_slug(key, metadata.slug):
            tally.adjust(key, "slug", 1.2)
        _adjust_for_doubt(tally, key, metadata, company)


def _adjust_for_confirmation(tally: EvidenceTally, key: str, metadata: PageMetadata) -> None:
    title = normalize(metadata.title)
    if contains_words(key, title):
        first = 0.7 if normalize(_BEFORE.sub("", metadata.title)).startswith(key) else 0
        tally.adjust(key, "in title", 1.5 + first + 1.5 * len(key) / len(title))
    if contains_words(key, normalize(metadata.shared_title)):
        tally.adjust(key, "in shared title", 1.5)
    if metadata.crumbs and key == normalize(metadata.crumbs[-1]):
        tally.adjust(key, "crumb", 1)


def _adjust_for_doubt(tally: EvidenceTally, key: str, metadata: PageMetadata, company: str) -> None:
    with_company = company and contains_words(company, key) and len(key) < len(company) + 4
    if with_company or key == normalize(metadata.site_name):
        tally.adjust(key, "is company", -4)
    if _LEGAL.search(key):
        tally.adjust(key, "is firm", -1.5)
    if _is_site(key, metadata):
        tally.adjust(key, "is site", -3)
    if page_locations.looks_like_place(tally.texts[key]):
        tally.adjust(key, "is place", -4)


def _is_site(key: str, metadata: PageMetadata) -> bool:
    """Whether it is a name of the site; a long text in a link to the home page may be a title."""
    return contains_words(key, metadata.site_names) and key.count(" ") < 3


def _is_in_slug(key: str, slug: str) -> bool:
    words = key.split()
    return len(slug) > 5 and sum(contains_words(word, slug) for word in words) >= 0.8 * len(words)


def _remove_company(title: str, company: str | None) -> str:
    """Remove the company name from the start or end of a title."""
    if not company or len(title) <= len(company) + 3:
        return title
    low, name = title.lower(), company.lower()
    alone = title
    if low.startswith(name) and (joint := _JOINT.match(title, len(name))):
        alone = title[joint.end() :]
    at = alone.lower().rfind(name)
    if (
        at > 0
        and not _WORD.search(alone, at + len(name))
        and (joint := _JOINT_BEFORE_COMPANY.search(alone[:at]))
    ):
        alone = alone[: joint.start()]
    return strip_separators(alone) or title
