"""Compare a document with the master resume that it was written from."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from jobmill.matching.profile import Profile

from . import fact_lines
from .document import ApplicationDocument, DocumentLine, DocumentSection, iter_lines

ChangeKind: TypeAlias = Literal[
    "reworded", "left out", "new in the profile", "no longer in the profile"
]


class WordPiece(NamedTuple):
    sign: Literal["", "+", "-"]
    text: str


@dataclass(frozen=True, slots=True)
class ProfileChange:
    kind: ChangeKind
    key: str
    pieces: tuple[WordPiece, ...]


def compare_with_profile(document: ApplicationDocument, profile: Profile) -> list[ProfileChange]:
    """How the document differs from the profile as it is now: words, omissions, and facts that changed
    since it was written."""
    facts = {line.key: line for line in _profile_lines(profile)}
    # Texts, not keys: a new entry at the top of the profile shifts the keys of all others.
    fact_texts = {line.fact for line in facts.values()}
    changes: list[ProfileChange] = []
    for line in iter_lines(document):
        if line.enabled and line.wording != "profile":
            changes.append(ProfileChange("reworded", line.key, _diff_words(line.fact, line.text)))
        elif not line.enabled:
            changes.append(ProfileChange("left out", line.key, (WordPiece("-", line.fact),)))
        elif line.key in facts and line.fact not in fact_texts:
            pieces = _diff_words(line.fact, facts[line.key].fact)
            changes.append(ProfileChange("no longer in the profile", line.key, pieces))
    if document.kind == "resume":
        stated = {line.fact for line in iter_lines(document)}
        changes += [
            ProfileChange("new in the profile", line.key, (WordPiece("+", line.fact),))
            for line in facts.values()
            if line.fact not in stated
        ]
    return changes


def _profile_lines(profile: Profile) -> list[DocumentLine]:
    sections: tuple[DocumentSection, ...] = fact_lines.resume_sections(profile)
    complete = ApplicationDocument(kind="resume", profile_version=0, sections=sections)
    return list(iter_lines(complete))


def _diff_words(before: str, after: str) -> tuple[WordPiece, ...]:
    old, new = before.split(), after.split()
    pieces: list[WordPiece] = []
    for tag, start, stop, new_start, new_stop in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            pieces.append(WordPiece("", " ".join(old[start:stop])))
            continue
        if stop > start:
            pieces.append(WordPiece("-", " ".join(old[start:stop])))
        if new_stop > new_start:
            pieces.append(WordPiece("+", " ".join(new[new_start:new_stop])))
    return tuple(pieces)
