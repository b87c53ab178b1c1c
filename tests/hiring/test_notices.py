from __future__ import annotations

import asyncio
import datetime as dt
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import psycopg
import pytest

from jobmill import app
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, SYSTEM, by_applicant
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.messages import notices
from jobmill.hiring.messages.notices import Notice, reason_not_to_send
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.waitlist import deadlines
from jobmill.people import secrets
from jobmill.pipelines import notices as pipeline
from jobmill.queue import Finish, operator_actions
from jobmill.queue.store import CHANNEL
from jobmill.settings import Settings
from jobmill.time_zones import format_local_time
from tests.hiring.helpers import apply, let_pass, make_applicant, make_opening
from tests.hiring.notices_helpers import HOUR, NOW, OFFER_LETTER, Sender, ids, item, states
from tests.outside.mailbox import PASSWORD, Mailbox, open_mailbox, text_of
from tests.queue.helpers import claim_twice, fetch, make_due, statuses


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    async with open_mailbox() as mailbox:
        yield mailbox


def read_calendar_file(letter: EmailMessage) -> tuple[str, dict[str, str]]:
    """The method in the content type of the attached file, and its properties."""
    [file] = letter.iter_attachments()
    assert (file.get_content_type(), file.get_filename()) == ("text/calendar", "offer.ics")
    lines = file.get_content().replace("\r\n ", "").split("\r\n")
    properties = dict(line.partition(":")[::2] for line in lines if line)
    return str(file.get_param("method")), properties


def sender(database: Database, mailbox: Mailbox, **more: Any) -> Sender:
    return Sender(database, mailbox.settings(public_url="https://wells.example", **more))


async def add_due_notice(
    database: Database, kind: notices.NoticeKind = "message", **data: Any
) -> int:
    """A due notice to a new applicant."""
    async with database.transaction() as tx:
        opening = await make_opening(tx, capacity=9)
        placed = await apply(tx, opening)
        await tx.execute("DELETE FROM hiring.notice WHERE state = 'waiting'")
        now = dt.datetime.now(dt.UTC)
        notice = Notice(kind, opening.id, placed.application.id, None, now, data)
        await notices.insert(tx, [notice])
    return (await ids(database, kind))[-1]


async def test_many_notices_are_inserted_at_once_in_pipeline_mode(tx: Tx) -> None:
    opening = await make_opening(tx)
    application = (await apply(tx, opening)).application.id
    await tx.execute("DELETE FROM hiring.notice")
    new_notices = [
        Notice("position", opening.id, application, None, NOW, {"position": 3}),
        Notice("promoted", opening.id, application, 2, NOW + HOUR, {"deadline": NOW, "x": "ü\n'"}),
    ]
    async with tx.pipeline():
        await notices.insert(tx, new_notices)
        await notices.insert(tx, [])
        await notices.add_webhook_deliveries(tx, opening.id, 0, 9)
    rows = await fetch(tx, "SELECT kind, seq, due_at, data, state FROM hiring.notice ORDER BY id")
    assert rows == [
        ("position", None, NOW, {"position": 3}, "waiting"),
        ("promoted", 2, NOW + HOUR, {"deadline": NOW.isoformat(), "x": "ü\n'"}, "waiting"),
    ]


async def test_each_notice_is_taken_once_and_not_before_it_is_due(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx)
        application = (await apply(tx, opening)).application.id
        await tx.execute("DELETE FROM hiring.notice")
        now = dt.datetime.now(dt.UTC)
        notice = Notice("message", opening.id, application, None, now - HOUR)
        await notices.insert(tx, [*[notice] * 30, replace(notice, due_at=now + HOUR)])

    async def take() -> list[int]:
        async with database.transaction() as tx:
            return await notices.claim_due(tx, "mail", 10)

    batches = await asyncio.gather(*(take() for _ in range(8)))
    taken = [id for batch in (*batches, await take()) for id in batch]
    assert len(taken) == len(set(taken)) == 30
    assert [state for _, state, _ in await states(database)].count("waiting") == 1


