"""What pages say of matches and listings: reasons, places and events in a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol, Self, cast
from urllib.parse import urlencode
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, model_validator

from jobmill.catalog import history, salary_text
from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.matching import matches, profiles
from jobmill.matching.duplicate_matches import Copy
from jobmill.matching.matches import Match
from jobmill.matching.profiles import Version
from jobmill.matching.rescore import Standing
from jobmill.matching.verdict import LIMIT, FilterResult, MatchResult
from jobmill.matching.verdicts import Word
from jobmill.queue import lineage
from jobmill.queue.items import ItemId
from jobmill.web.texts import say, say_many

BEST = 3
SOME = 4


def plain(text: str) -> str:
    """What was typed, without what surrounds it; for pydantic."""
    if "\0" in text:
        raise ValueError("a text cannot hold null characters")
    return text.strip()


Words = Annotated[str, Field(max_length=200), AfterValidator(plain)]


class Asked(BaseModel):
    """What the address of a page asks for; a field that a form leaves empty was not sent."""

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        sent = cast("Mapping[str, Any]", given)
        return {name: one for name, one in sent.items() if str(one).strip()}

    def url(self, path: str, **changed: object) -> str:
        """A page with the same wishes, but for what is changed; None takes a wish away."""
        asked = self.model_dump(exclude_defaults=True) | changed
        query = urlencode({name: one for name, one in asked.items() if one is not None})
        return f"{path}?{query}" if query else path

    def without(self, *names: str) -> Self:
        """As if these had not been asked for."""
        return self.model_copy(
            update={name: type(self).model_fields[name].default for name in names}
        )


async def find_profile(tx: Tx, name: str | None) -> Version | None:
    """The profile that is meant; None if nobody has made one yet."""
    try:
        return await profiles.get(tx, name)
    except NotFound:
        if name is not None:
            raise
        return None


async def lineage_of(tx: Tx, word: Word | None) -> UUID | None:
    """Where the item stands that judged it; None if the queue has forgotten it, or none did."""
    if word is None or word.item is None:
        return None
    try:
        return await lineage.get_tracking_id(tx, ItemId(word.item))
    except NotFound:
        return None


class Offer(Protocol):
    """What a listing offers, whoever tells of it."""

    @property
    def location(self) -> str | None: ...
    @property
    def arrangement(self) -> str | None: ...
    @property
    def salary_min(self) -> float | None: ...
    @property
    def salary_max(self) -> float | None: ...
    @property
    def salary_currency(self) -> str | None: ...
    @property
    def salary_period(self) -> str | None: ...


def place(offer: Offer) -> str:
    """Where the work is done; `Remote, US` says it all."""
    said = offer.arrangement and offer.arrangement in (offer.location or "").lower()
    return joined([offer.location, None if said else offer.arrangement])


def pay(offer: Offer) -> str | None:
    return salary_text.format_salary(
        offer.salary_min, offer.salary_max, offer.salary_currency, offer.salary_period
    )


def web_url(url: str | None) -> str | None:
    """A link that only leads somewhere, and runs nothing."""
    return url if url and url.lower().startswith(("https://", "http://")) else None


class Row(NamedTuple):
    """A match in a list."""

    match: Match
    place: str
    pay: str | None
    why: str
    also: Sequence[Copy]

    @classmethod
    def of(cls, match: Match, also: Sequence[Copy] = ()) -> Row:
        return cls(match, place(match), pay(match), why(match), also)


def joined(parts: Iterable[str | None]) -> str:
    return " · ".join(part for part in parts if part)


def why(match: Match) -> str:
    """What made the score, what one has of it, and what is missing."""
    parts = [one for one in match.items if one["name"] != LIMIT]
    gains = sorted(parts, key=lambda item: -item["points"])[:BEST]
    told = (f"{one['name']} {one['points']}/{one['most']}" for one in gains if one["points"] > 0)
    gaps = match.skill_gaps
    lacks = say("lacks %(skills)s", skills=some(gaps)) if gaps else None
    return joined([", ".join(told), some(match.matched_skills), lacks])


def some(names: Sequence[str]) -> str:
    first = ", ".join(names[:SOME])
    if len(names) <= SOME:
        return first
    return say("%(names)s and %(n)s more", names=first, n=len(names) - SOME)


def sifted(found: FilterResult, threshold: int) -> str:
    """How the filter came to what it said."""
    strikes = say_many("%(n)s strike", "%(n)s strikes", found.total_strikes)
    if not found.hard_rejections:
        return say("%(strikes)s, %(n)s are too many", strikes=strikes, n=threshold)
    alone = len(found.hard_rejections) == 1
    enough = (
        say("a reason that is enough by itself") if alone else say("reasons of which one is enough")
    )
    if not found.total_strikes:
        return enough
    return say("%(reasons)s, and there are %(strikes)s besides", reasons=enough, strikes=strikes)


def takes(result: MatchResult | None) -> str:
    """What score a match takes, and why that."""
    if result is None:
        return ""
    return say("a match takes %(n)s: %(why)s", n=result.threshold, why=result.threshold_why)


def stands(standing: Standing) -> str:
    """`matched 84`; what is filtered out has no score, but is told what it would have."""
    if standing.score is None:
        return standing.outcome or say("not judged")
    score = f"({standing.score})" if standing.outcome == "filtered" else standing.score
    return f"{standing.outcome} {score}"


class Bar(NamedTuple):
    """A part of a score, as long as its share of what it could be."""

    name: str
    points: int
    most: int
    why: str
    words: Sequence[str]

    @property
    def length(self) -> int:
        """In hundredths, whichever way it counts."""
        most = max(abs(self.most), abs(self.points), 1)
        return round(100 * abs(self.points) / most)


def bars(items: Iterable[Mapping[str, Any]]) -> list[Bar]:
    """What counts for a score and against it; where their sum is cut, `cut` says so."""
    return [
        Bar(one["name"], one["points"], one["most"], one["why"], one.get("words") or ())
        for one in items
        if one["name"] != LIMIT
    ]


def cut(bars: Iterable[Bar], score: int) -> tuple[int, str]:
    """The sum of the bars, and what became of it where the score is another."""
    total = sum(one.points for one in bars)
    if total > score == 100:
        return total, say("cut to 100, for a score ends there")
    if total < score == 0:
        return total, say("raised to 0, for a score begins there")
    return total, ""


def happened(event: matches.Event) -> str:
    """What happened to a match, in a sentence."""
    data = event.data
    if event.what == "status":
        return joined(
            [f"{data.get('before')} → {data.get('after')}", by(event.actor), data.get("note")]
        )
    before = f"{data['before']} → " if "before" in data else ""
    score = (
        say("score %(n)s", n=f"{before}{data['score']}") if data.get("score") is not None else ""
    )
    version = say("by version %(n)s of the profile", n=data.get("version"))
    return ", ".join(filter(None, [event.what, score, version]))


def by(actor: str | None) -> str | None:
    return actor and say("by %(name)s", name=actor)


def told(event: history.CatalogEvent) -> str:
    """What happened to a listing, in a sentence."""
    fields = ", ".join(one.replace("_", " ") for one in event.data)
    if event.what == "changed":
        return joined(
            [say("changed: %(fields)s", fields=fields) if fields else say("changed"), event.actor]
        )
    is_link = event.what == "linked" and "to" in event.data
    what = say("linked to %(id)s", id=event.data["to"]) if is_link else event.what
    why = str(event.data["why"]) if "why" in event.data else None
    return joined([what, why, by(event.actor)])


def _intake_words() -> dict[str, str]:
    return {
        "professional_summary": say("Summary"),
        "prioritized_skills": say("Skills"),
        "experience_highlights": say("Experience"),
        "projects_to_include": say("Projects"),
        "achievement_angles": say("Achievements"),
        "ats_keywords": say("Keywords"),
    }


def intake(said: Mapping[str, Any]) -> str:
    """What a resume should say, as a text to copy."""
    parts = ((word, said.get(name)) for name, word in _intake_words().items())
    return "\n\n".join(f"{word}\n{_lines(one)}" for word, one in parts if one)


def _lines(one: str | Sequence[str]) -> str:
    return one if isinstance(one, str) else "\n".join(f"- {line}" for line in one)
