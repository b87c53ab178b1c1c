"""What a listing would come to if the profile were another: nothing of it is kept."""

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
from jobmill.matching.rescore import Standing
from jobmill.matching.verdict import MatchResult, Rejection, Strike
from jobmill.places import parsed_place as atlas

from . import posting_facts, profile_document
from .local_score import Judgement
from .posting_facts import personal_skills, skills

Reason: TypeAlias = Rejection | Strike

NUMBERS = {str(number): word for word, number in RANKS.items()}
FEW = 3
MOST = 12
"""So many of what a listing names are told."""


def change(
    profile: Profile,
    *,
    without: Sequence[str] = (),
    having: Sequence[str] = (),
    places: Sequence[str] = (),
    arrangements: Sequence[Arrangement] | None = None,
    settings: Sequence[str] = (),
) -> Profile:
    """The profile without some skills, with others (`Go:strong`), with more places, with other
    arrangements, and with fields set by their path (`rules.match.score=75`); BadProfile names all
    that is wrong with it then."""
    data = profile.model_dump(mode="json")
    for name in without:
        _remove(data["skills"], name)
    for one in having:
        _add(data["skills"], one)
    data["locations"] = list(dict.fromkeys([*data["locations"], *places]))
    if arrangements is not None:
        data["arrangements"] = list(arrangements)
    for one in settings:
        _set(data, one)
    return profile_document.check(data, "what-if")


def _key(name: str) -> str:
    return skills.canonical(name).casefold()


def _remove(listed: list[dict[str, Any]], name: str) -> None:
    kept = [one for one in listed if _key(one["name"]) != _key(name)]
    if len(kept) == len(listed):
        names = [one["name"] for one in listed]
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(names) or 'none'}"
        raise Invalid(f"the profile has no skill {name}: {hint}")
    listed[:] = kept


def _add(listed: list[dict[str, Any]], given: str) -> None:
    """A rank that is not one of ours is told by whoever checks it."""
    name, rank = _ranked(given)
    known = next((one for one in listed if _key(one["name"]) == _key(name)), None)
    if known is None:
        known = {"name": name}
        listed.append(known)
    if rank:
        known["rank"] = NUMBERS.get(rank, rank)


def _ranked(given: str) -> tuple[str, str]:
    """`Go:strong` in its two parts; the second is empty where there is none."""
    name, _, rank = given.rpartition(":")
    return (name.strip(), rank.strip()) if name else (given, "")


def check(posting: Posting, *, having: Sequence[str] = (), places: Sequence[str] = ()) -> None:
    """Refuse words that could change nothing, for neither we nor the posting know them; Invalid
    names the first few of them, and what is known."""
    wrong = chain(
        (_skill_trouble(posting, one) for one in having),
        (_place_trouble(posting, one) for one in places),
    )
    # No more than a few: looking for what is like a name takes a moment each.
    if told := list(islice(filter(None, wrong), FEW)):
        raise Invalid(" ".join(told))


def strange(having: Sequence[str]) -> list[str]:
    """The skills among these that no list of ours has."""
    named = (_ranked(one)[0] for one in having)
    return [name for name in named if skills.canonical(name) not in skills.names()]


def _skill_trouble(posting: Posting, given: str) -> str | None:
    name, rank = _ranked(given)
    if rank and rank not in {*RANKS, *NUMBERS}:
        return f"{rank} is no rank of a skill: {name} can be {', '.join(RANKS)}."
    text = "\n".join((posting.title, posting.description or "", posting.requirements or ""))
    if not strange([given]) or any(personal_skills.find([name], text)):
        return None
    near = get_close_matches(skills.canonical(name), skills.names(), n=1, cutoff=0.75)
    if near:
        return f"We know no skill {name}: did you mean {near[0]}?"
    asked = ", ".join(skills.named(text)[:MOST]) or "none that we know"
    return f"We know no skill {name}, and the listing does not name it: it names {asked}."


def _place_trouble(posting: Posting, given: str) -> str | None:
    named = [*posting_facts.read(posting).places, *posting.locations, posting.location]
    found = atlas.parse_places(given)
    known = [one for one in found if one.lies_in]
    if known or atlas.is_any_in(named, [given]):
        return None
    told = "; ".join(dict.fromkeys(one for one in named if one)) or "none"
    return (
        f"We know no place {given}, and the listing does not name it: it names {told}. "
        "A country tells where a small town is: Faro, Portugal."
    )


def _set(data: dict[str, Any], given: str) -> None:
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
    """The group or list of this name; what is not set yet is an empty group."""
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
    """Lists count from 1, as they do where mistakes are told."""
    if not part.isdecimal() or not 1 <= int(part) <= len(listed):
        raise Invalid(f"{path}: {part} is no place in a list of {len(listed)}; the first is 1")
    return int(part) - 1


def _value(text: str, path: str) -> object:
    return profile_document.parse_value(text, path)


@dataclass(frozen=True, slots=True)
class Moved:
    """A part of the score that has other points."""

    name: str
    before: int
    after: int
    why: str


@dataclass(frozen=True, slots=True)
class Hurdles:
    """What there was to pass, and how near it was."""

    strikes: int
    passed: bool
    threshold: int | None
    """Of the score."""


@dataclass(frozen=True, slots=True)
class Difference:
    before: Standing
    after: Standing
    hurdles_before: Hurdles
    hurdles_after: Hurdles
    items: tuple[Moved, ...]
    came: tuple[Reason, ...]
    """Rejections and strikes that are new."""
    went: tuple[Reason, ...]


def stand(found: Judgement) -> Standing:
    """What it comes to; the score is told also of what is filtered out."""
    score = found.match and found.match.match_score
    if not found.filter.passed or found.match is None:
        return Standing("filtered", score)
    return Standing("matched" if found.match.fits else "skipped", score)


def compare(before: Judgement, after: Judgement) -> Difference:
    """What differs between two judgements of one listing."""
    reasons = [(*one.filter.hard_rejections, *one.filter.strikes) for one in (before, after)]
    return Difference(
        stand(before),
        stand(after),
        _hurdles(before),
        _hurdles(after),
        _moved(before.match, after.match),
        _beyond(reasons[1], reasons[0]),
        _beyond(reasons[0], reasons[1]),
    )


def _hurdles(found: Judgement) -> Hurdles:
    sifted = found.filter
    return Hurdles(sifted.total_strikes, sifted.passed, found.match and found.match.threshold)


def _beyond(these: Iterable[Reason], those: Iterable[Reason]) -> tuple[Reason, ...]:
    left = Counter(those)
    return tuple(one for one in these if not _take(left, one))


def _take(left: Counter[Reason], one: Reason) -> bool:
    left[one] -= 1
    return left[one] >= 0


def _moved(before: MatchResult | None, after: MatchResult | None) -> tuple[Moved, ...]:
    points = [_by_name(one, lambda item: item.points) for one in (before, after)]
    whys = _by_name(before, lambda item: item.why) | _by_name(after, lambda item: item.why)
    return tuple(
        Moved(name, points[0].get(name, 0), points[1].get(name, 0), why)
        for name, why in whys.items()
        if points[0].get(name, 0) != points[1].get(name, 0)
    )


def _by_name(result: MatchResult | None, part: Callable[[Any], Any]) -> dict[str, Any]:
    return {item.name: part(item) for item in result.items} if result else {}
