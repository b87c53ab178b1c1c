"""How long an item waits for the budget."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from pydantic import BaseModel

from jobmill.db import Database
from jobmill.outside import budget_ledger
from jobmill.outside.budget_ledger import BudgetCaps
from jobmill.outside.model_question import ModelBlocked, ModelQuestion
from jobmill.pipelines import blocked_models

HOURS, MINUTES, SECONDS = (dt.timedelta(**{unit: 1}) for unit in ("hours", "minutes", "seconds"))


@pytest.mark.parametrize(
    ("opens_in", "recheck"),
    [
        (None, blocked_models.MAX_RECHECK),
        (20 * HOURS, blocked_models.MAX_RECHECK),
        (5 * MINUTES, 5 * MINUTES),
        (0 * MINUTES, blocked_models.MIN_RECHECK),
        (-MINUTES, blocked_models.MIN_RECHECK),
    ],
)
def test_a_blocked_item_waits_for_the_budget_and_rechecks(
    opens_in: dt.timedelta | None, recheck: dt.timedelta
) -> None:
    move = blocked_models.block_until_budget_opens(
        ModelBlocked("busy", "others have reserved it", opens_in, use_local=False)
    )
    assert (move.on, move.message) == ("budget", "others have reserved it")
    assert move.recheck == recheck


@pytest.mark.parametrize(
    "ahead", [pytest.param(ahead, marks=pytest.mark.server_clock(ahead)) for ahead in (HOURS, -HOURS)]
)  # fmt: skip
async def test_a_wrong_clock_of_the_worker_does_not_change_the_wait(
    database: Database, ahead: dt.timedelta
) -> None:
    question = ModelQuestion("strong", "match", "Read the title.", "x", BaseModel, "1", 100)
    caps = BudgetCaps(call=Decimal(1), run=Decimal(1), day=Decimal(1), month=Decimal(1))
    async with database.transaction() as tx:
        await budget_ledger.reserve(tx, question, "m", Decimal("0.7"), caps, HOURS)
        answer = await budget_ledger.reserve(tx, question, "m", Decimal("0.7"), caps, HOURS)
    assert isinstance(answer, ModelBlocked)
    assert 10 * SECONDS < blocked_models.block_until_budget_opens(answer).recheck <= 15 * SECONDS
