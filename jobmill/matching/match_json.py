"""Matches as plain records: what the commands print, with the names that other programs know."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from jobmill.matching.matches import Match


def write(match: Match) -> dict[str, Any]:
    """Every field by its name in camelCase; times as ISO 8601, what is not known as null."""
    record = {field.name: getattr(match, field.name) for field in dataclasses.fields(match)}
    intake = record.pop("resume_intake")
    named = {camel(name): _plain(one) for name, one in record.items()}
    return named | {"resumeIntakeData": write_intake(intake)}


def write_intake(intake: Mapping[str, Any]) -> dict[str, Any]:
    """What a resume should say, by the same names."""
    return {camel(name): one for name, one in intake.items()}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _plain(one: Any) -> Any:
    return one.isoformat() if hasattr(one, "isoformat") else one
