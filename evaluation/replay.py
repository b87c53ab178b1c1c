"""Judges the postings of real boards for invented people, with a model that is asked at recorded
prices: how many it is asked about, what that costs, and what a small budget buys."""

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

from evaluation import boards, speaker
from evaluation.goal import Goal, Report
from jobmill import app, queue
from jobmill.boards import readable_board
from jobmill.boards.adapters import BY_NAME, PLATFORM_RULES
from jobmill.catalog import listings, posting_identity, sources
from jobmill.catalog.posting import Posting
from jobmill.catalog.source_runs import CrawlResult, SeenPosting
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
"""A cap that holds nothing back, in dollars."""
PART = 3
"""A small day may cost a third of what asking about all that is in reach costs."""
COLUMNS = (
    "profile", "listings", "filtered", "below reach", "asked", "matched", "without a model",
    "calls / 1,000", "$ / 1,000", "$ / match",
)  # fmt: skip

Board: TypeAlias = tuple[str, str]
Boards: TypeAlias = dict[Board, dict[str, Posting]]
Pair: TypeAlias = tuple[int, int]
"""A profile and a listing."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a listing for a profile."""

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
class Call:
    """A row of the ledger, and what it was about."""

    profile_id: int
    listing_id: int
    cache_hit: bool
    outcome: str
    cost: float

    @property
    def pair(self) -> Pair:
        return self.profile_id, self.listing_id


@dataclass
class Found:
    """All that the passes showed."""

    judged: list[Judged]
    first: list[Call]
    again: list[Call] = field(default_factory=list[Call])
    small: list[Call] = field(default_factory=list[Call])
    cap: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter[str])


def report(data: Path) -> Report:
    answers, unread = _read(data)
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder, "postgres"), durable=False).use() as url,
    ):
        found = asyncio.run(_replay(url, answers))
    names = [*dict.fromkeys(one.profile for one in found.judged)]
    rows = [
        _row(name, found, [one for one in found.judged if one.profile == name]) for name in names
    ]
    return Report(
        title="Replay: real boards, invented profiles, a model at recorded prices",
        columns=COLUMNS,
        rows=[*rows, _row("all", found, found.judged)],
        goals=_goals(found),
        notes=[_corpus(answers, unread), *_notes(found)],
    )


# What boards say.


def _read(data: Path) -> tuple[Boards, int]:
    """Each board's postings that have a page and a text, and how many have not."""
    found: Boards = {}
    unread = 0
    for name, file in boards.files(data):
        token = file.name.partition("__")[0].partition(".")[0]
        for one in _postings(name, token, file):
            if not (one.url and one.description):
                unread += 1
                continue
            kept = found.setdefault((name, token), {})
            key = posting_identity.identity(one, PLATFORM_RULES)
            kept[key] = max(kept.get(key, one), one, key=lambda each: len(each.description or ""))
    return found, unread


def _postings(name: str, token: str, file: Path) -> Sequence[Posting]:
    if not file.parent.name.startswith("ats_") or name not in BY_NAME or not BY_NAME[name].read:
        return ()
    try:
        return readable_board.read_saved_response(BY_NAME[name], boards.read(file), token=token)
    except AppError:
        # Its file does not tell the board's name.
        return ()


# The passes.


async def _replay(url: str, answers: Boards) -> Found:
    async with connect(url) as database, speaker.open_speaker() as spoken:
        settings = Settings(
            anthropic_base_url=spoken.url, budget_run=OPEN, budget_day=OPEN, budget_month=OPEN
        )
        async with database.transaction() as tx:
            await migrate(tx)
        await _prepare(database, answers, settings)
        await _work(database, answers, settings)
        found = Found(await _judged(database), await _calls(database))
        found.statuses = await _statuses(database)
        await _again(database, found)
        await _work(database, answers, settings)
        found.again = (await _calls(database))[len(found.first) :]
        await _forget(database)
        await _again(database, found)
        found.cap = round(sum(one.cost for one in found.first) / PART, 2)
        await _small_day(database, answers, settings.model_copy(update={"budget_day": found.cap}))
        found.small = await _calls(database)
        return found


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
    """All that the product does; a source shows what was saved of it."""
    replayed = Stage(partial(_harvest, answers))
    return {**app.build_stages(tools, settings), (source.KIND, "scrape"): replayed}


async def _harvest(answers: Boards, work: Work) -> Move:
    name, token = work.data["board"]
    seen = [SeenPosting(one, listings.listed_hash(one)) for one in answers[name, token].values()]
    harvest = CrawlResult(dt.datetime.now(dt.UTC), "complete", seen)
    id: int = work.data["source"]
    return Finish(
        "replayed", save=partial(source.save_harvest, id=id, harvest=harvest, item=work.id)
    )


async def _work(
    database: Database,
    answers: Boards,
    settings: Settings,
    *,
    but: Sequence[str] = (),
) -> None:
    """Work until nothing is left that can go on; phases of listings in `but` wait."""
    async with open_model(database, settings, KEY) as model:
        stages = _stages(Tools(database, model=model), answers, settings)
        only = [phase for phase in stages if phase not in {(judging.KIND, stage) for stage in but}]
        chores = [PeriodicTask(60, feed_task(feed), on_feed_notify=True) for feed in app.FEEDS]
        worker = Worker(database, stages, only=only, periodic_tasks=chores)
        running = asyncio.create_task(worker.run())
        # The queue tells nobody outside that it is empty.
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


