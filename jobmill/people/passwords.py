"""Passwords: kept as argon2, worked out beside the loop."""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from jobmill.errors import Invalid

MIN_LENGTH, MAX_LENGTH = 10, 1_000

HASHER = PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=4)

DUMMY_HASH = (
    "$argon2id$v=19$m=65536,t=3,p=4$ai3vSEFjo1TMbhKC4MZ/5Q$"
    "ZWGpyRmppIeJ1jinhgoS7lY46FYtP1OCdXwsdyItXSQ"
)
"""Of a password that nobody knows: checking it takes as long as checking anybody's."""

# Each takes 64 MB while it runs: however many sign in at once, no more than two do.
THREADS = ThreadPoolExecutor(2, "password")


ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Those that nobody takes for another."""


def generate() -> str:
    """One that nobody guesses and everybody can type: 99 bits."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(5)) for _ in range(4))


async def hash_password(password: str) -> str:
    """What to keep of a password; Invalid if it is too short to be one."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise Invalid(f"A password has {MIN_LENGTH} to {MAX_LENGTH:,} characters.")
    return await asyncio.get_running_loop().run_in_executor(THREADS, HASHER.hash, _bytes(password))


async def verify(kept: str | None, password: str) -> bool:
    """Whether it is the one; in the same time if there is none."""
    return await asyncio.get_running_loop().run_in_executor(
        THREADS, _verify, DUMMY_HASH if kept is None else kept, password
    )


def _verify(kept: str, password: str) -> bool:
    try:
        return HASHER.verify(kept, _bytes(password))
    except VerifyMismatchError:
        return False


def _bytes(password: str) -> bytes:
    # Half a character is as good as any other in a password.
    return password.encode("utf-8", "surrogatepass")
