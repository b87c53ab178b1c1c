"""Compare a master resume with one that was read from a file, and merge them by a person's choice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from jobmill.matching.master_resume import (
    EducationEntry,
    ExperienceEntry,
    LanguageEntry,
    LicenceEntry,
    MasterResume,
    ProjectEntry,
)
from jobmill.matching.profile_fields import ProfilePart

Choice: TypeAlias = Literal["profile", "file", "both", "none"]
CHOICES: Final[tuple[Choice, ...]] = ("profile", "file", "both", "none")
LISTS: Final = ("experience", "projects", "education", "licences", "languages")
SINGLE: Final = ("headline", "contact", "work_authorisation")


class EntryPair(NamedTuple):
    """An entry of the profile beside the same one in the file; either may be missing."""

    key: str
    """`experience.0`, or the name of a field that is not a list."""
    current: Any
    read: Any

    @property
    def is_same(self) -> bool:
        """Whether the file adds nothing."""
        return self.current is not None and (
            self.read is None or _merge_entry(self.current, self.read) == self.current
        )

    @property
    def default(self) -> Choice:
        return "profile" if self.read is None or self.is_same else "file"


def pair_entries(current: MasterResume, read: MasterResume) -> list[EntryPair]:
    """All entries of both, in the order of the file; those that only the profile has come last."""
    pairs = [
        EntryPair(name, getattr(current, name) or None, getattr(read, name) or None)
        for name in SINGLE
        if name in read.model_fields_set and getattr(read, name)
    ]
    for name in LISTS:
        entries = _pair_list(getattr(current, name), getattr(read, name))
        pairs += [EntryPair(f"{name}.{n}", *pair) for n, pair in enumerate(entries)]
    return pairs


def merge_resumes(
    current: MasterResume, read: MasterResume, choices: Mapping[str, str]
) -> MasterResume:
    """Both resumes, with the chosen side of each pair. Where the file is chosen, values that it does
    not state are kept."""
    values: dict[str, Any] = {name: list[ProfilePart]() for name in LISTS}
    for pair in pair_entries(current, read):
        name = pair.key.partition(".")[0]
        choice = choices.get(pair.key)
        entries = list(_choose(pair, choice if choice in CHOICES else pair.default))
        if name in LISTS:
            values[name] += entries
        elif entries:
            values[name] = entries[0]
    return current.model_copy(update={name: tuple(value) if name in LISTS else value for name, value in values.items()})  # fmt: skip


def _choose(pair: EntryPair, choice: str) -> Iterator[Any]:
    if choice == "none":
        return
    if choice in ("profile", "both") and pair.current is not None:
        yield pair.current
    if choice == "both" and pair.read is not None:
        yield pair.read
    if choice == "file" and pair.read is not None:
        yield _merge_entry(pair.current, pair.read)
    elif choice == "file":
        yield pair.current


def _merge_entry(current: Any, read: Any) -> Any:
    if not isinstance(current, ProfilePart) or not isinstance(read, ProfilePart):
        return read
    stated = {name: getattr(read, name) for name in read.model_fields_set if getattr(read, name)}
    return current.model_copy(update=stated)


def _pair_list(
    current: Sequence[ProfilePart], read: Sequence[ProfilePart]
) -> list[tuple[ProfilePart | None, ProfilePart | None]]:
    left = list(current)
    pairs: list[tuple[ProfilePart | None, ProfilePart | None]] = []
    for entry in read:
        same = next((other for other in left if _is_same_entry(other, entry)), None)
        if same is not None:
            left.remove(same)
        pairs.append((same, entry))
    return [*pairs, *((entry, None) for entry in left)]


def _is_same_entry(first: ProfilePart, second: ProfilePart) -> bool:
    """Whether two entries are about the same job, school, project, licence or language."""
    name, other = _name(first), _name(second)
    if isinstance(first, ExperienceEntry) and isinstance(second, ExperienceEntry):
        if first.start and second.start:
            same_start = first.start[:4] == second.start[:4]
            same_place = _fold(first.employer) == _fold(second.employer)
            return same_start and (same_place or name == other)
        return name == other and _fold(first.employer) == _fold(second.employer)
    if isinstance(first, EducationEntry) and isinstance(second, EducationEntry):
        return name == other and _fold(first.degree) in ("", _fold(second.degree))
    return name == other


def _name(entry: ProfilePart) -> str:
    match entry:
        case ExperienceEntry():
            return _fold(entry.title)
        case EducationEntry():
            return _fold(entry.institution)
        case ProjectEntry() | LicenceEntry() | LanguageEntry():
            return _fold(entry.name)
        case _:
            return ""


def _fold(text: str | None) -> str:
    plain = unicodedata.normalize("NFKD", (text or "").casefold())
    return "".join(re.findall(r"\w", plain))