async def test_workers_are_notified_only_if_a_notice_is_due(database: Database, url: str) -> None:
    id = await add_due_notice(database)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as listener:
        await listener.execute(f"LISTEN {CHANNEL}")
        for due in (True, False):
            async with database.transaction() as tx:
                if not due:
                    await tx.execute("UPDATE hiring.notice SET due_at = now() + interval '1 hour'")
                await notices.announce_due(tx)
            heard = [
                notification.payload
                async for notification in listener.notifies(timeout=0.2, stop_after=1)
            ]
            assert heard == (["feed"] if due else []), id


async def test_a_polling_worker_sends_due_letters_without_a_notification(
    database: Database, mailbox: Mailbox
) -> None:
    settings = mailbox.settings(poll_only=True)
    worker = app.build_worker(Sender(database, settings).tools, settings)
    running = asyncio.create_task(worker.run())
    # The first notice exists at the first poll, the second does not.
    for text in ("first", "second"):
        await add_due_notice(database, text=text)
        async with asyncio.timeout(20):
            while not any(text in text_of(letter) for letter in mailbox.letters):
                await asyncio.sleep(0.05)
    worker.stop()
    await running
    assert len(mailbox.letters) == 2


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(), "no mail server is configured"),
        (Settings.model_validate({"smtp_url": "smtp://127.0.0.1:1"}), "no sender is configured"),
    ],
)
async def test_without_a_mail_server_letters_are_dropped_and_never_queued(
    database: Database, settings: Settings, reason: str
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, acknowledge_window=HOUR)
        first = (await apply(tx, opening)).application
        await apply(tx, opening)
        await withdrawals.withdraw(tx, first.id, by_applicant(first.applicant_id))
    assert await Sender(database, settings).send() == 0
    actual_states = await states(database)
    assert {state for kind, state, _ in actual_states if kind != "reminder"} == {"dropped"}
    assert all(reason in detail for _, state, detail in actual_states if state == "dropped")
    # A worker with mail settings sends the reminder later.
    assert [state for kind, state, _ in actual_states if kind == "reminder"] == ["waiting"]
    assert await statuses(database) == {}


async def test_a_letter_is_sent_once_with_the_applicants_own_links(
    database: Database, mailbox: Mailbox
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, title="Baker & Söhne", acknowledge_window=HOUR)
        first = (await apply(tx, opening)).application
        second = (await apply(tx, opening, (await make_applicant(tx, "Grace")).id)).application
        await withdrawals.withdraw(tx, first.id, by_applicant(first.applicant_id))
        signer = LinkSigner(await secrets.get_signing_key(tx))
    post = sender(database, mailbox)
    await post.send()
    assert await post.send() == 0
    by_subject = {letter["subject"]: letter for letter in mailbox.letters}
    assert len(by_subject) == len(mailbox.letters) == 2
    offer = by_subject["A place for you: Baker & Söhne"]
    assert offer["to"].addresses[0].display_name == "Grace"
    text = text_of(offer)
    assert "You have 60 minutes." in text
    links = re.findall(r"https://wells\.example/(my|offer)/([\w.-]+)(\S*)", text)
    assert [(kind, query) for kind, _, query in links] == [
        ("offer", "?answer=accept"), ("offer", "?answer=decline"), ("my", ""),
    ]  # fmt: skip
    assert signer.read_offer(links[0][1]).application_id == second.id
    assert signer.read_personal(links[2][1]).applicant_id == second.applicant_id
    sent = [kind for kind, state, _ in await states(database) if state == "sent"]
    # The letter about applying is outdated and not sent.
    assert sent == ["withdrawn", "promoted"]


