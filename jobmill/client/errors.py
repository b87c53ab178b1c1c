"""What a request can fail with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ApiError(Exception):
    """The server refused a request and says why."""

    def __init__(
        self, status: int, code: str, message: str, errors: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """For programs, such as `NOT_FOUND`."""
        self.errors = dict(errors or {})
        """What is wrong with each field of the request."""


class OutdatedVersion(ApiError):
    """There is a newer version than the one of `if_match`: read it and decide again."""


class ServerUnreachable(Exception):
    """No response came, also not after retries."""


def from_problem(status: int, problem: Mapping[str, Any]) -> ApiError:
    """The error that an RFC 9457 body describes."""
    code = str(problem.get("code", "HTTP_ERROR"))
    fields = {str(part["field"]): str(part["message"]) for part in problem.get("errors") or ()}
    kind = OutdatedVersion if code == "CHANGED_MEANWHILE" else ApiError
    return kind(status, code, str(problem.get("detail", f"HTTP status {status}")), fields)
