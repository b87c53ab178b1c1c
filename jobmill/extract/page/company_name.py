"""Who a page says is hiring."""

from __future__ import annotations

import re

from . import page_locations
from .label_vocabulary import known
from .labelled_values import Pair, clean
from .page_metadata import Head
from .text_checks import Ballot, squeeze, within
from .text_lines import Line, around, holding

_MANY = "jobs|openings|positions|vacancies|listings|opportunities|stellen|ofertas|offres"
_MORE_AT = re.compile(
    rf"\b(?:{_MANY})\s+(?:at|from|by|with|bei|von|de|chez)\s+(.{{2,80}})$",
    re.IGNORECASE,
)
_MORE_OF = re.compile(
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
_OF_SITE = frozenset(("title part", "site", "own site", "logo", "about", "owner", "mail", "host"))
"""Evidence for whose site it is; two kinds that agree will do, unless it is a board."""
_TOLD = frozenset(("label", "more at", "by", "hiring", "title at", "below", "mark"))
"""Evidence for a company on its own; the owner of the site is then somebody else."""
_DIRECT = {"label", "more at", "by", "hiring", "title at"}
"""Evidence that names a company, whatever else the name may be."""
_NO_NAME = re.compile(
    r"^(?:this|our|us|your|my|all|more|other|view|see|search|contact|back|click|home|read more|"
    r"email|e-mail|about|the (?:company|employer|job|role|team|position|right))\b"
    r"|\b(?:here|website|web site|profile|log ?in|sign (?:in|up)|resume|résumé|apply|jobs?|careers?|"
    r"employers?|companies|overview|home ?page|salary|location)\b|@|https?:|\?$|:$",
    re.IGNORECASE,
)


def find(
    lines: list[Line], pairs: list[Pair], head: Head, title: str, below: str | None
) -> str | None:
    """The company's name, as the page writes it; `title` is what it is not, and `below` what
    seems to be one under the title."""
    ballot = Ballot()
    for pair in pairs:
        if pair.name == "company":
            _vote(ballot, pair.value, "label", 4 * pair.surely, told=True)
    short = [line for line in lines if len(line.text) <= 120]
    of_many = {id(line) for line in holding(short, _MANY.split("|"))}
    for line in short:
        _look(ballot, line, of_many=id(line) in of_many)
    _from_head(ballot, head)
    _from_meta(ballot, head)
    _near(ballot, lines, head, squeeze(title))
    if below:
        _vote(ballot, below, "below", 2.0)
    _support(ballot, head, squeeze(title))
    return ballot.best(2)


def _vote(ballot: Ballot, words: str, kind: str, weight: float, *, told: bool = False) -> None:
    """Count it if it can be a name; what a label tells is trusted further."""
    words = clean(words).removesuffix(" »")
    if not 2 <= len(words) <= 90 or len(words.split()) > 12 or known(words):
        return
    if page_locations.is_like_place(words) or (not told and _NO_NAME.search(words)):
        return
    if words[0].islower() and not told and kind not in ("mark", "more at"):
        return
    ballot.vote(words, kind, weight)


def _look(ballot: Ballot, line: Line, *, of_many: bool) -> None:
    if of_many and (found := _MORE_AT.search(line.text)):
        _vote(ballot, found[1], "more at", 2)
    elif found := _MORE_OF.match(line.text):
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


def _from_head(ballot: Ballot, head: Head) -> None:
    for words in (head.title, head.shared):
        if found := _HIRING.match(words):
            _vote(ballot, found[1], "hiring", 1.5)
        for found in _AT.finditer(words):
            _vote(ballot, found[1], "title at", 1.5)
        for part in _SPLIT.split(words):
            _vote_site(ballot, part, "title part", 0.5)
    if head.site:
        _vote_site(ballot, head.site, "site", 0.6)


def _vote_site(ballot: Ballot, words: str, kind: str, weight: float) -> None:
    """Count a name that may be the site's; "Acme Careers" is the site of Acme."""
    name = _CAREERS.sub("", words)
    _vote(ballot, name, kind, weight)
    if name != words:
        _vote(ballot, name, "own site", 1.5)


def _from_meta(ballot: Ballot, head: Head) -> None:
    for pattern in (_AT, _OTHER):
        for found in pattern.finditer(head.about):
            _vote(ballot, found[1], "meta at", 0.8)
    for crumb in head.crumbs[1:-1]:
        _vote(ballot, crumb, "crumb", 0.8)
    named = squeeze(f"{head.title} {head.about} {head.site} {head.owner}")
    for logo in head.logos:
        if within(squeeze(logo), named):
            _vote(ballot, logo, "logo", 1)


def _near(ballot: Ballot, lines: list[Line], head: Head, title: str) -> None:
    """Short lines around the title that the head of the page names, too."""
    named, about = squeeze(f"{head.title} {head.site}"), squeeze(head.about)
    for line in around(lines, title, 2, 4):
        for words, marked in line.parts:
            if "company" in marked:
                _vote(ballot, words, "beside", 0.8)
        for words in (*_SPLIT.split(line.text[:200]), *(run.text for run in line.runs[:6])):
            if not words.endswith(":") and within(squeeze(words), f"{named} {about}"):
                _vote(ballot, words, "near", _nearness(squeeze(words), named, ballot))


def _nearness(key: str, named: str, ballot: Ballot) -> float:
    """Most for what stands by itself in the page's title, too."""
    if "title part" in ballot.votes.get(key, {}):
        return 1.8
    return 1.2 if within(key, named) else 0.6


def _support(ballot: Ballot, head: Head, title: str) -> None:
    page_title, about = squeeze(head.title), squeeze(head.about)
    told = {key for key, kinds in ballot.votes.items() if kinds.keys() & _TOLD}
    for key in ballot.candidates():
        kinds = ballot.votes[key].keys()
        # What was found there cannot also be confirmed by it.
        if within(key, page_title) and not kinds & {"title at", "title part", "hiring"}:
            ballot.weigh(key, "in title", 0.8)
        if within(key, about) and "meta at" not in kinds:
            ballot.weigh(key, "in meta", 0.8)
        if key.replace(" ", "") == head.host:
            # A company's own site; on a board it is the board, which few other signs repeat.
            ballot.weigh(key, "host", 0.7)
            if head.own:
                ballot.weigh(key, "own site", 0.8)
        if told <= {key}:
            _as_owner(ballot, key, head)
        if head.board and key not in told and within(key, head.sites):
            ballot.weigh(key, "is board", -2)
        if within(key, title) and not ballot.votes[key].keys() & _DIRECT:
            ballot.weigh(key, "is title", -3)


def _as_owner(ballot: Ballot, key: str, head: Head) -> None:
    """Weigh what says that the site is the company's own."""
    if head.board:
        return
    short = _LEGAL.sub("", key)
    if within(short, head.owner):
        ballot.weigh(key, "owner", 0.8)
    if {short.replace(" ", ""), short.replace(" ", "-")} & head.mails:
        ballot.weigh(key, "mail", 0.7)
    if len(ballot.votes[key].keys() & _OF_SITE) >= 2:
        ballot.weigh(key, "agreement", 1)
