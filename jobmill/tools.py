"""What a stage may use besides its work."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Database
from jobmill.errors import Unavailable
from jobmill.outside.model_question import Model, no_model
from jobmill.outside.request import Fetch, FetchResult, Request, Validators


async def no_network(request: Request, validators: Validators | None = None) -> FetchResult:
    """For those who ask nobody: a stage that does ask is told so, rather than answered wrongly."""
    raise Unavailable("this was started without a way to the network")


@dataclass(frozen=True, slots=True)
class Tools:
    db: Database
    fetch: Fetch = no_network
    model: Model = no_model
