from __future__ import annotations

import datetime as dt
from dataclasses import replace
from urllib.parse import quote

import pytest

from jobmill.db import Database, Tx, fetch_value
from jobmill.db.clock import server_time
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import (
    InvalidLink,
    LinkSigner,
    OfferLinkToken,
    PersonalLinkToken,
)

SECRET = b"s" * 32
SIGNER = LinkSigner(SECRET)
SIGNED_AT = dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
DEADLINE = dt.datetime(2031, 2, 3, 4, 5, 6, 123457, tzinfo=dt.UTC)


def test_a_link_contains_the_signed_values() -> None:
    assert SIGNER.read_personal(SIGNER.sign_personal(12, 3, SIGNED_AT)) == PersonalLinkToken(
        12, 3, SIGNED_AT
    )
    assert SIGNER.read_offer(SIGNER.sign_offer(2**62, DEADLINE)) == OfferLinkToken(2**62, DEADLINE)


def test_a_deadline_is_the_same_instant_in_any_time_zone() -> None:
    east = DEADLINE.astimezone(dt.timezone(dt.timedelta(hours=5)))
    assert SIGNER.sign_offer(1, east) == SIGNER.sign_offer(1, DEADLINE)


def test_a_link_is_safe_in_a_url() -> None:
    for token in (
        SIGNER.sign_personal(2**62, 2**30, SIGNED_AT),
        SIGNER.sign_offer(2**62, DEADLINE),
    ):
        assert quote(token, safe="") == token


def test_a_changed_link_is_refused() -> None:
    token = SIGNER.sign_personal(12, 3, SIGNED_AT)
    # The lowest bits of the last base64 character carry no data.
    for at in range(len(token) - 1):
        changed = "A" if token[at] != "A" else "B"
        with pytest.raises(InvalidLink):
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
        with pytest.raises(InvalidLink, match="not valid"):
            SIGNER.read_personal(cut)


@pytest.mark.parametrize(
    "token", ["", ".", "..", "a.b", "é" * 30, "\0" * 30, "A" * 10_000, "A" * 30 + "." + "B" * 43]
)
def test_text_that_is_no_link_is_refused(token: str) -> None:
    for read in (SIGNER.read_personal, SIGNER.read_offer):
        with pytest.raises(InvalidLink):
            read(token)


def test_a_link_of_another_installation_is_refused() -> None:
    with pytest.raises(InvalidLink):
        SIGNER.read_personal(LinkSigner(b"t" * 32).sign_personal(12, 3, SIGNED_AT))


def test_one_kind_of_link_is_never_valid_as_the_other() -> None:
    with pytest.raises(InvalidLink):
        SIGNER.read_personal(SIGNER.sign_offer(12, DEADLINE))
    with pytest.raises(InvalidLink):
        SIGNER.read_offer(SIGNER.sign_personal(12, 3, SIGNED_AT))


async def make_applicant(tx: Tx) -> int:
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO hiring.applicant (name, email, email_key, link_version)
        VALUES ('Bo', 'b@b', 'b@b', 4) RETURNING id
        """,
    )
    assert id
    return id


YEAR = dt.timedelta(days=365)
HOUR = dt.timedelta(hours=1)


@pytest.mark.parametrize(
    "ahead",
    [
        pytest.param(ahead, marks=pytest.mark.server_clock(ahead))
        for ahead in (dt.timedelta(), 2 * HOUR, -2 * HOUR)
    ],
)
async def test_a_personal_link_is_valid_for_a_year_by_the_databases_clock(
    database: Database, ahead: dt.timedelta
) -> None:
    async with database.transaction() as tx:
        id = await make_applicant(tx)
        token = (await personal_links.issue_path(tx, SIGNER, id, "local")).removeprefix("/my/")
        link = SIGNER.read_personal(token)
        assert abs(link.signed_at - await server_time(tx)) < dt.timedelta(minutes=1)
        assert await personal_links.is_current(tx, link)
        assert await personal_links.is_current(
            tx, replace(link, signed_at=link.signed_at - YEAR + HOUR)
        )
        with pytest.raises(InvalidLink, match="has expired"):
            await personal_links.is_current(
                tx, replace(link, signed_at=link.signed_at - YEAR - HOUR)
            )


async def test_only_the_newest_version_of_a_link_is_valid(tx: Tx) -> None:
    id = await make_applicant(tx)
    link = PersonalLinkToken(id, 4, await server_time(tx))
    assert await personal_links.is_current(tx, link)
    assert not await personal_links.is_current(tx, replace(link, version=3))
    assert not await personal_links.is_current(tx, replace(link, applicant_id=2**62))
    await tx.execute(
        "UPDATE hiring.applicant SET email_key = NULL, erased_at = now() WHERE id = %s", [id]
    )
    assert not await personal_links.is_current(tx, link)


async def test_an_unknown_or_erased_applicant_has_no_link(tx: Tx) -> None:
    id = await make_applicant(tx)
    assert await personal_links.find_link_version(tx, id) == 4
    await tx.execute(
        "UPDATE hiring.applicant SET email_key = NULL, erased_at = now() WHERE id = %s", [id]
    )
    assert await personal_links.find_link_version(tx, id) is None
    assert await personal_links.find_link_version(tx, 2**62) is None
