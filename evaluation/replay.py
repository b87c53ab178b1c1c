"""Judges the postings of real boards for invented profiles with a stand-in for the model: how many
listings are reviewed, what the reviews cost, and what a small budget achieves."""

from __future__ import annotations

import asyncio
import datetime as dt
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from evaluation import boards, model_stand_in
from evaluation.goal import Goal, Report
from jobmill import app, queue
from jobmill.boards import readable_board
from jobmill.boards.adapters import BY_NAME, PLATFORM_RULES
from jobmill.catalog import listings, posting_identity, sources
from jobmill.catalog.crawl_results import CrawlResult, SeenPosting
from jobmill.catalog.posting import Posting
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, connect, fetch_all, fetch_value
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.errors import AppError
from jobmill.matching import judging_feed, profile_document, profiles
from jobmill.outside import model_prices
from jobmill.outside.model import open_model
from jobmill.pipelines import judging, source
from jobmill.queue import Finish, Move, Stage, Stages, Work, Worker
from jobmill.queue.feed import feed_task, notify_feeds
from jobmill.queue.worker import PeriodicTask
from jobmill.settings import Settings
from jobmill.tools import Tools

PROFILES = Path(__file__).parent / "profiles"
KEY = {"ANTHROPIC_API_KEY": "for-loopback"}
OPEN = 1_000
"""A cap in dollars that is never reached."""
PART = 3
"""A small day has a third of the budget that reviewing all listings in reach would need."""
COLUMNS = (
    "profile", "listings", "filtered", "below reach", "asked", "matched", "without a model",
    "calls / 1,000", "$ / 1,000", "$ / match",
)  # fmt: skip

Board: TypeAlias = tuple[str, str]
Boards: TypeAlias = dict[Board, dict[str, Posting]]
Pair: TypeAlias = tuple[int, int]
"""A profile and a listing."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a listing for a profile."""

    profile_id: int
    profile: str
    listing_id: int
    outcome: str
    local_score: int | None
    scored_by: str | None

    @property
    def pair(self) -> Pair:
        return self.profile_id, self.listing_id


@dataclass(frozen=True, slots=True)
class LedgerCall:
    """A row of the ledger with its profile and listing."""

    profile_id: int
    listing_id: int
    cache_hit: bool
    outcome: str
    cost: float

    @property
    def pair(self) -> Pair:
        return self.profile_id, self.listing_id


@dataclass
class ReplayResults:
    """The results of all passes."""

    judged: list[Judgement]
    first: list[LedgerCall]
    again: list[LedgerCall] = field(default_factory=list[LedgerCall])
    small: list[LedgerCall] = field(default_factory=list[LedgerCall])
    cap: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter[str])


def report(data: Path) -> Report:
    answers, unread = read_boards(data)
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder, "postgres"), durable=False).use() as url,
    ):
        results = asyncio.run(_replay(url, answers))
    names = [*dict.fromkeys(judgement.profile for judgement in results.judged)]
    rows = [
        _row(
            name, results, [judgement for judgement in results.judged if judgement.profile == name]
        )
        for name in names
    ]
    return Report(
        title="Replay: real boards, invented profiles, a model at recorded prices",
        columns=COLUMNS,
        rows=[*rows, _row("all", results, results.judged)],
        goals=_goals(results),
        notes=[_corpus(answers, unread), *_notes(results)],
    )


# Saved responses.


def read_boards(data: Path) -> tuple[Boards, int]:
    """The postings of each board that have a URL and a text, and the number of the others."""
    by_board: Boards = {}
    unread = 0
    for name, file in boards.files(data):
        token = file.name.partition("__")[0].partition(".")[0]
        for posting in _postings(name, token, file):
            if not (posting.url and posting.description):
                unread += 1
                continue
            by_identity = by_board.setdefault((name, token), {})
            key = posting_identity.identity(posting, PLATFORM_RULES)
            by_identity[key] = max(
                by_identity.get(key, posting), posting, key=lambda each: len(each.description or "")
            )
    return by_board, unread


def _postings(name: str, token: str, file: Path) -> Sequence[Posting]:
    if not file.parent.name.startswith("ats_") or name not in BY_NAME or not BY_NAME[name].read:
        return ()
    try:
        return readable_board.read_saved_response(BY_NAME[name], boards.read(file), token=token)
    except AppError:
        # The file does not name its board.
        return ()


# The passes.


