"""Take any URL or pasted text that a person submits: record it, detect what it is, and hand it to the
pipeline that reads it. The record shows what became of it, also when it could not be read."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from jobmill import queue
from jobmill.boards import detection, html_detection, single_posting
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.boards.board_crawler import describe_failure
from jobmill.boards.name_matching import is_about_jobs
from jobmill.catalog import listings, posting_identity, posting_json, save_posting, submissions
from jobmill.catalog.posting import Posting
from jobmill.catalog.submissions import Submission
from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, NotFound, OutsideError, RetryLater
from jobmill.extract import pasted_text
from jobmill.extract.page import nesting_limit, page_metadata, page_reader
from jobmill.matching import excluded_companies, profiles
from jobmill.outside.request import FetchFailure, Ok, PageGone, Request, Truncated
from jobmill.people.persons import LOCAL, Owner
from jobmill.pipelines import company, discovery, judging
from jobmill.pipelines.listing import UnreadablePosting
from jobmill.queue import (
    Advance,
    Block,
    Filter,
    Finish,
    Move,
    NewItem,
    Postpone,
    RefusedItem,
    Skip,
    Work,
    lineage,
    lock_claim,
)
from jobmill.queue.inspect import get_item
from jobmill.queue.items import ItemId
from jobmill.queue.retry import classify_error
from jobmill.queue.stages import Run
from jobmill.sandbox import read_untrusted
from jobmill.tools import Tools

KIND = "submission"
_BARE_ADDRESS = re.compile(r"(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?:[/?#]\S*)?", re.IGNORECASE)
_FRONT_PAGE = re.compile(r"(?:/[a-z]{2}(?:-[a-z]{2})?)?/?(?:index\.\w{2,5})?", re.IGNORECASE)
BATCH_SIZE = 500
"""Waiting submissions that the check for abandoned ones reads at once."""


@dataclass(frozen=True, slots=True)
class SubmittedUrl:
    url: str


@dataclass(frozen=True, slots=True)
class SubmittedText:
    posting: Posting


async def read_input(text: str) -> SubmittedUrl | SubmittedText:
    """A URL, or the posting in a pasted text. Invalid says what to enter instead."""
    text = text.strip()
    if not text:
        raise Invalid("enter a URL, or paste the text of a job")
    if len(text.split()) > 1:
        return SubmittedText(await read_untrusted(pasted_text.read_pasted_text, text))
    url = text if "://" in text else f"https://{text}" if _BARE_ADDRESS.fullmatch(text) else None
    if url is None:
        raise Invalid(f"{text[:80]!r} is neither a URL nor the text of a job")
    PLATFORM_RULES.canonical(url)
    return SubmittedUrl(url)


async def submit(
    tx: Tx,
    entered: SubmittedUrl | SubmittedText,
    *,
    owner: Owner = LOCAL,
    profile_id: int | None = None,
    force: bool = False,
    may_enable: bool = True,
    by: str | None = None,
) -> Submission:
    """Write the record and its item in one transaction. What a person submits twice has one record, and
    joins the item that already works on it. `may_enable`: whether a board may become a source without
    approval."""
    if isinstance(entered, SubmittedText):
        return await _submit_text(tx, entered.posting, owner, profile_id, force, by)
    url, kind = entered.url, guess_kind(entered.url)
    if kind == "job" and profile_id is None:
        raise _no_profile()
    key = PLATFORM_RULES.canonical(url)
    submission = await submissions.add(
        tx, key, kind, owner=owner, url=url, profile_id=profile_id, by=by
    )
    await _enqueue(tx, submission, _first_item(url, kind, profile_id, force, may_enable, by))
    return await submissions.get(tx, submission.id, owner=owner)


async def record_job(
    tx: Tx,
    url: str,
    profile_id: int,
    item: int | None,
    *,
    owner: Owner = LOCAL,
    by: str | None = None,
) -> None:
    """Record a job; its item is submitted in the same transaction."""
    key = PLATFORM_RULES.canonical(url)
    added = await submissions.add(
        tx, key, "job", owner=owner, url=url, profile_id=profile_id, by=by
    )
    if item is None:
        reason = "the queue is full; add it again later"
        await submissions.mark_unknown(tx, key, reason, profile_id=profile_id)
    else:
        await submissions.set_item(tx, added.id, item)


async def retry(
    tx: Tx, id: int, *, owner: Owner = LOCAL, may_enable: bool = True, by: str | None = None
) -> Submission:
    """Submit again what could not be read."""
    submission = await submissions.get(tx, id, owner=owner)
    if submission.url is None:
        raise Invalid("a pasted text has been read; paste it again to change it")
    profile_id = submission.profile_id or await default_profile_id(tx, owner=owner)
    return await submit(
        tx,
        SubmittedUrl(submission.url),
        owner=owner,
        profile_id=profile_id,
        may_enable=may_enable,
        by=by,
    )


async def default_profile_id(tx: Tx, *, owner: Owner = LOCAL) -> int | None:
    try:
        return (await profiles.get(tx, owner=owner)).profile_id
    except NotFound:
        return None


def guess_kind(url: str) -> Literal["page", "job", "board"]:
    """What the URL alone tells; nothing is fetched for it."""
    if PLATFORM_RULES.posting_key(url):
        return "job"
    board = detection.detect_likeliest_board(url)
    return "board" if board and board.token else "page"


def _no_profile() -> Invalid:
    return Invalid("there is no profile yet to score jobs for: create a profile first")


def _first_item(
    url: str, kind: str, profile_id: int | None, force: bool, may_enable: bool, by: str | None
) -> NewItem:
    if kind == "job" and profile_id is not None:
        return judging.new_item_for_url(url, profile_id, force=force)
    if kind == "board":
        return _discovery_item(url, may_enable, by)
    data = {
        "url": url,
        "profile_id": profile_id,
        "force": force,
        "may_enable": may_enable,
        "by": by,
    }
    # Not the URL alone: the item that it spawns may have that key, and would be circular. With the
    # profile: a job that two people add at once is scored for both.
    key = f"detect {PLATFORM_RULES.canonical(url)} for profile {profile_id}"
    return NewItem(KIND, "detect", key, data=data, priority=judging.MANUAL_PRIORITY)


def _discovery_item(url: str, may_enable: bool, by: str | None) -> NewItem:
    config = discovery.parse_config({"url": url, "validation_required": not may_enable})
    return discovery.new_item(config, via="user_submission", by=by)


async def _submit_text(
    tx: Tx, posting: Posting, owner: Owner, profile_id: int | None, force: bool, by: str | None
) -> Submission:
    """Save the listing at once: nothing has to be fetched for it."""
    if profile_id is None:
        raise _no_profile()
    key = posting_identity.identity(posting, PLATFORM_RULES)
    submission = await submissions.add(tx, key, "text", owner=owner, profile_id=profile_id, by=by)
    listing_id = await save_posting.save(tx, posting, PLATFORM_RULES)
    await _enqueue(tx, submission, judging.new_item_for_text(listing_id, profile_id, force=force))
    await submissions.finish(tx, key, profile_id=profile_id, listing_id=listing_id)
    return await submissions.get(tx, submission.id, owner=owner)


async def _enqueue(tx: Tx, submission: Submission, new: NewItem) -> None:
    [answer] = await queue.submit_all(tx, [new])
    if not isinstance(answer, RefusedItem):
        await submissions.set_item(tx, submission.id, answer.id)
    elif answer.live is not None:
        await submissions.set_item(tx, submission.id, answer.live)
    else:
        await _mark_unknown(tx, submission, answer.message)


async def _mark_unknown(tx: Tx, submission: Submission, reason: str) -> None:
    await submissions.mark_unknown(tx, submission.key, reason, profile_id=submission.profile_id)


# Detect.


async def detect(tools: Tools, work: Work) -> Move:
    """Read the page to tell a job from a careers page and a company's site."""
    url: str = work.data["url"]
    key = PLATFORM_RULES.canonical(url)
    async with tools.db.transaction() as tx:
        excluded = await excluded_companies.find_exclusion(tx, PLATFORM_RULES, urls=[url])
    if excluded:
        return Filter(excluded)
    answer = await tools.fetch(Request(url, page=True))
    if isinstance(answer, PageGone):
        return Skip(f"the page does not exist (status {answer.status})")
    if not isinstance(answer, Ok | Truncated):
        cause = answer.cause if isinstance(answer, FetchFailure) else ""
        permanent = cause in single_posting.PERMANENT_CAUSES
        detail = describe_failure(answer)[1]
        raise OutsideError(f"{url} could not be read: {detail}", permanent=permanent)
    kind, name = await read_untrusted(classify_page, answer.body, answer.url)
    profile_id: int | None = work.data.get("profile_id")
    set_kind = partial(submissions.set_kind, key=key, kind=kind, profile_id=profile_id)
    if kind == "company":
        return await _add_company(tools, work, name, answer.url)
    if kind == "board":
        item = _discovery_item(url, work.data.get("may_enable", True), work.data.get("by"))
        return Finish("it is a careers page", save=set_kind, spawn=[item])
    if profile_id is None:
        raise _no_profile()
    item = judging.new_item_for_url(url, profile_id, force=bool(work.data.get("force")))
    return Finish("it is a job", save=set_kind, spawn=[item])


