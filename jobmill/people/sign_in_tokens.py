"""Signed tokens that a browser keeps: a sign-in that waits for its second factor, and a browser that has
signed in before, which others who guess the password do not lock out."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac

from itsdangerous import BadSignature, URLSafeTimedSerializer

from jobmill.people.persons import StoredCredentials


def create_pending_token(signing_key: bytes, person: StoredCredentials) -> str:
    """A token between the password and the second factor."""
    return _serializer(signing_key).dumps([person.id, _fingerprint(person)])


def read_pending_person_id(signing_key: bytes, token: str, lifetime: dt.timedelta) -> int | None:
    """The person of a token that is not too old."""
    try:
        person_id, _ = _serializer(signing_key).loads(token, int(lifetime.total_seconds()))
    except BadSignature:
        return None
    return int(person_id)


def is_pending_token_of(signing_key: bytes, token: str, person: StoredCredentials) -> bool:
    """Whether the token is of this person, whose password has not changed since."""
    person_id, fingerprint = _serializer(signing_key).loads(token)
    return person_id == person.id and hmac.compare_digest(fingerprint, _fingerprint(person))


def _fingerprint(person: StoredCredentials) -> str:
    return hashlib.sha256(person.password.encode()).hexdigest()[:32]


def _serializer(signing_key: bytes) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(signing_key, salt="pending sign-in")


def create_browser_token(signing_key: bytes, person: StoredCredentials) -> str:
    """A token for the browser. A new password makes it invalid."""
    message = f"remembered browser|{person.id}|{person.password}".encode()
    return hmac.new(signing_key, message, hashlib.sha256).hexdigest()


def is_browser_remembered(signing_key: bytes, person: StoredCredentials, token: str) -> bool:
    """Whether this person has signed in with the browser that sent the token."""
    expected = create_browser_token(signing_key, person)
    return token.isascii() and hmac.compare_digest(expected, token)
