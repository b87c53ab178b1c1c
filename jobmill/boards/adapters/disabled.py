"""Sources that others have tried and given up: kept in sight, with the reason, and never called."""

from __future__ import annotations

from ..platform import Config, Platform


def _off(name: str, title: str, reason: str) -> Platform:
    return Platform(name=name, title=title, config=Config, token=lambda _: name, off=reason)


PLATFORMS = (
    _off("jobdatafeeds", "JobDataFeeds", "403 Forbidden: wants a subscription"),
    _off("theirstack", "TheirStack", "402 Payment Required"),
    _off("careerjet", "Careerjet", "403 Forbidden: blocks our addresses"),
    _off("careeronestop", "CareerOneStop", "401 Unauthorized"),
    _off("fantastic", "Fantastic Jobs", "404 Not Found"),
    _off("whatjobs", "WhatJobs", "wants a key that has not been given out"),
)
