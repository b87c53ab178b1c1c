"""The ledger of model calls: caps, reservations and costs."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias

from jobmill.db import Tx, fetch_all, fetch_one, fetch_single, fetch_single_value, fetch_value
from jobmill.errors import Invalid
from jobmill.settings import Settings

from .model_question import ModelBlocked, ModelQuestion, T

CallOutcome: TypeAlias = Literal["answered", "malformed", "truncated", "refused", "failed"]

CALL_RETENTION = dt.timedelta(days=400)
"""More than a year, so that a month can be compared with the same month a year ago."""
ANSWER_RETENTION = dt.timedelta(days=90)
"""Few listings are open longer."""
PRUNE_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class BudgetCaps:
    """In US dollars."""

    call: Decimal
    run: Decimal
    day: Decimal
    month: Decimal
    local_when_spent: bool = False
    """Whether to continue without a model when the day or month is spent."""
    share: Decimal | None = None
    """What one person may use of the day; None: no limit of their own."""
    run_name: str = "budget_run"
    """What messages call the cap of the run."""


def read_caps(settings: Settings) -> BudgetCaps:
    return BudgetCaps(
        *(
            Decimal(str(cap))
            for cap in (
                settings.budget_call,
                settings.budget_run,
                settings.budget_day,
                settings.budget_month,
            )
        ),
        local_when_spent=settings.budget_spent_out == "local",
    )


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """What counts against the caps; `run`, `day` and `month` include reservations."""

    run: Decimal
    run_in_flight: Decimal
    """Reserved by calls of the run that have not ended."""
    day: Decimal
    month: Decimal
    in_flight: Decimal
    """Reserved by today's calls that have not ended."""
    recheck_in: dt.timedelta
    """When one of these may have ended and released its reservation."""
    next_day_in: dt.timedelta
    next_month_in: dt.timedelta
    """Times are relative because the clock of a worker may be wrong."""
    share: Decimal = Decimal(0)
    """Of the day, by the person that the call is for."""
    share_in_flight: Decimal = Decimal(0)


def check_caps(need: Decimal, spent: BudgetUse, caps: BudgetCaps) -> ModelBlocked | None:
    """Why a call that costs at most `need` is not allowed; None if it fits into the caps."""
    if need == 0:
        return None
    for name, cap in (
        ("budget_call", caps.call),
        (caps.run_name, caps.run),
        ("budget_day", caps.day),
        ("budget_month", caps.month),
    ):
        if need > cap:
            detail = f"the call may cost ${need:.4f}, more than {name} (${cap})"
            return ModelBlocked("too_dear", detail)
    if caps.share is not None and need > caps.share:
        detail = f"the call may cost ${need:.4f}, more than this person's share (${caps.share:.2f})"
        return ModelBlocked("too_dear", detail)
    if spent.run - spent.run_in_flight + need > caps.run:
        # A run has no next period to wait for.
        return ModelBlocked("spent_out", f"{caps.run_name} (${caps.run}) is spent")
    if spent.run + need > caps.run:
        detail = f"running calls have reserved the rest of {caps.run_name} (${caps.run})"
        return ModelBlocked("busy", detail, spent.recheck_in, use_local=False)
    for name, cap, used, in_flight, opens_in in (
        ("budget_month", caps.month, spent.month, spent.in_flight, spent.next_month_in),
        ("budget_day", caps.day, spent.day, spent.in_flight, spent.next_day_in),
        ("this person's share", caps.share, spent.share, spent.share_in_flight, spent.next_day_in),
    ):
        if cap is None or used + need <= cap:
            continue
        if used - in_flight + need <= cap:
            detail = f"running calls have reserved the rest of {name} (${cap})"
            return ModelBlocked("busy", detail, spent.recheck_in, use_local=False)
        return ModelBlocked(
            "spent_out", f"{name} (${cap}) is spent", opens_in, caps.local_when_spent
        )
    return None


