"""Sends what is to be told: letters to applicants, events to webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, OutsideError, Unavailable
from jobmill.hiring.audit_log import events
from jobmill.hiring.messages import letters, notices, webhooks
from jobmill.hiring.messages.notices import Channel, OutgoingLetter
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.messages.webhooks import OutgoingDelivery
from jobmill.outside import mail, webhook
from jobmill.outside.mail import Letter, Mailer, MailLoginFailed
from jobmill.outside.webhook import ReceiverGone, WebhookSender
from jobmill.people import secrets
from jobmill.queue import (
    Block,
    BlockedOn,
    Finish,
    Move,
    NewItem,
    RefusedItem,
    Skip,
    Work,
    lock_claim,
)
from jobmill.queue.feed import QueueFeed
from jobmill.queue.retry import outcome_of_error
from jobmill.queue.stages import Retry
from jobmill.settings import Settings, public_base_url
from jobmill.tools import Tools

KIND = "notice"
RETRIES: dict[Channel, int] = {"mail": 10, "webhook": 8}
"""Some 17 minutes, which outlasts most servers that want to be asked twice; and some 4."""


def feeds(settings: Settings) -> tuple[QueueFeed, ...]:
    """What is due, letters and webhooks apart: neither waits for the other."""
    lacking = mail.missing_setting(settings)
    take_mail = partial(_drop, lacking) if lacking else partial(_take, "mail")
    return (
        QueueFeed(KIND, "mail", take_mail, _give_back),
        QueueFeed(KIND, "webhook", partial(_take, "webhook"), _give_back),
    )


async def _take(way: Channel, tx: Tx, most: int) -> list[NewItem]:
    ids = await notices.claim_due(tx, way, most)
    return [NewItem(KIND, way, f"notice {id}", data={"notice": id}) for id in ids]


async def _drop(reason: str, tx: Tx, most: int) -> list[NewItem]:
    """Where no letter can be sent, none goes through the queue."""
    await notices.drop_letters(tx, reason)
    return []


async def _give_back(tx: Tx, refused: Sequence[RefusedItem]) -> None:
    await notices.requeue(tx, [one.new.data["notice"] for one in refused])


class LetterSender:
    """How letters are written and sent here."""

    def __init__(self, settings: Settings) -> None:
        self.post = Mailer(settings)
        self.folder: Path | None = settings.letters_dir
        self.base = public_base_url(settings)

    def write(self, told: OutgoingLetter, secret: bytes) -> Letter:
        values = letters.template_values(told, LinkSigner(secret), self.base)
        text = letters.render_letter(letters.choose_template(told), values, self.folder)
        id = letters.message_id(told, secret, self.post.domain)
        return Letter(values["name"], told.email, text.subject, text.body, id)


async def send_letter(tools: Tools, room: LetterSender, work: Work) -> Move:
    """Send one letter, if what it says is still true. It may arrive twice, under one Message-ID."""
    id: int = work.data["notice"]
    async with tools.db.transaction() as tx:
        told = await notices.find_letter(tx, id)
        secret = await secrets.get_signing_key(tx)
    if told is None or told.state in ("sent", "dropped"):
        return Skip("there is nothing to send any more")
    if reason := notices.reason_not_to_send(told):
        return Skip(reason, save=partial(_settle, id, "dropped", reason))
    try:
        await room.post.send(room.write(told, secret))
    except (MailLoginFailed, Unavailable) as error:
        # It would be the same for every letter, and none is to be lost for it.
        blocked = BlockedOn("mail", str(error))
        await _note(tools, work, blocked)
        raise blocked from error
    except (OutsideError, Invalid) as error:
        await _note(tools, work, error)
        raise
    return Finish("sent", save=partial(_settle, id, "sent", None))


async def call_webhook(tools: Tools, caller: WebhookSender, work: Work) -> Move:
    """Tell one receiver of one event. It may arrive twice, under one number."""
    id: int = work.data["notice"]
    async with tools.db.transaction() as tx:
        out = await webhooks.find_outgoing(tx, id)
        found = (
            await events.find_by_opening(tx, out.opening_id, after=out.seq - 1, limit=1)
            if out
            else []
        )
    if out is None or out.state in ("sent", "dropped"):
        return Skip("there is nothing to send any more")
    if not out.enabled:
        reason = "the webhook is disabled"
        return Skip(reason, save=partial(_settle, id, "dropped", reason))
    return await _deliver(tools, caller, work, out, found[0])


async def _deliver(
    tools: Tools, caller: WebhookSender, work: Work, out: OutgoingDelivery, event: events.AuditEvent
) -> Move:
    delivery = webhook.WebhookRequest(
        out.id, out.url, out.secret, event.type, webhooks.encode_body(event), out.read_at
    )
    try:
        answer = await caller.send(delivery)
    except ReceiverGone as error:
        return Skip(str(error), save=partial(_disable, out, str(error)))
    except OutsideError as error:
        await _note(tools, work, error)
        raise
    return Finish(answer, save=partial(_settle, out.id, "sent", answer))


async def _settle(id: int, state: notices.FinalState, detail: str | None, tx: Tx) -> None:
    await notices.record_result(tx, id, state, detail)


async def _disable(out: OutgoingDelivery, said: str, tx: Tx) -> None:
    await webhooks.set_enabled(tx, out.webhook_id, False)
    await notices.record_result(tx, out.id, "failed", f"{said}; the webhook is disabled")


async def _note(tools: Tools, work: Work, error: AppError) -> None:
    """Keep what went wrong beside the notice; it has failed where the queue will not try again."""
    async with tools.db.transaction() as tx:
        if not await lock_claim(tx, work):
            # Another attempt sends this notice now, and its outcome is the one that counts.
            return
        if not isinstance(outcome_of_error(work, error), Retry | Block):
            await notices.record_result(tx, work.data["notice"], "failed", str(error))
        else:
            await notices.record_failed_attempt(tx, work.data["notice"], str(error))
