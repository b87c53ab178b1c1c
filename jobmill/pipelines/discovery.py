"""From a URL to a source: one item recognises the board, sees that it answers, keeps it, tries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from jobmill.boards import (
    add_source,
    board_crawler,
    readable_board,
    source_run,
)
from jobmill.boards.adapters import PLATFORM_RULES, find_platform
from jobmill.boards.platform import Platform
from jobmill.boards.selectors.selector_search import unreadable_page_error
from jobmill.boards.source_run import BoardSample
from jobmill.boards.url_detection import GENERIC, DetectedBoard
from jobmill.catalog import companies, source_health, sources, urls
from jobmill.catalog.sources import DiscoveredVia, NewSource, Source
from jobmill.db import Tx
from jobmill.errors import Invalid, NotFound, OutsideError, Unavailable
from jobmill.outside.request import Ok, Request
from jobmill.pipelines import source as running
from jobmill.queue import Advance, Block, Finish, Move, NewItem, Skip, Work
from jobmill.queue.stages import Save
from jobmill.tools import Tools

KIND = "source_discovery"
_CONFIG = "source_discovery_config"


def _web(url: str) -> str:
    try:
        urls.parse(url)
    except Invalid as error:
        raise ValueError(str(error)) from None
    return url


def _platform(hint: str) -> str:
    """The platform of that name, however it is written."""
    if hint.lower() == add_source.AUTO:
        return add_source.AUTO
    if hint.lower() == "generic":
        return GENERIC
    try:
        return find_platform(hint).name
    except Invalid as error:
        raise ValueError(f"{error} (or auto, or generic)") from None


class DiscoveryConfig(BaseModel):
    """What is to be looked at, and what may be done with it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Annotated[str, AfterValidator(_web)]
    type_hint: Annotated[str, AfterValidator(_platform)] = add_source.AUTO
    company_id: Annotated[int, Field(ge=1)] | None = None
    company_name: Annotated[str, Field(max_length=companies.MAX_NAME_LENGTH)] | None = None
    auto_enable: bool = True
    """Let it run when it is sure; else it always waits for a person."""
    validation_required: bool = False
    """Let it wait for a person, however sure it is."""


def new_item(
    config: DiscoveryConfig,
    *,
    via: DiscoveredVia | None = None,
    approved: bool = False,
    by: str | None = None,
) -> NewItem:
    """The item that looks at a URL. `approved`: a person vouched for it, so that a test is enough."""
    data = {_CONFIG: config.model_dump(), "via": via, "approved": approved, "by": by}
    return NewItem(KIND, "discover", PLATFORM_RULES.canonical(config.url), data=data)


def parse_config(config: object) -> DiscoveryConfig:
    """The config; Invalid names each thing that is wrong."""
    try:
        return DiscoveryConfig.model_validate(config)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'config'}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors()
        )
        raise Invalid(f"not a {_CONFIG}: {wrong}") from None


def _config(work: Work) -> DiscoveryConfig:
    return parse_config(work.data.get(_CONFIG))


async def discover(tools: Tools, work: Work) -> Move:
    """Which board it is: by the address, the page, one link further, a guess that holds."""
    config = _config(work)
    name = config.company_name
    if config.company_id is not None:
        async with tools.db.transaction() as tx:
            name = (await companies.get(tx, config.company_id)).name
    found = await add_source.detect_board_at(tools, config.url, hint=config.type_hint, company=name)
    return _advance(work, "validate", found, f"{found.platform}: {found.evidence}")


