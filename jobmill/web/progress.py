"""How far a piece of work is that somebody asked for on a page: a worker does it, the page watches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from jobmill import queue
from jobmill.db import Tx
from jobmill.errors import Invalid, NotFound, Unavailable
from jobmill.pipelines import company, discovery, preview, source
from jobmill.queue import AcceptedItem, ItemId, NewItem, NotAdmitted, inspect, lineage
from jobmill.queue.inspect import Item
from jobmill.web.texts import say

State = Literal["waiting", "running", "later", "blocked", "done", "passed over", "failed"]
STATES: Mapping[str, State] = {
    "PENDING": "waiting",
    "PROCESSING": "running",
    "BLOCKED": "blocked",
    "SUCCESS": "done",
    "FAILED": "failed",
}
ENDED: frozenset[State] = frozenset({"done", "passed over", "failed"})


class Step(NamedTuple):
    words: str
    state: Literal["done", "now", "stopped", "to come"]


class Progress(NamedTuple):
    item: Item
    """The one that does it now, or did it last."""
    state: State
    steps: Sequence[Step]
    able: bool
    """Whether somebody runs who can do it."""

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def words(self) -> str:
        return {
            "waiting": say("It waits for a worker."),
            "running": say("A worker is at it."),
            "later": say("It did not work, and is tried again later."),
            "blocked": say("It waits for something that is missing."),
            "done": say("It is done."),
            "passed over": say("It came to nothing."),
            "failed": say("It failed."),
        }[self.state]

    @property
    def detail(self) -> str | None:
        return self.item.error_text or self.item.message


def _steps() -> Mapping[str, Sequence[tuple[str, str]]]:
    return {
        company.KIND: (
            ("fetch", say("Read its pages")),
            ("extract", say("Note what they tell")),
            ("analyze", say("Find its stack, its board and its tier")),
            ("save", say("Keep it")),
        ),
        discovery.KIND: (
            ("discover", say("Recognise the board")),
            ("validate", say("See that it answers")),
            ("configure", say("Keep it as a source")),
            ("test", say("Read its first page")),
        ),
        source.KIND: (("scrape", say("Read all its postings")),),
        preview.KIND: (("try", say("Read its first page")),),
    }


async def start(tx: Tx, new: NewItem) -> ItemId:
    """The item that does this work, be it one that was there; Conflict where there is no room."""
    try:
        [answer] = await queue.submit_all(tx, [new])
    except Invalid as error:
        raise Unavailable(
            say("No worker has ever run here that does this. Start one: `jobmill up`")
        ) from error
    if isinstance(answer, AcceptedItem):
        return answer.id
    if answer.live is None:
        raise NotAdmitted(answer)
    return answer.live


async def read(tx: Tx, id: int, fits: Callable[[Item], bool]) -> Progress | None:
    """How far an item is; None where there is none, or it is about something else."""
    try:
        first = await inspect.get_item(tx, ItemId(id))
    except NotFound:
        return None
    if not fits(first):
        return None
    item = await _last(tx, first)
    return Progress(item, _state(item), _walk(item), await _able(tx, item))


async def _last(tx: Tx, first: Item) -> Item:
    """Of work that goes from item to item, the one that it has come to."""
    if first.kind != company.KIND:
        return first
    kin = await lineage.read_lineage(tx, first.tracking_id, whole=False)
    handed = [one for one in kin if one.kind == first.kind and one.handed_over]
    return next((one for one in reversed(handed) if first.id in one.ancestry), first)


def _state(item: Item) -> State:
    if item.status == "PENDING" and item.retry_count:
        return "later"
    return STATES.get(item.status, "passed over")


def _walk(item: Item) -> list[Step]:
    steps = _steps().get(item.kind, ())
    names = [name for name, _ in steps]
    here = names.index(item.stage) if item.stage in names else 0
    whole = item.status == "SUCCESS"
    now = "stopped" if _state(item) in ENDED else "now"
    return [
        Step(words, "done" if n < here or whole else now if n == here else "to come")
        for n, (_, words) in enumerate(steps)
    ]


async def _able(tx: Tx, item: Item) -> bool:
    alive = {worker.id for worker in await inspect.list_workers(tx) if worker.alive}
    return any(
        one.worker in alive and (one.kind, one.stage) == (item.kind, item.stage)
        for one in await inspect.list_processors(tx)
    )
