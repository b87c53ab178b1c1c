"""What a stage may use besides its work: the database, the network and language models."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Database
from jobmill.errors import Unavailable
from jobmill.outside.model_question import Model, no_model
from jobmill.outside.request import Fetch, FetchResult, Request, Validators


async def no_network(request: Request, validators: Validators | None = None) -> FetchResult:
    """The fetch function of commands without network access: it refuses every request."""
    raise Unavailable("this command was started without network access")


@dataclass(frozen=True, slots=True)
class Tools:
    db: Database
    fetch: Fetch = no_network
    model: Model = no_model
