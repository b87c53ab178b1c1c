"""Matches as JSON objects, with the field names that other programs rely on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from jobmill.matching.matches import Match


def to_dict(match: Match) -> dict[str, Any]:
    """Every field in camelCase with the reasons, times in ISO 8601, unknown values as null."""
    record = {field.name: getattr(match, field.name) for field in dataclasses.fields(match)}
    intake = record.pop("resume_intake")
    named = {to_camel_case(name): _to_json_value(value) for name, value in record.items()}
    reasons = {to_camel_case(name): value for name, value in match.find_reasons().to_dict().items()}
    return named | reasons | {"resumeIntakeData": intake_to_dict(intake)}


def intake_to_dict(intake: Mapping[str, Any]) -> dict[str, Any]:
    """The suggestions for a resume, with their names in camelCase."""
    return {to_camel_case(name): value for name, value in intake.items()}


def to_camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _to_json_value(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value
