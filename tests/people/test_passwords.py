from __future__ import annotations

import pytest
from argon2 import Type

from jobmill.errors import Invalid
from jobmill.people import passwords

# Read before the suite replaces them with cheap ones.
HASHER, DUMMY_HASH = passwords.HASHER, passwords.DUMMY_HASH


@pytest.fixture(autouse=True)
def real_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "HASHER", HASHER)
    monkeypatch.setattr(passwords, "DUMMY_HASH", DUMMY_HASH)


async def test_only_the_right_password_is_accepted() -> None:
    password_hash = await passwords.hash_password("correct horse")
    assert "correct" not in password_hash
    assert await passwords.verify(password_hash, "correct horse")
    assert not await passwords.verify(password_hash, "correct horsf")
    assert not await passwords.verify(password_hash, "")


async def test_equal_passwords_have_different_hashes() -> None:
    assert await passwords.hash_password("correct horse") != await passwords.hash_password(
        "correct horse"
    )


def test_hashing_costs_at_least_what_owasp_recommends() -> None:
    assert (HASHER.type, HASHER.memory_cost >= 47_104, HASHER.time_cost >= 1) == (
        Type.ID,
        True,
        True,
    )


async def test_checking_an_unknown_account_takes_the_same_work_and_fails() -> None:
    assert not passwords.HASHER.check_needs_rehash(passwords.DUMMY_HASH)
    for guess in ("", "correct horse", passwords.DUMMY_HASH, "\ud800"):
        assert not await passwords.verify(None, guess)


@pytest.mark.parametrize("password", ["", "x" * 9, "x" * 1_001])
async def test_a_password_too_short_or_too_long_is_refused(password: str) -> None:
    with pytest.raises(Invalid, match="10 to 1,000 characters"):
        await passwords.hash_password(password)
