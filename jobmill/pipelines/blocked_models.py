"""Decide what an item does when its language model does not answer."""

from __future__ import annotations

import datetime as dt

from jobmill.errors import OutsideError
from jobmill.outside.model_question import ModelBlocked, ModelFailed, ModelRefused
from jobmill.queue import Block, Work

MIN_RECHECK, MAX_RECHECK = dt.timedelta(seconds=1), dt.timedelta(minutes=10)
"""Bounds of the wait before a blocked item checks the budget again. Reserved money is often
released within seconds; a spent budget may be raised at any time."""


def block_or_retry(work: Work, answer: ModelBlocked | ModelRefused | ModelFailed) -> Block | None:
    """Block on the budget, or raise to retry a temporary error. None: continue without the model."""
    match answer:
        case ModelBlocked(use_local=False):
            return block_until_budget_opens(answer)
        case ModelFailed(permanent=False, detail=detail) if work.retry_count < work.max_retries:
            raise OutsideError(detail)
        case _:
            return None


def block_until_budget_opens(answer: ModelBlocked) -> Block:
    """Block until the budget opens, and recheck regularly in case it is raised before that."""
    opens_in = MAX_RECHECK if answer.opens_in is None else answer.opens_in
    return Block("budget", answer.detail, recheck=max(MIN_RECHECK, min(opens_in, MAX_RECHECK)))
