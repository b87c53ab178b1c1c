"""The second factor of people: an authenticator app or passkeys, and recovery codes for when they
are lost."""

from __future__ import annotations

import datetime as dt
import re
import secrets
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx, fetch_or_raise, fetch_single
from jobmill.errors import Conflict, Invalid
from jobmill.people import encryption, totp
from jobmill.people.passwords import ALPHABET
from jobmill.people.secrets import digest, get_signing_key

RECOVERY_CODES = 10
MAX_FAILURES = 10
"""Wrong codes in a row, after which one code per LOCK_TIME is checked."""
LOCK_TIME = dt.timedelta(minutes=15)
APP_CODE = re.compile(rf"[0-9]{{{totp.DIGITS}}}")
MAX_CODE_LENGTH = 100

CodeResult = Literal["accepted", "wrong", "locked"]


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """What a person has set up."""

    has_app: bool
    passkeys: int
    recovery_codes: int
    """How many are unused."""

    @property
    def is_on(self) -> bool:
        return self.has_app or self.passkeys > 0


@dataclass(frozen=True, slots=True)
class _Authenticator:
    seed: bytes
    last_step: int
    current_step: int
    is_locked: bool


async def find(tx: Tx, person_id: int) -> SecondFactor:
    return await fetch_single(
        tx,
        SecondFactor,
        """
        SELECT EXISTS (SELECT FROM people.authenticator
                        WHERE person_id = %(id)s AND confirmed_at IS NOT NULL) AS has_app,
               (SELECT count(*) FROM people.passkey WHERE person_id = %(id)s) AS passkeys,
               (SELECT count(*) FROM people.recovery_code
                 WHERE person_id = %(id)s AND used_at IS NULL) AS recovery_codes
        """,
        {"id": person_id},
    )


async def set_up_app(tx: Tx, person_id: int) -> bytes:
    """A new seed, which counts only once a code of it is confirmed; Conflict if there is an app."""
    seed = totp.generate_seed()
    encrypted = encryption.encrypt(await get_signing_key(tx), _context(person_id), seed)
    cursor = await tx.execute(
        """
        INSERT INTO people.authenticator (person_id, seed) VALUES (%s, %s)
        ON CONFLICT (person_id) DO UPDATE SET seed = excluded.seed, created_at = now()
         WHERE authenticator.confirmed_at IS NULL
        """,
        [person_id, encrypted],
    )
    if cursor.rowcount == 0:
        raise Conflict("You already use an authenticator app. Remove it first.")
    return seed


async def get_unconfirmed_seed(tx: Tx, person_id: int) -> bytes:
    """The seed of an app that is being set up; Conflict if there is none."""
    return (await _lock_app(tx, person_id, confirmed=False)).seed


async def confirm_app(tx: Tx, person_id: int, code: str) -> list[str]:
    """Turn the app on with its first code; returns the recovery codes, which are shown once."""
    app = await _lock_app(tx, person_id, confirmed=False)
    step = totp.find_step(app.seed, normalize(code), app.current_step)
    if step is None:
        raise Invalid("This code is wrong. Check the clock of your phone and enter the next code.")
    await tx.execute(
        """
        UPDATE people.authenticator SET confirmed_at = now(), last_step = %s, failures = 0
         WHERE person_id = %s
        """,
        [step, person_id],
    )
    return await replace_recovery_codes(tx, person_id)


async def remove_app(tx: Tx, person_id: int) -> None:
    await tx.execute("DELETE FROM people.authenticator WHERE person_id = %s", [person_id])
    await end_unneeded_codes(tx, person_id)


async def end_unneeded_codes(tx: Tx, person_id: int) -> None:
    """Delete the recovery codes of a person without a second factor."""
    if not (await find(tx, person_id)).is_on:
        await _delete_recovery_codes(tx, person_id)


