"""Runs the library JobSpy, which makes its own requests, behind the interface of `Fetch`."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

from jobmill.errors import Unavailable
from jobmill.outside.request import FetchCause, FetchFailure, FetchResult, Ok, Request, Validators

SCHEME = "jobspy:"
# Errors inside the library when a site refuses or changes; its own errors have no common base.
SCRAPE_ERRORS = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError)


class JobSpy:
    """A `Fetch` for `jobspy:` URLs; the body of the result is a JSON list of records."""

    def __init__(
        self, scrape: Callable[..., Any], errors: tuple[type[Exception], ...] = ()
    ) -> None:
        self._scrape = scrape
        self._errors = SCRAPE_ERRORS + errors

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        """Run a search; refusals of sites are common and become a FetchFailure."""
        try:
            body = await asyncio.to_thread(self._records, request.json)
        except self._errors as error:
            return FetchFailure(request.url, _cause(error), f"JobSpy: {type(error).__name__}")
        return Ok(request.url, body, "application/json", "utf-8")

    def _records(self, arguments: Any) -> bytes:
        frame = self._scrape(**arguments)
        # The writer of pandas converts NaN to null.
        return frame.to_json(orient="records", date_format="iso").encode()


def load() -> JobSpy:
    """Load the library; raises Unavailable if the extra is not installed."""
    try:
        scrape = importlib.import_module("jobspy").scrape_jobs
        names = vars(importlib.import_module("jobspy.exception")).values()
    except ImportError as error:
        raise Unavailable("JobSpy is not installed: pip install 'jobmill[jobspy]'") from error
    errors = [name for name in names if isinstance(name, type) and issubclass(name, Exception)]
    return JobSpy(scrape, tuple(errors))


def _cause(error: Exception) -> FetchCause:
    message = str(error)
    if "429" in message:
        return "rate_limited"
    return "forbidden" if "403" in message else "network"
