"""Judge a listing with a changed profile, without storing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any, TypeAlias, cast

from jobmill.catalog.posting import Arrangement, Posting
from jobmill.errors import Invalid
from jobmill.matching.profile import RANKS, Profile
from jobmill.matching.rescore import ScoredOutcome
from jobmill.matching.verdict import MatchResult, Rejection, Strike
from jobmill.places import parsed_place as atlas

from . import posting_facts, profile_document
from .local_score import LocalVerdict
from .posting_facts import personal_skills, skills

Reason: TypeAlias = Rejection | Strike

RANKS_BY_NUMBER = {str(number): word for word, number in RANKS.items()}
MAX_PROBLEMS = 3
MAX_NAMED_SKILLS = 12
"""How many skills of a listing are named in a message."""


def apply_changes(
    profile: Profile,
    *,
    without: Sequence[str] = (),
    having: Sequence[str] = (),
    places: Sequence[str] = (),
    arrangements: Sequence[Arrangement] | None = None,
    settings: Sequence[str] = (),
) -> Profile:
    """Return the profile without some skills, with others (`Go:strong`), with more places, with
    other arrangements, and with fields set by path (`rules.match.score=75`). InvalidProfile lists
    everything that is wrong with it."""
    data = profile.model_dump(mode="json")
    for name in without:
        _remove_skill(data["skills"], name)
    for one in having:
        _add_skill(data["skills"], one)
    data["locations"] = list(dict.fromkeys([*data["locations"], *places]))
    if arrangements is not None:
        data["arrangements"] = list(arrangements)
    for one in settings:
        _set_field(data, one)
    return profile_document.validate(data, "what-if")


def _key(name: str) -> str:
    return skills.canonical_name(name).casefold()


def _remove_skill(listed: list[dict[str, Any]], name: str) -> None:
    kept = [one for one in listed if _key(one["name"]) != _key(name)]
    if len(kept) == len(listed):
        names = [one["name"] for one in listed]
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(names) or 'none'}"
        raise Invalid(f"the profile has no skill {name}: {hint}")
    listed[:] = kept


def _add_skill(listed: list[dict[str, Any]], given: str) -> None:
    """Add a skill or change its rank. `profile_document.validate` reports unknown ranks."""
    name, rank = _split_rank(given)
    known = next((one for one in listed if _key(one["name"]) == _key(name)), None)
    if known is None:
        known = {"name": name}
        listed.append(known)
    if rank:
        known["rank"] = RANKS_BY_NUMBER.get(rank, rank)


def _split_rank(given: str) -> tuple[str, str]:
    """Split `Go:strong` into name and rank; the rank is empty if there is none."""
    name, _, rank = given.rpartition(":")
    return (name.strip(), rank.strip()) if name else (given, "")


def check_changes(
    posting: Posting, *, having: Sequence[str] = (), places: Sequence[str] = ()
) -> None:
    """Reject skills and places that cannot change anything, because neither our lists nor the
    posting contain them. Invalid names the first few, and what is available."""
    wrong = chain(
        (_skill_problem(posting, one) for one in having),
        (_place_problem(posting, one) for one in places),
    )
    # Only a few, because searching for similar names is slow.
    if told := list(islice(filter(None, wrong), MAX_PROBLEMS)):
        raise Invalid(" ".join(told))


def unknown_skills(having: Sequence[str]) -> list[str]:
    """The skills that are not in our list."""
    named = (_split_rank(one)[0] for one in having)
    return [name for name in named if skills.canonical_name(name) not in skills.all_names()]


def _skill_problem(posting: Posting, given: str) -> str | None:
    name, rank = _split_rank(given)
    if rank and rank not in {*RANKS, *RANKS_BY_NUMBER}:
        return f"{rank} is no rank of a skill: {name} can be {', '.join(RANKS)}."
    text = "\n".join((posting.title, posting.description or "", posting.requirements or ""))
    if not unknown_skills([given]) or any(personal_skills.find_custom_skills([name], text)):
        return None
    near = get_close_matches(skills.canonical_name(name), skills.all_names(), n=1, cutoff=0.75)
    if near:
        return f"We know no skill {name}: did you mean {near[0]}?"
    asked = ", ".join(skills.skill_names(text)[:MAX_NAMED_SKILLS]) or "none that we know"
    return f"We know no skill {name}, and the listing does not name it: it names {asked}."


def _place_problem(posting: Posting, given: str) -> str | None:
    named = [*posting_facts.read_facts(posting).places, *posting.locations, posting.location]
    found = atlas.parse_places(given)
    known = [one for one in found if one.lies_in]
    if known or atlas.is_any_in(named, [given]):
        return None
    told = "; ".join(dict.fromkeys(one for one in named if one)) or "none"
    return (
        f"We know no place {given}, and the listing does not name it: it names {told}. "
        "A country tells where a small town is: Faro, Portugal."
    )


def _set_field(data: dict[str, Any], given: str) -> None:
    path, mark, text = given.partition("=")
    if not mark or not path.strip():
        raise Invalid(f"{given!r} sets nothing: write FIELD=VALUE, as in rules.match.score=75")
    *outer, last = path.strip().split(".")
    place: Any = data
    for part in outer:
        place = _step(place, part, path)
    if isinstance(place, list):
        cast("list[Any]", place)[_index(cast("list[Any]", place), last, path)] = _value(text, path)
    else:
        place[last] = _value(text, path)


def _step(place: Any, part: str, path: str) -> Any:
    """Return the mapping or list at this key, creating an empty mapping if it is not set."""
    if isinstance(place, list):
        found = cast("list[Any]", place)[_index(cast("list[Any]", place), part, path)]
    else:
        found = place.get(part)
        if found is None:
            found = place[part] = {}
    if not isinstance(found, dict | list):
        raise Invalid(f"{path}: {part} is a plain value, and has no parts")
    return cast(Any, found)


def _index(listed: list[Any], part: str, path: str) -> int:
    """List positions count from 1, as in the messages of `profile_document`."""
    if not part.isdecimal() or not 1 <= int(part) <= len(listed):
        raise Invalid(f"{path}: {part} is no place in a list of {len(listed)}; the first is 1")
    return int(part) - 1


def _value(text: str, path: str) -> object:
    return profile_document.parse_value(text, path)


@dataclass(frozen=True, slots=True)
class ScoreItemChange:
    """A score item whose points changed."""

    name: str
    before: int
    after: int
    why: str


@dataclass(frozen=True, slots=True)
class PassingState:
    """Strikes and threshold of a verdict."""

    strikes: int
    passed: bool
    threshold: int | None
    """The score that a match needs."""


@dataclass(frozen=True, slots=True)
class VerdictDifference:
    before: ScoredOutcome
    after: ScoredOutcome
    hurdles_before: PassingState
    hurdles_after: PassingState
    items: tuple[ScoreItemChange, ...]
    came: tuple[Reason, ...]
    """New rejections and strikes."""
    went: tuple[Reason, ...]


def outcome_of(found: LocalVerdict) -> ScoredOutcome:
    """Outcome and score; a filtered listing has a score too."""
    score = found.match and found.match.match_score
    if not found.filter.passed or found.match is None:
        return ScoredOutcome("filtered", score)
    return ScoredOutcome("matched" if found.match.fits else "skipped", score)


def compare_verdicts(before: LocalVerdict, after: LocalVerdict) -> VerdictDifference:
    """Compare two verdicts on the same listing."""
    reasons = [(*one.filter.hard_rejections, *one.filter.strikes) for one in (before, after)]
    return VerdictDifference(
        outcome_of(before),
        outcome_of(after),
        _passing_state(before),
        _passing_state(after),
        _changed_items(before.match, after.match),
        _only_in_first(reasons[1], reasons[0]),
        _only_in_first(reasons[0], reasons[1]),
    )


def _passing_state(found: LocalVerdict) -> PassingState:
    sifted = found.filter
    return PassingState(sifted.total_strikes, sifted.passed, found.match and found.match.threshold)


def _only_in_first(these: Iterable[Reason], those: Iterable[Reason]) -> tuple[Reason, ...]:
    left = Counter(those)
    return tuple(one for one in these if not _take(left, one))


def _take(left: Counter[Reason], one: Reason) -> bool:
    left[one] -= 1
    return left[one] >= 0


def _changed_items(
    before: MatchResult | None, after: MatchResult | None
) -> tuple[ScoreItemChange, ...]:
    points = [_by_name(one, lambda item: item.points) for one in (before, after)]
    whys = _by_name(before, lambda item: item.why) | _by_name(after, lambda item: item.why)
    return tuple(
        ScoreItemChange(name, points[0].get(name, 0), points[1].get(name, 0), why)
        for name, why in whys.items()
        if points[0].get(name, 0) != points[1].get(name, 0)
    )


def _by_name(result: MatchResult | None, part: Callable[[Any], Any]) -> dict[str, Any]:
    return {item.name: part(item) for item in result.items} if result else {}
