"""Tests of answers: each counts only for the offer that the applicant saw."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.db import Tx
from jobmill.errors import Conflict, Gone
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import offers, outcomes
from jobmill.hiring.applications.outcomes import MissedOffer, Placement
from jobmill.hiring.messages.signed_links import OfferLinkToken
from jobmill.hiring.records import applications
from jobmill.hiring.records.applications import ApplicationNotFound
from tests.hiring.helpers import apply, let_pass, make_opening

HOUR = dt.timedelta(hours=1)


async def link_to(tx: Tx, id: int) -> OfferLinkToken:
    application = await applications.get(tx, id)
    assert application.acknowledge_deadline
    return OfferLinkToken(id, application.acknowledge_deadline)


@pytest.mark.parametrize(("answer", "status"), [("accept", "ACTIVE"), ("decline", "INACTIVE")])
async def test_an_offer_is_answered_once(tx: Tx, answer: outcomes.Answer, status: str) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    id = (await apply(tx, opening)).application.id
    link = await link_to(tx, id)
    assert await offers.link_state(tx, link) == "open"
    done = await offers.answer_by_link(tx, link, answer)
    assert isinstance(done, Placement)
    assert done.application.status == status
    assert await offers.link_state(tx, link) == "answered"
    with pytest.raises(Conflict):
        await offers.answer_by_link(tx, link, answer)


async def test_an_old_answer_does_not_accept_a_new_offer(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    id = (await apply(tx, opening)).application.id
    await let_pass(tx, opening, HOUR)
    old = await link_to(tx, id)
    assert await offers.link_state(tx, old) == "ended"
    missed = await offers.answer_offer(tx, id, "accept", LOCAL)
    assert isinstance(missed, MissedOffer)
    assert missed.application.status == "PENDING_ACKNOWLEDGMENT"
    assert await offers.link_state(tx, old) == "ended"
    with pytest.raises(Gone):
        await offers.answer_by_link(tx, old, "accept")
    assert isinstance(await offers.answer_by_link(tx, await link_to(tx, id), "accept"), Placement)


async def test_without_an_offer_there_is_nothing_to_answer(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    id = (await apply(tx, opening)).application.id
    with pytest.raises(Conflict):
        await offers.answer_offer(tx, id, "accept", LOCAL)
    with pytest.raises(ApplicationNotFound):
        await offers.answer_offer(tx, 10**9, "accept", LOCAL)
