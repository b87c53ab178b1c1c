"""Find the name of the hiring company on a page."""

from __future__ import annotations

import re

from jobmill.catalog.company_names import compact_key

from . import contact_block, page_locations, page_metadata
from .label_vocabulary import field_of_label
from .labelled_values import LabelledValue, strip_separators
from .page_metadata import PageMetadata
from .text_checks import EvidenceTally, contains_words, normalize
from .visible_lines import TextLine, lines_around, lines_containing

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
"""Evidence for the owner of the site; two kinds that agree are enough, unless it is a job board."""
_COMPANY_EVIDENCE = frozenset(
    ("label", "more at", "by", "hiring", "title at", "below", "mark", "contact")
)
"""Evidence for a company independent of the site; the owner of the site is then another company."""
_MIN_EVIDENCE = 2
_DIRECT_EVIDENCE = {"label", "more at", "by", "hiring", "title at"}
"""Evidence that names a company, even if the name also is a title."""
_NOT_A_NAME = re.compile(
    r"^(?:this|our|us|your|my|all|more|other|view|see|search|contact|back|click|home|read more|"
    r"email|e-mail|about|the (?:company|employer|job|role|team|position|right))\b"
    r"|\b(?:here|website|web site|profile|log ?in|sign (?:in|up)|resume|résumé|apply|jobs?|careers?|"
    r"employers?|companies|overview|home ?page|salary|location)\b|@|https?:|\?$|:$",
    re.IGNORECASE,
)


def find_company(
    lines: list[TextLine],
    all_lines: list[TextLine],
    labelled: list[LabelledValue],
    metadata: PageMetadata,
    title: str,
    below: str | None,
) -> str | None:
    """The name of the company as the page writes it. `lines` are those at the top of the page;
    contact blocks are searched in `all_lines`. `title` is known not to be the company; `below` is a
    candidate from the lines under the title."""
    tally = EvidenceTally()
    for entry in labelled:
        if entry.field == "company":
            _vote(tally, entry.value, "label", 4 * entry.confidence, labelled=True)
    short = [line for line in lines if len(line.text) <= 120]
    of_many = {id(line) for line in lines_containing(short, _POSTINGS_WORD.split("|"))}
    for line in short:
        _vote_line(tally, line, of_many=id(line) in of_many)
    _vote_title(tally, metadata)
    _vote_metadata(tally, metadata)
    _vote_near_title(tally, lines, metadata, normalize(title))
    if below:
        _vote(tally, below, "below", 2.0)
    _vote_contacts(tally, all_lines, metadata)
    _adjust(tally, metadata, normalize(title))
    return tally.best(_MIN_EVIDENCE)


def _vote(
    tally: EvidenceTally, words: str, kind: str, weight: float, *, labelled: bool = False
) -> None:
    """Count a candidate if it can be a name; a labelled one is checked less."""
    words = strip_separators(words).removesuffix(" »")
    if not 2 <= len(words) <= 90 or len(words.split()) > 12 or field_of_label(words):
        return
    if page_locations.looks_like_place(words) or (not labelled and _NOT_A_NAME.search(words)):
        return
    if words[0].islower() and not labelled and kind not in ("mark", "more at"):
        return
    tally.add(words, kind, weight)


def _vote_line(tally: EvidenceTally, line: TextLine, *, of_many: bool) -> None:
    if of_many and (match := _POSTINGS_AT.search(line.text)):
        _vote(tally, match[1], "more at", 2)
    elif match := _POSTINGS_OF.match(line.text):
        _vote(tally, match[1], "more of", 2)
    elif match := _BY.match(line.text):
        _vote(tally, _ON.sub("", match[1]), "by", 1.5)
    elif match := _ABOUT.match(line.text):
        _vote(tally, match[1], "about", 0.8)
    for words, marked in line.parts:
        if "company name" in marked:
            _vote(tally, words, "mark", 2.5)
        elif "company" in marked:
            _vote(tally, words, "mark", 1.5)


def _vote_title(tally: EvidenceTally, metadata: PageMetadata) -> None:
    for words in (metadata.title, metadata.shared_title):
        if match := _HIRING.match(words):
            _vote(tally, match[1], "hiring", 1.5)
        for match in _AT.finditer(words):
            _vote(tally, match[1], "title at", 1.5)
        for part in _SPLIT.split(words):
            _vote_site_name(tally, part, "title part", 0.5)
    if metadata.site_name:
        _vote_site_name(tally, metadata.site_name, "site", 0.6)


