"""Send requests: credentials, retries that cannot do a change twice, and typed responses."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx2
from pydantic import BaseModel, TypeAdapter

from jobmill.client.errors import ServerUnreachable, from_problem

T = TypeVar("T")

RETRIES = 3
RETRIED = (429, 503)
"""The server did nothing, and says when to come back."""
MAX_WAIT = 30.0
PROBLEM = "application/problem+json"


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class Transport:
    """Sends requests over kept connections; threads may share it."""

    def __init__(
        self, url: str, headers: Mapping[str, str], *, timeout: float, retries: int = RETRIES
    ) -> None:
        self._http = httpx2.Client(base_url=url, headers=dict(headers), timeout=timeout)
        self._retries = retries

    def open_link(self, link: str) -> None:
        """Keep the cookies that a link sets."""
        response = self._http.get(link)
        if response.is_client_error or response.is_server_error:
            raise from_problem(response.status_code, {"detail": "The link is not valid any more."})

    def close(self) -> None:
        self._http.close()

    @staticmethod
    def quote(value: object) -> str:
        """A value as one part of a path."""
        return quote(str(value.value if isinstance(value, Enum) else value), safe="")

    def send(
        self,
        method: str,
        path: str,
        *,
        returns: type[T] | Any,
        query: Mapping[str, object] | None = None,
        body: BaseModel | None = None,
        content: bytes | None = None,
        content_type: str = "application/json",
        if_match: int | str | None = None,
        once: bool = True,
    ) -> Any:
        """Send a request until it is answered, and read the response as `returns`."""
        headers = {"Accept": f"application/json, {PROBLEM}, */*;q=0.1"}
        if body is not None:
            content = body.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if content is not None:
            headers["Content-Type"] = content_type
        if if_match is not None:
            headers["If-Match"] = f'"{if_match}"' if isinstance(if_match, int) else if_match
        if method in ("POST", "PUT", "PATCH") and once:
            # The same for every retry: the server does the change once.
            headers["Idempotency-Key"] = uuid4().hex
        request = self._http.build_request(
            method, path, params=_to_params(query or {}), content=content, headers=headers
        )
        response = self._send(request, may_repeat=once)
        return _read(response, returns)

    def _send(self, request: httpx2.Request, *, may_repeat: bool) -> httpx2.Response:
        retries = self._retries if may_repeat else 0
        for attempt in range(retries + 1):
            is_last = attempt == retries
            try:
                response = self._http.send(request)
            except httpx2.TransportError as error:
                if is_last:
                    raise ServerUnreachable(
                        f"{request.url.host} did not respond: {error}. Check the address, and that "
                        "Jobmill is running."
                    ) from error
                time.sleep(_wait(attempt, None))
                continue
            if response.status_code not in RETRIED or is_last:
                return response
            time.sleep(_wait(attempt, response.headers.get("retry-after")))
        raise AssertionError("unreachable")


def _wait(attempt: int, retry_after: str | None) -> float:
    """Seconds before the next attempt."""
    seconds = float(retry_after) if retry_after and retry_after.isdigit() else 0.2 * 2**attempt
    return min(seconds, MAX_WAIT)


def _to_params(query: Mapping[str, object]) -> dict[str, Any]:
    return {name: _to_param(value) for name, value in query.items() if value is not None}


def _to_param(value: object) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, dt.datetime | dt.date) else value


def _read(response: httpx2.Response, returns: Any) -> Any:
    if response.is_success:
        if returns is type(None):
            return None
        if returns is bytes:
            return response.content
        return _adapter(returns).validate_json(response.content)
    is_json = response.headers.get("content-type", "").startswith((PROBLEM, "application/json"))
    raise from_problem(response.status_code, response.json() if is_json else {})
