"""The actors of events by name, in the reader's language."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from jobmill.catalog.history import CatalogEvent
from jobmill.db import Tx
from jobmill.hiring.actor_names import ActorWords, find_actor_names
from jobmill.matching.matches import MatchEvent
from jobmill.web.auth import Visitor
from jobmill.web.translations import say

EventT = TypeVar("EventT", CatalogEvent, MatchEvent)


async def find_labels(tx: Tx, actors: Collection[str], visitor: Visitor) -> dict[str, str]:
    """The name of each actor: Maria (recruiter), Jobmill (automatic), You."""
    words = ActorWords(
        you=say("You"),
        automatic=say("Jobmill (automatic)"),
        operator=say("Server operator"),
        person="%(name)s (%(role)s)",
        key=say("API key '%(name)s'"),
        with_link=say("%(actor)s, with a link from %(issuer)s"),
    )
    return await find_actor_names(tx, actors, reader=visitor.actor.name, words=words)


async def name_actor(tx: Tx, actor: str | None, visitor: Visitor) -> str | None:
    return (await find_labels(tx, [actor], visitor))[actor] if actor else None


async def name_actors(tx: Tx, events: Sequence[EventT], visitor: Visitor) -> list[EventT]:
    """The events with names in place of their actors."""
    labels = await find_labels(tx, {event.actor for event in events if event.actor}, visitor)
    return [replace(event, actor=labels[event.actor]) if event.actor else event for event in events]
