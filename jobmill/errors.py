"""What can go wrong, by what the caller can do about it.

AppError
├── NotFound      what was asked for is not there
├── Conflict      it is in a state that forbids this
├── Invalid       the input cannot be right
├── Unavailable   something this machine needs is missing or not running
└── OutsideError  something beyond our walls failed
"""

from __future__ import annotations


class AppError(Exception):
    """An error we can explain. Its text is shown to people and says what to do next."""


class NotFound(AppError):
    """What was asked for is not there."""

    def __init__(self, what: str, id: object) -> None:
        super().__init__(f"{what} {id} does not exist")


class Conflict(AppError):
    """It is in a state that forbids this."""


class Invalid(AppError):
    """The input cannot be right."""


class Unavailable(AppError):
    """Something this machine needs is missing or not running."""


class OutsideError(AppError):
    """A site, model or server we depend on failed; `permanent` if trying again cannot help."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent
