"""Messages on the wire: what each channel receives, once, and what happens when a receiver fails."""

from __future__ import annotations

import json
from email import message_from_bytes

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.matching import matches
from jobmill.notifications import channels, deliveries, preferences
from jobmill.notifications.channels import ChannelKind, NewChannel
from jobmill.outside.webhook import sign
from jobmill.people.persons import LOCAL
from jobmill.settings import Settings
from tests.matching import judged
from tests.notifications.helpers import Notifier, add_channel, add_event, states
from tests.outside.mailbox import Mailbox, open_mailbox, text_of
from tests.outside.site import ReceivedRequest, ResponseWriter, open_site, reply
from tests.queue.helpers import claim, fetch, lose_leases, make_due

PUBLIC = {"public_url": "https://jobs.example"}


async def test_a_digest_arrives_as_html_and_text_with_one_click_unsubscribe(
    database: Database,
) -> None:
    async with open_mailbox() as mailbox:
        notifier = Notifier(database, mailbox.settings(**PUBLIC))
        async with database.transaction() as tx:
            await add_channel(tx, address="ada@example.org")
            place = await judged.make(tx, listings=2)
            ids = [
                await matches.save_verdict(tx, place.word(95, listing))
                for listing in place.listings
            ]
        await notifier.send()
        assert mailbox.letters == []
        async with database.transaction() as tx:
            # What was dismissed before the digest is no news.
            await matches.set_status(tx, ids[1] or 0, "dismissed")
        await notifier.make_due()
        for _ in range(2):
            await notifier.send()
        [letter] = mailbox.letters
    assert letter["Subject"] == "Your daily digest: 1 new high-priority match"
    assert f"https://jobs.example/matches/{ids[0]}" in text_of(letter)
    assert "Pump Engineer at Wells & Co" in text_of(letter)
    html = letter.get_body(("html",))
    assert html
    assert "Pump Engineer at Wells &amp; Co" in html.get_content()
    link = letter["List-Unsubscribe"]
    assert link.startswith("<https://jobs.example/unsubscribe/")
    assert link.endswith(">")
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert link.strip("<>") in text_of(letter)
    [(_, state, detail)] = await states(database)
    assert (state, detail) == ("sent", "accepted by the mail server")


async def test_a_digest_without_news_is_not_sent(database: Database) -> None:
    async with open_mailbox() as mailbox:
        notifier = Notifier(database, mailbox.settings())
        async with database.transaction() as tx:
            await add_channel(tx)
            place = await judged.make(tx)
            id = await matches.save_verdict(tx, place.word(95))
        await notifier.plan()
        async with database.transaction() as tx:
            await matches.set_status(tx, id or 0, "dismissed")
        await notifier.make_due()
        await notifier.send()
        assert mailbox.letters == []
    assert [state[1:] for state in await states(database)] == [
        ("dropped", "nothing is left to report")
    ]


CHANNELS: dict[ChannelKind, tuple[dict[str, str], str]] = {
    "ntfy": ({"url": "https://ntfy.example/jobs", "token": "tk_1"}, "/"),
    "telegram": (
        {"token": "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ", "chat": "42"},
        "/bot123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ/sendMessage",
    ),
    "slack": ({"url": "https://hooks.slack.com/services/T/B/X"}, "/services/T/B/X"),
    "discord": ({"url": "https://discord.com/api/webhooks/1/x"}, "/api/webhooks/1/x"),
    "webhook": ({"url": "https://hook.example/in"}, "/in"),
}
HOSTS = ("ntfy.example", "api.telegram.org", "hooks.slack.com", "discord.com", "hook.example")


