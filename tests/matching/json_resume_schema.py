"""The schema of JSON Resume 1.0.0, written down from its specification: the parts that we write."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
URL = {"type": "string", "format": "uri"}
DATE = {
    "type": "string",
    "pattern": "^([1-2][0-9]{3}-[0-1][0-9]-[0-3][0-9]|[1-2][0-9]{3}-[0-1][0-9]|[1-2][0-9]{3})$",
}


def _object(**properties: Any) -> dict[str, Any]:
    """Only the document itself refuses other properties."""
    return {"type": "object", "additionalProperties": True, "properties": properties}


def _list(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "additionalItems": False, "items": _object(**properties)}


SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "$schema": URL,
        "basics": _object(
            name=TEXT,
            label=TEXT,
            image=TEXT,
            email={"type": "string", "format": "email"},
            phone=TEXT,
            url=URL,
            summary=TEXT,
            location=_object(address=TEXT, postalCode=TEXT, city=TEXT, countryCode=TEXT, region=TEXT),
            profiles=_list(network=TEXT, username=TEXT, url=URL),
        ),
        "work": _list(
            name=TEXT, location=TEXT, description=TEXT, position=TEXT, url=URL, startDate=DATE,
            endDate=DATE, summary=TEXT, highlights=TEXTS,
        ),
        "volunteer": _list(organization=TEXT, position=TEXT, url=URL, startDate=DATE, endDate=DATE),
        "education": _list(
            institution=TEXT, url=URL, area=TEXT, studyType=TEXT, startDate=DATE, endDate=DATE,
            score=TEXT, courses=TEXTS,
        ),
        "awards": _list(title=TEXT, date=DATE, awarder=TEXT, summary=TEXT),
        "certificates": _list(name=TEXT, date=DATE, url=URL, issuer=TEXT),
        "publications": _list(name=TEXT, publisher=TEXT, releaseDate=DATE, url=URL, summary=TEXT),
        "skills": _list(name=TEXT, level=TEXT, keywords=TEXTS),
        "languages": _list(language=TEXT, fluency=TEXT),
        "interests": _list(name=TEXT, keywords=TEXTS),
        "references": _list(name=TEXT, reference=TEXT),
        "projects": _list(
            name=TEXT, description=TEXT, highlights=TEXTS, keywords=TEXTS, startDate=DATE,
            endDate=DATE, url=URL, roles=TEXTS, entity=TEXT, type=TEXT,
        ),
        "meta": _object(canonical=URL, version=TEXT, lastModified=TEXT),
    },
}  # fmt: skip
