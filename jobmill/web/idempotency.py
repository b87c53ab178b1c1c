"""A change that a client may ask for again when no answer came, and that happens once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from fastapi import Request, Response
from pydantic import BaseModel

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid
from jobmill.hiring.records import idempotent_responses
from jobmill.web import api_errors
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.rate_limits import client_key

T = TypeVar("T")

HEADER = "idempotency-key"
KEY = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, slots=True)
class _Sent:
    """What names a request, and what was in it."""

    key: bytes
    fingerprint: bytes


async def run_once(
    request: Request,
    visitor: Visitor,
    db: RequestDatabase,
    work: Callable[[Tx], Awaitable[T]],
    *,
    shape: Callable[[T], BaseModel | AppError],
    status: int = 200,
) -> Response:
    """Do the work in one transaction and answer with its shape; with an Idempotency-Key, once.

    Work that raises changes nothing and is answered anew the next time. Where an error is the
    answer to work that must stay, `shape` gives the error instead of raising it.
    """
    sent = await _read(request, visitor)
    async with db.transaction() as tx:
        if sent and (
            before := await idempotent_responses.claim_key(tx, sent.key, sent.fingerprint)
        ):
            return _json(before.body, before.status, {"Idempotent-Replayed": "true"})
        response = to_response(shape(await work(tx)), status)
        if sent:
            await idempotent_responses.store_response(
                tx, sent.key, response.status_code, bytes(response.body).decode()
            )
    return response


def to_response(shaped: BaseModel | AppError, status: int) -> Response:
    if isinstance(shaped, AppError):
        return api_errors.error_response(shaped)
    return _json(shaped.model_dump_json(by_alias=True), status)


def _json(body: str, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, "application/json")


def has_idempotency_key(request: Request) -> bool:
    """Whether the client named its request, to ask again without fear."""
    return HEADER in request.headers


async def _read(request: Request, visitor: Visitor) -> _Sent | None:
    keys = request.headers.getlist(HEADER)
    if not keys:
        return None
    if len(keys) > 1 or not KEY.fullmatch(keys[0]):
        raise Invalid("An Idempotency-Key is 1 to 255 visible ASCII characters.")
    name = visitor.actor.name
    # Strangers have no name: what one was answered must not be told to another.
    asker = name if visitor.role or visitor.applicant_id else f"{name} {client_key(request)}"
    key = _digest(asker, request.method, request.url.path, keys[0])
    return _Sent(key, _digest(request.url.query, (await request.body()).hex()))


def _digest(*parts: str) -> bytes:
    # At most one part of those that are put together can hold what divides them.
    return hashlib.sha256("\n".join(parts).encode()).digest()
