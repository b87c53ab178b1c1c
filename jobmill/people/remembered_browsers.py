"""Browsers that have signed in before: others who guess a password do not lock them out."""

from __future__ import annotations

import hashlib
import hmac

from jobmill.db import Tx
from jobmill.people.persons import StoredCredentials
from jobmill.people.secrets import get_signing_key


async def create_token(tx: Tx, person: StoredCredentials) -> str:
    """A token for the browser. A new password makes it invalid."""
    return hmac.new(await get_signing_key(tx), _message(person), hashlib.sha256).hexdigest()


async def is_remembered(tx: Tx, person: StoredCredentials, token: str) -> bool:
    """Whether this person has signed in with the browser that sent the token."""
    return hmac.compare_digest(await create_token(tx, person), token)


def _message(person: StoredCredentials) -> bytes:
    return f"remembered browser|{person.id}|{person.password}".encode()