async def test_each_channel_receives_what_its_service_expects(database: Database) -> None:
    async with open_site() as site:
        settings = Settings.model_validate(
            {"host_overrides": {host: f"127.0.0.1:{site.port}" for host in HOSTS}, **PUBLIC}
        )
        for _, path in CHANNELS.values():
            site.on(path, reply(b"{}", content_type="application/json"))
        async with database.transaction() as tx:
            for kind, (form, _) in CHANNELS.items():
                await add_channel(tx, kind, settings=settings, **form)
            hook = (await channels.find_by_owner(tx, LOCAL))[-1]
            secret = (await channels.decrypt_config(tx, hook))["secret"]
            await add_event(tx, rule="deep", detail="<@everyone> & co")
        await Notifier(database, settings).send()
        received = {kind: site.requests_to(path)[0] for kind, (_, path) in CHANNELS.items()}
    bodies = {kind: json.loads(request.body) for kind, request in received.items()}
    title, url = "Work queue alert: <@everyone> & co", "https://jobs.example/activity"
    text = f"{title}\n{url}"
    assert bodies["ntfy"] == {"topic": "jobs", "title": title, "message": text, "click": url}
    assert received["ntfy"].headers["authorization"] == "Bearer tk_1"
    assert bodies["telegram"]["chat_id"] == "42"
    assert bodies["telegram"]["text"] == f"{title}\n\n{text}"
    assert "<" not in bodies["slack"]["text"]
    assert "&lt;@everyone&gt; &amp; co" in bodies["slack"]["text"]
    assert bodies["discord"]["allowed_mentions"] == {"parse": []}
    assert bodies["webhook"]["events"] == [
        {"kind": "alert", "title": title, "detail": "", "url": url}
    ]
    headers = received["webhook"].headers
    signature = sign(secret, int(headers["jobmill-timestamp"]), received["webhook"].body)
    assert headers["jobmill-signature"] == signature
    assert {state for _, state, _ in await states(database)} == {"sent"}


async def test_a_private_address_is_refused_and_never_called(database: Database) -> None:
    async with open_site() as site:
        async with database.transaction() as tx:
            with pytest.raises(Invalid):
                await add_channel(tx, "slack", url=site.url("/in"))
            # Allowed when it was added, and not any more.
            new = NewChannel("slack", "here", {"url": site.url("/in")}, "here")
            await channels.add(tx, LOCAL, new)
            await add_event(tx)
        await Notifier(database, Settings()).send()
        assert site.requests == []
    [(_, state, detail)] = await states(database)
    assert state == "failed"
    assert "is not allowed" in detail


async def test_a_channel_that_is_gone_is_switched_off(database: Database) -> None:
    async with open_site() as site:
        site.on("/in", reply(b"", status=410))
        settings = Settings.model_validate(
            {"host_overrides": {"hook.example": f"127.0.0.1:{site.port}"}}
        )
        async with database.transaction() as tx:
            channel = await add_channel(
                tx, "webhook", settings=settings, url="https://hook.example/in"
            )
            await add_event(tx)
        await Notifier(database, settings).send()
    async with database.transaction() as tx:
        off = await channels.get(tx, LOCAL, channel.id)
    assert not off.enabled
    assert off.problem == "hook.example answered 410: the receiver is gone"


class LosingMailbox(Mailbox):
    """Takes the letter and hangs up before it says so."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        await super().handle_DATA(server, session, envelope)
        server.transport.abort()
        return "250 OK"


class MumblingMailbox(Mailbox):
    """Takes the letter and answers something that is not a reply."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        await super().handle_DATA(server, session, envelope)
        return "OK 250"


@pytest.mark.parametrize("kind", [LosingMailbox, MumblingMailbox])
async def test_a_letter_that_may_have_arrived_is_reported_as_unknown_and_not_repeated(
    kind: type[Mailbox], database: Database
) -> None:
    async with open_mailbox(kind) as mailbox:
        notifier = Notifier(database, mailbox.settings())
        async with database.transaction() as tx:
            await add_channel(tx)
            await add_event(tx)
        for _ in range(2):
            await notifier.send()
            await make_due(database)
        assert len(mailbox.letters) == 1
    [(_, state, detail)] = await states(database)
    assert state == "unknown"
    assert "it may have arrived" in detail


async def test_a_refused_letter_is_retried_with_the_same_id(database: Database) -> None:
    async with open_mailbox() as mailbox:
        mailbox.refusals.append("450 try later")
        notifier = Notifier(database, mailbox.settings())
        async with database.transaction() as tx:
            await add_channel(tx)
            await add_event(tx)
        await notifier.send()
        [(_, state, detail)] = await states(database)
        assert state == "queued"
        assert "450 try later" in detail
        await make_due(database)
        await notifier.send()
        [letter] = mailbox.letters
    [(id,)] = [(row,) for row in await fetch(database, "SELECT id FROM notification.delivery")]
    assert letter["Message-ID"].startswith(f"<notification.{id}.")
    assert await fetch(database, "SELECT state, attempts FROM notification.delivery") == [
        ("sent", 2)
    ]


