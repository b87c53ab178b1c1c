from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Invalid
from jobmill.outside import budget_ledger, model_prices
from jobmill.outside.budget_ledger import BudgetCaps, BudgetUse
from jobmill.outside.model import ModelClient, open_model
from jobmill.outside.model_prices import Price
from jobmill.outside.model_question import ModelAnswer, ModelBlocked, ModelQuestion
from jobmill.settings import Settings
from tests.cli.forked import ForkedProcess
from tests.people.helpers import make_person

from . import model_worker
from .model_server import MESSAGES, ModelServer, answer, open_server
from .site import ReceivedRequest, ResponseWriter

DAY, MONTH, SOON = (dt.timedelta(hours=hours) for hours in (12, 13, 1))
HOUR = dt.timedelta(hours=1)


class PostingTitle(BaseModel):
    title: str


def ask(text: str = "x", **more: Any) -> ModelQuestion[PostingTitle]:
    return ModelQuestion("strong", "match", "Find the title.", text, PostingTitle, "1", 100, **more)


def caps(**more: Any) -> BudgetCaps:
    values = {"call": 1, "run": 5, "day": 5, "month": 50}
    return BudgetCaps(**{name: Decimal(str(cap)) for name, cap in values.items()} | more)


def spent(**more: Any) -> BudgetUse:
    values: dict[str, Any] = {"run": 0, "day": 0, "month": 0, "in_flight": 0, "run_in_flight": 0}
    numbers = {name: Decimal(str(sum)) for name, sum in (values | more).items()}
    return BudgetUse(**numbers, recheck_in=SOON, next_day_in=DAY, next_month_in=MONTH)


@pytest.mark.parametrize(
    ("need", "so_far", "expected"),
    [
        ("1", spent(), None),
        ("1.000001", spent(), ("too_dear", None, True)),
        ("1", spent(day=4, month=4), None),
        ("1", spent(day="4.000001", month=5), ("spent_out", DAY, False)),
        ("1", spent(day=4, month="49.5"), ("spent_out", MONTH, False)),
        ("1", spent(day=5, month=50), ("spent_out", MONTH, False)),
        ("1", spent(run="4.5"), ("spent_out", None, True)),
        ("1", spent(run="4.5", run_in_flight="0.5"), ("busy", SOON, False)),
        ("1", spent(run="4.5", run_in_flight="0.4"), ("spent_out", None, True)),
        ("1", spent(day=5, month=5, in_flight=1), ("busy", SOON, False)),
        ("1", spent(day=5, month=5, in_flight="0.5"), ("spent_out", DAY, False)),
        ("0", spent(run=9, day=9, month=99), None),
    ],
)
def test_a_call_fits_the_caps_or_says_when_it_will(
    need: str, so_far: BudgetUse, expected: tuple[str, dt.timedelta | None, bool] | None
) -> None:
    got = budget_ledger.check_caps(Decimal(need), so_far, caps())
    assert (got and (got.reason, got.opens_in, got.use_local)) == expected


def test_a_spent_budget_can_mean_continuing_without_a_model() -> None:
    got = budget_ledger.check_caps(Decimal(1), spent(day=5, month=5), caps(local_when_spent=True))
    assert got is not None
    assert (got.opens_in, got.use_local) == (DAY, True)


@pytest.mark.parametrize("name", ["budget_call", "budget_run", "budget_day", "budget_month"])
def test_a_cap_of_zero_allows_no_paid_calls(name: str) -> None:
    zero: dict[str, Any] = {name: 0}
    none = budget_ledger.read_caps(Settings(**zero))
    got = budget_ledger.check_caps(Decimal("0.000001"), spent(), none)
    assert got is not None
    assert (got.reason, got.use_local) == ("too_dear", True)
    assert budget_ledger.check_caps(Decimal(0), spent(), none) is None


def test_prices_in_the_settings_win_and_long_prompts_cost_more() -> None:
    haiku = "anthropic:claude-haiku-5-5"
    ours = model_prices.find_price(haiku, {})
    assert ours is not None
    assert ours.cost(100_000, 1_000) == Decimal("0.0105")
    assert ours.cost(100_001, 1_000) == Decimal("0.0525005")
    assert model_prices.find_price(haiku, {haiku: "1.5/3"}) == Price(Decimal("1.5"), Decimal(3))
    assert model_prices.find_price("openai:unheard-of", {}) is None
    # No text has more tokens than bytes.
    assert model_prices.max_cost(Price(Decimal(2), Decimal(10)), b"x" * 9_000, 100) == Decimal(
        "0.021"
    )


