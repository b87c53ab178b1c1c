"""Find the company and other companies in an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from jobmill.catalog.company_names import company_key, same_company
from jobmill.matching.posting_facts import skills
from jobmill.places import gazetteer
from jobmill.plain_text import read_word_list
from jobmill.reports.answer_text import AnswerLine
from jobmill.reports.claim_words import stem
from jobmill.reports.findings import SiteFindings

_MAX_ALIASES: Final = 12
_MAX_NAMES: Final = 200
_KINDS: Final = """
hospital clinic bakery school college university construction logistics games studio studios labs lab energy
energi energie farms farm cooperative co-operative group holding holdings hotel restaurant bank insurance
consulting solutions technologies technology tech software systems services partners law audit tax media
health healthcare foods pharma motors airlines foundation institute association
"""
_KIND_WORDS: Final = frozenset(_KINDS.split())
"""Words after a name that say what a company is; people leave them out."""
_VERB: Final = (
    r"(?:is|was|are|were|has|had|have|employs|employed|offers|provides|runs|operates|pays|makes|made|builds|uses"
    r"|works|started|began|opened|requires|gives|takes|plans|lets|does|did|also|celebrated|develops|sponsors|grinds"
    r"|allows|hires|values|may|can|could|will|would|should|seems|appears|ranks|stands|follows|supports|publishes)"
)
_AFTER_NAME: Final = re.compile(
    rf"['\u2019]s?\b|\s*$|\s*[,.;:()&\u2013\u2014-]|\s+{_VERB}\b|\s+[A-Z]|\s+(?:employees|staff|teams?|jobs|careers|and|or)\b"
)
_PROPER: Final = r"[A-ZÀ-Þ][\w'\u2019.&-]{0,40}"
_ENUMERATION: Final = re.compile(
    r"\b(?i:such as|like|including|include|includes|alongside|besides|versus|vs\.?|competitors?(?: are)?|rivals?"
    r"|alternatives?(?: are| include)?|compared (?:to|with)|unlike|are|options:|consider|at|companies:)\s+"
    rf"((?:the )?{_PROPER}(?: (?:& |of )?{_PROPER}){{0,4}}"
    rf"(?:(?:, (?:and |or )?| and | or )(?:the )?{_PROPER}(?: (?:& |of )?{_PROPER}){{0,4}}){{0,15}})"
)
_SEPARATOR: Final = re.compile(r",? (?:and|or) (?:the )?|, (?:the )?")
_NAME_AS_SUBJECT: Final = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:(?:Its|Their|The|A|By contrast,|Similarly,|Meanwhile,|In comparison,|For example,|However,)"
    rf"\s(?:rival|competitor|peer|neighbour|company)?\s?)?"
    rf"(?P<name>{_PROPER}(?: (?:& |of )?{_PROPER}){{0,4}})"
    r"(?:['\u2019]s? \w|,? (?:a |an |which |who |another |one |the |with |unlike |by contrast)"
    r"|\s(?:is|was|has|had|employs|runs|operates|offers|pays|makes|works|requires|uses|also)\b)"
)
_CONTRAST: Final = re.compile(r"^(?:Unlike|Compared (?:to|with)|In contrast to|Like) [^,.]{1,60}, ")
_LEGAL_NAME: Final = re.compile(
    rf"({_PROPER}(?: (?:& )?{_PROPER}){{0,4}}),? (?:Inc|Ltd|LLC|LLP|GmbH|AG|PLC|Plc|plc|SE|A/S|AB|Oy|BV|SpA|SAS|Corp)\b"
)
_ORDINARY: Final = read_word_list("jobmill.reports", "data/ordinary_words.txt")
_ORDINARY_ENDING: Final = re.compile(
    r"\w{2,}(?:ing|tion|ment|ness|ity|ance|ence|ship|ists?|eers?|ers|ees|ants)"
)
"""Endings of ordinary nouns that start sentences: "Planning is", "Accommodation costs"."""


@dataclass(frozen=True, slots=True)
class CompanyNames:
    """The names under which an answer can mean the company."""

    patterns: tuple[re.Pattern[str], ...]
    names: tuple[str, ...]
    words: frozenset[str]
    """Stems of all words of the names."""
    site_words: frozenset[str]
    """Folded words of the site's facts: products, people and places that are no other companies."""

    def find(self, text: str) -> int | None:
        """Where the text first names the company."""
        starts = (
            match.start() for pattern in self.patterns if (match := _first_use(pattern, text))
        )
        return min(starts, default=None)

    def is_name(self, name: str) -> bool:
        return any(same_company(name, alias) for alias in self.names) or self.find(name) == 0