async def reserve(
    tx: Tx,
    question: ModelQuestion[T],
    model: str,
    need: Decimal,
    caps: BudgetCaps,
    lasts: dt.timedelta,
) -> int | ModelBlocked:
    """Reserve `need` for a call and return its id; ModelBlocked if the caps do not allow it.
    Commit before calling the model."""
    await tx.execute("SELECT 1 FROM budget.allowance FOR UPDATE")
    # A separate statement, so that it sees what other transactions committed before we got the
    # lock.
    spent = await _read_use(tx, question.run, question.person_id)
    if question.run_cap is not None and question.run_cap < caps.run:
        caps = replace(caps, run=question.run_cap, run_name="its own budget")
    if question.person_id is not None:
        share = await find_share(tx, question.person_id)
        caps = replace(caps, share=share and share.in_dollars(caps.day))
    blocked = check_caps(need, spent, caps)
    if blocked and blocked.reason == "spent_out" and blocked.opens_in and caps.share is None:
        await _notify_operators(tx, blocked.detail)
    return blocked or await _insert(tx, question, model, need, lasts)


async def _notify_operators(tx: Tx, detail: str) -> None:
    """Once per day and cap."""
    await tx.execute(
        """
        SELECT notification.record('budget', '{admin}',
                                   'budget ' || (now() AT TIME ZONE 'UTC')::date || ' ' || %(detail)s,
                                   jsonb_build_object('detail', %(detail)s::text))
        """,
        {"detail": detail},
    )


async def _read_use(tx: Tx, run: str | None, person_id: int | None) -> BudgetUse:
    return await fetch_single(
        tx,
        BudgetUse,
        """
        WITH this AS (
            SELECT date_trunc('day', now(), 'UTC') AS day,
                   date_trunc('month', now(), 'UTC') AS month
        ), paid AS (
            SELECT coalesce(sum(counted) FILTER (WHERE at >= (SELECT day FROM this)), 0) AS day,
                   coalesce(sum(counted), 0) AS month
              FROM budget.call
             WHERE counted > 0 AND at >= (SELECT month FROM this)
        ), running AS (
            SELECT coalesce(sum(counted), 0) AS in_flight, min(ends_at) AS ends_at
              FROM budget.call
             WHERE settled_at IS NULL AND ends_at > now()
               AND counted > 0 AND at >= (SELECT day FROM this)
        ), run_total AS (
            SELECT coalesce(sum(counted), 0) AS run,
                   coalesce(sum(counted) FILTER (WHERE settled_at IS NULL AND ends_at > now()), 0)
                       AS run_in_flight
              FROM budget.call
             WHERE run = %(run)s AND counted > 0
        ), person AS (
            SELECT coalesce(sum(counted), 0) AS share,
                   coalesce(sum(counted) FILTER (WHERE settled_at IS NULL AND ends_at > now()), 0)
                       AS share_in_flight
              FROM budget.call
             WHERE person_id = %(person)s AND counted > 0 AND at >= (SELECT day FROM this)
        )
        SELECT run_total.run, run_in_flight, paid.day, paid.month, in_flight,
               least(ends_at - now(), interval '15 seconds') AS recheck_in,
               (date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day')
                   AT TIME ZONE 'UTC' - now() AS next_day_in,
               (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month')
                   AT TIME ZONE 'UTC' - now() AS next_month_in,
               share, share_in_flight
          FROM paid, running, run_total, person
        """,
        {"run": run, "person": person_id},
    )


async def _insert(
    tx: Tx, question: ModelQuestion[T], model: str, need: Decimal, lasts: dt.timedelta
) -> int:
    return await fetch_single_value(
        tx,
        int,
        """
        INSERT INTO budget.call
               (ends_at, model, tier, purpose, prompt_version, item, run, person_id, reserved)
        VALUES (clock_timestamp() + %(lasts)s, %(model)s, %(tier)s, %(purpose)s,
                %(prompt_version)s, %(item)s, %(run)s, %(person)s, %(reserved)s)
        RETURNING id
        """,
        _question_columns(question, model) | {"lasts": lasts, "reserved": need},
    )


def _question_columns(question: ModelQuestion[T], model: str) -> dict[str, object]:
    return {
        "model": model,
        "tier": question.tier,
        "purpose": question.purpose,
        "prompt_version": question.prompt_version,
        "item": question.item,
        "run": question.run,
        "person": question.person_id,
    }


