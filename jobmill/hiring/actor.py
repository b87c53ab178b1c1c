"""The actor of a change to an opening, as the audit log records it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["applicant", "company", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """`name` holds no personal data: `applicant:12`, `applicant:12 link:person:3`, `person:3`, `key:2`, `local`, `worker`."""

    side: Side
    name: str
    request: str | None = None
    """The id of the HTTP request that asked for the change."""


SYSTEM = Actor("system", "worker")
LOCAL = Actor("company", "local")
ISSUED_BY = " link:"
"""Separates the applicant from the issuer of the link that was used."""


def by_applicant(id: int, request: str | None = None, issuer: str | None = None) -> Actor:
    """An applicant; with an `issuer`, the holder of a link that the company issued."""
    name = f"applicant:{id}"
    return Actor("applicant", f"{name}{ISSUED_BY}{issuer}" if issuer else name, request)