def _vote_site_name(tally: EvidenceTally, words: str, kind: str, weight: float) -> None:
    """Count a name that may be the site's; "Acme Careers" is the site of Acme."""
    name = _CAREERS.sub("", words)
    _vote(tally, name, kind, weight)
    if name != words:
        _vote(tally, name, "own site", 1.5)


def _vote_metadata(tally: EvidenceTally, metadata: PageMetadata) -> None:
    for pattern in (_AT, _OTHER):
        for match in pattern.finditer(metadata.description):
            _vote(tally, match[1], "meta at", 0.8)
    for crumb in metadata.crumbs[1:-1]:
        _vote(tally, crumb, "crumb", 0.8)
    named = normalize(
        f"{metadata.title} {metadata.description} {metadata.site_name} {metadata.copyright_owner}"
    )
    for logo in metadata.logos:
        if contains_words(normalize(logo), named):
            _vote(tally, logo, "logo", 1)


def _vote_near_title(
    tally: EvidenceTally, lines: list[TextLine], metadata: PageMetadata, title: str
) -> None:
    """Short lines near the title that also appear in the page title or description."""
    named, about = (
        normalize(f"{metadata.title} {metadata.site_name}"),
        normalize(metadata.description),
    )
    for line in lines_around(lines, title, 2, 4):
        for words, marked in line.parts:
            if "company" in marked:
                _vote(tally, words, "beside", 0.8)
        for words in (*_SPLIT.split(line.text[:200]), *(run.text for run in line.runs[:6])):
            if not words.endswith(":") and contains_words(normalize(words), f"{named} {about}"):
                _vote(tally, words, "near", _weight_near_title(normalize(words), named, tally))


def _weight_near_title(key: str, named: str, tally: EvidenceTally) -> float:
    """The weight is highest for a name that is also a separate part of the page title."""
    if "title part" in tally.votes.get(key, {}):
        return 1.8
    return 1.2 if contains_words(key, named) else 0.6


def _vote_contacts(tally: EvidenceTally, lines: list[TextLine], metadata: PageMetadata) -> None:
    """Names in contact blocks; one that is there with its legal form only, as the page writes it
    elsewhere."""
    spellings = {compact_key(tally.texts[key]): tally.texts[key] for key in tally.candidates()}
    for contact in contact_block.find_contact_names(lines):
        compact = compact_key(contact.name)
        reached = compact in {host.replace("-", "") for host in metadata.mail_hosts}
        weight = contact.weight + 1.2 * reached
        kind = "contact" if weight >= _MIN_EVIDENCE else "contact hint"
        _vote(tally, spellings.get(compact, contact.name), kind, weight)


def _adjust(tally: EvidenceTally, metadata: PageMetadata, title: str) -> None:
    page_title, about = normalize(metadata.title), normalize(metadata.description)
    named_companies = {
        key for key, kinds in tally.votes.items() if kinds.keys() & _COMPANY_EVIDENCE
    }
    for key in tally.candidates():
        kinds = tally.votes[key].keys()
        # Evidence from the title cannot be confirmed by the title.
        if contains_words(key, page_title) and not kinds & {"title at", "title part", "hiring"}:
            tally.adjust(key, "in title", 0.8)
        if contains_words(key, about) and "meta at" not in kinds:
            tally.adjust(key, "in meta", 0.8)
        if (
            key.replace(" ", "") == metadata.host
            and named_companies <= {key}
            and not metadata.is_job_board
        ):
            # The company's own site.
            tally.adjust(key, "host", 0.7)
            if metadata.is_careers_host:
                tally.adjust(key, "own site", 0.8)
        if named_companies <= {key}:
            _adjust_for_owner(tally, key, metadata)
        if (
            metadata.is_job_board
            and key not in named_companies
            and page_metadata.is_site_name(key, metadata)
        ):
            tally.adjust(key, "is board", -2)
        if contains_words(key, title) and not tally.votes[key].keys() & _DIRECT_EVIDENCE:
            tally.adjust(key, "is title", -3)


def _adjust_for_owner(tally: EvidenceTally, key: str, metadata: PageMetadata) -> None:
    """Add evidence that the site belongs to the company."""
    if metadata.is_job_board:
        return
    short = _LEGAL.sub("", key)
    if contains_words(short, metadata.copyright_owner):
        tally.adjust(key, "owner", 0.8)
    if {short.replace(" ", ""), short.replace(" ", "-")} & metadata.mail_hosts:
        tally.adjust(key, "mail", 0.7)
    if len(tally.votes[key].keys() & _SITE_EVIDENCE) >= 2:
        tally.adjust(key, "agreement", 1)
