"""Names of application states on pages."""

from __future__ import annotations

from collections.abc import Mapping

from jobmill.hiring.transitions import ApplicationStatus
from jobmill.web.translations import say


def status_labels() -> Mapping[ApplicationStatus, str]:
    return {
        "ACTIVE": say("Active"),
        "PENDING_ACKNOWLEDGMENT": say("Offered"),
        "WAITLIST": say("Waiting"),
        "IN_REVIEW": say("In review"),
        "INACTIVE": say("Ended"),
    }
