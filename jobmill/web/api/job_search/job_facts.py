"""What lists of listings and matches show of a job."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from jobmill.catalog.posting import Arrangement, Period
from jobmill.matching.verdicts import Outcome
from jobmill.web.api.schemas import Schema
from jobmill.web.parameters import OutputTime


class JobFacts(Schema):
    """What a list shows of a job."""

    title: Annotated[str | None, Field(examples=["Pump Engineer"])]
    company: Annotated[str | None, Field(examples=["Wells & Co"])]
    location: Annotated[str | None, Field(examples=["Portland, OR"])]
    arrangement: Arrangement | None
    salary_min: float | None
    salary_max: float | None
    salary_currency: str | None
    salary_period: Period | None
    posted_at: OutputTime | None
    first_seen_at: OutputTime
    closed_at: OutputTime | None
    """Null while the job is open."""
    url: str


class VerdictItem(Schema):
    """The decision about a job for one profile."""

    outcome: Outcome
    score: Annotated[int | None, Field(examples=[84])]
    threshold: int | None
    """The score that a match needs."""
    summary: str
    """Why a job was filtered out; empty otherwise."""
