from __future__ import annotations

import pytest

from jobmill.errors import Invalid
from jobmill.people import passwords


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


async def test_checking_an_unknown_account_takes_the_same_work_and_fails() -> None:
    assert not passwords.HASHER.check_needs_rehash(passwords.DUMMY_HASH)
    for guess in ("", "correct horse", passwords.DUMMY_HASH, "\ud800"):
        assert not await passwords.verify(None, guess)


@pytest.mark.parametrize("password", ["", "x" * 9, "x" * 1_001])
async def test_a_password_too_short_or_too_long_is_refused(password: str) -> None:
    with pytest.raises(Invalid, match="10 to 1,000 characters"):
        await passwords.hash_password(password)