async def put(
    tx: Tx, need: str, limits: BudgetCaps | None = None, **more: Any
) -> int | ModelBlocked:
    return await budget_ledger.reserve(tx, ask(**more), "m", Decimal(need), limits or caps(), HOUR)


async def test_running_calls_of_a_run_do_not_count_as_spent(tx: Tx) -> None:
    own: dict[str, Any] = {"run": "report 1", "run_cap": Decimal(1)}
    first = await put(tx, "0.7", **own)
    assert isinstance(first, int)
    blocked = await put(tx, "0.7", **own)
    assert isinstance(blocked, ModelBlocked)
    assert (blocked.reason, blocked.use_local) == ("busy", False)
    await budget_ledger.settle(tx, first, "answered", cost=Decimal("0.1"))
    assert isinstance(await put(tx, "0.7", **own), int)
    over = await put(tx, "0.95", **own)
    assert over == ModelBlocked("spent_out", "its own budget ($1) is spent")


async def test_a_reservation_counts_until_it_is_settled(tx: Tx) -> None:
    limits = caps(day=Decimal(1))
    first = await put(tx, "0.7", limits)
    assert isinstance(first, int)
    blocked = await put(tx, "0.7", limits)
    assert isinstance(blocked, ModelBlocked)
    assert blocked.reason == "busy"
    await budget_ledger.settle(
        tx, first, "answered", tokens_in=1, tokens_out=1, cost=Decimal("0.3")
    )
    assert isinstance(await put(tx, "0.7", limits), int)
    over = await put(tx, "0.8", limits)
    assert isinstance(over, ModelBlocked)
    assert over.reason == "spent_out"


async def test_an_unsettled_call_stays_counted_after_its_end(tx: Tx) -> None:
    limits = caps(day=Decimal(1))
    await put(tx, "0.7", limits)
    await tx.execute("UPDATE budget.call SET ends_at = now() - interval '1 second'")
    got = await put(tx, "0.7", limits)
    assert isinstance(got, ModelBlocked)
    assert got.reason == "spent_out"
    assert got.opens_in is not None
    opens_at = await fetch_value(tx, dt.datetime.astimezone, "SELECT now() + %s", [got.opens_in])
    assert opens_at is not None
    assert opens_at.astimezone(dt.UTC).time() == dt.time()
    assert dt.timedelta() < got.opens_in <= dt.timedelta(days=1)
    spending = await budget_ledger.read_spending(tx, "day")
    assert (spending.spent, spending.reserved) == (0.7, 0)
    (line,) = await budget_ledger.read_lines(tx, 1)
    assert (line.spent, line.unknown, line.failures) == (0.7, 1, 1)


async def test_daily_and_monthly_caps_reset_but_run_caps_do_not(tx: Tx) -> None:
    limits = caps(run=Decimal(2), day=Decimal(1), month=Decimal(1))
    assert isinstance(await put(tx, "1", limits, run="a"), int)
    assert isinstance(await put(tx, "1", limits, run="a"), ModelBlocked)
    await tx.execute("UPDATE budget.call SET at = at - interval '40 days'")
    assert isinstance(await put(tx, "1", limits, run="a"), int)
    await tx.execute("UPDATE budget.call SET at = at - interval '40 days'")
    got = await put(tx, "1", limits, run="a")
    assert isinstance(got, ModelBlocked)
    assert "budget_run" in got.detail
    assert isinstance(await put(tx, "1", limits, run="b"), int)


async def test_settling_a_call_again_changes_nothing(tx: Tx) -> None:
    id = await put(tx, "0.7")
    assert isinstance(id, int)
    await budget_ledger.settle(tx, id, "answered", cost=Decimal("0.2"))
    await budget_ledger.settle(tx, id, "failed", cost=Decimal(0))
    assert (await budget_ledger.read_spending(tx, "month")).spent == 0.2


