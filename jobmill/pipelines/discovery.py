"""Turn a URL into a source: detect the board, check that it answers, save it, test it. One item
runs all stages."""

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
    source_reader,
)
from jobmill.boards.adapters import PLATFORM_RULES, find_platform
from jobmill.boards.platform import Platform
from jobmill.boards.selectors.selector_search import unreadable_page_error
from jobmill.boards.source_reader import BoardSample
from jobmill.boards.url_detection import GENERIC, DetectedBoard
from jobmill.catalog import companies, source_health, sources, urls
from jobmill.catalog.sources import DiscoveredVia, NewSource, Source
from jobmill.db import Tx
from jobmill.errors import Invalid, NotFound, OutsideError, Unavailable
from jobmill.matching import excluded_companies
from jobmill.outside.request import Ok, Request
from jobmill.pipelines import source as source_pipeline
from jobmill.queue import Advance, Block, Filter, Finish, Move, NewItem, Skip, Work
from jobmill.queue.stages import Save
from jobmill.tools import Tools

KIND = "source_discovery"
_CONFIG = "source_discovery_config"


def _check_url(url: str) -> str:
    try:
        urls.parse(url)
    except Invalid as error:
        raise ValueError(str(error)) from None
    return url


def _normalize_platform(hint: str) -> str:
    """Normalize the name of a platform, in any spelling."""
    if hint.lower() == add_source.AUTO:
        return add_source.AUTO
    if hint.lower() == "generic":
        return GENERIC
    try:
        return find_platform(hint).name
    except Invalid as error:
        raise ValueError(f"{error} (or auto, or generic)") from None


class DiscoveryConfig(BaseModel):
    """The URL to look at, and what discovery may do with the board behind it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Annotated[str, AfterValidator(_check_url)]
    type_hint: Annotated[str, AfterValidator(_normalize_platform)] = add_source.AUTO
    company_id: Annotated[int, Field(ge=1)] | None = None
    company_name: Annotated[str, Field(max_length=companies.MAX_NAME_LENGTH)] | None = None
    auto_enable: bool = True
    """Enable the source if detection is confident; otherwise it always needs approval."""
    validation_required: bool = False
    """Require approval even if detection is confident."""


def new_item(
    config: DiscoveryConfig,
    *,
    via: DiscoveredVia | None = None,
    approved: bool = False,
    by: str | None = None,
) -> NewItem:
    """The item that discovers a URL. `approved`: a person approved it, so a passed test is enough
    to enable it."""
    data = {_CONFIG: config.model_dump(), "via": via, "approved": approved, "by": by}
    return NewItem(KIND, "discover", PLATFORM_RULES.canonical(config.url), data=data)


def parse_config(config: object) -> DiscoveryConfig:
    """Validate the config. `Invalid` names every problem."""
    try:
        return DiscoveryConfig.model_validate(config)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'config'}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors()
        )
        raise Invalid(f"{_CONFIG} is invalid: {problems}") from None


def submitted_url(work: Work) -> str | None:
    """The URL that the item was created for."""
    config: Mapping[str, Any] = work.data.get(_CONFIG) or {}
    return config.get("url")


def _config(work: Work) -> DiscoveryConfig:
    return parse_config(work.data.get(_CONFIG))


async def discover(tools: Tools, work: Work) -> Move:
    """Detect the board from its URL, its page, a linked page, or a guess that proves right."""
    config = _config(work)
    name = config.company_name
    async with tools.db.transaction() as tx:
        if config.company_id is not None:
            name = (await companies.get(tx, config.company_id)).name
        excluded = await excluded_companies.find_exclusion(
            tx, PLATFORM_RULES, names=[name], urls=[config.url]
        )
    if excluded:
        return Filter(excluded)
    detected = await add_source.detect_board_at(
        tools, config.url, hint=config.type_hint, company=name
    )
    return _advance(work, "validate", detected, f"{detected.platform}: {detected.evidence}")


async def validate(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Check that the API or feed returns postings, or that the page answers."""
    detected = _detected_board(work)
    platform = find_platform(detected.platform)
    async with tools.db.transaction() as tx:
        excluded = await excluded_companies.find_exclusion(
            tx, PLATFORM_RULES, names=[detected.token], urls=[detected.url]
        )
    if excluded:
        return Filter(excluded)
    try:
        answers, message = await _check_board(tools, detected, platform, environ)
    except Unavailable as error:
        return Block("key", str(error))
    return _advance(work, "configure", detected, message, valid=answers)


