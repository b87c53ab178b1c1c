"""Oracle Recruiting."""

from __future__ import annotations

from jobmill.ingest.platform import Config, Platform


class Site(Config):
    """One site on one host."""

    base_url: str
    site: str
    brand: str | None = None


PLATFORM = Platform(
    name="oracle",
    title="Oracle Recruiting",
    config=Site,
)
