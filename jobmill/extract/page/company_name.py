"""Who a page says is hiring."""

from __future__ import annotations

import re

from . import page_locations
from .label_vocabulary import field_of_label
from .labelled_values import LabelledValue, strip_separators
from .page_metadata import PageMetadata
from .text_checks import EvidenceTally, contains_words, normalize
from .text_lines import TextLine, lines_around, lines_containing

_POSTINGS_WORD = "jobs|openings|positions|vacancies|listings|opportunities|stellen|ofertas|offres"
_POSTINGS_AT = re.compile(
    rf"\b(?:{_POSTINGS_WORD})\s+(?:at|from|by|with|bei|von|de|chez)\s+(.{{2,80}})$",
    re.IGNORECASE,
)
_POSTINGS_OF = re.compile(
    r"(?:view|see|show|browse)\s+(?:all\s+)?(.{2,80}?)(?:['\u2019]s)?\s+(?:profile|jobs|"
    r"job listings|openings|company profile)\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r"^(?:job\s+)?(?:posted|offered|published|advertised|placed)?\s?by:?\s+(.{2,80})$",
    re.IGNORECASE,
)
_ON = re.compile(r"\s+(?:on|am|le|el)\s+\S{0,12}\d.*$", re.IGNORECASE)
_ABOUT = re.compile(
    r"^(?:about|über|learn more about|more about|why join|working at|join)\s+(.{2,60})$",
    re.IGNORECASE,
)
_HIRING = re.compile(r"^(.{2,60}?)\s+(?:is\s+)?hiring\s+(?:an?\s+)?\S", re.IGNORECASE)
_AT = re.compile(
    r"\b(?:at|bei|chez|posted by|offered by|with)\s+([^\W\d_a-z][^|!?\n]{1,70}?)(?=\s+(?:in|and|"
    r"job|jobs|careers|on)\b|\s+[-\u2013\u2014]\s|\s*[|!?]|[.,]\s|\s*$|\.$)"
)
_OTHER = re.compile(r"\bother\s+(\S.{1,60}?)\s+jobs\b", re.IGNORECASE)
_SPLIT = re.compile(r"\s+[-\u2013\u2014|:•·]+\s+|\s*[|»]\s*|:\s+")
_CAREERS = re.compile(r"\s+(?:Careers|Karriere)$")
_LEGAL = re.compile(
    r" (?:inc|llc|ltd|limited|gmbh|ag|se|corp|corporation|co|company|plc|bv|sa|srl|oy|ab)$"
)
_SITE_EVIDENCE = frozenset(
    ("title part", "site", "own site", "logo", "about", "owner", "mail", "host")
)
"""Evidence for whose site it is; two kinds that agree will do, unless it is a board."""
_COMPANY_EVIDENCE = frozenset(("label", "more at", "by", "hiring", "title at", "below", "mark"))
"""Evidence for a company on its own; the owner of the site is then somebody else."""
_DIRECT_EVIDENCE = {"label", "more at", "by", "hiring", "title at"}
"""Evidence that names a company, whatever else the name may be."""
_NOT_A_NAME = re.compile(
    r"^(?:this|our|us|your|my|all|more|other|view|see|search|contact|back|click|home|read more|"
    r"email|e-mail|about|the (?:company|employer|job|role|team|position|right))\b"
    r"|\b(?:here|website|web site|profile|log ?in|sign (?:in|up)|resume|résumé|apply|jobs?|careers?|"
    r"employers?|companies|overview|home ?page|salary|location)\b|@|https?:|\?$|:$",
    re.IGNORECASE,
)


def find_company(
    lines: list[TextLine],
    pairs: list[LabelledValue],
    head: PageMetadata,
    title: str,
    below: str | None,
) -> str | None:
    """The company's name, as the page writes it; `title` is what it is not, and `below` what
    seems to be one under the title."""
    ballot = EvidenceTally()
    for pair in pairs:
        if pair.field == "company":
            _vote(ballot, pair.value, "label", 4 * pair.confidence, told=True)
    short = [line for line in lines if len(line.text) <= 120]
    of_many = {id(line) for line in lines_containing(short, _POSTINGS_WORD.split("|"))}
    for line in short:
        _vote_line(ballot, line, of_many=id(line) in of_many)
    _vote_title(ballot, head)
    _vote_metadata(ballot, head)
    _vote_near_title(ballot, lines, head, normalize(title))
    if below:
        _vote(ballot, below, "below", 2.0)
    _adjust(ballot, head, normalize(title))
    return ballot.best(2)


def _vote(
    ballot: EvidenceTally, words: str, kind: str, weight: float, *, told: bool = False
) -> None:
    """Count it if it can be a name; what a label tells is trusted further."""
    words = strip_separators(words).removesuffix(" »")
    if not 2 <= len(words) <= 90 or len(words.split()) > 12 or field_of_label(words):
        return
    if page_locations.looks_like_place(words) or (not told and _NOT_A_NAME.search(words)):
        return
    if words[0].islower() and not told and kind not in ("mark", "more at"):
        return
    ballot.add(words, kind, weight)


