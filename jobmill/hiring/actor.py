"""The actor of a change to an opening, as the audit log records it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["applicant", "company", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """`name` holds no personal data: `applicant:12`, `person:3`, `key:2`, `local`, `worker`."""

    side: Side
    name: str
    request: str | None = None
    """The id of the HTTP request that asked for the change."""


SYSTEM = Actor("system", "worker")
LOCAL = Actor("company", "local")


def by_applicant(id: int, request: str | None = None) -> Actor:
    return Actor("applicant", f"applicant:{id}", request)
