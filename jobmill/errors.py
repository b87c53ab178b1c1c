"""What can go wrong, by what the caller can do about it.

AppError
├── NotFound         what was asked for is not there
├── Conflict         it is in a state that forbids this
├── Gone             it was possible, and no longer is
├── Invalid          the input cannot be right
├── Unauthenticated  nobody knows who asks
├── Forbidden        who asks may not do this
├── RateLimited      they ask too often
├── Unavailable      something this machine needs is missing or not running
└── OutsideError     something beyond our walls failed
"""

from __future__ import annotations

from typing import ClassVar


class AppError(Exception):
    """An error we can explain. Its text is shown to people and says what to do next."""

    code: ClassVar[str | None] = None
    """What programs know it by, where that says more than the kind of error it is."""


class NotFound(AppError):
    """What was asked for is not there."""

    def __init__(self, what: str, id: object) -> None:
        super().__init__(f"{what} {id} does not exist")
        self.what = what
        self.id = id


class Conflict(AppError):
    """It is in a state that forbids this."""


class Gone(AppError):
    """It was possible, and no longer is."""


class Invalid(AppError):
    """The input cannot be right."""


class Unauthenticated(AppError):
    """Nobody knows who asks."""


class Forbidden(AppError):
    """Who asks may not do this."""


class RateLimited(AppError):
    """They ask too often; `retry_after` seconds from now they may again."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many requests. Try again in {retry_after} s.")
        self.retry_after = retry_after


class Unavailable(AppError):
    """Something this machine needs is missing or not running."""


class OutsideError(AppError):
    """A site, model or server we depend on failed; `permanent` if trying again cannot help."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent
