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
from .local_verdict import LocalVerdict
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
    for skill in having:
        _add_skill(data["skills"], skill)
    data["locations"] = list(dict.fromkeys([*data["locations"], *places]))
    if arrangements is not None:
        data["arrangements"] = list(arrangements)
    for setting in settings:
        _set_field(data, setting)
    return profile_document.validate(data, "what-if")


def _key(name: str) -> str:
    return skills.canonical_name(name).casefold()


def _remove_skill(listed: list[dict[str, Any]], name: str) -> None:
    remaining = [skill for skill in listed if _key(skill["name"]) != _key(name)]
    if len(remaining) == len(listed):
        names = [skill["name"] for skill in listed]
        near = get_close_matches(name, names, n=1)
        hint = (
            f"Did you mean {near[0]}?" if near else f"It lists {', '.join(names) or 'no skills'}."
        )
        raise Invalid(f"The profile does not list the skill {name}. {hint}")
    listed[:] = remaining


def _add_skill(listed: list[dict[str, Any]], text: str) -> None:
    """Add a skill or change its rank. `profile_document.validate` reports unknown ranks."""
    name, rank = _split_rank(text)
    entry = next((skill for skill in listed if _key(skill["name"]) == _key(name)), None)
    if entry is None:
        entry = {"name": name}
        listed.append(entry)
    if rank:
        entry["rank"] = RANKS_BY_NUMBER.get(rank, rank)


def _split_rank(text: str) -> tuple[str, str]:
    """Split `Go:strong` into name and rank; the rank is empty if there is none."""
    name, _, rank = text.rpartition(":")
    return (name.strip(), rank.strip()) if name else (text, "")


def check_changes(
    posting: Posting, *, having: Sequence[str] = (), places: Sequence[str] = ()
) -> None:
    """Reject skills and places that cannot change anything, because neither our lists nor the
    posting contain them. Invalid names the first few, and what is available."""
    possible_problems = chain(
        (_skill_problem(posting, skill) for skill in having),
        (_place_problem(posting, place) for place in places),
    )
    # Only a few, because searching for similar names is slow.
    if problems := list(islice(filter(None, possible_problems), MAX_PROBLEMS)):
        raise Invalid(" ".join(problems))


def unknown_skills(having: Sequence[str]) -> list[str]:
    """The skills that are not in our list."""
    named = (_split_rank(text)[0] for text in having)
    return [name for name in named if skills.canonical_name(name) not in skills.all_names()]


def _skill_problem(posting: Posting, text: str) -> str | None:
    name, rank = _split_rank(text)
    if rank and rank not in {*RANKS, *RANKS_BY_NUMBER}:
        return f"{rank} is not a skill rank. The rank of {name} can be {', '.join(RANKS)}."
    texts = (posting.title, posting.description or "", posting.requirements or "")
    posting_text = "\n".join(part[: posting_facts.MAX_TEXT_LENGTH] for part in texts)
    if not unknown_skills([text]) or any(personal_skills.find_custom_skills([name], posting_text)):
        return None
    near = get_close_matches(skills.canonical_name(name), skills.all_names(), n=1, cutoff=0.75)
    if near:
        return f"Unknown skill: {name}. Did you mean {near[0]}?"
    named = ", ".join(skills.skill_names(posting_text)[:MAX_NAMED_SKILLS]) or "no known skills"
    return f"Unknown skill: {name}. The job does not mention it; it mentions {named}."


def _place_problem(posting: Posting, place: str) -> str | None:
    named = [*posting_facts.list_places(posting), *posting.locations, posting.location]
    parsed_places = atlas.parse_places(place)
    is_known = any(parsed.lies_in for parsed in parsed_places)
    if is_known or atlas.is_any_in(named, [place]):
        return None
    listed = "; ".join(dict.fromkeys(name for name in named if name)) or "no places"
    return (
        f"Unknown place: {place}. The job does not mention it; it mentions {listed}. "
        "For a small town, add the country, as in Faro, Portugal."
    )


