"""One module a platform. A new one is a file here and a line below."""

from __future__ import annotations

from jobmill.ingest.adapters import (
    ashby,
    bamboohr,
    breezy,
    greenhouse,
    icims,
    jazzhr,
    jobvite,
    lever,
    oracle,
    personio,
    pinpoint,
    recruitee,
    rippling,
    smartrecruiters,
    teamtailor,
    workable,
    workday,
)
from jobmill.ingest.platform import Platform

PLATFORMS: tuple[Platform, ...] = (
    greenhouse.PLATFORM,
    lever.PLATFORM,
    ashby.PLATFORM,
    workday.PLATFORM,
    smartrecruiters.PLATFORM,
    workable.PLATFORM,
    recruitee.PLATFORM,
    personio.PLATFORM,
    teamtailor.PLATFORM,
    jobvite.PLATFORM,
    bamboohr.PLATFORM,
    breezy.PLATFORM,
    jazzhr.PLATFORM,
    pinpoint.PLATFORM,
    rippling.PLATFORM,
    icims.PLATFORM,
    oracle.PLATFORM,
)

BY_NAME = {platform.name: platform for platform in PLATFORMS}
