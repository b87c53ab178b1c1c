"""The platforms: one module each. To add a platform, add a module and list it below."""

from __future__ import annotations

import difflib
import re

from jobmill.catalog.platform_rules import PlatformRules, PostingIds
from jobmill.errors import Invalid

from ..platform import Config, Platform
from . import (
    adzuna,
    api,
    arbeitnow,
    ashby,
    bamboohr,
    breezy,
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


def _disabled(name: str, title: str, reason: str) -> Platform:
    return Platform(name=name, title=title, config=Config, token=lambda _: name, disabled=reason)


# Platforms that are never called; the list shows the reason.
DISABLED = (
    _disabled("jobdatafeeds", "JobDataFeeds", "403 Forbidden: needs a subscription"),
    _disabled("theirstack", "TheirStack", "402 Payment Required"),
    _disabled("careerjet", "Careerjet", "403 Forbidden: blocks our requests"),
    _disabled("careeronestop", "CareerOneStop", "401 Unauthorized"),
    _disabled("fantastic", "Fantastic Jobs", "404 Not Found"),
    _disabled("whatjobs", "WhatJobs", "needs a key that is not available"),
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
    *DISABLED,
)

BY_NAME = {platform.name: platform for platform in PLATFORMS}
_ALIASES = {
    "hn": "hackernews",
    "wwr": "weworkremotely",
    "atom": "rss",
    "feed": "rss",
    "muse": "themuse",
}


def find_platform(name: str) -> Platform:
    """The platform of that name or alias, in any spelling; Invalid suggests the closest name."""
    plain = re.sub("[^a-z0-9]", "", name.lower())
    platform = BY_NAME.get(name) or BY_NAME.get(_ALIASES.get(plain, plain))
    if platform:
        return platform
    close = difflib.get_close_matches(name.lower(), BY_NAME, n=1)
    hint = f": did you mean {close[0]}?" if close else ""
    raise Invalid(f"there is no platform {name}{hint}")


# Names under which data sets of postings list sites that have no adapter.
_OTHER_AGGREGATORS = ("hn", "simplify", "yc")

PLATFORM_RULES = PlatformRules(
    {platform.name: platform.posting_ids for platform in PLATFORMS}
    | jobspy.SITE_POSTING_IDS
    | dict.fromkeys(_OTHER_AGGREGATORS, PostingIds(aggregator=True))
)