async def settle(
    tx: Tx,
    id: int,
    outcome: CallOutcome,
    *,
    tokens_in: int | None = None,
    tokens_out: int | None = None,
    cost: Decimal | None = None,
) -> None:
    """Record the end of a call. If the cost is unknown, the full reservation stays counted."""
    await tx.execute(
        """
        UPDATE budget.call
           SET settled_at = clock_timestamp(), outcome = %(outcome)s, cost = %(cost)s,
               tokens_in = %(tokens_in)s, tokens_out = %(tokens_out)s
         WHERE id = %(id)s AND settled_at IS NULL
        """,
        {
            "id": id,
            "outcome": outcome,
            "cost": cost,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
        },
    )


async def save_answer(tx: Tx, key: bytes, model: str, answer: str) -> None:
    """Store an answer in the transaction that settles its call."""
    await tx.execute(
        "INSERT INTO budget.answer (key, model, answer) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        [key, model, answer],
    )


async def find_answer(tx: Tx, key: bytes) -> str | None:
    """The stored answer to the same question."""
    return await fetch_value(tx, str, "SELECT answer FROM budget.answer WHERE key = %s", [key])


async def record_cache_hit(tx: Tx, question: ModelQuestion[T], model: str) -> None:
    """Record an answer from the cache, which costs nothing."""
    await tx.execute(
        """
        INSERT INTO budget.call
               (ends_at, settled_at, model, tier, purpose, prompt_version, item, run, person_id,
                cache_hit, reserved, cost, outcome)
        VALUES (now(), now(), %(model)s, %(tier)s, %(purpose)s, %(prompt_version)s, %(item)s,
                %(run)s, %(person)s, true, 0, 0, 'cached')
        """,
        _question_columns(question, model),
    )


ShareUnit: TypeAlias = Literal["usd", "percent"]


@dataclass(frozen=True, slots=True)
class BudgetShare:
    """How much of the daily budget a person may use."""

    amount: Decimal
    unit: ShareUnit

    def in_dollars(self, day: Decimal) -> Decimal:
        """At most the budget of the day."""
        return min(self.amount if self.unit == "usd" else day * self.amount / 100, day)

    def __str__(self) -> str:
        return f"${self.amount:f}" if self.unit == "usd" else f"{self.amount:f}%"


def parse_share(text: str) -> BudgetShare | None:
    """`0.50` or `$0.50` a day, or `25%` of the daily budget; None for an empty text: no limit."""
    text = text.strip()
    if not text:
        return None
    unit: ShareUnit = "percent" if text.endswith("%") else "usd"
    try:
        amount = Decimal(text.removesuffix("%").removeprefix("$").strip())
    except InvalidOperation:
        amount = Decimal(-1)
    if not (amount.is_finite() and 0 <= amount <= (100 if unit == "percent" else 1_000_000)):
        raise Invalid(
            "A budget share is US dollars per day such as 0.50, or percent of the daily budget such"
            " as 25%."
        )
    return BudgetShare(amount, unit)


async def find_share(tx: Tx, person_id: int) -> BudgetShare | None:
    """The share of a person; None if only the budget of all limits them."""
    return await fetch_one(
        tx, BudgetShare, "SELECT amount, unit FROM budget.share WHERE person_id = %s", [person_id]
    )


async def set_share(tx: Tx, person_id: int, share: BudgetShare | None) -> None:
    """Set or remove the share of a person, from the next call on."""
    if share is None:
        await tx.execute("DELETE FROM budget.share WHERE person_id = %s", [person_id])
        return
    await tx.execute(
        """
        INSERT INTO budget.share (person_id, amount, unit) VALUES (%s, %s, %s)
        ON CONFLICT (person_id) DO UPDATE SET amount = excluded.amount, unit = excluded.unit
        """,
        [person_id, share.amount, share.unit],
    )


@dataclass(frozen=True, slots=True)
class PersonSpending:
    """What was spent today for one person, with reservations."""

    person_id: int
    name: str
    amount: Decimal | None
    unit: ShareUnit | None
    spent: Decimal

    @property
    def share(self) -> BudgetShare | None:
        return (
            BudgetShare(self.amount, self.unit) if self.amount is not None and self.unit else None
        )