def _set_field(data: dict[str, Any], setting: str) -> None:
    path, mark, text = setting.partition("=")
    if not mark or not path.strip():
        raise Invalid(
            f"{setting!r} sets no field. Write FIELD=VALUE, for example rules.match.score=75."
        )
    *outer, last = path.strip().split(".")
    place: Any = data
    for part in outer:
        place = _step(place, part, path)
    key = _index(cast("list[Any]", place), last, path) if isinstance(place, list) else last
    cast(Any, place)[key] = profile_document.parse_value(text, path)


def _step(place: Any, part: str, path: str) -> Any:
    """Return the mapping or list at this key, creating an empty mapping if it is not set."""
    if isinstance(place, list):
        value = cast("list[Any]", place)[_index(cast("list[Any]", place), part, path)]
    else:
        value = place.get(part)
        if value is None:
            value = place[part] = {}
    if not isinstance(value, dict | list):
        raise Invalid(f"{path}: {part} is a single value without fields")
    return cast(Any, value)


def _index(listed: list[Any], part: str, path: str) -> int:
    """List positions count from 1, as in the messages of `profile_document`."""
    if not part.isdecimal() or not 1 <= int(part) <= len(listed):
        raise Invalid(
            f"{path}: {part} is not a position in a list of {len(listed)}; the first is 1"
        )
    return int(part) - 1


@dataclass(frozen=True, slots=True)
class ScoreItemChange:
    """A score item with changed points."""

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
    passing_before: PassingState
    passing_after: PassingState
    items: tuple[ScoreItemChange, ...]
    added_reasons: tuple[Reason, ...]
    """New rejections and strikes."""
    removed_reasons: tuple[Reason, ...]


def outcome_of(verdict: LocalVerdict) -> ScoredOutcome:
    """Outcome and score; a filtered listing has a score too."""
    score = verdict.match and verdict.match.match_score
    if not verdict.filter.passed or verdict.match is None:
        return ScoredOutcome("filtered", score)
    return ScoredOutcome("matched" if verdict.match.fits else "skipped", score)


def compare_verdicts(before: LocalVerdict, after: LocalVerdict) -> VerdictDifference:
    """Compare two verdicts on the same listing."""
    reasons = [
        (*verdict.filter.hard_rejections, *verdict.filter.strikes) for verdict in (before, after)
    ]
    return VerdictDifference(
        outcome_of(before),
        outcome_of(after),
        _passing_state(before),
        _passing_state(after),
        _changed_items(before.match, after.match),
        _only_in_first(reasons[1], reasons[0]),
        _only_in_first(reasons[0], reasons[1]),
    )


def _passing_state(verdict: LocalVerdict) -> PassingState:
    filter_result = verdict.filter
    return PassingState(
        filter_result.total_strikes, filter_result.passed, verdict.match and verdict.match.threshold
    )


def _only_in_first(first: Iterable[Reason], second: Iterable[Reason]) -> tuple[Reason, ...]:
    left = Counter(second)
    return tuple(reason for reason in first if not _use_up(left, reason))


def _use_up(left: Counter[Reason], reason: Reason) -> bool:
    left[reason] -= 1
    return left[reason] >= 0


def _changed_items(
    before: MatchResult | None, after: MatchResult | None
) -> tuple[ScoreItemChange, ...]:
    points = [_by_name(result, lambda item: item.points) for result in (before, after)]
    whys = _by_name(before, lambda item: item.why) | _by_name(after, lambda item: item.why)
    return tuple(
        ScoreItemChange(name, points[0].get(name, 0), points[1].get(name, 0), why)
        for name, why in whys.items()
        if points[0].get(name, 0) != points[1].get(name, 0)
    )


def _by_name(result: MatchResult | None, part: Callable[[Any], Any]) -> dict[str, Any]:
    return {item.name: part(item) for item in result.items} if result else {}
