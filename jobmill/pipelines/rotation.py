"""The rotation as work: what is due becomes items that run sources, once each however many ask."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from jobmill import queue
from jobmill.db import Tx
from jobmill.pipelines import source
from jobmill.queue import Finish, ItemId, Move, NewItem, RefusedItem, Work
from jobmill.rotation import planner, targets
from jobmill.rotation.planner import RunPlan, RunRequest
from jobmill.rotation.target_selection import RunLimits
from jobmill.settings import Settings

KIND = "rotation"
EVERY = dt.timedelta(minutes=5)


def request_from_settings(settings: Settings) -> RunRequest:
    """What the settings say of every run."""
    limits = RunLimits(
        companies=settings.max_company_targets_per_run,
        slices=settings.max_search_slices_per_run,
        platforms={
            "greenhouse": settings.greenhouse_max_boards_per_run,
            "lever": settings.lever_max_companies_per_run,
        },
    )
    return RunRequest(
        settings.rotation_policy, limits=limits, per_day=settings.rotation_calls_per_day
    )


async def start_run(
    tx: Tx, wish: RunRequest, environ: Mapping[str, str], *, at: dt.datetime | None = None
) -> tuple[RunPlan, dict[int, ItemId]]:
    """Claim what is due and put it into the queue, in one transaction: the plan, and the item of
    each source. What the queue has no room for is left for the next run."""
    planned = await planner.start_run(tx, wish, at or await planner.clock(tx), environ)
    news = [source.new_item(one.source_id, window=one.repeat_window) for one in planned.claimed]
    answers = await queue.submit_all(tx, news) if news else []
    full = [one for one in answers if isinstance(one, RefusedItem) and one.live is None]
    left_out = [int(one.new.data["source"]) for one in full]
    await targets.release(tx, ids=left_out, why="the queue has no room")
    items = {
        one.source_id: answer.id if not isinstance(answer, RefusedItem) else answer.live
        for one, answer in zip(planned.claimed, answers, strict=True)
    }
    claimed = [one for one in planned.claimed if one.source_id not in left_out]
    placed = {id: item for id, item in items.items() if item is not None}
    return replace(planned, claimed=claimed), placed


def new_item() -> NewItem:
    """A run that a person asks for: a worker makes it, without regard to the pace."""
    return NewItem(KIND, "run", "what a person asked for", {"trigger": "manual"}, priority=0)


async def rotate(wish: RunRequest, work: Work) -> Move:
    """The recurring run, or one that a person asked for."""
    by_hand = work.data.get("trigger") == "manual"
    wish = replace(wish, trigger="manual") if by_hand else wish
    if wish.per_day <= 0 and not by_hand:
        return Finish("rotation_calls_per_day is 0: nothing is called")
    # In the transaction that ends the item: a worker that dies before that has claimed nothing, and
    # the next attempt does not choose as many targets again.
    return Finish("what is due is queued", save=partial(start_run, wish=wish, environ=os.environ))
