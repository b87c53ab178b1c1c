"""Typed errors, by what the caller can do about them.

AppError
├── NotFound         the requested thing does not exist
├── Conflict         its current state does not allow the action
│   └── ChangedMeanwhile  it is no longer what the change is based on
├── Gone             the action was possible once and no longer is
├── Invalid          the input is wrong
├── Unauthenticated  the caller is not signed in
├── Forbidden        the caller may not do this
├── RateLimited      the caller sends too many requests
├── RetryLater       a host may not be asked yet; nothing failed
├── Unavailable      something that this machine needs is missing or not running
└── OutsideError     a site, model or server that Jobmill depends on failed
"""

from __future__ import annotations

import datetime as dt
from typing import ClassVar


class AppError(Exception):
    """An error with a text for people, which says what happened and what to do."""

    code: ClassVar[str | None] = None
    """An error code for programs, if it says more than the class."""


class NotFound(AppError):
    """The requested thing does not exist."""

    def __init__(self, what: str, id: object) -> None:
        super().__init__(f"{what} {id} does not exist")
        self.what = what
        self.id = id


class Conflict(AppError):
    """The current state does not allow the action."""


class ChangedMeanwhile(Conflict):
    """The change is based on a version that is no longer the newest."""

    code = "CHANGED_MEANWHILE"


class Gone(AppError):
    """The action was possible once and no longer is."""


class Invalid(AppError):
    """The input is wrong."""


class Unauthenticated(AppError):
    """The caller is not signed in."""


class Forbidden(AppError):
    """The caller may not do this."""


class RateLimited(AppError):
    """The caller sends too many requests; it may try again in `retry_after` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many requests. Try again in {retry_after} s.")
        self.retry_after = retry_after


class RetryLater(AppError):
    """A host, or our own rate limit of it, wants us to wait; the work continues after `delay`."""

    def __init__(self, message: str, delay: dt.timedelta) -> None:
        super().__init__(message)
        self.delay = delay


class Unavailable(AppError):
    """Something that this machine needs is missing or not running."""


class OutsideError(AppError):
    """A site, model or server that Jobmill depends on failed; `permanent` if a retry cannot help."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent


class ReplyLost(OutsideError):
    """The request was sent and its answer was lost: the receiver may have carried it out."""
