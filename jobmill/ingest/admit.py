"""Takes a source in: recognises it, tries it, keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.catalog import companies, sources
from jobmill.catalog.companies import CompanyId
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.ingest import address, detect, keys, probe, reading, saved
from jobmill.ingest.address import Found
from jobmill.ingest.platform import Platform
from jobmill.ingest.probe import Sample
from jobmill.ingest.scrape import Target
from jobmill.tools import Tools


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to be added: a URL, or a platform with its token or config."""

    url: str | None = None
    platform: str | None = None
    token: str | None = None
    config: dict[str, Any] | None = None
    name: str | None = None
    company: str | None = None
    website: str | None = None
    test: bool = True
    enable: bool = False


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of it."""

    id: int
    name: str
    platform: str
    token: str
    new: bool
    status: str
    confidence: str
    evidence: str
    postings: int | None
    note: str


async def add(tools: Tools, wish: Wish, environ: Mapping[str, str]) -> Admitted:
    """Keep a source. It is enabled when it was recognised for sure and a test worked, or when the
    wish says so; else it waits for a person."""
    found = await _recognise(tools, wish)
    platform = saved.platform(found.platform)
    config = reading.configure(platform, found.config or {})
    probe.check(platform, environ, keys.missing(platform, config, environ))
    tried = await _try(tools, Target(platform, config, environ)) if wish.test else None
    async with tools.db.transaction() as tx:
        new = await _new_source(tx, wish, found, platform, platform.token(config), tried)
        sure = found.confidence == "high" and tried is not None and tried.ok
        id, created = await sources.add(tx, new, enabled=sure or wish.enable)
        if tried and tried.ok:
            await sources.tested(tx, id)
        source = await sources.get(tx, id)
    return Admitted(
        id=id,
        name=source.name,
        platform=source.source_type,
        token=source.token,
        new=created,
        status=source.status,
        confidence=found.confidence,
        evidence=found.evidence,
        postings=tried.seen if tried else None,
        note=_note(created, source.status, tried),
    )


async def _recognise(tools: Tools, wish: Wish) -> Found:
    if wish.platform:
        return _as_told(wish, saved.platform(wish.platform))
    if not wish.url:
        raise Invalid("say what to add: a URL, or --platform with --token or --config")
    found = address.from_url(wish.url) or await detect.discover(
        tools.fetch, wish.url, company=wish.company
    )
    if found is None or found.config is None:
        raise Invalid(
            f"no board was recognised at {wish.url}: give --platform html with --config "
            "(a list of selectors), or the URL of the board itself"
        )
    return found


def _as_told(wish: Wish, platform: Platform) -> Found:
    config = dict(wish.config or {})
    if wish.token:
        config["board_token"] = wish.token
    if wish.url and "url" in platform.config.model_fields:
        config.setdefault("url", wish.url)
    return Found(
        platform=platform.name,
        token=wish.token,
        confidence=platform.confidence,
        evidence="named by hand",
        config=config,
        url=wish.url or "",
    )


async def _try(tools: Tools, target: Target) -> Sample:
    tried = await probe.sample(tools.fetch, target)
    if tried.cause == "gone":
        raise Invalid(f"there is no such board at {target.platform.title}: {tried.detail}")
    return tried


async def _new_source(
    tx: Tx,
    wish: Wish,
    found: Found,
    platform: Platform,
    token: str,
    tried: Sample | None,
) -> NewSource:
    company = wish.company or _company_of(tried)
    id: CompanyId | None = None
    if wish.company:
        id = await companies.ensure(tx, wish.company, wish.website)
    return NewSource(
        name=wish.name or f"{company or token} {platform.title}",
        source_type=platform.name,
        token=token,
        config=found.config or {},
        url=found.url or wish.url,
        company_id=id,
        company_name=company,
        relation=found.relation,
        discovery_confidence=found.confidence,
        evidence=found.evidence,
        validation_required=found.confidence != "high" and not wish.enable,
    )


def _company_of(tried: Sample | None) -> str | None:
    """The company that all of the sample name, if they do; what collects others' posts has none."""
    postings = tried.postings if tried else ()
    named = {one.company for one in postings}
    return named.pop() if len(named) == 1 and not any(one.via for one in postings) else None


def _note(created: bool, status: str, tried: Sample | None) -> str:
    if not created:
        now = "" if tried is None or tried.ok else f" {tried.words}"
        return f"It was known already; nothing was changed.{now}"
    if status == "active":
        return "It is enabled."
    if tried and not tried.ok:
        return f"{tried.words} It waits: try `source test` again, then `source enable`."
    return "It waits for you: look at `source test`, then `source enable`."