def _vote_line(ballot: EvidenceTally, line: TextLine, *, of_many: bool) -> None:
    if of_many and (found := _POSTINGS_AT.search(line.text)):
        _vote(ballot, found[1], "more at", 2)
    elif found := _POSTINGS_OF.match(line.text):
        _vote(ballot, found[1], "more of", 2)
    elif found := _BY.match(line.text):
        _vote(ballot, _ON.sub("", found[1]), "by", 1.5)
    elif found := _ABOUT.match(line.text):
        _vote(ballot, found[1], "about", 0.8)
    for words, marked in line.parts:
        if "company name" in marked:
            _vote(ballot, words, "mark", 2.5)
        elif "company" in marked:
            _vote(ballot, words, "mark", 1.5)


def _vote_title(ballot: EvidenceTally, head: PageMetadata) -> None:
    for words in (head.title, head.shared_title):
        if found := _HIRING.match(words):
            _vote(ballot, found[1], "hiring", 1.5)
        for found in _AT.finditer(words):
            _vote(ballot, found[1], "title at", 1.5)
        for part in _SPLIT.split(words):
            _vote_site_name(ballot, part, "title part", 0.5)
    if head.site_name:
        _vote_site_name(ballot, head.site_name, "site", 0.6)


def _vote_site_name(ballot: EvidenceTally, words: str, kind: str, weight: float) -> None:
    """Count a name that may be the site's; "Acme Careers" is the site of Acme."""
    name = _CAREERS.sub("", words)
    _vote(ballot, name, kind, weight)
    if name != words:
        _vote(ballot, name, "own site", 1.5)


def _vote_metadata(ballot: EvidenceTally, head: PageMetadata) -> None:
    for pattern in (_AT, _OTHER):
        for found in pattern.finditer(head.description):
            _vote(ballot, found[1], "meta at", 0.8)
    for crumb in head.crumbs[1:-1]:
        _vote(ballot, crumb, "crumb", 0.8)
    named = normalize(f"{head.title} {head.description} {head.site_name} {head.copyright_owner}")
    for logo in head.logos:
        if contains_words(normalize(logo), named):
            _vote(ballot, logo, "logo", 1)


def _vote_near_title(
    ballot: EvidenceTally, lines: list[TextLine], head: PageMetadata, title: str
) -> None:
    """Short lines around the title that the head of the page names, too."""
    named, about = normalize(f"{head.title} {head.site_name}"), normalize(head.description)
    for line in lines_around(lines, title, 2, 4):
        for words, marked in line.parts:
            if "company" in marked:
                _vote(ballot, words, "beside", 0.8)
        for words in (*_SPLIT.split(line.text[:200]), *(run.text for run in line.runs[:6])):
            if not words.endswith(":") and contains_words(normalize(words), f"{named} {about}"):
                _vote(ballot, words, "near", _weight_near_title(normalize(words), named, ballot))


def _weight_near_title(key: str, named: str, ballot: EvidenceTally) -> float:
    """Most for what stands by itself in the page's title, too."""
    if "title part" in ballot.votes.get(key, {}):
        return 1.8
    return 1.2 if contains_words(key, named) else 0.6


def _adjust(ballot: EvidenceTally, head: PageMetadata, title: str) -> None:
    page_title, about = normalize(head.title), normalize(head.description)
    told = {key for key, kinds in ballot.votes.items() if kinds.keys() & _COMPANY_EVIDENCE}
    for key in ballot.candidates():
        kinds = ballot.votes[key].keys()
        # What was found there cannot also be confirmed by it.
        if contains_words(key, page_title) and not kinds & {"title at", "title part", "hiring"}:
            ballot.adjust(key, "in title", 0.8)
        if contains_words(key, about) and "meta at" not in kinds:
            ballot.adjust(key, "in meta", 0.8)
        if key.replace(" ", "") == head.host:
            # A company's own site; on a board it is the board, which few other signs repeat.
            ballot.adjust(key, "host", 0.7)
            if head.is_careers_host:
                ballot.adjust(key, "own site", 0.8)
        if told <= {key}:
            _adjust_for_owner(ballot, key, head)
        if head.is_job_board and key not in told and contains_words(key, head.site_names):
            ballot.adjust(key, "is board", -2)
        if contains_words(key, title) and not ballot.votes[key].keys() & _DIRECT_EVIDENCE:
            ballot.adjust(key, "is title", -3)


def _adjust_for_owner(ballot: EvidenceTally, key: str, head: PageMetadata) -> None:
    """Weigh what says that the site is the company's own."""
    if head.is_job_board:
        return
    short = _LEGAL.sub("", key)
    if contains_words(short, head.copyright_owner):
        ballot.adjust(key, "owner", 0.8)
    if {short.replace(" ", ""), short.replace(" ", "-")} & head.mail_hosts:
        ballot.adjust(key, "mail", 0.7)
    if len(ballot.votes[key].keys() & _SITE_EVIDENCE) >= 2:
        ballot.adjust(key, "agreement", 1)
