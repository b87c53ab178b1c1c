"""The safety guards that `scripts/guards` removes, by the part of the product they are in."""

from __future__ import annotations

from pathlib import Path

from scripts.guard_list import (
    api,
    claims,
    documents,
    forms,
    hiring,
    hiring_writes,
    notifications,
    outside,
    quiet_hours,
    reading,
    reports,
    rest,
    store,
    worker,
)
from scripts.guard_list.guard import Guard

__all__ = ["GUARDS", "Guard", "find_faults"]

GUARDS = [
    *claims.GUARDS,
    *documents.GUARDS,
    *store.GUARDS,
    *worker.GUARDS,
    *hiring.GUARDS,
    *hiring_writes.GUARDS,
    *forms.GUARDS,
    *quiet_hours.GUARDS,
    *notifications.GUARDS,
    *outside.GUARDS,
    *reading.GUARDS,
    *reports.GUARDS,
    *api.GUARDS,
    *rest.GUARDS,
]


def find_faults(root: Path) -> list[str]:
    """What no longer fits the checkout: a guard's text must occur in its file exactly once."""
    names = [guard.name for guard in GUARDS]
    faults = [f"two guards are named {name!r}" for name in {*names} if names.count(name) > 1]
    for guard in GUARDS:
        count = (root / guard.file).read_text().count(guard.old)
        if count != 1:
            faults.append(f"{guard.name}: its text occurs {count} times in {guard.file}")
        faults += [
            f"{guard.name}: there is no {test}" for test in guard.tests if not exists(root, test)
        ]
    return faults


def exists(root: Path, test: str) -> bool:
    """Whether a test file, or a test named `file::function[parameters]`, is in the checkout."""
    file, _, function = test.partition("::")
    path = root / file
    name = function.rpartition("::")[2].partition("[")[0]
    return path.exists() and (not name or f"def {name}(" in path.read_text())
