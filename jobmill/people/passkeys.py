"""Passkeys (WebAuthn) as a second factor: registration, and checking what a passkey signed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal, LiteralString, NamedTuple

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import Conflict, Invalid
from jobmill.people.persons import Person
from jobmill.people.secrets import digest

RELYING_PARTY = "Jobmill"
CHALLENGE_LIFETIME = dt.timedelta(minutes=5)
MAX_PASSKEYS = 20
MAX_NAME_LENGTH = 100
MAX_CREDENTIAL_LENGTH = 20_000

Purpose = Literal["register", "sign in"]

SELECT: LiteralString = """
        SELECT id, name, credential_id, public_key, sign_count, created_at, used_at
          FROM people.passkey"""


class Site(NamedTuple):
    """Where the browser uses the passkey, which works nowhere else."""

    host: str
    origin: str


@dataclass(frozen=True, slots=True)
class Passkey:
    id: int
    name: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    created_at: dt.datetime
    used_at: dt.datetime | None


async def find_all(tx: Tx, person_id: int) -> list[Passkey]:
    return await fetch_all(tx, Passkey, f"{SELECT} WHERE person_id = %s ORDER BY id", [person_id])


async def start_registration(tx: Tx, person: Person, site: Site) -> str:
    """The options for `navigator.credentials.create`, as JSON."""
    import webauthn  # Imported here, because only pages about passkeys need it.
    from webauthn.helpers import options_to_json
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

    stored = await find_all(tx, person.id)
    if len(stored) >= MAX_PASSKEYS:
        raise Conflict(f"You already have {MAX_PASSKEYS} passkeys. Remove one first.")
    options = webauthn.generate_registration_options(
        rp_id=site.host,
        rp_name=RELYING_PARTY,
        user_id=f"person {person.id}".encode(),
        user_name=person.email,
        user_display_name=person.name,
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=passkey.credential_id) for passkey in stored
        ],
    )
    await _store_challenge(tx, person.id, "register", options.challenge)
    return options_to_json(options)


async def finish_registration(
    tx: Tx, person_id: int, name: str, credential: str, site: Site
) -> None:
    """Store a new passkey; Invalid if the browser's answer is not to our challenge."""
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    name = name.strip()
    if not 0 < len(name) <= MAX_NAME_LENGTH:
        raise Invalid(f"Enter a name of up to {MAX_NAME_LENGTH} characters for the passkey.")
    challenge = await _use_challenge(tx, person_id, "register", credential)
    if challenge is None:
        raise Invalid("This took too long. Try again.")
    try:
        verified = webauthn.verify_registration_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
        )
    except (WebAuthnException, ValueError) as error:
        raise Invalid("The passkey was not accepted. Try again, or use another one.") from error
    cursor = await tx.execute(
        """
        INSERT INTO people.passkey (person_id, name, credential_id, public_key, sign_count)
        VALUES (%s, %s, %s, %s, %s) ON CONFLICT (credential_id) DO NOTHING
        """,
        [
            person_id,
            name,
            verified.credential_id,
            verified.credential_public_key,
            verified.sign_count,
        ],
    )
    if cursor.rowcount == 0:
        raise Conflict("This passkey is already registered.")


async def start_sign_in(tx: Tx, person_id: int, site: Site) -> str | None:
    """The options for `navigator.credentials.get`, as JSON; None without a passkey."""
    stored = await find_all(tx, person_id)
    if not stored:
        return None
    import webauthn
    from webauthn.helpers import options_to_json
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

    options = webauthn.generate_authentication_options(
        rp_id=site.host,
        allow_credentials=[
            PublicKeyCredentialDescriptor(id=passkey.credential_id) for passkey in stored
        ],
    )
    await _store_challenge(tx, person_id, "sign in", options.challenge)
    return options_to_json(options)


async def check_signature(tx: Tx, person_id: int, credential: str, site: Site) -> bool:
    """Whether a passkey of this person signed an unused challenge, which is used up. Commit also if
    not."""
    import webauthn
    from webauthn.helpers import parse_authentication_credential_json
    from webauthn.helpers.exceptions import WebAuthnException

    challenge = await _use_challenge(tx, person_id, "sign in", credential)
    if challenge is None:
        return False
    try:
        parsed = parse_authentication_credential_json(credential)
        passkey = await _lock(tx, person_id, parsed.raw_id)
        if passkey is None:
            return False
        verified = webauthn.verify_authentication_response(
            credential=parsed,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=passkey.public_key,
            # A count that does not grow means that the passkey was copied.
            credential_current_sign_count=passkey.sign_count,
        )
    except (WebAuthnException, ValueError):
        return False
    await tx.execute(
        "UPDATE people.passkey SET sign_count = %s, used_at = now() WHERE id = %s",
        [verified.new_sign_count, passkey.id],
    )
    return True


async def remove(tx: Tx, person_id: int, id: int) -> None:
    await tx.execute("DELETE FROM people.passkey WHERE person_id = %s AND id = %s", [person_id, id])


async def prune_challenges(tx: Tx) -> int:
    """Delete expired challenges."""
    cursor = await tx.execute("DELETE FROM people.passkey_challenge WHERE expires_at <= now()")
    return cursor.rowcount


async def _lock(tx: Tx, person_id: int, credential_id: bytes) -> Passkey | None:
    sql: LiteralString = f"{SELECT} WHERE person_id = %s AND credential_id = %s FOR UPDATE"
    return await fetch_one(tx, Passkey, sql, [person_id, credential_id])


async def _store_challenge(tx: Tx, person_id: int, purpose: Purpose, challenge: bytes) -> None:
    await tx.execute(
        """
        INSERT INTO people.passkey_challenge (digest, person_id, purpose, expires_at)
        VALUES (%s, %s, %s, now() + %s)
        """,
        [digest(challenge.hex()), person_id, purpose, CHALLENGE_LIFETIME],
    )


async def _use_challenge(tx: Tx, person_id: int, purpose: Purpose, credential: str) -> bytes | None:
    """The challenge that the browser says it signed, if it is ours and unused."""
    challenge = _read_challenge(credential)
    if challenge is None:
        return None
    cursor = await tx.execute(
        """
        DELETE FROM people.passkey_challenge
         WHERE digest = %s AND person_id = %s AND purpose = %s AND expires_at > now()
        """,
        [digest(challenge.hex()), person_id, purpose],
    )
    return challenge if cursor.rowcount else None


def _read_challenge(credential: str) -> bytes | None:
    import json

    from webauthn.helpers import base64url_to_bytes, parse_client_data_json
    from webauthn.helpers.exceptions import WebAuthnException

    if len(credential) > MAX_CREDENTIAL_LENGTH:
        return None
    try:
        client_data = json.loads(credential)["response"]["clientDataJSON"]
        return parse_client_data_json(base64url_to_bytes(client_data)).challenge
    except (WebAuthnException, ValueError, KeyError, TypeError, RecursionError):
        return None