async def test_an_offer_comes_with_a_calendar_file_that_its_end_cancels(
    database: Database, mailbox: Mailbox
) -> None:
    terms = {"acknowledge_window": HOUR, "time_zone": "America/New_York", "max_missed": 2}
    async with database.transaction() as tx:
        opening = await make_opening(tx, require_acknowledgement=True, **terms)
        application = (await apply(tx, opening)).application
    post, deadline = sender(database, mailbox), application.acknowledge_deadline
    assert deadline
    await post.send()
    [offer] = mailbox.letters
    method, event = read_calendar_file(offer)
    assert (method, event["METHOD"], event["SEQUENCE"]) == ("PUBLISH", "PUBLISH", "0")
    assert event["DTEND"] == f"{deadline:%Y%m%dT%H%M%SZ}"
    assert format_local_time(deadline, "America/New_York") in text_of(offer)
    for end in ("missed", "accepted"):
        async with database.transaction() as tx:
            if end == "missed":
                await let_pass(tx, opening, HOUR)
                async with deadlines.lock_and_expire_offers(tx, opening.id, SYSTEM):
                    pass
            else:
                by = by_applicant(application.applicant_id)
                await offers.acknowledge(tx, application.id, by)
        await post.send()
    by_subject = {str(letter["subject"]).partition(":")[0]: letter for letter in mailbox.letters}
    missed, again, accepted = (
        by_subject[subject]
        for subject in ("You are back on the waitlist", "A place for you", "You have a place")
    )
    method, cancelled = read_calendar_file(missed)
    assert (method, cancelled["STATUS"], cancelled["SEQUENCE"]) == ("CANCEL", "CANCELLED", "1")
    assert "One more missed offer ends your application." in text_of(missed)
    _, second = read_calendar_file(again)
    assert read_calendar_file(accepted)[1]["UID"] == second["UID"] != event["UID"]


async def test_no_letter_is_sent_for_an_answered_offer(
    database: Database, mailbox: Mailbox
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, require_acknowledgement=True, acknowledge_window=HOUR)
        application = (await apply(tx, opening)).application
        await offers.acknowledge(tx, application.id, by_applicant(application.applicant_id))
        await tx.execute("UPDATE hiring.notice SET due_at = now()")
    await sender(database, mailbox).send()
    assert [letter["subject"] for letter in mailbox.letters] == ["You have a place: Baker"]
    actual_states = await states(database)
    assert {kind for kind, _, _ in actual_states} == {"promoted", "reminder", "accepted"}
    assert {row[1:] for row in actual_states if row[0] != "accepted"} == {
        ("dropped", "the offer was answered or has ended")
    }


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, None),
        ({"erased": True}, "erased"),
        ({"email": " "}, "no address"),
        ({"status": "ACTIVE"}, "answered"),
        ({"superseded": True}, "answered"),
        ({"kind": "reminder", "status": "WAITLIST"}, "answered"),
        ({"deadline": NOW}, "ended"),
        ({"deadline": NOW + dt.timedelta(microseconds=1)}, None),
        ({"kind": "position", "status": "WAITLIST"}, None),
        ({"kind": "position", "status": "ACTIVE"}, "no longer on the waitlist"),
        ({"kind": "applied", "status": "ACTIVE"}, None),
        ({"kind": "applied", "status": "ACTIVE", "superseded": True}, "has changed since"),
        ({"kind": "withdrawn", "status": "INACTIVE", "superseded": True}, None),
        ({"kind": "decayed", "status": "ACTIVE", "superseded": True}, None),
    ],
)
def test_an_outdated_letter_is_not_sent(changed: dict[str, Any], words: str | None) -> None:
    reason = reason_not_to_send(replace(OFFER_LETTER, **changed))
    assert reason is None if words is None else words in str(reason)


async def test_a_busy_mail_server_is_tried_again(database: Database, mailbox: Mailbox) -> None:
    await add_due_notice(database)
    mailbox.refusals = ["451 greylisted"]
    post = sender(database, mailbox)
    await post.send()
    [(_, state, detail)] = await states(database)
    assert state == "queued"
    assert "451 greylisted" in detail
    await make_due(database)
    await post.send()
    assert len(mailbox.letters) == 1
    assert await states(database) == [("message", "sent", None)]
    assert await fetch(database, "SELECT attempts FROM hiring.notice") == [2]


