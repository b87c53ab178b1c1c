"""Describe sources on pages: health, results of runs, settings without secrets."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

from jobmill.catalog import history, sources
from jobmill.catalog.sources import Source
from jobmill.web import job_view
from jobmill.web.source_secrets import HIDDEN, hide_secrets, is_secret
from jobmill.web.translations import say, say_many


def describe_cause(cause: str | None) -> str:
    """The cause of a failed run, in a sentence."""
    sentences = {
        "transient": say("The site did not respond or failed with an error."),
        "blocked": say("The site refuses access."),
        "auth": say("An API key is missing or was refused."),
        "changed_format": say("The site has changed its format."),
        "gone": say("The board no longer exists."),
        "rate_limited": say("The site asked us to slow down. This does not count as a failure."),
    }
    return sentences.get(cause or "", say("The run failed."))


def describe_outcome(outcome: str) -> str:
    names = {
        "complete": say("complete"),
        "unchanged": say("unchanged"),
        "empty": say("empty, to be confirmed by the next run"),
        "partial": say("failed partway"),
        "truncated": say("incomplete: the site shows only some jobs"),
        "held": say("on hold"),
        "failed": say("failed"),
    }
    return names.get(outcome, outcome)


class SourceHealth(NamedTuple):
    state: Literal["good", "calm", "bad", "off"]
    summary: str
    detail: str | None = None
    retry_at: dt.datetime | None = None
    """When it is retried automatically."""


def source_health(source: Source) -> SourceHealth:
    """The health of a source; decisions of a person come first."""
    if source.status == "rejected":
        return SourceHealth("off", say("Rejected. It does not run."))
    if source.status == "pending_validation":
        return SourceHealth("calm", say("Needs approval"), source.last_detail)
    if source.status == "disabled":
        return _disabled_health(source)
    if source.held_until:
        summary = say("The platform has problems. All its sources are on hold.")
        return SourceHealth("calm", summary, source.last_detail, source.held_until)
    if source.consecutive_failures:
        failures = say_many(
            "%(n)s failure in a row.", "%(n)s failures in a row.", source.consecutive_failures
        )
        summary = f"{failures} {describe_cause(source.last_cause)}"
        return SourceHealth("bad", summary, source.last_detail)
    if source.last_cause == "empty":
        summary = say("Shows no jobs, although it had some before")
        return SourceHealth("calm", summary, source.last_detail)
    if source.last_cause:
        return SourceHealth("calm", describe_cause(source.last_cause), source.last_detail)
    if source.last_scraped_at is None:
        return SourceHealth("calm", say("Not run yet"))
    return SourceHealth("good", say("Working"))


def _disabled_health(source: Source) -> SourceHealth:
    if source.retry_at is None:
        return SourceHealth("off", say("Disabled by a person"), source.disabled_reason)
    summary = f"{say('Disabled after repeated failures.')} {describe_cause(source.last_cause)}"
    return SourceHealth("bad", summary, source.disabled_reason, source.retry_at)


def describe_discovery(via: str) -> str:
    """How a source was discovered."""
    names = {
        "user_submission": say("added by a person"),
        "automated_scan": say("found by a scan"),
        "company_analysis": say("found while analyzing a company"),
        "import": say("imported"),
    }
    return names.get(via, via)


def describe_event(event: history.CatalogEvent) -> str:
    """A line of the history of a source or a company."""
    data = event.data
    reason = data.get("reason") or data.get("why") or data.get("status")
    discovery = describe_discovery(str(data["via"])) if "via" in data else None
    detail = str(reason) if reason else discovery
    return job_view.join_parts([event.what, detail, job_view.by(event.actor)])


def describe_check(source: Source) -> str:
    """Whether the settings of a source are complete and known to work."""
    if not sources.is_valid(source):
        return say("Incomplete: the board or address to read is missing")
    if source.tested_at is None:
        return say("Not confirmed: no test or run has succeeded yet")
    if sources.needs_validation(source) and source.status == "pending_validation":
        return say("Working, but a person has to confirm that it is the right board")
    if source.status == "disabled" or source.consecutive_failures:
        return say("Worked before, but not now (see Health)")
    return say("Confirmed by a test or a run")


def describe_config(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the settings, with secrets hidden."""
    return [
        (_setting_name(name), text)
        for name, value in config.items()
        if (text := _format_value(name, value))
    ]


def _setting_name(name: str) -> str:
    names = {
        "board_token": say("Board"),
        "base_url": say("Site"),
        "url": say("Page"),
        "api_key_env": say("Environment variable of the API key"),
        "auth_type": say("Authentication"),
        "headers": say("Headers"),
        "selectors": say("Selectors"),
        "alternative_selectors": say("Alternative selectors"),
        "pagination": say("Pagination"),
        "method": say("Fetched with"),
        "search_term": say("Search term"),
        "keywords": say("Search term"),
    }
    return names.get(name) or name.replace("_", " ").capitalize()


def _format_value(name: str, value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    if is_secret(name):
        # Show the names of headers, never their values.
        names = ", ".join(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else ""
        return names or HIDDEN
    if isinstance(value, Mapping):
        return "; ".join(_format_pairs(cast("Mapping[str, Any]", value)))
    if isinstance(value, list | tuple):
        texts = (_format_value("", element) for element in cast("Sequence[Any]", value))
        return ", ".join(filter(None, texts))
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    return hide_secrets(str(value))


def _format_pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if text := _format_value(name, value):
            yield f"{name.replace('_', ' ')}: {text}"