async def _add_company(tools: Tools, work: Work, name: str, url: str) -> Move:
    parts, key = urlsplit(url), PLATFORM_RULES.canonical(work.data["url"])
    async with tools.db.transaction() as tx:
        id = await company.ensure_company(tx, name, f"{parts.scheme}://{parts.netloc}")

    async def save(tx: Tx) -> None:
        await submissions.set_kind(tx, key, "company")
        await submissions.finish(tx, key, company_id=id, reason=f"company {name} was added")

    return Finish(f"it is the site of {name}", save=save, spawn=[company.new_item(id)])


PageKind: TypeAlias = Literal["job", "board", "company"]


def classify_page(body: bytes, url: str) -> tuple[PageKind, str]:
    """What a page is, and the name of its site. A page that shows nothing clear counts as a job."""
    path = urlsplit(url).path
    tree = LexborHTMLParser(nesting_limit.truncate_deep_html(body))
    metadata = page_metadata.read_metadata(tree, url)
    name = metadata.site_name or name_of_host(url)
    if _FRONT_PAGE.fullmatch(path):
        return "company", name
    reading = page_reader.read_posting(body, url)
    if reading.posting and listings.is_minimal(replace(reading.posting, url=url)):
        return "job", name
    boards = html_detection.detect_boards(url, body.decode("utf-8", "replace"))
    if any(board.token and board.confidence != "low" for board in boards):
        return "board", name
    is_list = len(page_reader.read_postings(body, url)) > 1
    last = path.rstrip("/").rpartition("/")[2]
    return ("board" if is_list or is_about_jobs(f"/{last}") else "job"), name