async def test_concurrent_reservations_wait_for_each_other(database: Database) -> None:
    limits = caps(day=Decimal(1))

    async def second() -> int | ModelBlocked:
        async with database.transaction() as tx:
            return await put(tx, "0.7", limits)

    async with database.transaction() as tx:
        assert isinstance(await put(tx, "0.7", limits), int)
        waiting = asyncio.create_task(second())
        while not waiting.done() and not await is_anyone_waiting(database):
            await asyncio.sleep(0.01)
        assert not waiting.done()
    assert isinstance(await waiting, ModelBlocked)


async def is_anyone_waiting(database: Database) -> bool:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT 1 FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return await cursor.fetchone() is not None


@pytest.fixture
async def vendor() -> AsyncIterator[ModelServer]:
    async with open_server() as vendor:
        yield vendor


def gate(count: int) -> Callable[[ReceivedRequest, ResponseWriter], Awaitable[None]]:
    """Holds requests back until enough of them have arrived."""
    all_here = asyncio.Barrier(count)

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        await all_here.wait()
        await out.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    return handle


# Few calls, so that all eight processes compete for the last one; or many, until the cap is
# reached.
@pytest.mark.parametrize("tokens", [2_500, 100])
async def test_eight_concurrent_processes_never_exceed_a_cap(
    url: str, vendor: ModelServer, database: Database, tokens: int
) -> None:
    async def bill(request: ReceivedRequest, out: ResponseWriter) -> None:
        body = json.loads(request.body)
        # The most a provider can bill: one token per byte.
        usage = {"input_tokens": len(request.body), "output_tokens": body["max_tokens"]}
        vendor.bill(body["model"], *usage.values())
        await asyncio.sleep(0.01)
        await answer({"title": "Cook"}, usage=usage)(request, out)

    vendor.says(bill)
    vendor.site.on("/go", gate(8))
    workers = [
        ForkedProcess(model_worker.run, url, vendor.url, f"{number}", 0.10, tokens)
        for number in range(8)
    ]
    assert [await asyncio.to_thread(worker.wait) for worker in workers] == [0] * 8
    assert Decimal("0.08") < vendor.billed <= Decimal("0.10")
    async with database.transaction() as tx:
        spending = await budget_ledger.read_spending(tx, "day")
    assert (round(spending.spent, 9), spending.reserved) == (float(vendor.billed), 0)


async def test_the_reservation_of_a_killed_process_stays_counted(
    url: str, vendor: ModelServer, database: Database
) -> None:
    asked_once = asyncio.Event()

    async def hang(request: ReceivedRequest, out: ResponseWriter) -> None:
        asked_once.set()
        await asyncio.sleep(60)

    vendor.says(hang)
    vendor.site.on("/go", gate(1))
    worker = ForkedProcess(model_worker.run, url, vendor.url, "doomed", 0.008, 100)
    await asked_once.wait()
    worker.kill()
    await asyncio.to_thread(worker.wait)
    vendor.says(answer({"title": "Cook"}))
    settings = Settings(anthropic_base_url=vendor.url, budget_day=0.008)
    async with open_model(database, settings, {"ANTHROPIC_API_KEY": "k"}) as model:
        assert await reason(model) == "busy"
        async with database.transaction() as tx:
            await tx.execute("UPDATE budget.call SET ends_at = now()")
        assert await reason(model) == "spent_out"
        assert len(vendor.site.requests_to(MESSAGES)) == 1
        async with database.transaction() as tx:
            await tx.execute("UPDATE budget.call SET at = at - interval '1 day'")
        assert isinstance(await model(ask()), ModelAnswer)


async def reason(model: ModelClient) -> str:
    got = await model(ask())
    assert isinstance(got, ModelBlocked)
    return got.reason


async def test_concurrent_calls_in_one_process_share_the_cap(
    vendor: ModelServer, database: Database
) -> None:
    vendor.says(answer({"title": "Cook"}))
    settings = Settings(anthropic_base_url=vendor.url, budget_day=0.009)
    async with open_model(database, settings, {"ANTHROPIC_API_KEY": "k"}) as model:
        got = await asyncio.gather(*(model(ask(str(number))) for number in range(8)))
    answered = [result for result in got if isinstance(result, ModelAnswer)]
    assert 1 <= len(answered) < 8
    assert {result.reason for result in got if isinstance(result, ModelBlocked)} <= {
        "busy",
        "spent_out",
    }


