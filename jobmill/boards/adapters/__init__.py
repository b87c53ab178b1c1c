"""The platforms: one module each. To add a platform, add a module and list it below."""

from __future__ import annotations

from jobmill.catalog.platform_rules import PlatformRules, PostingIds

from ..platform import Platform
from . import (
    adzuna,
    api,
    arbeitnow,
    ashby,
    bamboohr,
    breezy,
    disabled,
    greenhouse,
    hackernews,
    himalayas,
    html,
    icims,
    jazzhr,
    jobicy,
    jobspy,
    jobvite,
    jooble,
    lever,
    oracle,
    personio,
    pinpoint,
    recruitee,
    reed,
    remoteok,
    remotive,
    rippling,
    rss,
    smartrecruiters,
    teamtailor,
    themuse,
    unreadable,
    usajobs,
    weworkremotely,
    workable,
    workday,
)

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
    *unreadable.PLATFORMS,
    rss.PLATFORM,
    html.PLATFORM,
    api.PLATFORM,
    jooble.PLATFORM,
    reed.PLATFORM,
    adzuna.PLATFORM,
    remoteok.PLATFORM,
    remotive.PLATFORM,
    arbeitnow.PLATFORM,
    jobicy.PLATFORM,
    himalayas.PLATFORM,
    themuse.PLATFORM,
    usajobs.PLATFORM,
    hackernews.PLATFORM,
    weworkremotely.PLATFORM,
    jobspy.PLATFORM,
    *disabled.PLATFORMS,
)

BY_NAME = {platform.name: platform for platform in PLATFORMS}

# Names under which data sets of postings list sites that have no adapter.
_OTHER_AGGREGATORS = ("hn", "simplify", "yc")

PLATFORM_RULES = PlatformRules(
    {platform.name: platform.posting_ids for platform in PLATFORMS}
    | jobspy.SITES
    | dict.fromkeys(_OTHER_AGGREGATORS, PostingIds(aggregator=True))
)
