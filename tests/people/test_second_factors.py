from __future__ import annotations

import asyncio

import pytest

from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Conflict, Invalid
from jobmill.people import changes, passwords, persons, second_factors, totp
from tests.people.helpers import PASSWORD, make_person


async def current_step(tx: Tx) -> int:
    step = await fetch_value(tx, int, "SELECT floor(extract(epoch FROM now()) / 30)::bigint")
    assert step
    return step


async def turn_on(tx: Tx, person_id: int) -> tuple[bytes, list[str]]:
    """Set up an app with the code of the step before, so that the current one is unused."""
    seed = await second_factors.set_up_app(tx, person_id)
    code = totp.code_at(seed, await current_step(tx) - 1)
    return seed, await second_factors.confirm_app(tx, person_id, code)


async def add_person(tx: Tx) -> int:
    return (await persons.add(tx, "Ada", "ada@example.org", "admin", PASSWORD)).id


@pytest.mark.parametrize(
    ("second", "code"),
    [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")],
)  # fmt: skip
def test_codes_are_those_of_rfc_6238(second: int, code: str) -> None:
    assert totp.code_at(b"12345678901234567890", second // 30) == code


def test_an_app_reads_the_seed_from_the_url() -> None:
    url = totp.provisioning_url(b"12345678901234567890", "ada@example.org")
    assert url == (
        "otpauth://totp/Jobmill%3Aada%40example.org"
        "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Jobmill"
    )


async def test_a_code_is_accepted_once_and_no_older_code_after_it(tx: Tx) -> None:
    id = await add_person(tx)
    seed, _ = await turn_on(tx, id)
    now = await current_step(tx)
    used, current, next_code = (totp.code_at(seed, now + n) for n in (-1, 0, 1))
    results = [
        await second_factors.check_code(tx, id, code)
        for code in (used, current, current, next_code, current, "000 000 0", "")
    ]
    assert results == ["wrong", "accepted", "wrong", "accepted", "wrong", "wrong", "wrong"]


@pytest.mark.parametrize("kind", ["app", "recovery"])
async def test_of_two_uses_of_one_code_at_once_one_is_accepted(
    database: Database, kind: str
) -> None:
    person = await make_person(database)
    async with database.transaction() as tx:
        seed, codes = await turn_on(tx, person.id)
        code = totp.code_at(seed, await current_step(tx)) if kind == "app" else codes[0]

    async def use() -> str:
        async with database.transaction() as tx:
            return await second_factors.check_code(tx, person.id, code)

    results = await asyncio.gather(*(use() for _ in range(4)))
    assert results.count("accepted") == 1


async def test_wrong_codes_lock_the_app_but_not_recovery_codes(tx: Tx) -> None:
    id = await add_person(tx)
    seed, codes = await turn_on(tx, id)
    right = totp.code_at(seed, await current_step(tx))
    wrong = f"{(int(right) + 1) % 10**6:06}"
    results = [await second_factors.check_code(tx, id, wrong) for _ in range(10)]
    assert results == ["wrong"] * 10
    assert await second_factors.check_code(tx, id, right) == "locked"
    assert await second_factors.check_code(tx, id, codes[3].upper().replace("-", " ")) == "accepted"
    await tx.execute("UPDATE people.authenticator SET failed_at = failed_at - interval '15 min'")
    assert await second_factors.check_code(tx, id, right) == "accepted"


async def test_recovery_codes_of_another_person_and_replaced_ones_are_wrong(tx: Tx) -> None:
    id = await add_person(tx)
    other = (await persons.add(tx, "Bo", "bo@example.org", "admin", PASSWORD)).id
    _, codes = await turn_on(tx, id)
    await turn_on(tx, other)
    assert len(set(codes)) == 10
    assert await second_factors.check_code(tx, other, codes[0]) == "wrong"
    new = await second_factors.replace_recovery_codes(tx, id)
    assert await second_factors.check_code(tx, id, codes[0]) == "wrong"
    assert await second_factors.check_code(tx, id, new[0]) == "accepted"
    assert (await second_factors.find(tx, id)).recovery_codes == 9


async def test_an_app_counts_only_after_its_first_code(tx: Tx) -> None:
    id = await add_person(tx)
    seed = await second_factors.set_up_app(tx, id)
    assert not (await second_factors.find(tx, id)).is_on
    code = totp.code_at(seed, await current_step(tx))
    assert await second_factors.check_code(tx, id, code) == "wrong"
    with pytest.raises(Invalid, match="wrong"):
        await second_factors.confirm_app(tx, id, f"{(int(code) + 1) % 10**6:06}")
    newer = await second_factors.set_up_app(tx, id)
    assert newer != seed
    await second_factors.confirm_app(tx, id, totp.code_at(newer, await current_step(tx)))
    assert (await second_factors.find(tx, id)).is_on
    # The seed of an app in use is neither replaced nor shown.
    with pytest.raises(Conflict):
        await second_factors.set_up_app(tx, id)
    with pytest.raises(Conflict):
        await second_factors.get_unconfirmed_seed(tx, id)


async def test_removing_a_person_or_a_reset_removes_the_second_factor(tx: Tx) -> None:
    id = await add_person(tx)
    for remove in (
        lambda: second_factors.reset(tx, id),
        lambda: second_factors.remove_app(tx, id),
        lambda: persons.deactivate(tx, "ada@example.org"),
    ):
        await turn_on(tx, id)
        await remove()
        assert await second_factors.find(tx, id) == second_factors.SecondFactor(False, 0, 0)


async def test_neither_rows_nor_the_log_of_changes_hold_the_secrets(tx: Tx) -> None:
    id = await add_person(tx)
    seed, codes = await turn_on(tx, id)
    await second_factors.check_code(tx, id, codes[0])
    row = await fetch_value(
        tx,
        str,
        """
        SELECT string_agg(authenticator::text || recovery_code::text, '')
          FROM people.authenticator CROSS JOIN people.recovery_code
        """,
    )
    recent = await changes.find_recent(tx)
    nouns = [change.noun for change in recent]
    assert nouns[:2] == ["recovery code of person", "authenticator app of person"]
    for text in (row or "", repr(recent)):
        assert seed.hex() not in text
        assert totp.format_seed(seed).replace(" ", "") not in text
        assert not any(code in text or code.replace("-", "") in text for code in codes)


@pytest.mark.parametrize(
    "password",
    [
        "password123", "P@ssw0rd2026", "qwertyuiop", "1234567890", "Welcome2024!", "iloveyou123", "aaaaaaaaaa",
        "abcabcabcabc", "passwordpassword", "L3tm31n!!!!", "1q2w3e4r5t", "correcthorsebatterystaple", "Summer2026!!",
        "jobmill2026", "admin123456", "passwordadmin", "zaq12wsxzaq12wsx",
    ],
)  # fmt: skip
async def test_common_passwords_are_refused(password: str) -> None:
    with pytest.raises(Invalid, match="attackers try first"):
        await passwords.hash_password(password)


@pytest.mark.parametrize(
    "password", [PASSWORD, "tuba lemon orbit", "another password", "kde9f-3jfks-2jfkd-39fjk"]
)
async def test_other_passwords_are_accepted(password: str) -> None:
    assert await passwords.hash_password(password)
