"""Signed links that applicants use instead of an account."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from dataclasses import dataclass
from typing import Any, Literal

from itsdangerous import BadData, URLSafeSerializer

from jobmill.errors import Invalid

# Checked first: the base64 decoder would ignore foreign characters.
TOKEN = re.compile(r"[A-Za-z0-9_.-]{20,200}")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
TICK = dt.timedelta(microseconds=1)


class InvalidLink(Invalid):
    """The signature is wrong, or the link has expired or was replaced."""


@dataclass(frozen=True, slots=True)
class PersonalLinkToken:
    """Gives access to one applicant's data while `version` is the applicant's current one."""

    applicant_id: int
    version: int
    signed_at: dt.datetime
    issuer: str | None = None
    """The company member that issued the link; None for a link that was sent to the applicant."""


@dataclass(frozen=True, slots=True)
class OfferLinkToken:
    """Answers the offer that ends at `deadline`, and no later one."""

    application_id: int
    deadline: dt.datetime


@dataclass(frozen=True, slots=True)
class ConfirmationToken:
    """Confirms the address of a request to apply, or of an application."""

    kind: Literal["request", "application"]
    id: int


class LinkSigner:
    def __init__(self, secret: bytes) -> None:
        # Different salts, so that a link of one kind is never valid as the other.
        self._personal = _serializer(secret, "jobmill personal link")
        self._offer = _serializer(secret, "jobmill offer link")
        self._confirmation = _serializer(secret, "jobmill confirmation link")
        self._challenge = _serializer(secret, "jobmill proof of work")

    def sign_personal(
        self, applicant_id: int, version: int, signed_at: dt.datetime, issuer: str | None = None
    ) -> str:
        """`signed_at` is the database's time, which `personal_links.is_current` compares it with."""
        issued = [issuer] if issuer else []
        return self._personal.dumps([applicant_id, version, int(signed_at.timestamp()), *issued])

    def sign_offer(self, application_id: int, deadline: dt.datetime) -> str:
        return self._offer.dumps([application_id, (deadline - EPOCH) // TICK])

    def sign_confirmation(self, token: ConfirmationToken) -> str:
        return self._confirmation.dumps([token.kind, token.id])

    def read_confirmation(self, token: str) -> ConfirmationToken:
        """Check the signature only, not whether it is too late; raises InvalidLink."""
        return ConfirmationToken(*_read(self._confirmation, token))

    def sign_challenge(self, values: list[int | str]) -> str:
        """The challenge of a proof of work."""
        return self._challenge.dumps(values)

    def read_challenge(self, token: str) -> Any:
        return _read(self._challenge, token)

    def read_personal(self, token: str) -> PersonalLinkToken:
        """Check the signature only, not whether the link is current; raises InvalidLink."""
        applicant_id, version, seconds, *issuer = _read(self._personal, token)
        signed_at = dt.datetime.fromtimestamp(seconds, dt.UTC)
        return PersonalLinkToken(applicant_id, version, signed_at, *issuer)

    def read_offer(self, token: str) -> OfferLinkToken:
        """Check the signature only, not whether the offer is open; raises InvalidLink."""
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
    raise InvalidLink("This link is not valid. Copy the complete link from the message.")
