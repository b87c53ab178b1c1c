"""What pages say of sources: how they fare and why, what a run came to, how they are set up."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast
from urllib.parse import SplitResult, quote, urlsplit

from jobmill.catalog import history, sources
from jobmill.catalog.sources import Source
from jobmill.web import job_view
from jobmill.web.translations import say, say_many

HIDDEN = "•••"
SECRET = re.compile(
    r"(?<![a-z])(?:api_?key|key|token|secret|passw(?:or)?d|auth|authorization|sig(?:nature)?)(?![a-z])",
    re.IGNORECASE,
)
OPEN = frozenset({"board_token", "api_key_env", "api_key_name", "auth_type"})
"""Named like a secret, and none."""


def cause(name: str | None) -> str:
    """Whose fault a failure is, in a sentence."""
    known = {
        "transient": say("The site did not answer, or had a fault of its own."),
        "blocked": say("The site does not let us in."),
        "auth": say("A key is missing, or was refused."),
        "changed_format": say("The site answers otherwise than it used to."),
        "gone": say("The board is gone."),
        "rate_limited": say("The site asks us to slow down. That is no failure."),
    }
    return known.get(name or "", say("It did not work."))


def outcome(name: str) -> str:
    """How a run ended."""
    known = {
        "complete": say("complete"),
        "unchanged": say("unchanged"),
        "empty": say("empty, not believed yet"),
        "partial": say("failed half-way"),
        "truncated": say("shows only a part"),
        "held": say("held back"),
        "failed": say("failed"),
    }
    return known.get(name, name)


class Health(NamedTuple):
    state: Literal["good", "calm", "bad", "off"]
    words: str
    detail: str | None = None
    again_at: dt.datetime | None = None
    """When it is tried again by itself."""


def source_health(source: Source) -> Health:
    """How a source fares; what a person decided comes first."""
    if source.status == "rejected":
        return Health("off", say("It was rejected, and does not run."))
    if source.status == "pending_validation":
        return Health("calm", say("It waits for approval."), source.last_detail)
    if source.status == "disabled":
        return _disabled(source)
    if source.held_until:
        words = say("The vendor is in trouble: all its sources are held.")
        return Health("calm", words, source.last_detail, source.held_until)
    if source.consecutive_failures:
        return Health("bad", f"{_failures(source)} {cause(source.last_cause)}", source.last_detail)
    if source.last_cause:
        odd = {
            "empty": say("It shows nothing, where there were postings."),
        }.get(source.last_cause)
        return Health("calm", odd or cause(source.last_cause), source.last_detail)
    if source.last_scraped_at is None:
        return Health("calm", say("It has not run yet."))
    return Health("good", say("It works."))


def _disabled(source: Source) -> Health:
    if source.retry_at is None:
        return Health("off", say("A person disabled it."), source.disabled_reason)
    words = f"{say('Failures disabled it.')} {cause(source.last_cause)}"
    return Health("bad", words, source.disabled_reason, source.retry_at)


def _failures(source: Source) -> str:
    return say_many(
        "%(n)s failure in a row.", "%(n)s failures in a row.", source.consecutive_failures
    )


def via(name: str) -> str:
    """Who found it."""
    known = {
        "user_submission": say("by a person"),
        "automated_scan": say("by a scan"),
        "company_analysis": say("when a company was analysed"),
        "import": say("by an import"),
    }
    return known.get(name, name)


def describe_event(event: history.CatalogEvent) -> str:
    """What happened to a source or a company, in a line."""
    data = event.data
    more = data.get("reason") or data.get("why") or data.get("status")
    found = via(str(data["via"])) if "via" in data else None
    by = event.actor and say("by %(who)s", who=event.actor)
    return job_view.join_parts([event.what, str(more) if more else found, by])


def proof(source: Source) -> str:
    """Whether it is known to be set up rightly, and by what."""
    if not sources.is_valid(source):
        return say("incomplete: it does not say what to ask")
    if source.tested_at is None:
        return say("no test or run of it has worked yet: test it to see what it answers")
    if sources.needs_validation(source) and source.status == "pending_validation":
        return say("it works; a person still has to say whether it is the right board")
    if source.status == "disabled" or source.consecutive_failures:
        return say("it has worked, and does not now: see its health")
    return say("it works: a test or a run has shown it")


def setup(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How it is asked, in words; what may be a secret is not shown."""
    return [(_label(name), shown) for name, one in config.items() if (shown := _plain(name, one))]


def _label(name: str) -> str:
    known = {
        "board_token": say("Board"),
        "base_url": say("Site"),
        "url": say("Page"),
        "api_key_env": say("Key in the variable"),
        "auth_type": say("Signs in by"),
        "headers": say("Headers"),
        "selectors": say("Selectors"),
        "alternative_selectors": say("Other selectors"),
        "pagination": say("Further pages"),
        "method": say("Fetched by"),
        "search_term": say("Looks for"),
        "keywords": say("Looks for"),
    }
    return known.get(name) or name.replace("_", " ").capitalize()


def _plain(name: str, given: Any) -> str:
    if given in (None, "", [], {}):
        return ""
    if name == "headers" or (name not in OPEN and SECRET.search(name)):
        # Of headers, only which there are.
        names = ", ".join(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else ""
        return names or HIDDEN
    if isinstance(given, Mapping):
        return "; ".join(_pairs(cast("Mapping[str, Any]", given)))
    if isinstance(given, list | tuple):
        return ", ".join(filter(None, (_plain("", one) for one in cast("Sequence[Any]", given))))
    if isinstance(given, bool):
        return say("yes") if given else say("no")
    return mask(str(given))


def _pairs(given: Mapping[str, Any]) -> Iterator[str]:
    for name, one in given.items():
        if shown := _plain(name, one):
            yield f"{name.replace('_', ' ')}: {shown}"


def mask(text: str) -> str:
    """An address without what may be a secret in it; any other text as it is."""
    if "://" not in text:
        return text
    try:
        parts = urlsplit(text)
    except ValueError:
        return text
    query = "&".join(_part(one) for one in parts.query.split("&"))
    return parts._replace(netloc=_host(parts), query=query).geturl()


def _host(parts: SplitResult) -> str:
    who, at, host = parts.netloc.rpartition("@")
    return f"{quote(HIDDEN)}@{host}" if at and who else host


def _part(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={HIDDEN}" if equals and SECRET.search(name) else pair
