"""Who does something to an opening: it stands in the log beside what was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["applicant", "company", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """`name` is no personal data: `applicant:12`, `person:3`, `key:2`, `local`, `worker`."""

    side: Side
    name: str
    request: str | None = None
    """The id of the request that asked for it."""


SYSTEM = Actor("system", "worker")
LOCAL = Actor("company", "local")


def by_applicant(id: int, request: str | None = None) -> Actor:
    return Actor("applicant", f"applicant:{id}", request)
