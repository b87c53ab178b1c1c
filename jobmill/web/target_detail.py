"""One scheduled read of the rotation: its state and history, its schedule, pausing and resuming it."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.rotation import (
    call_gaps,
    due_targets,
    platform_state,
    rotation_status,
    target_overview,
    targets,
)
from jobmill.rotation.target_overview import TargetCall
from jobmill.rotation.targets import PolicyName, Target
from jobmill.settings import Settings

TargetChange = Literal["pause", "resume", "revive"]
CHANGES: Mapping[TargetChange, Callable[..., Awaitable[Target]]] = {
    "pause": targets.pause,
    "resume": targets.resume,
    "revive": targets.revive,
}


@dataclass(frozen=True, slots=True)
class TargetDetail:
    source: Source
    target: Target | None
    due_at: dt.datetime | None
    """None if it cannot be read until a person changes something."""
    why_not: str | None
    """Why its platform is not read now."""
    calls: list[TargetCall]
    expected: float | None
    """New jobs that a read now is expected to find."""

    @property
    def min_gap(self) -> float:
        """Seconds between two reads at least, by our rules, the platform's or as set."""
        return call_gaps.yield_gap(self.target).total_seconds() if self.target else 0.0


async def find_policy(tx: Tx, settings: Settings) -> PolicyName:
    """The policy of the last run, or else of the settings."""
    return await rotation_status.last_policy(tx) or settings.rotation_policy


async def read_target_detail(tx: Tx, id: int, now: dt.datetime, policy: PolicyName) -> TargetDetail:
    expected = await target_overview.call_values(tx, now, [id])
    source, target = await sources.get(tx, id), await targets.find(tx, id)
    capacity = await platform_state.remaining_calls(tx, now, os.environ)
    return TargetDetail(
        source,
        target,
        due_targets.target_due_at(target, policy, capacity, now) if target else None,
        capacity.unavailable.get(source.source_type),
        await target_overview.list_calls(tx, id),
        expected.get(id),
    )


async def change_status(tx: Tx, source_id: int, change: TargetChange, *, actor: str) -> Target:
    """Pause or resume it, or reset its failures."""
    await targets.sync_source(tx, source_id)
    return await CHANGES[change](tx, source_id, actor=actor)