def name_of_host(url: str) -> str:
    """The name that a host suggests: `Acme Robotics` for https://www.acme-robotics.com."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return host.partition(".")[0].replace("-", " ").title()


# Record what became of submissions.


def recorded(tools: Tools, run: Run) -> Run:
    """Wrap a stage that reads what people submit: its outcome is written to the submission."""

    async def run_and_record(work: Work) -> Move:
        key, profile_id = _submission_key(work), work.data.get("profile_id")
        if key is None:
            return await run(work)
        try:
            move = await run(work)
        except RetryLater as error:
            note = partial(
                submissions.set_reason, key=key, reason=str(error), profile_id=profile_id
            )
            return Postpone(error.delay, str(error), save=note)
        except AppError as error:
            await _record_error(tools, work, key, error)
            raise
        return _with_record(work, move, key)

    return run_and_record


def _submission_key(work: Work) -> str | None:
    """The key of the submission; None for work that a source or feed brought."""
    if work.kind == judging.KIND and work.data.get("listing_id"):
        return None
    url = discovery.submitted_url(work) if work.kind == discovery.KIND else work.data.get("url")
    try:
        return PLATFORM_RULES.canonical(url) if url else None
    except Invalid:
        return None


async def _record_error(tools: Tools, work: Work, key: str, error: AppError) -> None:
    """Write the reason; if its item fails for good, the submission is kept as unknown."""
    error_class = classify_error(error)
    final = error_class == "permanent" or (
        error_class == "transient" and work.retry_count >= work.max_retries
    )
    partial_posting = None
    if isinstance(error, UnreadablePosting) and error.posting:
        record = posting_json.to_record(error.posting)
        partial_posting = {name: value for name, value in record.items() if value}
    async with tools.db.transaction() as tx:
        # A stale attempt must not record anything: a newer one may have succeeded.
        if not await lock_claim(tx, work):
            return
        profile_id = work.data.get("profile_id")
        if final:
            await submissions.mark_unknown(
                tx, key, str(error), partial_posting, profile_id=profile_id
            )
        else:
            await submissions.set_reason(tx, key, str(error), profile_id=profile_id)


def _with_record(work: Work, move: Move, key: str) -> Move:
    record: Callable[[Tx], Awaitable[object]] | None = None
    # A reason tells about the profile that the item works for.
    only: dict[str, Any] = {"key": key, "profile_id": work.data.get("profile_id")}
    match move:
        case Advance() if work.kind == judging.KIND:
            record = partial(_finish_with_listing, **only, data=move.data or {})
        case Skip() if work.kind == judging.KIND:
            record = partial(_finish_closed, **only, reason=move.message)
        case Filter():
            record = partial(submissions.finish, **only, reason=move.message)
        case Finish() | Skip() if work.kind == discovery.KIND:
            record = partial(_finish_discovery, key=key, move=move)
        case Skip():
            record = partial(submissions.mark_unknown, **only, reason=move.message)
        case Block(message=message):
            record = partial(submissions.set_reason, **only, reason=message)
        case _:
            return move
    return replace(move, save=_in_order(move.save, record))


def _in_order(
    first: Callable[[Tx], Awaitable[object]] | None, then: Callable[[Tx], Awaitable[object]]
) -> Callable[[Tx], Awaitable[object]]:
    if first is None:
        return then

    async def save(tx: Tx) -> None:
        await first(tx)
        await then(tx)

    return save


async def _finish_with_listing(
    tx: Tx, *, key: str, profile_id: int | None, data: Mapping[str, Any]
) -> None:
    identity = data["job_data"]["identity"]
    listing = (await listings.find_by_identity(tx, [identity])).get(identity)
    listing_id = listing.id if listing else None
    await submissions.finish(tx, key, profile_id=profile_id, listing_id=listing_id)


async def _finish_closed(tx: Tx, *, key: str, profile_id: int | None, reason: str) -> None:
    """A closed job that was never read is unknown; one in the catalog is closed there."""
    listing_id = await listings.find_by_url(tx, key, PLATFORM_RULES)
    if listing_id is None:
        await submissions.mark_unknown(tx, key, reason, profile_id=profile_id)
    else:
        await submissions.finish(
            tx, key, profile_id=profile_id, listing_id=listing_id, reason=reason
        )


async def _finish_discovery(tx: Tx, *, key: str, move: Finish | Skip) -> None:
    source_id = (move.data or {}).get("source_id")
    reason = move.message or ""
    if source_id is None:
        await submissions.mark_unknown(tx, key, reason)
    else:
        await submissions.finish(tx, key, source_id=source_id, reason=reason)


async def keep_abandoned(tx: Tx) -> None:
    """Keep as unknown what waits although its items have ended (cancelled, crashed or lost), so that
    nothing is shown as waiting forever."""
    last = 0
    while batch := await submissions.find_waiting(tx, after=last, limit=BATCH_SIZE):
        last = batch[-1].id
        for submission in batch:
            await _keep_if_abandoned(tx, submission)


async def _keep_if_abandoned(tx: Tx, submission: Submission) -> None:
    if submission.item_id is None:
        return
    try:
        item = await get_item(tx, ItemId(submission.item_id))
    except NotFound:
        await _mark_unknown(tx, submission, "its task no longer exists")
        return
    family = await lineage.read_lineage(tx, item.tracking_id, with_data=False)
    if all(relative.finished_at for relative in family):
        last = max(family, key=lambda relative: relative.id)
        reason = last.error_text or last.message or "its task ended before it was read"
        await _mark_unknown(tx, submission, reason)
