"""Password hashing with argon2, in threads beside the event loop."""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from jobmill.errors import Invalid
from jobmill.people.common_passwords import is_common

MIN_LENGTH, MAX_LENGTH = 10, 1_000

HASHER = PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=4)

DUMMY_HASH = (
    "$argon2id$v=19$m=65536,t=3,p=4$ai3vSEFjo1TMbhKC4MZ/5Q$"
    "ZWGpyRmppIeJ1jinhgoS7lY46FYtP1OCdXwsdyItXSQ"
)
"""The hash of an unknown password, so that a sign-in takes the same time for unknown accounts."""

# Hashing takes 64 MB, so at most two run at the same time.
THREADS = ThreadPoolExecutor(2, "password")


ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without characters that look alike."""


def generate() -> str:
    """A random password with 99 bits that is easy to type."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(5)) for _ in range(4))


async def hash_password(password: str) -> str:
    """The hash of a password; raises Invalid if it is too short, too long or common."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise Invalid(f"The password must have {MIN_LENGTH} to {MAX_LENGTH:,} characters.")
    if is_common(password):
        raise Invalid(
            "This is one of the passwords that attackers try first. Choose several unrelated words, or "
            "let a password manager make one."
        )
    return await asyncio.get_running_loop().run_in_executor(THREADS, HASHER.hash, _bytes(password))


async def verify(password_hash: str | None, password: str) -> bool:
    """Whether the password matches; takes the same time without a hash."""
    return await asyncio.get_running_loop().run_in_executor(
        THREADS, _verify, DUMMY_HASH if password_hash is None else password_hash, password
    )


def _verify(password_hash: str, password: str) -> bool:
    try:
        return HASHER.verify(password_hash, _bytes(password))
    except VerifyMismatchError:
        return False


def _bytes(password: str) -> bytes:
    # Lone surrogates are allowed in a password.
    return password.encode("utf-8", "surrogatepass")
