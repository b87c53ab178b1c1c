"""Sign-ins between the password and the second factor, as signed tokens that the browser keeps."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac

from itsdangerous import BadSignature, URLSafeTimedSerializer

from jobmill.people.persons import StoredCredentials


def create_token(signing_key: bytes, person: StoredCredentials) -> str:
    return _serializer(signing_key).dumps([person.id, _fingerprint(person)])


def read_person_id(signing_key: bytes, token: str, lifetime: dt.timedelta) -> int | None:
    """The person of a token that is not too old."""
    try:
        person_id, _ = _serializer(signing_key).loads(token, int(lifetime.total_seconds()))
    except BadSignature:
        return None
    return int(person_id)


def is_valid(signing_key: bytes, token: str, person: StoredCredentials) -> bool:
    """Whether the token is of this person, whose password has not changed since."""
    person_id, fingerprint = _serializer(signing_key).loads(token)
    return person_id == person.id and hmac.compare_digest(fingerprint, _fingerprint(person))


def _fingerprint(person: StoredCredentials) -> str:
    return hashlib.sha256(person.password.encode()).hexdigest()[:32]


def _serializer(signing_key: bytes) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(signing_key, salt="pending sign-in")