async def _replay(url: str, answers: Boards) -> ReplayResults:
    async with connect(url) as database, model_stand_in.open_stand_in() as spoken:
        settings = Settings(
            anthropic_base_url=spoken.url, budget_run=OPEN, budget_day=OPEN, budget_month=OPEN
        )
        async with database.transaction() as tx:
            await migrate(tx)
        await _prepare(database, answers, settings)
        await _work(database, answers, settings)
        results = ReplayResults(await _judged(database), await _calls(database))
        results.statuses = await _statuses(database)
        await _again(database, results)
        await _work(database, answers, settings)
        results.again = (await _calls(database))[len(results.first) :]
        await _forget(database)
        await _again(database, results)
        results.cap = round(sum(call.cost for call in results.first) / PART, 2)
        await _small_day(database, answers, settings.model_copy(update={"budget_day": results.cap}))
        results.small = await _calls(database)
        return results


async def _prepare(database: Database, answers: Boards, settings: Settings) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, _stages(Tools(database), answers, settings))
        for file in sorted(PROFILES.glob("*.yaml")):
            await profiles.save(
                tx, file.stem, profile_document.read_profile(file.read_text(), file.name)
            )
        for name, token in answers:
            new = NewSource(
                f"{name} {token}", name, token, {"board_token": token}, company_name=token
            )
            id, _ = await sources.add(tx, new, enabled=True)
            await queue.submit(
                tx, replace(source.new_item(id), data={"source": id, "board": [name, token]})
            )


def _stages(tools: Tools, answers: Boards, settings: Settings) -> Stages:
    """The stages of the product, except that a source returns its saved postings."""
    replayed = Stage(partial(_harvest, answers))
    return {**app.build_stages(tools, settings), (source.KIND, "scrape"): replayed}


async def _harvest(answers: Boards, work: Work) -> Move:
    name, token = work.data["board"]
    postings = [
        SeenPosting(posting, listings.listed_hash(posting))
        for posting in answers[name, token].values()
    ]
    crawl = CrawlResult(dt.datetime.now(dt.UTC), "complete", postings)
    id: int = work.data["source"]
    return Finish("replayed", save=partial(source.save_crawl, id=id, crawl=crawl, item=work.id))


async def _work(
    database: Database,
    answers: Boards,
    settings: Settings,
    *,
    but: Sequence[str] = (),
) -> None:
    """Run a worker until no item can continue; the listing stages in `but` do not run."""
    async with open_model(database, settings, KEY) as model:
        stages = _stages(Tools(database, model=model), answers, settings)
        only = [phase for phase in stages if phase not in {(judging.KIND, stage) for stage in but}]
        chores = [PeriodicTask(60, feed_task(feed), on_feed_notify=True) for feed in app.FEEDS]
        worker = Worker(database, stages, only=only, periodic_tasks=chores)
        running = asyncio.create_task(worker.run())
        # The queue sends no notification when it is empty.
        while await _left(database, but):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        worker.stop()
        await running


async def _left(database: Database, but: Sequence[str]) -> int:
    async with database.transaction() as tx:
        left = await fetch_value(
            tx,
            int,
            """
            SELECT (SELECT count(*) FROM matching.judging_queue)
                 + (SELECT count(*) FROM queue.live
                     WHERE stage <> ALL (%(but)s)
                       AND NOT (status = 'BLOCKED' AND available_at > now() + interval '1 minute'))
            """,
            {"but": list(but)},
        )
    return left or 0


async def _again(database: Database, results: ReplayResults) -> None:
    """Judge all reviewed listings again."""
    async with database.transaction() as tx:
        for id in {call.profile_id for call in results.first}:
            ids = [call.listing_id for call in results.first if call.profile_id == id]
            await judging_feed.add(tx, ids, profile_id=id)
        await notify_feeds(tx)


async def _forget(database: Database) -> None:
    """Delete all answers and calls of the model."""
    async with database.transaction() as tx:
        await tx.execute("TRUNCATE budget.answer, budget.call")


async def _small_day(database: Database, answers: Boards, settings: Settings) -> None:
    """Run a day that starts with all listings waiting for a review."""
    await _work(database, answers, settings, but=("ask", "save"))
    await _work(database, answers, settings)


async def _judged(database: Database) -> list[Judgement]:
    async with database.transaction() as tx:
        return await fetch_all(
            tx,
            Judgement,
            """
            SELECT profile_id, profile.name AS profile, listing_id, outcome::text, local_score,
                   scored_by
              FROM matching.verdict JOIN matching.profile ON profile.id = profile_id
             ORDER BY profile.name, listing_id
            """,
        )


async def _calls(database: Database) -> list[LedgerCall]:
    async with database.transaction() as tx:
        return await fetch_all(
            tx,
            LedgerCall,
            """
            SELECT (data ->> 'profile_id')::int AS profile_id,
                   (data ->> 'listing_id')::int AS listing_id,
                   cache_hit, outcome::text, counted::float8 AS cost
              FROM budget.call JOIN queue.item ON item.id = call.item
             ORDER BY call.id
            """,
        )


