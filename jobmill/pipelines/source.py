"""Runs a source: one item walks it from its first page to its last."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from jobmill.catalog import runs
from jobmill.catalog.runs import Harvest, Saved
from jobmill.db import Tx
from jobmill.errors import Conflict, NotFound, Unavailable
from jobmill.ingest import probe
from jobmill.pipelines import inbox
from jobmill.queue import Block, Finish, ItemId, Move, New, Skip, Work
from jobmill.tools import Tools

KIND = "source"


def work(id: int) -> New:
    """The item that runs a source; there is one at a time, however often it is asked for."""
    return New(KIND, "scrape", f"source:{id}", data={"source": id})


async def scrape(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Walk the source; what it showed is kept together with the end of the item."""
    id: int = work.data["source"]
    try:
        harvest = await probe.run(tools, id, environ)
    except Unavailable as error:
        return Block("key", str(error))
    except (Conflict, NotFound) as error:
        return Skip(str(error))
    # What a source could not show is its health's business, and the next run's: no retry here.
    end = Skip if harvest.outcome in ("failed", "held") else Finish
    return end(_words(harvest), save=partial(keep, id=id, harvest=harvest, item=work.id))


async def keep(tx: Tx, *, id: int, harvest: Harvest, item: ItemId | None = None) -> Saved:
    """What a run saw; what it shows anew or otherwise than before is to be judged."""
    saved = await runs.save(tx, id, harvest)
    await inbox.put(tx, [*saved.added, *saved.changed], parent=item)
    return saved


def _words(harvest: Harvest) -> str:
    told = f": {harvest.detail}" if harvest.detail else ""
    postings = "posting" if len(harvest.seen) == 1 else "postings"
    calls = "call" if harvest.calls == 1 else "calls"
    return f"{harvest.outcome}, {len(harvest.seen)} {postings} in {harvest.calls} {calls}{told}"
