from __future__ import annotations

import pytest

from jobmill.errors import Invalid
from jobmill.people import passwords


async def test_a_password_is_known_again_and_no_other_is() -> None:
    password_hash = await passwords.hash_password("correct horse")
    assert "correct" not in password_hash
    assert await passwords.verify(password_hash, "correct horse")
    assert not await passwords.verify(password_hash, "correct horsf")
    assert not await passwords.verify(password_hash, "")


async def test_two_of_the_same_are_kept_differently() -> None:
    assert await passwords.hash_password("correct horse") != await passwords.hash_password(
        "correct horse"
    )


async def test_checking_the_password_of_nobody_is_as_much_work_and_never_right() -> None:
    assert not passwords.HASHER.check_needs_rehash(passwords.DUMMY_HASH)
    for guess in ("", "correct horse", passwords.DUMMY_HASH, "\ud800"):
        assert not await passwords.verify(None, guess)


@pytest.mark.parametrize("password", ["", "x" * 9, "x" * 1_001])
async def test_one_that_is_too_short_or_absurd_is_refused(password: str) -> None:
    with pytest.raises(Invalid, match="10 to 1,000 characters"):
        await passwords.hash_password(password)
