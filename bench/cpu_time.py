"""Measures how much processor time other processes have used (Linux only)."""

from __future__ import annotations

import os
from pathlib import Path


def process_seconds(pid: int) -> float:
    """The processor time of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def postmaster_pid(data: Path) -> int:
    return int((data / "postmaster.pid").read_text().split()[0])


def server_seconds(postmaster: int) -> float:
    """The processor time of a PostgreSQL server with all its processes."""
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return sum(process_seconds(pid) for pid in (postmaster, *map(int, children)))