def company_names(findings: SiteFindings) -> CompanyNames:
    stated = [findings.company, *(fact.value for fact in findings.facts if fact.name == "name")]
    names = list(dict.fromkeys(alias for name in stated for alias in _aliases(name[:120]) if alias))
    names = names[:_MAX_ALIASES]
    words = frozenset(stem(word) for name in names for word in re.findall(r"\w+", name))
    facts = " ".join(f"{fact.value} {fact.evidence.quote}"[:800] for fact in findings.facts[:300])
    site_words = frozenset(word.lower() for word in re.findall(r"\w+", facts))
    return CompanyNames(tuple(map(_pattern, names)), tuple(names), words, site_words)


def find_other_companies(
    line: AnswerLine, names: CompanyNames, *, tools_are_companies: bool = False
) -> list[tuple[int, str]]:
    """Other companies that a line names, with their positions. In a list of employers, Airtable is a
    company; in a description of one company, it is a tool."""
    companies: dict[str, tuple[int, str]] = {}
    for position, name in _candidates(line):
        cleaned = name.strip(" .,'\u2019").removeprefix("the ").removesuffix("'s")
        if is_other_company(cleaned, names, tools_are_companies=tools_are_companies):
            companies.setdefault(company_key(cleaned), (position, cleaned))
        if len(companies) == _MAX_NAMES:
            break
    return list(companies.values())


def subject_of(sentence: str, names: CompanyNames) -> str | None:
    """The other company that a sentence is about; None if it names none as its subject."""
    beginning = _CONTRAST.sub("", sentence[:300], count=1)
    match = _NAME_AS_SUBJECT.search(beginning)
    if not match:
        return None
    company = names.find(beginning)
    if company is not None and company <= match.start("name"):
        return None
    return (
        match["name"] if is_other_company(match["name"], names, tools_are_companies=True) else None
    )


def is_other_company(name: str, names: CompanyNames, *, tools_are_companies: bool = False) -> bool:
    """Whether a capitalised name can be another company: no place, tool or ordinary word, and no
    word of the company's own site."""
    words = name.split()
    folded = [word.lower().strip(".,'") for word in words]
    if not _is_title_case(name) or names.is_name(name):
        return False
    if len(words) == 1 and _ORDINARY_ENDING.fullmatch(folded[0]):
        return False
    if folded[0] in _ORDINARY or all(
        word in _ORDINARY or word in names.site_words for word in folded
    ):
        return False
    if gazetteer.is_place_name(gazetteer.canonical_name(name)):
        return False
    return tools_are_companies or skills.canonical_name(name) not in skills.all_names()


def _candidates(line: AnswerLine) -> Iterator[tuple[int, str]]:
    if line.is_item or line.is_heading:
        yield 0, line.head
    for match in _ENUMERATION.finditer(line.text):
        position = match.start(1)
        for name in _SEPARATOR.split(match[1]):
            yield position, name
            position += len(name) + 2
    for match in _NAME_AS_SUBJECT.finditer(line.text):
        yield match.start("name"), match["name"]
    for match in _LEGAL_NAME.finditer(line.text):
        yield match.start(1), match[1]


def _is_title_case(head: str) -> bool:
    """Whether these words can be a name: "Supportive culture" is a label."""
    words = [
        word for word in head.split() if word not in ("of", "the", "and", "for", "de", "&", "/")
    ]
    return 0 < len(words) <= 6 and all(word[0].isupper() or word[0].isdigit() for word in words)


def _aliases(name: str) -> Iterator[str]:
    """The name, without its legal form, and without the word that says what the company is."""
    words = name.replace(",", " ").split()
    yield " ".join(words)
    keys = (company_key(" ".join(words[: count + 1])) for count in range(len(words)))
    shortest = next(
        (count for count, key in enumerate(keys, 1) if key == company_key(name)), len(words)
    )
    words = words[:shortest]
    yield " ".join(words)
    while len(words) > 1 and words[-1].lower().strip(".") in (*_KIND_WORDS, "&", "and"):
        words.pop()
        yield " ".join(words) if words[-1] not in ("&", "and") else ""


def _pattern(name: str) -> re.Pattern[str]:
    """Case matters for a single word: "Notion" is a company, "a notion" is not."""
    words = [re.escape(word) for word in name.split()]
    text = r"\s+".join(r"(?:&|and)" if word in ("\\&", "and", "&") else word for word in words)
    return re.compile(rf"(?<![\w@./-]){text}(?!\w)", re.IGNORECASE if len(words) > 1 else 0)


def _first_use(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match that is a name. A capital at the start of a sentence proves nothing, so the
    words after it must fit a name: "Target your application" does not name Target."""
    for match in pattern.finditer(text):
        single = " " not in match[0]
        starts_sentence = not text[: match.start()].rstrip(" \"'(*") or re.search(
            r"[.!?:]\s+$", text[max(0, match.start() - 4) : match.start()]
        )
        if not single or not starts_sentence or _AFTER_NAME.match(text, match.end()):
            return match
    return None
