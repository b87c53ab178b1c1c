"""The keys of changes that a client may safely request again, and the stored responses."""

from __future__ import annotations

import hashlib
import re

from fastapi import Request, Response
from pydantic import BaseModel

from jobmill.errors import AppError, Invalid
from jobmill.hiring.records.idempotent_responses import KeyedRequest, StoredResponse
from jobmill.web import api_errors
from jobmill.web.auth import Visitor
from jobmill.web.rate_limits import client_key

HEADER = "idempotency-key"
KEY = re.compile(r"[!-~]{1,255}")


def without(schema: BaseModel | AppError, field: str) -> BaseModel | AppError:
    """The schema with null in place of a field; `field` may be empty."""
    if not field or isinstance(schema, AppError):
        return schema
    return schema.model_copy(update={field: None})


def to_response(schema: BaseModel | AppError, status: int) -> Response:
    if isinstance(schema, AppError):
        return api_errors.error_response(schema)
    return _json_response(schema.model_dump_json(by_alias=True), status)


def _json_response(body: str, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, "application/json")


def replay_response(stored: StoredResponse) -> Response:
    return _json_response(stored.body, stored.status, {"Idempotent-Replayed": "true"})


async def read_key(request: Request, visitor: Visitor) -> KeyedRequest | None:
    """The request's Idempotency-Key, if it has one; raises Invalid."""
    keys = request.headers.getlist(HEADER)
    if not keys:
        return None
    if len(keys) > 1 or not KEY.fullmatch(keys[0]):
        raise Invalid("An Idempotency-Key is 1 to 255 visible ASCII characters.")
    name = visitor.actor.name
    # Anonymous clients share a name: tell them apart, so that none gets the response of another.
    client = name if visitor.role or visitor.applicant_id else f"{name} {client_key(request)}"
    key = _digest(client, request.method, request.scope["path"], keys[0])
    query = request.scope["query_string"].decode("latin-1")
    return KeyedRequest(key, _digest(query, (await request.body()).hex()))


def _digest(*parts: str) -> bytes:
    # Unambiguous: at most one of the parts can contain a newline.
    return hashlib.sha256("\n".join(parts).encode()).digest()
