from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.hiring.actor import by_applicant
from jobmill.hiring.applications import withdrawals
from jobmill.hiring.messages import notices, webhooks
from jobmill.outside.webhook import WebhookSender, sign
from jobmill.pipelines import notices as pipeline
from jobmill.queue import Finish
from jobmill.settings import Settings
from tests.cli import forked
from tests.hiring.helpers import apply, make_applicant, make_opening
from tests.hiring.notices_helpers import Sender, ids, item, states
from tests.outside.site import LoopbackSite, ReceivedRequest, in_turn, open_site, redirect, reply
from tests.queue.helpers import fetch, make_due, statuses

URL = "https://hooks.example.org/x"


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        yield site


def sender(database: Database, site: LoopbackSite) -> Sender:
    return Sender(database, Settings(private_hosts=site.place))


async def make_delivery(database: Database, site: LoopbackSite) -> webhooks.CreatedWebhook:
    """A webhook and one event for it: a person called Zebedee applied."""
    async with database.transaction() as tx:
        opening = await make_opening(tx)
        added = await webhooks.add(tx, site.url("/hook"), events=["APPLIED"])
        await apply(tx, opening, (await make_applicant(tx, "Zebedee")).id)
    return added


async def test_each_webhook_receives_the_events_it_subscribed_to(tx: Tx) -> None:
    await tx.execute("DELETE FROM hiring.webhook")
    opening, other = await make_opening(tx), await make_opening(tx)
    everything = await webhooks.add(tx, URL)
    some = await webhooks.add(tx, URL, events=["WITHDRAWN", "WITHDRAWN", "PROMOTED"])
    elsewhere = await webhooks.add(tx, URL, opening_id=other.id)
    off = await webhooks.add(tx, URL)
    await webhooks.set_enabled(tx, off.id, False)
    application = (await apply(tx, opening)).application
    await withdrawals.withdraw(tx, application.id, by_applicant(application.applicant_id))

    async def list_delivered(id: int) -> list[tuple[str, int]]:
        deliveries = await webhooks.list_deliveries(tx, id)
        return [(delivery.event, delivery.opening_id) for delivery in reversed(deliveries)]

    assert await list_delivered(everything.id) == [
        ("APPLIED", opening.id),
        ("WITHDRAWN", opening.id),
    ]
    assert await list_delivered(some.id) == [("WITHDRAWN", opening.id)]
    assert await list_delivered(elsewhere.id) == await list_delivered(off.id) == []
    await tx.execute("DELETE FROM hiring.notice")
    # Only the events between enabling and disabling.
    await notices.add_webhook_deliveries(tx, opening.id, 1, 2)
    assert await list_delivered(everything.id) == [("APPLIED", opening.id)]


