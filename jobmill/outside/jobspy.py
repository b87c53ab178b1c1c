"""The library JobSpy, which does its own calls, behind the same door as all others."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

from jobmill.errors import Unavailable
from jobmill.outside.request import FetchCause, FetchFailure, FetchResult, Ok, Request, Validators

SCHEME = "jobspy:"
# What goes wrong inside when a site refuses or changes; its own errors share no base.
SCRAPE_ERRORS = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError)


class JobSpy:
    """A `Fetch` for requests to `jobspy:`; the answer's body is a JSON list of records."""

    def __init__(
        self, scrape: Callable[..., Any], faults: tuple[type[Exception], ...] = ()
    ) -> None:
        self._scrape = scrape
        self._faults = SCRAPE_ERRORS + faults

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        """What the sites answered, or that we do not know: refusals are an everyday thing there."""
        try:
            body = await asyncio.to_thread(self._records, request.json)
        except self._faults as error:
            return FetchFailure(request.url, _cause(error), f"JobSpy: {type(error).__name__}")
        return Ok(request.url, body, "application/json", "utf-8")

    def _records(self, wanted: Any) -> bytes:
        frame = self._scrape(**wanted)
        # Through pandas' own writer: it makes null of what is not a number.
        return frame.to_json(orient="records", date_format="iso").encode()


def load() -> JobSpy:
    """The library, ready; Unavailable where the extra is not installed."""
    try:
        scrape = importlib.import_module("jobspy").scrape_jobs
        own = vars(importlib.import_module("jobspy.exception")).values()
    except ImportError as error:
        raise Unavailable("JobSpy is not installed: pip install 'jobmill[jobspy]'") from error
    faults = [one for one in own if isinstance(one, type) and issubclass(one, Exception)]
    return JobSpy(scrape, tuple(faults))


def _cause(error: Exception) -> FetchCause:
    said = str(error)
    if "429" in said:
        return "rate_limited"
    return "forbidden" if "403" in said else "network"