async def test_a_permanently_refused_letter_has_failed(
    database: Database, mailbox: Mailbox
) -> None:
    await add_due_notice(database)
    mailbox.refusals = ["550 no such user {address}"]
    post = sender(database, mailbox)
    await post.send()
    [(_, state, detail)] = await states(database)
    assert state == "failed"
    assert "550 no such user the address" in detail
    assert await statuses(database) == {"FAILED": 1}
    # An operator puts the item back into the queue.
    async with database.transaction() as tx:
        [item_id] = await fetch(tx, "SELECT id FROM queue.item")
        await operator_actions.retry_item(tx, item_id)
    await post.send()
    assert (await states(database))[0][1] == "sent"


async def test_a_letter_has_failed_when_the_queue_gives_up(
    database: Database, mailbox: Mailbox
) -> None:
    await add_due_notice(database)
    mailbox.refusals = ["451 later", "451 later"]
    post = sender(database, mailbox)
    await post.feed()
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.live SET retry_count = 9")
    for state in ("queued", "failed"):
        await post.send()
        await make_due(database)
        assert (await states(database))[0][1] == state
    assert post.stages["notice", "mail"].max_retries == 10
    assert post.stages["notice", "webhook"].max_retries == 8


@pytest.mark.parametrize("refusal", ["550 no such user", "451 later"])
async def test_an_attempt_that_lost_its_claim_writes_nothing(
    database: Database, mailbox: Mailbox, refusal: str
) -> None:
    await add_due_notice(database)
    post = sender(database, mailbox)
    await post.feed()
    stale, _ = await claim_twice(database, "notice", "mail")
    mailbox.refusals = [refusal]
    with pytest.raises(pipeline.OutsideError):
        await pipeline.send_letter(post.tools, pipeline.LetterSender(post.settings), stale)
    assert await states(database) == [("message", "queued", None)]
    assert await fetch(database, "SELECT attempts FROM hiring.notice") == [0]


async def test_letters_wait_while_the_mail_server_refuses_the_password(
    database: Database,
) -> None:
    async with open_mailbox(login=True) as mailbox:
        await add_due_notice(database)
        await Sender(database, mailbox.settings("me:wrong@")).send()
        assert await statuses(database) == {"BLOCKED": 1}
        [(_, state, detail)] = await states(database)
        assert (state, "rejected the login" in detail) == ("queued", True)
        async with database.transaction() as tx:
            await operator_actions.unblock_items(tx, "mail")
        assert PASSWORD == "s3cret/@:"
        await Sender(database, mailbox.settings("me:s3cret%2F%40%3A@")).send()
        assert len(mailbox.letters) == 1


async def test_a_worker_that_dies_after_sending_sends_again_under_the_same_message_id(
    database: Database, mailbox: Mailbox
) -> None:
    id = await add_due_notice(database)
    post = sender(database, mailbox)
    await post.feed()
    move = await pipeline.send_letter(
        post.tools, pipeline.LetterSender(post.settings), item(id, "mail")
    )
    # The worker is killed here, before the move is saved.
    assert isinstance(move, Finish)
    assert (await states(database))[0][1] == "queued"
    await post.send()
    first, second = mailbox.letters
    assert first["message-id"] == second["message-id"]
    assert first["message-id"].endswith("@wells.example>")
    assert (await states(database))[0][1] == "sent"
    # A letter recorded as sent is not sent a third time.
    await pipeline.send_letter(post.tools, pipeline.LetterSender(post.settings), item(id, "mail"))
    assert len(mailbox.letters) == 2


@pytest.mark.parametrize("ended", ["sent", "dropped"])
async def test_a_late_result_does_not_change_a_sent_or_dropped_letter(
    database: Database, ended: notices.FinalState
) -> None:
    id = await add_due_notice(database)
    async with database.transaction() as tx:
        await notices.record_result(tx, id, ended, None)
        [before] = await fetch(tx, "SELECT notice FROM hiring.notice")
        await notices.record_result(tx, id, "failed", "550 no such user")
        await notices.record_failed_attempt(tx, id, "451 later")
        await notices.requeue(tx, [id])
        assert await fetch(tx, "SELECT notice FROM hiring.notice") == [before]