async def replace_recovery_codes(tx: Tx, person_id: int) -> list[str]:
    """New recovery codes; the old ones end."""
    await _delete_recovery_codes(tx, person_id)
    codes = [_generate_code() for _ in range(RECOVERY_CODES)]
    for code in codes:
        await tx.execute(
            "INSERT INTO people.recovery_code (digest, person_id) VALUES (%s, %s)",
            [_code_digest(person_id, code), person_id],
        )
    return codes


async def check_code(tx: Tx, person_id: int, code: str) -> CodeResult:
    """Use up a code of the app or a recovery code. Commit also if it is wrong: failures count."""
    typed = normalize(code)
    if APP_CODE.fullmatch(typed):
        return await _check_app_code(tx, person_id, typed)
    return "accepted" if await _use_recovery_code(tx, person_id, typed) else "wrong"


async def reset(tx: Tx, person_id: int) -> None:
    """Remove all second factors of a person."""
    await tx.execute("DELETE FROM people.authenticator WHERE person_id = %s", [person_id])
    await tx.execute("DELETE FROM people.passkey WHERE person_id = %s", [person_id])
    await _delete_recovery_codes(tx, person_id)


async def _check_app_code(tx: Tx, person_id: int, code: str) -> CodeResult:
    try:
        app = await _lock_app(tx, person_id, confirmed=True)
    except Conflict:
        return "wrong"
    if app.is_locked:
        return "locked"
    step = totp.find_step(app.seed, code, app.current_step)
    # A code is accepted once, and none that is older than one that was accepted.
    if step is None or step <= app.last_step:
        await tx.execute(
            """
            UPDATE people.authenticator SET failures = failures + 1, failed_at = now()
             WHERE person_id = %s
            """,
            [person_id],
        )
        return "wrong"
    await tx.execute(
        "UPDATE people.authenticator SET last_step = %s, failures = 0 WHERE person_id = %s",
        [step, person_id],
    )
    return "accepted"


async def _lock_app(tx: Tx, person_id: int, *, confirmed: bool) -> _Authenticator:
    """The app with its decrypted seed. Of two uses of one code the second waits and sees the first."""
    app = await fetch_or_raise(
        tx,
        _Authenticator,
        """
        SELECT seed, last_step, floor(extract(epoch FROM now()) / %(seconds)s)::bigint AS current_step,
               failures >= %(max)s AND failed_at > now() - %(lock)s AS is_locked
          FROM people.authenticator
         WHERE person_id = %(id)s AND (confirmed_at IS NOT NULL) = %(confirmed)s
           FOR UPDATE
        """,
        {
            "id": person_id,
            "confirmed": confirmed,
            "seconds": totp.STEP_SECONDS,
            "max": MAX_FAILURES,
            "lock": LOCK_TIME,
        },
        Conflict("There is no authenticator app to check. Set it up again."),
    )
    seed = encryption.decrypt(await get_signing_key(tx), _context(person_id), app.seed)
    return _Authenticator(seed, app.last_step, app.current_step, app.is_locked)


async def _use_recovery_code(tx: Tx, person_id: int, code: str) -> bool:
    cursor = await tx.execute(
        """
        UPDATE people.recovery_code SET used_at = now()
         WHERE digest = %s AND person_id = %s AND used_at IS NULL
        """,
        [_code_digest(person_id, code), person_id],
    )
    return cursor.rowcount == 1


async def _delete_recovery_codes(tx: Tx, person_id: int) -> None:
    await tx.execute("DELETE FROM people.recovery_code WHERE person_id = %s", [person_id])


def normalize(code: str) -> str:
    """A code without the spaces and dashes that people type."""
    return re.sub(r"[\s-]", "", code[:MAX_CODE_LENGTH]).lower()


def _generate_code() -> str:
    """74 random bits that are easy to type: abcde-fghjk-mnpqr."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(5)) for _ in range(3))


def _code_digest(person_id: int, code: str) -> bytes:
    return digest(f"recovery code {person_id} {normalize(code)}")


def _context(person_id: int) -> str:
    return f"authenticator of person {person_id}"
