"""Browsers that have signed in before: others who guess a password do not lock them out."""

from __future__ import annotations

import hashlib
import hmac

from jobmill.people.persons import StoredCredentials


def create_token(signing_key: bytes, person: StoredCredentials) -> str:
    """A token for the browser. A new password makes it invalid."""
    message = f"remembered browser|{person.id}|{person.password}".encode()
    return hmac.new(signing_key, message, hashlib.sha256).hexdigest()


def is_remembered(signing_key: bytes, person: StoredCredentials, token: str) -> bool:
    """Whether this person has signed in with the browser that sent the token."""
    return token.isascii() and hmac.compare_digest(create_token(signing_key, person), token)