async def read_by_person(tx: Tx, person_id: int | None = None) -> list[PersonSpending]:
    """People with a share or with spending today; `person_id`: only this one."""
    return await fetch_all(
        tx,
        PersonSpending,
        """
        SELECT person.id AS person_id, name, amount, unit, coalesce(spent, 0) AS spent
          FROM people.person
          LEFT JOIN budget.share ON share.person_id = person.id
          LEFT JOIN (SELECT person_id, sum(counted) AS spent FROM budget.call
                      WHERE person_id IS NOT NULL AND counted > 0
                        AND at >= date_trunc('day', now(), 'UTC')
                      GROUP BY person_id) AS today ON today.person_id = person.id
         WHERE (amount IS NOT NULL OR spent > 0)
           AND (%(person)s::bigint IS NULL OR person.id = %(person)s)
         ORDER BY name, person.id
        """,
        {"person": person_id},
    )


@dataclass(frozen=True, slots=True)
class PeriodSpending:
    """The cost of a day or month, and the reservations of running calls."""

    spent: float
    reserved: float


async def read_spending(tx: Tx, unit: Literal["day", "month"]) -> PeriodSpending:
    """The spending of the current day or month."""
    return await fetch_single(
        tx,
        PeriodSpending,
        """
        SELECT coalesce(sum(counted) FILTER (WHERE NOT in_flight), 0)::float8 AS spent,
               coalesce(sum(counted) FILTER (WHERE in_flight), 0)::float8 AS reserved
          FROM (SELECT counted, settled_at IS NULL AND ends_at > now() AS in_flight
                  FROM budget.call
                 WHERE counted > 0 AND at >= date_trunc(%(unit)s::text, now(), 'UTC')) AS call
        """,
        {"unit": unit},
    )


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """The calls of one day, model and purpose."""

    day: str
    model: str
    purpose: str
    calls: int
    cache_hits: int
    failures: int
    tokens_in: int
    tokens_out: int
    spent: float
    unknown: int
    """Calls with unknown cost, counted at their reservation."""


async def read_lines(tx: Tx, days: int) -> list[LedgerLine]:
    """The last `days` days, newest first."""
    return await fetch_all(
        tx,
        LedgerLine,
        """
        SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, model, purpose,
               (count(*) FILTER (WHERE NOT cache_hit))::int AS calls,
               (count(*) FILTER (WHERE cache_hit))::int AS cache_hits,
               (count(*) FILTER (WHERE outcome NOT IN ('answered', 'cached')
                                    OR settled_at IS NULL AND ends_at <= now()))::int AS failures,
               coalesce(sum(tokens_in), 0)::bigint AS tokens_in,
               coalesce(sum(tokens_out), 0)::bigint AS tokens_out,
               sum(counted)::float8 AS spent,
               (count(*) FILTER (WHERE cost IS NULL
                                   AND (settled_at IS NOT NULL OR ends_at <= now())))::int AS unknown
          FROM budget.call
         WHERE at >= date_trunc('day', now(), 'UTC') - %(days)s * interval '24 hours'
         GROUP BY 1, 2, 3 ORDER BY 1 DESC, spent DESC, 2, 3
        """,
        {"days": days - 1},
    )


async def prune(tx: Tx) -> int:
    """Delete one batch of old calls and one of old answers; returns how many."""
    return await fetch_single_value(
        tx,
        int,
        """
        WITH calls AS (
            DELETE FROM budget.call
             WHERE id = ANY (ARRAY(SELECT id FROM budget.call
                                    WHERE at < now() - %(calls)s ORDER BY at LIMIT %(bite)s))
            RETURNING 1
        ), answers AS (
            DELETE FROM budget.answer
             WHERE key = ANY (ARRAY(SELECT key FROM budget.answer
                                     WHERE created_at < now() - %(answers)s LIMIT %(bite)s))
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM calls) + (SELECT count(*) FROM answers)
        """,
        {"calls": CALL_RETENTION, "answers": ANSWER_RETENTION, "bite": PRUNE_BATCH},
    )
