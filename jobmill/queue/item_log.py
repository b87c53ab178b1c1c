"""Log lines about items: when they start, change their stage and end."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from jobmill.queue.items import Work
from jobmill.queue.settlement import TERMINAL_STATUS, Settlement, SettlementResult
from jobmill.queue.stages import Advance, HandOver, Release

log = logging.getLogger(__name__)


def log_started(works: Iterable[Work]) -> None:
    """Log that these items were claimed, one line each; costs one check if the level is above INFO."""
    if log.isEnabledFor(logging.INFO):
        for work in works:
            log.info("item started", extra={**_fields(work), "attempt": work.attempt})


def log_settled(results: Sequence[SettlementResult]) -> None:
    """Log the outcomes that were committed, one line each; costs one check if the level is above INFO."""
    if log.isEnabledFor(logging.INFO):
        for result in results:
            if result.settlement:
                _log_outcome(result.settlement, refused=result.refused)


def _log_outcome(settlement: Settlement, *, refused: bool) -> None:
    outcome = settlement.outcome
    fields = {**_fields(settlement.work), "seconds": round(settlement.seconds, 4)}
    if refused or type(outcome) in TERMINAL_STATUS:
        status = "FAILED" if refused else TERMINAL_STATUS[type(outcome)]
        log.info("item ended", extra={**fields, "status": status})
    elif isinstance(outcome, Advance | HandOver):
        log.info("stage changed", extra={**fields, "next": outcome.stage})
    elif isinstance(outcome, Release):
        log.info("item released", extra=fields)
    else:
        log.info("item waits", extra={**fields, "outcome": type(outcome).__name__.lower()})


def _fields(work: Work) -> dict[str, object]:
    return {
        "item": work.id,
        "phase": f"{work.kind}/{work.stage}",
        "tracking_id": work.tracking_id,
    }
