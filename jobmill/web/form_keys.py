"""Forms that create something once, however often they are sent: a hidden field identifies the shown form."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable

from jobmill.db import Tx
from jobmill.hiring.records import idempotent_responses
from jobmill.hiring.records.idempotent_responses import KeyedRequest, NewResponse
from jobmill.web.auth import Visitor


def make_form_key() -> str:
    return secrets.token_urlsafe(16)


async def create_once(
    tx: Tx, visitor: Visitor, key: str, content: object, create: Callable[[], Awaitable[str]]
) -> str:
    """What `create` returns, or what it returned when the same form was sent first.

    A form that was changed and sent again is another one. Call it before the transaction locks anything.
    """
    if not key:
        return await create()
    parts = (visitor.actor.name, key, content)
    digest = hashlib.sha256(repr(parts).encode()).digest()
    stored = await idempotent_responses.claim_key(tx, KeyedRequest(digest, digest))
    if stored is not None:
        return stored.body
    created = await create()
    await idempotent_responses.store_responses(tx, {digest: NewResponse(201, created)})
    return created