async def _statuses(database: Database) -> Counter[str]:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT status::text, count(*) FROM queue.items WHERE kind = 'listing' GROUP BY 1"
        )
        return Counter(dict(await cursor.fetchall()))


# The figures.


def _row(name: str, results: ReplayResults, judged: Sequence[Judgement]) -> tuple[str, ...]:
    pairs = {judgement.pair for judgement in judged}
    calls = [call for call in results.first if call.pair in pairs]
    reviewed = len({call.pair for call in calls})
    many, spent = len(judged), sum(call.cost for call in calls)
    outcomes = Counter(judgement.outcome for judgement in judged)
    local = many - reviewed
    return (
        name,
        str(many),
        f"{outcomes['filtered'] / many:.3f}",
        f"{(local - outcomes['filtered']) / many:.3f}",
        f"{reviewed / many:.3f}",
        str(outcomes["matched"]),
        f"{local / many:.3f}",
        f"{1000 * sum(not call.cache_hit for call in calls) / many:.1f}",
        f"{1000 * spent / many:.3f}",
        f"{spent / outcomes['matched']:.3f}" if outcomes["matched"] else "",
    )


@dataclass(frozen=True)
class SmallDay:
    """The result of a day with a small budget, compared with reviewing listings in the order of
    their arrival."""

    calls: int
    spent: float
    best: float
    """The share of reviewed listings that are among the best by local score, ties included."""
    matches: int
    best_if_first_come: float
    matches_if_first_come: int


def _day(results: ReplayResults) -> SmallDay:
    local = {judgement.pair: judgement.local_score or 0 for judgement in results.judged}
    matched = {judgement.pair for judgement in results.judged if judgement.outcome == "matched"}
    line = list(dict.fromkeys(call.pair for call in results.first))
    paid = {call.pair for call in results.small}
    # The first listings in the order of arrival.
    first = set(sorted(line, key=lambda pair: pair[::-1])[: len(paid)])
    least = sorted((local[pair] for pair in line), reverse=True)[: len(paid)][-1]

    def share(pairs: set[Pair]) -> float:
        return sum(local[pair] >= least for pair in pairs) / len(pairs)

    return SmallDay(
        len(paid),
        sum(call.cost for call in results.small),
        share(paid),
        len(paid & matched),
        share(first),
        len(first & matched),
    )


def _goals(results: ReplayResults) -> list[Goal]:
    many, spent = len(results.judged), sum(call.cost for call in results.first)
    reviewed = len({call.pair for call in results.first})
    matched = sum(judgement.outcome == "matched" for judgement in results.judged)
    unanswered = sum(call.outcome not in ("answered", "cached") for call in results.first)
    day = _day(results)
    return [
        Goal("judged without a model", 1 - reviewed / many, 0.95),
        Goal("dollars for 1000 listings", 1000 * spent / many, 1.0, at_most=True),
        Goal("dollars for a match", spent / max(matched, 1), 0.10, at_most=True),
        Goal(
            "dollars for the same again", sum(call.cost for call in results.again), 0, at_most=True
        ),
        Goal("calls without an answer", unanswered, 0, at_most=True),
        Goal("listings that failed", results.statuses["FAILED"], 0, at_most=True),
        Goal("small day over its cap", max(0.0, day.spent - results.cap), 0, at_most=True),
        Goal("small day asks the best", day.best, 0.9),
    ]


def _corpus(answers: Boards, unread: int) -> str:
    sizes = Counter({board: len(postings) for board, postings in answers.items()})
    (_, largest), most = sizes.most_common(1)[0]
    return (
        f"{sizes.total()} postings of {len(sizes)} boards, {most} of them of {largest}, each judged for"
        f" every profile; {unread} without a text or a page are left out."
    )


def _notes(results: ReplayResults) -> list[str]:
    day = _day(results)
    hits = sum(call.cache_hit for call in results.first)
    priced = (
        f"Prices as of {model_prices.AS_OF}; the stand-in counts {model_stand_in.LETTERS_A_TOKEN} bytes for a token"
        f" in, and {model_stand_in.TOKENS_OUT[0]} to {model_stand_in.TOKENS_OUT[-1]} out. What it says of a fit is"
        " made up, and so is the share of matches."
    )
    cached = (
        f"Two that ask the same cost once: {hits} of {len(results.first)} were answered from the cache;"
        f" judged again, {sum(call.cache_hit for call in results.again)} of {len(results.again)}."
    )
    small = (
        f"A day with ${results.cap:.2f}, a third of what all in reach cost, begun with all of them in line:"
        f" {day.calls} calls for ${day.spent:.2f}, {day.best:.2f} of them among the {day.calls} best, and"
        f" {day.matches} matches; first come, first asked: {day.best_if_first_come:.2f} and"
        f" {day.matches_if_first_come}."
    )
    return [priced, cached, small]
