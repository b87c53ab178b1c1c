"""Rippling."""

from __future__ import annotations

from jobmill.ingest.platform import Platform

PLATFORM = Platform(
    name="rippling",
    title="Rippling",
)
