"""How much CPU time, memory and time a reader of untrusted content may take."""

from __future__ import annotations

import math
import resource
import signal

MEMORY = 256 * 2**20
CPU_SECONDS = 2.0
WALL_SECONDS = 60.0
"""Far above the CPU limit: on a busy machine a healthy reader may wait long for a core."""
UNLIMITED = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS)}


def apply_limits(cpu_seconds: float, memory: int) -> None:
    """Limit what this process may use from now on."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu_limit = math.ceil(usage.ru_utime + usage.ru_stime + cpu_seconds)
    _set_soft_limit(resource.RLIMIT_CPU, cpu_limit)
    # The kernel rounds the limit up to a whole second; the timer ends this process on time.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    in_use = _address_space()
    if in_use:
        _set_soft_limit(resource.RLIMIT_AS, in_use + memory)


def remove_limits() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    for kind, limits in UNLIMITED.items():
        resource.setrlimit(kind, limits)


def _set_soft_limit(kind: int, limit: int) -> None:
    hard = UNLIMITED[kind][1]
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _address_space() -> int | None:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:  # Not Linux: there the address space is not limited.
        return None
