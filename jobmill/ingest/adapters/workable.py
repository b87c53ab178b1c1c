"""Workable."""

from __future__ import annotations

from jobmill.ingest.platform import Platform

PLATFORM = Platform(
    name="workable",
    title="Workable",
)
