"""Find the names in contact blocks: the recipient of applications, with an address or a phone number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import page_locations
from .label_vocabulary import field_of_label
from .labelled_values import strip_separators
from .visible_lines import TextLine

_HEADING = re.compile(
    r"(?:(?:your |job |recruiter |employer |company |hiring )?contact(?: (?:information|info|"
    r"details|person|us|name|data|address))?|how to apply|to apply|apply to|(?:please )?"
    r"(?:send|submit|mail)(?: (?:your|a))? (?:resumes?|cvs?|applications?) to|"
    r"(?:recruiter|employer|company|agency)(?:'s)? (?:information|info|details|profile|address)|"
    r"recruiter|kontakt(?:daten|person)?|(?:ihre? )?ansprechpartner(?:in)?|bewerbung an|contacto|"
    r"datos de contacto|coordonnées|contatti|contactpersoon|contactgegevens)\s*:?",
    re.IGNORECASE,
)
_ADDRESSEE = re.compile(
    r"(?:attn|attention|z\. ?h(?:d|ände[n]?)\.?|c/o|frau|herrn?|mrs?|ms|dr)\b[.:]?", re.IGNORECASE
)
_STREET = re.compile(
    r"\d+[a-z]?\s+\S.*|(?:p\.? ?o\.? )?box \d.*|.*\b(?:suite|floor|street|road|avenue|blvd)\b.*"
    r"|\S.{2,40}\s\d{1,4}\s?[a-z]?",
    re.IGNORECASE,
)
_REACHED = re.compile(
    r"@|\b(?:phone|tel|telefon|fax|e-?mail|mobile)\b|\d{3}[-. /)]+\d{3}", re.IGNORECASE
)
_BUSINESS = re.compile(
    r"\b(?:inc|llc|llp|ltd|limited|plc|corp|corporation|company|gmbh|ag|kg|s\.?a|s\.?l|b\.?v|pty|oy|ab|"
    r"staffing|systems?|group|solutions?|services?|technolog(?:y|ies)|consult(?:ing|ants?)|partners|"
    r"associates|resources|search|recruit(?:ing|ment|ers)|personnel|software|industries|enterprises|"
    r"international|global|holdings?|bank|insurance|hospital|clinic|health(?:care)?|medical|"
    r"university|college|schools?|institute|labs?|laborator(?:y|ies)|agency|foundation|networks?|"
    r"engineering|logistics|energy|foods?|hotels?|stores?|ventures|media|studios?|works|trust|"
    r"county|city of|department of|council|ministry|verlag|werke|klinik(?:um)?)\b|&|\+",
    re.IGNORECASE,
)  # fmt: skip
_DEPARTMENT = re.compile(
    r"(?:the )?(?:human resources?|hr|recruit(?:ing|ment)|personnel|talent acquisition|hiring|"
    r"personal|staffing)(?: (?:department|dept\.?|manager|team|office|abteilung))?"
    r"|.*\b(?:resumes?|cv|letters?|apply|click|call|please|website|online|manager|director|recruiter|"
    r"coordinator|specialist|hours|reference|send|print|save|here|map|profile|jobs?)\b.*",
    re.IGNORECASE,
)  # fmt: skip
_PERSON = re.compile(r"[^\W\d_a-z][\w'\u2019-]+(?: [^\W\d_]\.?)?(?: [^\W\d_a-z][\w'\u2019-]+){1,2}")
_NAME = re.compile(r"[^\W_a-z][\w.,'\u2019&/+!()-]*(?: [\w.,'\u2019&/+!()-]+){0,7}")
_PIECES = re.compile(
    r",\s+(?!(?:inc|llc|ltd|l\.l\.c|corp|co|lp|plc)\b)|\s+[-\u2013\u2014|/]\s+", re.IGNORECASE
)
_MAX_BLOCK_LINES = 8
_MAX_LINE_LENGTH = 90
_MAX_BLOCKS = 6


@dataclass(frozen=True, slots=True)
class ContactName:
    """A name in a contact block that may be a company's, and the evidence for it."""

    name: str
    weight: float


def find_contact_names(lines: list[TextLine]) -> list[ContactName]:
    """The names that may be a company's, from blocks with an address, a phone number or a mail
    address."""
    names: list[ContactName] = []
    for block, _ in zip(_blocks(lines), range(_MAX_BLOCKS), strict=False):
        names += _names_in_block(block)
    return names


def _blocks(lines: list[TextLine]) -> Iterator[list[str]]:
    """The texts of each contact block, without its heading."""
    at = 0
    while at < len(lines):
        line = lines[at]
        head, colon, tail = line.text.partition(":")
        if line.tag == "address" and not line.is_link:
            end = at
            while end < len(lines) and lines[end].block.mem_id == line.block.mem_id:
                end += 1
            yield [line.text for line in lines[at:end]][:_MAX_BLOCK_LINES]
            at = end
            continue
        at += 1
        if line.is_link or len(head) > 40 or not _HEADING.fullmatch(head.strip()):
            continue
        if colon and tail.strip():
            yield [*_PIECES.split(tail[:300].strip()), *_texts_below(lines, at)]
        else:
            yield _texts_below(lines, at)


def _texts_below(lines: list[TextLine], at: int) -> list[str]:
    """The short lines up to the first long one or the next heading."""
    texts: list[str] = []
    for line in lines[at : at + _MAX_BLOCK_LINES]:
        if len(line.text) > _MAX_LINE_LENGTH or line.tag in ("h1", "h2", "h3", "h4"):
            break
        texts.append(line.text)
    return texts


def _names_in_block(texts: list[str]) -> Iterator[ContactName]:
    """The candidates of one block. A person is left out; of two such names, the one right above the
    street is the company."""
    if not any(_is_street(text) or _REACHED.search(text) for text in texts):
        return
    candidates = [(at, text) for at, text in enumerate(texts) if _may_be_name(text)]
    for rank, (at, text) in enumerate(candidates[:3]):
        above_street = at + 1 < len(texts) and _is_street(texts[at + 1])
        weight = 0.8 * above_street
        if _BUSINESS.search(text):
            weight += 2.4
        elif not _PERSON.fullmatch(text):
            weight += 1.4
        elif rank and above_street:
            weight += 1.0
        else:
            continue
        yield ContactName(strip_separators(text), weight)


def _is_street(text: str) -> bool:
    return bool(_STREET.fullmatch(text)) and not _REACHED.search(text)


def _may_be_name(text: str) -> bool:
    return (
        2 <= len(text) <= 70
        and bool(_NAME.fullmatch(text))
        and not _ADDRESSEE.match(text)
        and not _DEPARTMENT.fullmatch(text)
        and not _REACHED.search(text)
        and (not _is_street(text) or bool(_BUSINESS.search(text)))
        and not text.endswith((":", "!", "?"))
        and field_of_label(text) is None
        and not page_locations.looks_like_place(text)
    )
