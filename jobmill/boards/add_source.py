"""Takes a source in: recognises it, tries it, keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from jobmill.catalog import companies, sources
from jobmill.catalog.companies import CompanyId
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx
from jobmill.errors import Invalid, OutsideError
from jobmill.outside.request import Ok, Request
from jobmill.queue import Work
from jobmill.tools import Tools

from . import api_keys, detection, response_reader, saved_responses, source_run
from .board_crawler import Target
from .html_detection import from_page
from .platform import Confidence, Platform
from .selectors.selector_search import search
from .source_run import Sample
from .url_detection import FEED, GENERIC, Found

AUTO = "auto"
BY_THEMSELVES = frozenset({"greenhouse", FEED})
"""A valid answer of these is enough: it can hardly be anything else."""
AFTER_A_TEST = frozenset({"workday"})
"""These are doubtful only until a test scrape worked."""


def enables(
    platform: str,
    confidence: Confidence,
    *,
    validated: bool,
    tested: bool,
    auto: bool = True,
    ask: bool = False,
    approved: bool = False,
) -> bool:
    """Whether a source may run without asking anybody. A person who vouched for it is answered by a
    test; otherwise what was not recognised for sure waits for one."""
    if approved and tested:
        return True
    if ask or not auto or confidence == "low":
        return False
    if platform in AFTER_A_TEST:
        return tested
    if confidence != "high":
        return False
    return tested or (validated and platform in BY_THEMSELVES)


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
    found = await set_up(tools, await _recognise(tools, wish))
    platform = saved_responses.platform(found.platform)
    config = response_reader.configure(platform, found.config or {})
    source_run.check(platform, environ, api_keys.missing(platform, config, environ))
    tried = await _try(tools, Target(platform, config, environ)) if wish.test else None
    async with tools.db.transaction() as tx:
        new = await _new_source(tx, wish, found, platform, platform.token(config), tried)
        tested = tried is not None and works(platform, tried)
        sure = enables(platform.name, found.confidence, validated=tested, tested=tested)
        id, created = await sources.add(tx, new, enabled=sure or wish.enable)
        if tried and tried.ok:
            await sources.mark_tested(tx, id)
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
        note=_note(source.id, created, source.status, tried),
    )


def works(platform: Platform, tried: Sample) -> bool:
    """Whether a test scrape succeeded."""
    return tried.ok and (tried.seen > 0 or may_be_empty(platform))


def may_be_empty(platform: Platform) -> bool:
    """Whether it is believed when it shows nothing: a feed or a page without posts proves nothing."""
    return platform.allow_empty and platform.inventory


async def _recognise(tools: Tools, wish: Wish) -> Found:
    if wish.platform:
        return _as_told(wish, saved_responses.platform(wish.platform))
    if not wish.url:
        raise Invalid("say what to add: a URL, or --platform with --token or --config")
    return await recognise(tools, wish.url, company=wish.company)


async def recognise(
    tools: Tools, url: str, *, hint: str = AUTO, company: str | None = None
) -> Found:
    """The board at a URL, of the platform that the hint names if it names one; OutsideError where
    there is none."""
    if hint == GENERIC:
        return Found(GENERIC, url, "low", "named as a page with postings", url=url)
    found = await detection.discover(tools.fetch, url, company=company)
    if hint not in (AUTO, found.platform if found else None):
        return await _hinted(tools, url, hint, company)
    if found is None:
        raise OutsideError(
            f"no board was recognised at {url}: give the URL of the board or of the list of "
            "postings itself",
            permanent=True,
        )
    return replace(found, url=found.url or url)


async def _hinted(tools: Tools, url: str, hint: str, company: str | None) -> Found:
    """The board of that platform among all of which the page speaks."""
    if hint == FEED:
        return Found(FEED, url, "high", "named as a feed", {"url": url}, url=url)
    page = await tools.fetch(Request(url, page=True))
    boards = from_page(page.url, page.text, company=company) if isinstance(page, Ok) else []
    for one in boards:
        if one.platform == hint and one.token:
            return one
    raise OutsideError(
        f"no board of {saved_responses.platform(hint).title} was found at {url}: give the URL of the board "
        "itself, or leave the platform to us",
        permanent=True,
    )


async def set_up(tools: Tools, found: Found, work: Work | None = None) -> Found:
    """The board with all that is needed to read it. A page that is no board we can read is read by
    selectors, if some are found; OutsideError says what to do where none are."""
    if not _wants_selectors(found):
        return found
    url = (found.config or {}).get("url") or found.url
    if not url:
        raise OutsideError(f"{_unclear(found)}: give the URL of the board itself", permanent=True)
    chosen = await search(tools, url, work)
    if chosen is None:
        raise OutsideError(
            f"{_unclear(found)}, and no list of postings on {url}: give the URL of the list itself, "
            "or `--platform html` with `--config` that holds selectors",
            permanent=True,
        )
    page: str = chosen.config["url"]
    return replace(
        found,
        platform=GENERIC,
        token=page,
        config=chosen.config,
        confidence=chosen.confidence,
        evidence=f"{found.evidence}; {chosen.evidence}",
        url=page,
    )


def _wants_selectors(found: Found) -> bool:
    if found.platform == GENERIC:
        return not (found.config or {}).keys() - {"url", "method"}
    return found.config is None or saved_responses.platform(found.platform).first is None


def _unclear(found: Found) -> str:
    if found.platform == GENERIC:
        return "no board was recognised"
    title = saved_responses.platform(found.platform).title
    if found.config is None:
        return f"{title} is used, but which of its boards could not be told"
    return f"{title} is recognised but cannot be read yet"


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
    tried = await source_run.sample(tools.fetch, target)
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
        id = await companies.get_or_create(tx, wish.company, wish.website)
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


def _note(id: int, created: bool, status: str, tried: Sample | None) -> str:
    if not created:
        now = "" if tried is None or tried.ok else f" {tried.words}"
        return f"It was known already; nothing was changed.{now}"
    if status == "active":
        return "It is enabled."
    look, let = f"`jobmill source test {id}`", f"`jobmill approval approve source:{id}`"
    if tried and not tried.ok:
        return f"{tried.words} It waits: try {look} again, then {let}."
    return f"It waits for you: look at {look}, then {let}."
