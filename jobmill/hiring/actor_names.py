"""Names for people to read instead of the actors that logs record, such as `person:3` or `worker`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.actor import ISSUED_BY, LOCAL, SYSTEM
from jobmill.hiring.records import applicants
from jobmill.people import keys, persons


@dataclass(frozen=True, slots=True)
class ActorWords:
    """The words around names; pages translate them."""

    you: str = "You"
    automatic: str = "Jobmill (automatic)"
    operator: str = "Server operator"
    person: str = "%(name)s (%(role)s)"
    key: str = "API key '%(name)s'"
    with_link: str = "%(actor)s, with a link from %(issuer)s"


async def find_actor_names(
    tx: Tx,
    actors: Collection[str],
    *,
    reader: str | None = None,
    words: ActorWords = ActorWords(),  # noqa: B008 - frozen
) -> dict[str, str]:
    """The name of each actor, in at most three queries; an unknown actor keeps its text.

    `reader` is the actor that reads the names.
    """
    single = {part for actor in actors for part in actor.split(ISSUED_BY)}
    names = await _find_stored_names(tx, single, words)
    names |= {SYSTEM.name: words.automatic, LOCAL.name: words.operator}
    if reader is not None:
        names[reader] = words.you
    return {actor: _name(actor, names, words) for actor in actors}


def _name(actor: str, names: Mapping[str, str], words: ActorWords) -> str:
    applicant, _, issuer = actor.partition(ISSUED_BY)
    if actor in names or not issuer:
        return names.get(actor, actor)
    parts = {"actor": names.get(applicant, applicant), "issuer": names.get(issuer, issuer)}
    return words.with_link % parts


async def _find_stored_names(tx: Tx, actors: Collection[str], words: ActorWords) -> dict[str, str]:
    ids: defaultdict[str, list[int]] = defaultdict(list)
    for actor in actors:
        kind, _, id = actor.partition(":")
        if id.isdecimal() and len(id) < 19:
            ids[kind].append(int(id))
    names: dict[str, str] = {}
    if applicant_ids := ids["applicant"]:
        for id, name in (await applicants.find_applicant_names(tx, applicant_ids)).items():
            names[f"applicant:{id}"] = name
    if person_ids := ids["person"]:
        for person in await persons.find_by_ids(tx, person_ids):
            parts = {"name": person.name, "role": person.role}
            names[f"person:{person.id}"] = words.person % parts
    if key_ids := ids["key"]:
        for id, name in (await keys.find_names(tx, key_ids)).items():
            names[f"key:{id}"] = words.key % {"name": name}
    return names
