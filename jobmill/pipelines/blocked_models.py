"""What becomes of work whose model does not answer."""

from __future__ import annotations

import datetime as dt

from jobmill.errors import OutsideError
from jobmill.outside.model_question import ModelBlocked, ModelFailed, ModelRefused
from jobmill.queue import Block, Work

SOONEST, LATEST = dt.timedelta(seconds=1), dt.timedelta(minutes=10)
"""A budget that others have reserved opens within seconds; one that is spent may be raised at any time."""


def block_or_retry(work: Work, answer: ModelBlocked | ModelRefused | ModelFailed) -> Block | None:
    """Wait for the budget or, by an error, try again, where that is wanted; None: go on without it."""
    match answer:
        case ModelBlocked(use_local=False):
            return block_until_budget_opens(answer)
        case ModelFailed(permanent=False, detail=detail) if work.retry_count < work.max_retries:
            raise OutsideError(detail)
        case _:
            return None


def block_until_budget_opens(answer: ModelBlocked) -> Block:
    """Park until the budget opens, and look now and then whether somebody has opened it before."""
    opens_in = LATEST if answer.opens_in is None else answer.opens_in
    return Block("budget", answer.detail, recheck=max(SOONEST, min(opens_in, LATEST)))
