"""Signed links: what an applicant holds in place of an account."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from dataclasses import dataclass
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from jobmill.errors import Invalid

# Longer than any of ours; and base64 would pass over characters that are none of its own.
TOKEN = re.compile(r"[A-Za-z0-9_.-]{20,200}")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
TICK = dt.timedelta(microseconds=1)


class InvalidLink(Invalid):
    """We did not sign this, or too long ago, or it was replaced."""


@dataclass(frozen=True, slots=True)
class PersonalLinkToken:
    """Opens all that concerns one applicant, as long as `version` is the one that they have."""

    applicant_id: int
    version: int
    signed_at: dt.datetime


@dataclass(frozen=True, slots=True)
class OfferLinkToken:
    """Answers one offer: the one that ends at `deadline`, and no later one."""

    application_id: int
    deadline: dt.datetime


class LinkSigner:
    def __init__(self, secret: bytes) -> None:
        # A salt each, so that one kind never passes for the other.
        self._personal = _serializer(secret, "jobmill personal link")
        self._offer = _serializer(secret, "jobmill offer link")

    def personal(self, applicant_id: int, version: int, signed_at: dt.datetime) -> str:
        """`signed_at` is the server's time: `keys.opens` compares it with that."""
        return self._personal.dumps([applicant_id, version, int(signed_at.timestamp())])

    def offer(self, application_id: int, deadline: dt.datetime) -> str:
        return self._offer.dumps([application_id, (deadline - EPOCH) // TICK])

    def read_personal(self, token: str) -> PersonalLinkToken:
        """Whose link this is, also when it no longer opens; BadLink if it is none of ours."""
        applicant_id, version, seconds = _read(self._personal, token)
        return PersonalLinkToken(applicant_id, version, dt.datetime.fromtimestamp(seconds, dt.UTC))

    def read_offer(self, token: str) -> OfferLinkToken:
        """Which offer this link answers, also when it has ended; BadLink if it is none of ours."""
        application_id, ticks = _read(self._offer, token)
        return OfferLinkToken(application_id, EPOCH + ticks * TICK)


def _serializer(secret: bytes, salt: str) -> URLSafeSerializer:
    return URLSafeSerializer(
        secret,
        salt=salt,
        signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
    )


def _read(serializer: URLSafeSerializer, token: str) -> Any:
    try:
        if TOKEN.fullmatch(token):
            return serializer.loads(token)
    except BadData:
        pass
    raise InvalidLink("This link is not valid. Copy it whole from the message that brought it.")