async def test_two_notices_never_share_a_message_id(database: Database, mailbox: Mailbox) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, capacity=2)
        await apply(tx, opening)
        await apply(tx, opening)
    await sender(database, mailbox).send()
    assert len({letter["message-id"] for letter in mailbox.letters}) == 2


async def test_a_notice_that_is_still_queued_is_postponed_by_a_minute(
    database: Database, mailbox: Mailbox
) -> None:
    id = await add_due_notice(database)
    post = sender(database, mailbox)
    assert await post.feed() == 1
    async with database.transaction() as tx:
        await tx.execute("UPDATE hiring.notice SET state = 'waiting'")
    assert await post.feed() == 1
    [(state, later)] = await fetch(
        database, "SELECT state, due_at > now() + interval '30 seconds' FROM hiring.notice"
    )
    assert (state, later) == ("waiting", True), id


async def test_letters_to_an_erased_person_are_dropped_and_emptied(
    database: Database, mailbox: Mailbox
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, capacity=9)
        gone, stays = (await apply(tx, opening)).application, (await apply(tx, opening)).application
        await tx.execute("DELETE FROM hiring.notice")
        now = dt.datetime.now(dt.UTC)
        both = [
            Notice("message", opening.id, person.id, None, now, {"text": "Dear Ada"})
            for person in (gone, stays)
        ]
        await notices.insert(tx, both)
        await notices.erase_for_applicant(tx, gone.applicant_id)
        left = await fetch(tx, "SELECT data, state FROM hiring.notice ORDER BY id")
    assert left == [({}, "dropped"), ({"text": "Dear Ada"}, "waiting")]
    await sender(database, mailbox).send()
    assert len(mailbox.letters) == 1


async def test_old_notices_are_deleted(tx: Tx) -> None:
    opening = await make_opening(tx, capacity=3)
    for _ in range(4):
        await apply(tx, opening)
    first, second, third, lost = await ids(tx, "applied")
    await tx.execute(
        "UPDATE hiring.notice SET ended_at = now() - interval '91 days' WHERE id = %s", [first]
    )
    await tx.execute("UPDATE hiring.notice SET ended_at = now() WHERE id = %s", [second])
    # Its item was deleted from the queue.
    await tx.execute(
        """
        UPDATE hiring.notice SET state = 'queued', due_at = now() - interval '91 days' WHERE id = %s
        """,
        [lost],
    )
    assert await notices.delete_old(tx) == 2
    assert await ids(tx, "applied") == [second, third]


async def test_personal_pages_show_messages_until_the_applicant_is_erased(tx: Tx) -> None:
    opening = await make_opening(tx, capacity=1)
    person = (await apply(tx, opening)).application
    await tx.execute("DELETE FROM hiring.notice")
    texts = ({"text": "Bring shoes."}, {"text": "Here is your link.", "asked": True})
    now = dt.datetime.now(dt.UTC)
    await notices.insert(
        tx, [Notice("message", opening.id, person.id, None, now, data) for data in texts]
    )
    await tx.execute(
        "UPDATE hiring.notice SET state = 'sent', ended_at = now() - interval '91 days'"
    )
    assert await notices.delete_old(tx) == 1
    [message] = await notices.list_received(tx, person.applicant_id, 9)
    assert message.text == "Bring shoes."
    await privacy.erase_applicant(tx, person.applicant_id, LOCAL)
    assert await fetch(tx, "SELECT data FROM hiring.notice WHERE kind = 'message'") == [{}]
    assert await notices.delete_old(tx) == 1


async def test_a_worker_does_not_start_with_invalid_letters(
    database: Database, tmp_path: Any
) -> None:
    (tmp_path / "promoted.txt").write_text("no subject\n")
    settings = Settings(letters_dir=tmp_path)
    with pytest.raises(Invalid, match=r"promoted\.txt:1"):
        app.build_worker(Sender(database, settings).tools, settings)