async def test_a_delivery_is_signed_and_contains_no_personal_data(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/hook", reply(status=202))
    added = await make_delivery(database, site)
    await sender(database, site).send()
    [request] = site.requests_to("/hook")
    [(id, opening, seq, application, created)] = await fetch(
        database,
        """
        SELECT id, opening_id, seq, application_id, created_at FROM hiring.event
         WHERE type = 'APPLIED'
        """,
    )
    body = json.loads(request.body)
    assert body.pop("metadata")["jobId"] == opening
    assert body == {
        "id": id,
        "seq": seq,
        "jobId": opening,
        "applicationId": application,
        "eventType": "APPLIED",
        "fromStatus": None,
        "toStatus": "ACTIVE",
        "createdAt": f"{created:%Y-%m-%dT%H:%M:%S}.{created.microsecond // 1000:03}Z",
    }
    assert b"ebedee" not in request.body
    stamp = int(request.headers["jobmill-timestamp"])
    assert request.headers["jobmill-signature"] == sign(added.secret, stamp, request.body)
    assert (await states(database, "webhook"))[0][1] == "sent"


@pytest.mark.server_clock(dt.timedelta(hours=1))
async def test_a_delivery_is_signed_with_the_databases_time(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/hook", reply())
    await make_delivery(database, site)
    await sender(database, site).send()
    [request] = site.requests_to("/hook")
    [now] = await fetch(database, "SELECT extract(epoch FROM now())::float8")
    assert abs(now - int(request.headers["jobmill-timestamp"])) < 60


async def test_the_example_in_the_guide_checks_signatures(
    database: Database, site: LoopbackSite
) -> None:
    page = Path(__file__).parents[2] / "docs/how-to/notify-applicants.md"
    example = re.search(r"<!-- example: .*? -->\n```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert example
    names: dict[str, Any] = {}
    exec(example[1], names)  # noqa: S102
    site.on("/hook", reply())
    added = await make_delivery(database, site)
    await sender(database, site).send()
    [request] = site.requests_to("/hook")
    headers = {name.title(): text for name, text in request.headers.items()}
    assert names["is_ours"](added.secret, headers, request.body)
    assert not names["is_ours"](added.secret, headers, request.body + b" ")
    assert not names["is_ours"]("whsec_other", headers, request.body)
    old = headers | {"Jobmill-Timestamp": "1700000000"}
    assert not names["is_ours"](added.secret, old, request.body)


def seen(request: ReceivedRequest) -> tuple[str, bytes]:
    return request.headers["jobmill-delivery"], request.body


async def test_a_failed_delivery_is_sent_again_with_the_same_number(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/hook", in_turn(reply(status=500), reply(status=429), reply()))
    added = await make_delivery(database, site)
    worker = sender(database, site)
    for tries in (1, 2, 3):
        await worker.send()
        await make_due(database)
        assert len(site.requests_to("/hook")) == tries
    assert len({seen(request) for request in site.requests_to("/hook")}) == 1
    async with database.transaction() as tx:
        [delivery] = await webhooks.list_deliveries(tx, added.id)
    assert (delivery.state, delivery.attempts) == ("sent", 3)


async def test_a_redirect_to_a_private_address_fails(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/hook", redirect("http://10.0.0.1/admin"))
    await make_delivery(database, site)
    await sender(database, site).send()
    [(_, state, detail)] = await states(database, "webhook")
    assert (state, "10.0.0.1/admin, which is not followed" in detail) == ("failed", True)
    assert (await statuses(database))["FAILED"] == 1


async def test_a_receiver_that_answers_gone_is_disabled(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/hook", reply(status=410))
    added = await make_delivery(database, site)
    async with database.transaction() as tx:
        first = (await ids(tx, "webhook"))[0]
        await webhooks.redeliver(tx, first)
    worker = sender(database, site)
    await worker.feed()
    for id in await ids(database, "webhook"):
        move = await pipeline.call_webhook(
            worker.tools, WebhookSender(worker.settings), item(id, "webhook")
        )
        async with database.transaction() as tx:
            assert move.save
            await move.save(tx)
    assert len(site.requests_to("/hook")) == 1
    async with database.transaction() as tx:
        assert not (await webhooks.get(tx, added.id)).enabled
        with pytest.raises(Conflict, match="Enable it first"):
            await webhooks.redeliver(tx, first)
    failed, dropped = await states(database, "webhook")
    assert (failed[1], "410" in failed[2]) == ("failed", True)
    assert dropped[1:] == ("dropped", "the webhook is disabled")


async def test_a_worker_that_dies_after_sending_sends_again_with_the_same_number(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/hook", reply())
    await make_delivery(database, site)
    worker = sender(database, site)
    await worker.feed()
    [id] = await ids(database, "webhook")
    move = await pipeline.call_webhook(
        worker.tools, WebhookSender(worker.settings), item(id, "webhook")
    )
    # The worker is killed here, before the move is saved.
    assert isinstance(move, Finish)
    await worker.send()
    first, second = site.requests_to("/hook")
    assert seen(first) == seen(second)
    assert first.headers["jobmill-delivery"] == str(id)
    await pipeline.call_webhook(worker.tools, WebhookSender(worker.settings), item(id, "webhook"))
    assert len(site.requests_to("/hook")) == 2


async def test_a_replay_is_a_new_delivery_of_the_same_event(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/hook", reply())
    await make_delivery(database, site)
    worker = sender(database, site)
    await worker.send()
    [old] = await ids(database, "webhook")
    async with database.transaction() as tx:
        new = await webhooks.redeliver(tx, old)
    await worker.send()
    first, second = site.requests_to("/hook")
    assert first.body == second.body
    assert [request.headers["jobmill-delivery"] for request in (first, second)] == [
        str(old),
        str(new),
    ]


async def test_removing_a_webhook_removes_its_deliveries(
    database: Database, site: LoopbackSite
) -> None:
    added = await make_delivery(database, site)
    worker = sender(database, site)
    await worker.feed()
    async with database.transaction() as tx:
        await webhooks.remove(tx, added.id)
    await worker.send()
    assert site.requests == []
    assert await states(database, "webhook") == []


async def test_a_missing_webhook_or_delivery_raises_not_found(tx: Tx) -> None:
    letter = (await apply(tx, await make_opening(tx))) and (await ids(tx, "applied"))[-1]
    for act in (
        webhooks.get(tx, 2**40),
        webhooks.remove(tx, 2**40),
        webhooks.set_enabled(tx, 2**40),
        webhooks.list_deliveries(tx, 2**40),
        webhooks.redeliver(tx, 2**40),
        webhooks.redeliver(tx, letter),
    ):
        with pytest.raises(NotFound):
            await act
    with pytest.raises(Invalid, match="Unknown event HIRED"):
        await webhooks.add(tx, URL, events=["HIRED"])
    with pytest.raises(NotFound, match="opening"):
        await webhooks.add(tx, URL, opening_id=2**40)


async def test_deliveries_are_paged_newest_first(tx: Tx) -> None:
    opening = await make_opening(tx, capacity=9)
    added = await webhooks.add(tx, URL, opening_id=opening.id)
    for _ in range(5):
        await apply(tx, opening)
    deliveries: list[webhooks.WebhookDelivery] = []
    while page := await webhooks.list_deliveries(
        tx, added.id, before=deliveries[-1].id if deliveries else None, limit=2
    ):
        deliveries += page
    assert [delivery.seq for delivery in deliveries] == [6, 5, 4, 3, 2]
    assert await webhooks.list_deliveries(tx, added.id, state="sent") == []
    assert len(await webhooks.list_deliveries(tx, added.id, state="waiting")) == 5


async def test_the_commands_manage_webhooks(
    url: str, database: Database, site: LoopbackSite, home: Path
) -> None:
    run = forked.runner(home, url, JOBMILL_PRIVATE_HOSTS=site.place)

    async def ask(*words: object) -> Any:
        done = await run("webhook", *words, "--json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    assert "No webhooks yet" in (await run("webhook", "list")).stdout
    refused = await run("webhook", "add", "http://hooks.example.org/x")
    assert (refused.returncode, "https://" in refused.stderr) == (2, True)
    [added] = await ask("add", site.url("/hook"), "--event", "APPLIED")
    assert added["secret"].startswith("whsec_")
    shown = await run("webhook", "show", added["id"])
    assert added["secret"] not in shown.stdout + (await run("webhook", "list", "--json")).stdout

    async with database.transaction() as tx:
        await apply(tx, await make_opening(tx))
    site.on("/hook", reply(status=400))
    assert await sender(database, site).send() == 1
    [delivery] = await ask("deliveries", added["id"], "--state", "failed")
    assert (delivery["eventType"], "400" in delivery["detail"]) == ("APPLIED", True)
    [again] = await ask("replay", delivery["id"])
    assert delivery["id"] < again["id"]
    more = await run("webhook", "deliveries", added["id"], "--limit", 1)
    assert f"--before {again['id']}" in more.stderr

    assert [webhook["enabled"] for webhook in await ask("disable", added["id"])] == [False]
    assert (await run("webhook", "replay", delivery["id"])).returncode == 4
    assert [webhook["enabled"] for webhook in await ask("enable", added["id"])] == [True]
    await ask("remove", added["id"])
    assert (await run("webhook", "show", added["id"])).returncode == 3
