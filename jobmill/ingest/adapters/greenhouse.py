"""Greenhouse."""

from __future__ import annotations

from jobmill.ingest.platform import Platform

PLATFORM = Platform(
    name="greenhouse",
    title="Greenhouse",
)