async def _again(database: Database, found: Found) -> None:
    """Let all that was asked about be judged once more."""
    async with database.transaction() as tx:
        for id in {one.profile_id for one in found.first}:
            ids = [one.listing_id for one in found.first if one.profile_id == id]
            await judging_feed.add(tx, ids, profile_id=id)
        await notify_feeds(tx)


async def _forget(database: Database) -> None:
    """As if no model had ever been asked."""
    async with database.transaction() as tx:
        await tx.execute("TRUNCATE budget.answer, budget.call")


async def _small_day(database: Database, answers: Boards, settings: Settings) -> None:
    """A day that begins with all of it in line, as after a night or after a day that was spent."""
    await _work(database, answers, settings, but=("ask", "save"))
    await _work(database, answers, settings)


async def _judged(database: Database) -> list[Judged]:
    async with database.transaction() as tx:
        return await fetch_all(
            tx,
            Judged,
            """
            SELECT profile_id, profile.name AS profile, listing_id, outcome::text, local_score,
                   scored_by
              FROM matching.verdict JOIN matching.profile ON profile.id = profile_id
             ORDER BY profile.name, listing_id
            """,
        )


async def _calls(database: Database) -> list[Call]:
    async with database.transaction() as tx:
        return await fetch_all(
            tx,
            Call,
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


def _row(name: str, found: Found, judged: Sequence[Judged]) -> tuple[str, ...]:
    pairs = {one.pair for one in judged}
    calls = [one for one in found.first if one.pair in pairs]
    asked = len({one.pair for one in calls})
    many, spent = len(judged), sum(one.cost for one in calls)
    outcomes = Counter(one.outcome for one in judged)
    local = many - asked
    return (
        name,
        str(many),
        f"{outcomes['filtered'] / many:.3f}",
        f"{(local - outcomes['filtered']) / many:.3f}",
        f"{asked / many:.3f}",
        str(outcomes["matched"]),
        f"{local / many:.3f}",
        f"{1000 * sum(not one.cache_hit for one in calls) / many:.1f}",
        f"{1000 * spent / many:.3f}",
        f"{spent / outcomes['matched']:.3f}" if outcomes["matched"] else "",
    )


@dataclass(frozen=True)
class Day:
    """What a small day bought: of as many as it paid for, those that were best, and matches."""

    calls: int
    spent: float
    best: float
    """The share of the best that were asked about; ties count for either."""
    matches: int
    best_if_first_come: float
    matches_if_first_come: int


def _day(found: Found) -> Day:
    local = {one.pair: one.local_score or 0 for one in found.judged}
    matched = {one.pair for one in found.judged if one.outcome == "matched"}
    line = list(dict.fromkeys(one.pair for one in found.first))
    paid = {one.pair for one in found.small}
    # Those that came first: in the order of their numbers, profile by profile as they wait.
    first = set(sorted(line, key=lambda pair: pair[::-1])[: len(paid)])
    least = sorted((local[pair] for pair in line), reverse=True)[: len(paid)][-1]

    def share(pairs: set[Pair]) -> float:
        return sum(local[pair] >= least for pair in pairs) / len(pairs)

    return Day(
        len(paid),
        sum(one.cost for one in found.small),
        share(paid),
        len(paid & matched),
        share(first),
        len(first & matched),
    )


def _goals(found: Found) -> list[Goal]:
    many, spent = len(found.judged), sum(one.cost for one in found.first)
    asked = len({one.pair for one in found.first})
    matched = sum(one.outcome == "matched" for one in found.judged)
    unanswered = sum(one.outcome not in ("answered", "cached") for one in found.first)
    day = _day(found)
    return [
        Goal("judged without a model", 1 - asked / many, 0.95),
        Goal("dollars for 1000 listings", 1000 * spent / many, 1.0, at_most=True),
        Goal("dollars for a match", spent / max(matched, 1), 0.10, at_most=True),
        Goal("dollars for the same again", sum(one.cost for one in found.again), 0, at_most=True),
        Goal("calls without an answer", unanswered, 0, at_most=True),
        Goal("listings that failed", found.statuses["FAILED"], 0, at_most=True),
        Goal("small day over its cap", max(0.0, day.spent - found.cap), 0, at_most=True),
        Goal("small day asks the best", day.best, 0.9),
    ]


def _corpus(answers: Boards, unread: int) -> str:
    sizes = Counter({board: len(found) for board, found in answers.items()})
    (_, largest), most = sizes.most_common(1)[0]
    return (
        f"{sizes.total()} postings of {len(sizes)} boards, {most} of them of {largest}, each judged for"
        f" every profile; {unread} without a text or a page are left out."
    )


def _notes(found: Found) -> list[str]:
    day = _day(found)
    hits = sum(one.cache_hit for one in found.first)
    priced = (
        f"Prices as of {model_prices.AS_OF}; the stand-in counts {speaker.LETTERS_A_TOKEN} bytes for a token"
        f" in, and {speaker.TOKENS_OUT[0]} to {speaker.TOKENS_OUT[-1]} out. What it says of a fit is"
        " made up, and so is the share of matches."
    )
    cached = (
        f"Two that ask the same cost once: {hits} of {len(found.first)} were answered from the cache;"
        f" judged again, {sum(one.cache_hit for one in found.again)} of {len(found.again)}."
    )
    small = (
        f"A day with ${found.cap:.2f}, a third of what all in reach cost, begun with all of them in line:"
        f" {day.calls} calls for ${day.spent:.2f}, {day.best:.2f} of them among the {day.calls} best, and"
        f" {day.matches} matches; first come, first asked: {day.best_if_first_come:.2f} and"
        f" {day.matches_if_first_come}."
    )
    return [priced, cached, small]