async def plan_letter(database: Database, mailbox: Mailbox) -> Notifier:
    notifier = Notifier(database, mailbox.settings())
    async with database.transaction() as tx:
        await add_channel(tx)
        await add_event(tx)
    await notifier.plan()
    return notifier


async def test_a_worker_that_died_while_sending_leaves_an_unknown_delivery(
    database: Database,
) -> None:
    async with open_mailbox() as mailbox:
        notifier = await plan_letter(database, mailbox)
        await notifier.feed()
        async with database.transaction() as tx:
            # As the first attempt leaves it.
            [id] = await fetch(tx, "SELECT id FROM notification.delivery")
            await deliveries.mark_sending(tx, id)
        await claim(database, "notification", "mail")
        await lose_leases(database)
        await notifier.send()
        assert mailbox.letters == []
    [(_, state, detail)] = await states(database)
    assert (state, detail) == ("unknown", "the worker stopped while it was sending")


async def test_a_webhook_is_repeated_with_the_same_id_after_a_lost_answer(
    database: Database,
) -> None:
    async def hang_up(request: ReceivedRequest, writer: ResponseWriter) -> None:
        writer.reset()

    async with open_site() as site:
        site.on("/in", hang_up)
        settings = Settings.model_validate(
            {"host_overrides": {"hook.example": f"127.0.0.1:{site.port}"}}
        )
        notifier = Notifier(database, settings)
        async with database.transaction() as tx:
            await add_channel(tx, "webhook", settings=settings, url="https://hook.example/in")
            await add_event(tx)
        await notifier.send()
        site.on("/in", reply(b""))
        await make_due(database)
        await notifier.send()
        ids = [request.headers["jobmill-delivery"] for request in site.requests_to("/in")]
    assert len(ids) == 2
    assert len(set(ids)) == 1
    assert [state for _, state, _ in await states(database)] == ["sent"]


async def test_deliveries_to_a_channel_that_was_switched_off_are_dropped(
    database: Database,
) -> None:
    notifier = Notifier(database, Settings())
    async with database.transaction() as tx:
        email = await add_channel(tx)
        slack = await add_channel(tx, "slack", url="https://hooks.slack.com/services/a")
        await add_event(tx)
    await notifier.plan()
    async with database.transaction() as tx:
        await channels.set_enabled(tx, slack.id, False)
    await notifier.send()
    assert {(state, detail) for _, state, detail in await states(database)} == {
        ("dropped", "no mail server is configured: set smtp_url"),
        ("dropped", "the channel is switched off"),
    }
    assert email.enabled


async def test_what_was_queued_before_the_quiet_hours_waits_for_their_end(
    database: Database,
) -> None:
    async with open_mailbox() as mailbox:
        notifier = await plan_letter(database, mailbox)
        async with database.transaction() as tx:
            await tx.execute(
                "INSERT INTO notification.schedule (quiet_from, quiet_until) VALUES (%s, %s)",
                ["00:00", "23:59:59"],
            )
        await notifier.send()
        assert mailbox.letters == []
        assert [state for _, state, _ in await states(database)] == ["queued"]
        async with database.transaction() as tx:
            await tx.execute("DELETE FROM notification.schedule")
        await make_due(database)
        await notifier.send()
        assert len(mailbox.letters) == 1


async def test_a_test_message_ignores_quiet_hours(database: Database) -> None:
    async with open_mailbox() as mailbox:
        notifier = Notifier(database, mailbox.settings())
        async with database.transaction() as tx:
            channel = await add_channel(tx)
            await tx.execute(
                "INSERT INTO notification.schedule (quiet_from, quiet_until) VALUES (%s, %s)",
                ["00:00", "23:59:59"],
            )
            await deliveries.add_test(tx, channel.id)
            await add_event(tx)
            await tx.execute("UPDATE notification.event SET planned_at = now(), frequency = 'off'")
        await notifier.send()
        [letter] = mailbox.letters
    assert letter["Subject"] == "Jobmill: test message"
    assert message_from_bytes(letter.as_bytes())["Auto-Submitted"] == "auto-generated"
    async with database.transaction() as tx:
        assert await preferences.has_schedule(tx, LOCAL)