async def _check_board(
    tools: Tools, detected: DetectedBoard, platform: Platform, environ: Mapping[str, str]
) -> tuple[bool, str]:
    by_page = platform.name == GENERIC or platform.enable_after_test
    if by_page or not (detected.config and platform.first_request):
        return await _check_page(tools, detected)
    board = readable_board.open_board(platform, detected.config, environ)
    first_page = await board_crawler.crawl_first_page(tools.fetch, board)
    if first_page.failure:
        raise _outside_error(
            f"{platform.title} did not answer for {detected.token}",
            first_page.failure,
            first_page.detail,
        )
    if not first_page.postings and not add_source.may_be_empty(platform):
        return False, "the board answers, but lists no jobs"
    return True, f"the board answers with {len(first_page.postings)} postings on its first page"


async def _check_page(tools: Tools, detected: DetectedBoard) -> tuple[bool, str]:
    answer = await tools.fetch(Request(detected.url, page=True))
    if isinstance(answer, Ok):
        return True, "the page answers"
    error = unreadable_page_error(detected.url, answer)
    if error.permanent and detected.config:
        # The API may answer even if the page refuses us: leave the decision to the test.
        return False, str(error)
    raise error


async def configure(tools: Tools, work: Work) -> Move:
    """Save the board as a source with its complete config, unless it is a source already."""
    detected = await add_source.complete_config(tools, _detected_board(work), work)
    platform = find_platform(detected.platform)
    token = platform.token(platform.parse_config(detected.config or {}))
    async with tools.db.transaction() as tx:
        source = await sources.find_by_board(tx, platform.name, token)
    new_source = _NewBoard(_config(work), work, detected, platform, token)
    if source is None or source.status == "pending_validation":
        return _advance(
            work, "test", detected, f"saved as {platform.title}", save=new_source.save, token=token
        )
    if source.status == "rejected":
        return _skip_rejected(source, work)
    message = f"{_format_source(source)} already exists and is {source.status}"
    return Finish(message, data={**work.data, "source_id": source.id}, save=new_source.save)


def _skip_rejected(source: Source, work: Work) -> Skip:
    """Skip a source that a person rejected, however it was discovered again."""
    data = {**work.data, "source_id": source.id}
    return Skip(
        f"{_format_source(source)} was rejected. Approve it under Sources to read it", data=data
    )


@dataclass(frozen=True, slots=True)
class _NewBoard:
    """A detected board to save as a source."""

    config: DiscoveryConfig
    work: Work
    detected: DetectedBoard
    platform: Platform
    token: str

    async def save(self, tx: Tx) -> None:
        company, name = self.config.company_id, self.config.company_name
        if company is None and name:
            company = await companies.get_or_create(tx, name)
        elif company is not None:
            name = (await companies.get(tx, company)).name
        detected, approved = self.detected, _is_approved(self.work)
        new = NewSource(
            name=f"{name or self.token} {self.platform.title}",
            source_type=self.platform.name,
            token=self.token,
            config=detected.config or {},
            url=detected.url or self.config.url,
            company_id=None if company is None else companies.CompanyId(company),
            company_name=name,
            relation=detected.relation,
            discovered_via=_discovered_via(self.work, self.config),
            discovered_by=self.work.data.get("by"),
            discovery_confidence=detected.confidence,
            evidence=detected.evidence,
            validation_required=self.config.validation_required
            or (detected.confidence != "high" and not approved),
        )
        await sources.add(tx, new, enabled=_may_enable(self.work, detected, tested=False))


