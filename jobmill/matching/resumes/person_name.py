"""Find the person's name at the top of a resume, if it is certain."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from jobmill.places import gazetteer
from jobmill.plain_text import read_word_list

from ..posting_facts import skills
from . import sections
from .work_history import ROLE, SEPARATOR

MAX_LINES: Final = 15
"""Lines to look at."""
CERTAIN_LINES: Final = 4
"""Among the first lines, a name counts even if no e-mail address confirms it."""
MAX_LINE_LENGTH: Final = 120
CALLED: Final = re.compile(
    r"(?:(?:full |last )?name|nom(?: et prénom)?|prénom et nom|vor- und nachname|nombre(?: completo)?)"
    r"(?:\s?:\s{0,9}|\s{2,9}|\t)(?P<name>\S.*)",
    re.IGNORECASE,
)
KIND: Final = re.compile(
    r"\W{0,3}(?:curriculum vitae|lebenslauf|resume|résumé|cv|personal (?:information|details))"
    r"(?:\s(?:of|von|de))?(?!\w)[\s:|\u2013\u2014-]{0,5}",
    re.IGNORECASE,
)
"""Document titles that may precede a name."""
STYLES: Final = re.compile(r"(?:(?:dr|prof|mr|mrs|ms|herr|frau|mme|dipl\.?-\w{2,5})\b\.? ?){1,4}", re.IGNORECASE)  # fmt: skip
MAIL: Final = re.compile(r"(?<![\w.+-])(?P<who>[\w.+-]{1,64})@[\w-]{1,63}\.")
WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019.-][^\W\d_]+){0,3}\.?")
PARTICLES: Final = re.compile(
    r"v[ao]n|de[rnl]?|d[aio]|dos|della|l[ae]|[ae]l|bin|ibn|ben|te[rn]|zur?|[ye]"
)
NO_NAMES: Final = read_word_list("jobmill.matching.resumes", "no_names.txt")
"""Words common in job titles, headings and addresses, and rare in names."""


def find_name(text: str) -> str | None:
    """Find the person's name: a labelled name, else a line of two to four capitalised words near
    the top that is not a heading, title, skill or place. None if nothing is certain."""
    lines = [line.strip() for line in text[:20_000].splitlines() if line.strip()][:MAX_LINES]
    for line in lines:
        called = CALLED.match(line[:MAX_LINE_LENGTH])
        if called and (name := _parse_labelled_name(called["name"])):
            return name
    candidates = list(_candidates(lines))
    owners = [_fold(mail["who"]) for mail in MAIL.finditer(text[:20_000])]
    for _, candidate in candidates:
        if any(_address_matches(owner, candidate) for owner in owners):
            return candidate
    return next((candidate for place, candidate in candidates if place < CERTAIN_LINES), None)


def _parse_labelled_name(text: str) -> str | None:
    last, comma, first = (part.strip() for part in re.split(r"[|;\t]", text)[0].partition(","))
    return _as_name(f"{first} {last}" if comma else last)


def _candidates(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield candidate names with their position, up to the first section heading."""
    place = 0
    for line in lines:
        part = sections.section_of_heading(line)
        if part in (
            "work",
            "skills",
            "education",
            "projects",
            "achievements",
            "licences",
            "languages",
            "other",
        ):
            return
        bare = KIND.sub("", line[:MAX_LINE_LENGTH], count=1) if KIND.match(line) else line
        if part or not bare or len(bare) > MAX_LINE_LENGTH:
            continue
        parts = [*SEPARATOR.split(bare), ""]
        for n, (text, after) in enumerate(pairwise(parts)):
            # After other text on a line, only an e-mail address distinguishes a name from a place.
            if (name := _as_name(text)) and not gazetteer.find_area(after):
                yield place if n == 0 else CERTAIN_LINES, name
        place += 1


def _as_name(part: str) -> str | None:
    """Normalise an all-capitals name. None if the text does not look like a name."""
    bare = STYLES.sub("", part.strip(), count=1) if STYLES.match(part.strip()) else part.strip()
    words = bare.split()
    if not 2 <= len(words) <= 4 or len(bare) > 60 or not all(map(WORD.fullmatch, words)):
        return None
    if not _is_capitalised(words) or not _could_be_a_name(bare):
        return None
    return " ".join(word.title() if bare.isupper() else word for word in words)


def _is_capitalised(words: Sequence[str]) -> bool:
    ends = words[0][0].isupper() and words[-1][0].isupper()
    return ends and all(word[0].isupper() or PARTICLES.fullmatch(word) for word in words)


def _could_be_a_name(text: str) -> bool:
    words = {word.casefold().strip(".") for word in text.split()}
    if words & NO_NAMES or ROLE.search(text) or max(map(len, words)) < 2:
        return False
    if gazetteer.find_area(text) or gazetteer.country_of_city(text):
        return False
    return sum(hit.end - hit.start for hit in skills.find_skills(text)) < len(text.replace(" ", ""))


def _address_matches(owner: str, name: str) -> bool:
    """Whether the e-mail address contains a word of the name."""
    return any(len(word) > 2 and _fold(word) in owner for word in name.split())


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    return "".join(mark for mark in plain if mark.isalpha())
