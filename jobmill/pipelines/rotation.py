"""Run the rotation: queue one item for every source that is due."""

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
from jobmill.rotation.targets import PolicyName
from jobmill.settings import Settings

KIND = "rotation"
RUN_INTERVAL = dt.timedelta(minutes=5)


def request_from_settings(settings: Settings) -> RunRequest:
    """The limits that the settings define for every run."""
    per_platform = {
        "greenhouse": settings.greenhouse_max_boards_per_run,
        "lever": settings.lever_max_companies_per_run,
    }
    limits = RunLimits(
        companies=settings.max_company_targets_per_run,
        slices=settings.max_search_slices_per_run,
        platforms={name: most for name, most in per_platform.items() if most is not None},
    )
    return RunRequest(
        settings.rotation_policy, limits=limits, per_day=settings.rotation_calls_per_day
    )


def request_like_last_run(settings: Settings, last_policy: PolicyName | None) -> RunRequest:
    """The run to show before it starts. The policy is a setting of the workers: use the one of their
    last run."""
    request = request_from_settings(settings)
    return replace(request, policy=last_policy) if last_policy else request


async def start_run(
    tx: Tx, request: RunRequest, environ: Mapping[str, str], *, at: dt.datetime | None = None
) -> tuple[RunPlan, dict[int, ItemId]]:
    """Claim due targets and queue their items in one transaction; return the plan and each source's
    item. Targets that the queue has no room for are released for the next run."""
    plan = await planner.start_run(tx, request, at or await planner.clock(tx), environ)
    new_items = [
        source.new_item(target.source_id, window=target.repeat_window) for target in plan.claimed
    ]
    answers = await queue.submit_all(tx, new_items) if new_items else []
    refused = [
        answer for answer in answers if isinstance(answer, RefusedItem) and answer.live is None
    ]
    refused_ids = [int(answer.new.data["source"]) for answer in refused]
    await targets.release(tx, ids=refused_ids, why="the queue has no room")
    items = {
        target.source_id: answer.id if not isinstance(answer, RefusedItem) else answer.live
        for target, answer in zip(plan.claimed, answers, strict=True)
    }
    claimed = [target for target in plan.claimed if target.source_id not in refused_ids]
    item_ids = {id: item for id, item in items.items() if item is not None}
    return replace(plan, claimed=claimed), item_ids


def new_item() -> NewItem:
    """The item for a run that a person starts; it ignores the daily pace."""
    return NewItem(KIND, "run", "what a person asked for", {"trigger": "manual"}, priority=0)


async def rotate(request: RunRequest, work: Work) -> Move:
    """Run the scheduled rotation, or one that a person started."""
    manual = work.data.get("trigger") == "manual"
    request = replace(request, trigger="manual") if manual else request
    if request.per_day <= 0 and not manual:
        return Finish("rotation_calls_per_day is 0: no source is read")
    # Claim in the transaction that finishes the item: if the worker dies first, nothing is claimed
    # and the next attempt does not claim a second set of targets.
    return Finish(
        "due sources queued", save=partial(start_run, request=request, environ=os.environ)
    )