async def test(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Test the source. It is enabled if detection is confident enough; otherwise it waits for
    approval."""
    detected = _detected_board(work)
    platform = find_platform(detected.platform)
    async with tools.db.transaction() as tx:
        source = await sources.find_by_board(tx, platform.name, work.data["token"])
    if source is None:
        raise NotFound("source", work.data["token"])
    if source.status == "rejected":
        return _skip_rejected(source, work)
    try:
        sample = await source_reader.sample_board(
            tools.fetch, readable_board.board_of_source(source, environ)
        )
    except Unavailable as error:
        return Block("key", str(error))
    works = add_source.passes_test(platform, sample)
    data = {**work.data, "source_id": source.id}
    if source.enabled or (works and _may_enable(work, detected, tested=True)):
        first_crawl = [source_pipeline.new_item(source.id)]
        save = partial(_save_test_result, id=source.id, sample=sample, enable=True)
        return Finish(
            f"{_format_source(source)} is enabled. {sample.summary}",
            data=data,
            save=save,
            spawn=first_crawl,
        )
    if sample.cause and _is_temporary(sample.cause):
        raise _outside_error(
            f"the test of {_format_source(source)} failed", sample.cause, sample.detail
        )
    return _leave_for_approval(source, sample, works, data)


def _leave_for_approval(
    source: Source, sample: BoardSample, works: bool, data: Mapping[str, Any]
) -> Move:
    """Save the test result and leave the source waiting for approval."""
    save = partial(_save_test_result, id=source.id, sample=sample, enable=False)
    if not works:
        message = (
            f"{_format_source(source)} is saved, but its test failed. {sample.summary} "
            "Approve or reject it"
        )
        return Skip(message, data=data, save=save)
    return Finish(
        f"{_format_source(source)} needs your approval. {sample.summary}",
        data=data,
        save=save,
    )


async def _save_test_result(
    tx: Tx, *, id: sources.SourceId, sample: BoardSample, enable: bool
) -> None:
    if sample.ok:
        await sources.mark_tested(tx, id)
    else:
        await source_health.record_problem(
            tx, id, source_health.classify_failure(sample.cause or ""), sample.detail or ""
        )
    if enable:
        await sources.enable_after_test(tx, id)


def _may_enable(work: Work, detected: DetectedBoard, *, tested: bool) -> bool:
    config = _config(work)
    return add_source.may_enable(
        find_platform(detected.platform),
        detected.confidence,
        validated=bool(work.data.get("valid")),
        tested=tested,
        auto=config.auto_enable,
        ask=config.validation_required,
        approved=_is_approved(work),
    )


def _is_approved(work: Work) -> bool:
    return bool(work.data.get("approved"))


def _discovered_via(work: Work, config: DiscoveryConfig) -> DiscoveredVia:
    """How the board was discovered: as the item says, else by company analysis if that spawned the
    item."""
    via: DiscoveredVia | None = work.data.get("via")
    if via:
        return via
    spawned = work.parent_id is not None and config.company_id is not None
    return "company_analysis" if spawned else "user_submission"


def _format_source(source: Source) -> str:
    return f"source {source.id} ({source.name})"


def _is_temporary(cause: str) -> bool:
    return source_health.classify_failure(cause) in ("transient", "rate_limited")


def _outside_error(what: str, cause: str, detail: str | None) -> OutsideError:
    return OutsideError(f"{what}: {detail or cause}", permanent=not _is_temporary(cause))


def _detected_board(work: Work) -> DetectedBoard:
    return DetectedBoard(**work.data["found"])


def _advance(
    work: Work,
    stage: str,
    detected: DetectedBoard,
    message: str,
    *,
    save: Save | None = None,
    **extra: object,
) -> Advance:
    data = {**work.data, "found": asdict(detected), **extra}
    return Advance(stage, message, data=data, save=save)
