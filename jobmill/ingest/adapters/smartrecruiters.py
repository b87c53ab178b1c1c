"""SmartRecruiters."""

from __future__ import annotations

from jobmill.ingest.platform import Platform

PLATFORM = Platform(
    name="smartrecruiters",
    title="SmartRecruiters",
)
