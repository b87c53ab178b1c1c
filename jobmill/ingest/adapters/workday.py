"""Workday."""

from __future__ import annotations

from pydantic import Field

from jobmill.ingest.platform import Config, Platform


class Site(Config):
    """One site of a tenant."""

    company_id: str
    base_url: str
    site: str
    facets: dict[str, list[str]] = Field(default_factory=dict)
    """Chosen facet ids, by facet: only these are asked for."""
    brand: str | None = None


PLATFORM = Platform(
    name="workday",
    title="Workday",
    config=Site,
    token=lambda config: f"{config.company_id}/{config.site}",
)