async def validate(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Whether it answers: the API or the feed with postings, a page at all."""
    found = _found(work)
    platform = find_platform(found.platform)
    try:
        answers, words = await _answers(tools, found, platform, environ)
    except Unavailable as error:
        return Block("key", str(error))
    return _advance(work, "configure", found, words, valid=answers)


async def _answers(
    tools: Tools, found: DetectedBoard, platform: Platform, environ: Mapping[str, str]
) -> tuple[bool, str]:
    by_page = platform.name == GENERIC or platform.enable_after_test
    if by_page or not (found.config and platform.first_request):
        return await _page_answers(tools, found)
    board = readable_board.open_board(platform, found.config, environ)
    seen = await board_crawler.crawl_first_page(tools.fetch, board)
    if seen.failure:
        raise _trouble(
            f"{platform.title} did not answer for {found.token}", seen.failure, seen.detail
        )
    if not seen.postings and not add_source.may_be_empty(platform):
        return False, "it answers, but has no entries"
    return True, f"it answers, with {len(seen.postings)} postings on the first page"


async def _page_answers(tools: Tools, found: DetectedBoard) -> tuple[bool, str]:
    answer = await tools.fetch(Request(found.url, page=True))
    if isinstance(answer, Ok):
        return True, "the page answers"
    error = unreadable_page_error(found.url, answer)
    if error.permanent and found.config:
        # Its API may answer where its page does not want us: the test decides.
        return False, str(error)
    raise error


async def configure(tools: Tools, work: Work) -> Move:
    """Keep it, with all that is needed to read it; what we know already is not kept twice."""
    found = await add_source.complete_config(tools, _found(work), work)
    platform = find_platform(found.platform)
    token = platform.token(platform.parse_config(found.config or {}))
    async with tools.db.transaction() as tx:
        known = await sources.find_by_board(tx, platform.name, token)
    new = _Kept(_config(work), work, found, platform, token)
    if known is None or known.status == "pending_validation":
        return _advance(
            work, "test", found, f"kept as {platform.title}", save=new.save, token=token
        )
    if known.status == "rejected":
        return _pass_over(known, work)
    words = f"{_named(known)} is known already, and is {known.status}"
    return Finish(words, data={**work.data, "source_id": known.id}, save=new.save)


def _pass_over(known: Source, work: Work) -> Skip:
    """A person's no stands, whoever finds it again."""
    undo = f"`jobmill approval approve source:{known.id}`, if you want it after all"
    data = {**work.data, "source_id": known.id}
    return Skip(f"{_named(known)} was rejected: {undo}", data=data)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is written of a board."""

    config: DiscoveryConfig
    work: Work
    found: DetectedBoard
    platform: Platform
    token: str

    async def save(self, tx: Tx) -> None:
        company, name = self.config.company_id, self.config.company_name
        if company is None and name:
            company = await companies.get_or_create(tx, name)
        elif company is not None:
            name = (await companies.get(tx, company)).name
        found, approved = self.found, _approved(self.work)
        new = NewSource(
            name=f"{name or self.token} {self.platform.title}",
            source_type=self.platform.name,
            token=self.token,
            config=found.config or {},
            url=found.url or self.config.url,
            company_id=None if company is None else companies.CompanyId(company),
            company_name=name,
            relation=found.relation,
            discovered_via=_via(self.work, self.config),
            discovered_by=self.work.data.get("by"),
            discovery_confidence=found.confidence,
            evidence=found.evidence,
            validation_required=_asks(self.config, found, approved),
        )
        await sources.add(tx, new, enabled=_enables(self.work, found, tested=False))


async def test(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Try it. What is sure enough runs from now on, all else waits for a person."""
    found = _found(work)
    platform = find_platform(found.platform)
    async with tools.db.transaction() as tx:
        source = await sources.find_by_board(tx, platform.name, work.data["token"])
    if source is None:
        raise NotFound("source", work.data["token"])
    if source.status == "rejected":
        return _pass_over(source, work)
    try:
        tried = await source_run.sample_board(
            tools.fetch, readable_board.board_of_source(source, environ)
        )
    except Unavailable as error:
        return Block("key", str(error))
    works = add_source.passes_test(platform, tried)
    data = {**work.data, "source_id": source.id}
    if source.enabled or (works and _enables(work, found, tested=True)):
        first = [running.new_item(source.id)]
        save = partial(_proved, id=source.id, tried=tried, enable=True)
        return Finish(
            f"{_named(source)} is enabled. {tried.summary}", data=data, save=save, spawn=first
        )
    if tried.cause and _passes(tried.cause):
        raise _trouble(f"the test of {_named(source)} failed", tried.cause, tried.detail)
    return _leave(source, tried, works, data)


def _leave(source: Source, tried: BoardSample, works: bool, data: Mapping[str, Any]) -> Move:
    """It waits for a person."""
    save = partial(_proved, id=source.id, tried=tried, enable=False)
    next_ = f"`jobmill approval approve source:{source.id}`, or `reject`"
    if not works:
        words = (
            f"{_named(source)} is kept, but its test did not work. {tried.summary} Then: {next_}"
        )
        return Skip(words, data=data, save=save)
    return Finish(f"{_named(source)} waits for you: {next_}. {tried.summary}", data=data, save=save)


async def _proved(tx: Tx, *, id: sources.SourceId, tried: BoardSample, enable: bool) -> None:
    if tried.ok:
        await sources.mark_tested(tx, id)
    else:
        await source_health.record_problem(
            tx, id, source_health.classify_failure(tried.cause or ""), tried.detail or ""
        )
    if enable:
        await sources.enable_after_test(tx, id)


def _enables(work: Work, found: DetectedBoard, *, tested: bool) -> bool:
    config = _config(work)
    return add_source.may_enable(
        find_platform(found.platform),
        found.confidence,
        validated=bool(work.data.get("valid")),
        tested=tested,
        auto=config.auto_enable,
        ask=config.validation_required,
        approved=_approved(work),
    )


def _asks(config: DiscoveryConfig, found: DetectedBoard, approved: bool) -> bool:
    return config.validation_required or (found.confidence != "high" and not approved)


def _approved(work: Work) -> bool:
    return bool(work.data.get("approved"))


def _via(work: Work, config: DiscoveryConfig) -> DiscoveredVia:
    """Who found it: as the item says; else whoever knew the company spawned it."""
    told: DiscoveredVia | None = work.data.get("via")
    if told:
        return told
    spawned = work.parent_id is not None and config.company_id is not None
    return "company_analysis" if spawned else "user_submission"


def _named(source: Source) -> str:
    return f"source {source.id} ({source.name})"


def _passes(cause: str) -> bool:
    return source_health.classify_failure(cause) in ("transient", "rate_limited")


def _trouble(what: str, cause: str, detail: str | None) -> OutsideError:
    return OutsideError(f"{what}: {detail or cause}", permanent=not _passes(cause))


def _found(work: Work) -> DetectedBoard:
    return DetectedBoard(**work.data["found"])


def _advance(
    work: Work,
    stage: str,
    found: DetectedBoard,
    words: str,
    *,
    save: Save | None = None,
    **more: object,
) -> Advance:
    data = {**work.data, "found": asdict(found), **more}
    return Advance(stage, words, data=data, save=save)