async def test_pruning_deletes_only_old_calls_and_answers(tx: Tx) -> None:
    for number, days in enumerate((0, 80, 91, 390, 401)):
        await tx.execute(
            """
            INSERT INTO budget.call (at, ends_at, model, tier, purpose, prompt_version, reserved)
            VALUES (now() - %(days)s * interval '24 hours', now(), 'm', 'cheap', %(days)s::text, '1', 1)
            """,
            {"days": days},
        )
        await tx.execute(
            "INSERT INTO budget.answer VALUES (%s, 'm', '{}', now() - %s * interval '24 hours')",
            [bytes([number]), days],
        )
    assert await budget_ledger.prune(tx) == 4
    assert await budget_ledger.prune(tx) == 0
    cursor = await tx.execute("SELECT purpose FROM budget.call ORDER BY id")
    assert await cursor.fetchall() == [("0",), ("80",), ("91",), ("390",)]
    cursor = await tx.execute("SELECT key FROM budget.answer ORDER BY key")
    assert await cursor.fetchall() == [(b"\0",), (b"\1",)]


@pytest.mark.parametrize(
    ("need", "so_far", "expected"),
    [
        ("1", spent(share=1), None),
        ("1", spent(share="1.000001"), ("spent_out", DAY, False)),
        ("1", spent(share="1.5", share_in_flight=1), ("busy", SOON, False)),
        ("2.5", spent(), ("too_dear", None, True)),
    ],
)
def test_a_call_fits_the_share_of_its_person(
    need: str, so_far: BudgetUse, expected: tuple[str, dt.timedelta | None, bool] | None
) -> None:
    limits = caps(share=Decimal(2), call=Decimal(5))
    got = budget_ledger.check_caps(Decimal(need), so_far, limits)
    assert (got and (got.reason, got.opens_in, got.use_local)) == expected


@pytest.mark.parametrize(
    ("text", "dollars"), [("0.50", "0.5"), ("$2", "2"), ("25%", "1.25"), ("99", "5"), (" 0 ", "0")]
)
def test_a_share_is_dollars_or_percent_of_the_day(text: str, dollars: str) -> None:
    share = budget_ledger.parse_share(text)
    assert share is not None
    assert share.in_dollars(Decimal(5)) == Decimal(dollars)
    assert budget_ledger.parse_share(str(share)) == share


@pytest.mark.parametrize("text", ["-1", "101%", "x", "NaN", "Infinity", "1e9"])
def test_an_unclear_share_is_invalid(text: str) -> None:
    with pytest.raises(Invalid):
        budget_ledger.parse_share(text)


async def test_calls_at_once_cannot_exceed_the_share_of_a_person(database: Database) -> None:
    anna = (await make_person(database, "anna@example.org", "seeker")).id
    bob = (await make_person(database, "bob@example.org", "seeker")).id
    async with database.transaction() as tx:
        await budget_ledger.set_share(tx, anna, budget_ledger.parse_share("2"))

    async def reserve(person_id: int | None, number: int) -> int | ModelBlocked:
        question = ask(run=f"{person_id} {number}", person_id=person_id)
        async with database.transaction() as tx:
            return await budget_ledger.reserve(
                tx, question, "anthropic:x", Decimal("0.75"), caps(day=Decimal(20)), HOUR
            )

    answers = await asyncio.gather(*(reserve(anna, number) for number in range(8)))
    blocked = [answer for answer in answers if isinstance(answer, ModelBlocked)]
    assert len(answers) - len(blocked) == 2
    assert {answer.reason for answer in blocked} == {"busy"}
    # Others go on: a person without a share, and work that belongs to no person.
    for person_id in (bob, None):
        assert not isinstance(await reserve(person_id, 9), ModelBlocked)
    async with database.transaction() as tx:
        rows = {
            row.name + str(row.person_id): row for row in await budget_ledger.read_by_person(tx)
        }
        assert rows[f"Ada{anna}"].spent == Decimal("1.5")
        assert rows[f"Ada{bob}"].share is None
        for answer in answers:
            if not isinstance(answer, ModelBlocked):
                await budget_ledger.settle(tx, answer, "answered", cost=Decimal("0.75"))
    last = await reserve(anna, 10)
    assert isinstance(last, ModelBlocked)
    assert last.reason == "spent_out"
    async with database.transaction() as tx:
        await budget_ledger.set_share(tx, anna, None)
    assert not isinstance(await reserve(anna, 11), ModelBlocked)
