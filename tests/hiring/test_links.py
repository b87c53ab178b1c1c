from __future__ import annotations

import datetime as dt
import time
from urllib.parse import quote

import pytest

from jobmill.db import Tx, value
from jobmill.hiring import keys
from jobmill.hiring.links import BadLink, Offer, Personal, Signer

SECRET = b"s" * 32
SIGNER = Signer(SECRET)
DEADLINE = dt.datetime(2031, 2, 3, 4, 5, 6, 123457, tzinfo=dt.UTC)


def test_a_link_says_what_was_signed() -> None:
    assert SIGNER.read_personal(SIGNER.personal(12, 3)) == Personal(12, 3)
    assert SIGNER.read_offer(SIGNER.offer(2**62, DEADLINE)) == Offer(2**62, DEADLINE)


def test_a_deadline_is_the_same_moment_in_any_zone() -> None:
    east = DEADLINE.astimezone(dt.timezone(dt.timedelta(hours=5)))
    assert SIGNER.offer(1, east) == SIGNER.offer(1, DEADLINE)


def test_a_link_is_safe_in_a_url() -> None:
    for token in (SIGNER.personal(2**62, 2**30), SIGNER.offer(2**62, DEADLINE)):
        assert quote(token, safe="") == token


def test_any_change_of_a_link_is_refused() -> None:
    token = SIGNER.personal(12, 3)
    # The lowest bits of the last character belong to nothing.
    for at in range(len(token) - 1):
        changed = "A" if token[at] != "A" else "B"
        with pytest.raises(BadLink):
            SIGNER.read_personal(token[:at] + changed + token[at + 1 :])
    for cut in (
        token[:-1],
        token[1:],
        token + "A",
        token + "=",
        token + "\n",
        f" {token}",
        "%" + token,
    ):
        with pytest.raises(BadLink, match="not valid"):
            SIGNER.read_personal(cut)


@pytest.mark.parametrize(
    "token", ["", ".", "..", "a.b", "é" * 30, "\0" * 30, "A" * 10_000, "A" * 30 + "." + "B" * 43]
)
def test_what_was_never_a_link_is_refused(token: str) -> None:
    for read in (SIGNER.read_personal, SIGNER.read_offer):
        with pytest.raises(BadLink):
            read(token)


def test_a_link_of_another_installation_is_refused() -> None:
    with pytest.raises(BadLink):
        SIGNER.read_personal(Signer(b"t" * 32).personal(12, 3))


def test_one_kind_of_link_never_passes_for_the_other() -> None:
    with pytest.raises(BadLink):
        SIGNER.read_personal(SIGNER.offer(12, DEADLINE))
    with pytest.raises(BadLink):
        SIGNER.read_offer(SIGNER.personal(12, 3))


@pytest.mark.parametrize(("days", "opens"), [(0, True), (364, True), (366, False)])
def test_a_personal_link_lasts_a_year(days: int, opens: bool) -> None:
    token = SIGNER.personal(12, 3)
    later = Signer(SECRET, clock=lambda: time.time() + days * 86_400)
    if opens:
        assert later.read_personal(token) == Personal(12, 3)
    else:
        with pytest.raises(BadLink, match="too old"):
            later.read_personal(token)


async def test_who_is_unknown_or_erased_has_no_link(tx: Tx) -> None:
    id = await value(
        tx,
        int,
        """
        INSERT INTO hiring.applicant (name, email, email_key, link_version)
        VALUES ('Bo', 'b@b', 'b@b', 4) RETURNING id
        """,
    )
    assert id
    assert await keys.link_version(tx, id) == 4
    await tx.execute(
        "UPDATE hiring.applicant SET email_key = NULL, erased_at = now() WHERE id = %s", [id]
    )
    assert await keys.link_version(tx, id) is None
    assert await keys.link_version(tx, 2**62) is None
