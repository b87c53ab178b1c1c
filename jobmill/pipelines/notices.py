"""Send notices: letters to applicants and events to webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid, OutsideError, Unavailable
from jobmill.hiring.audit_log import events
from jobmill.hiring.company_identity import NO_IDENTITY, CompanyIdentity, read_identity
from jobmill.hiring.messages import (
    letter_calendars,
    letter_templates,
    letters,
    notices,
    webhooks,
)
from jobmill.hiring.messages.html_letters import render_html
from jobmill.hiring.messages.letter_variables import LetterText
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
"""About 17 minutes for mail, which outlasts most greylisting servers, and about 4 for webhooks."""


def queue_feeds(settings: Settings) -> tuple[QueueFeed, ...]:
    """Feed due letters and webhook calls separately, so that neither waits for the other."""
    missing_setting = mail.missing_setting(settings)
    take_mail = (
        partial(_drop_letters, missing_setting) if missing_setting else partial(_claim_due, "mail")
    )
    return (
        QueueFeed(KIND, "mail", take_mail, _requeue_refused),
        QueueFeed(KIND, "webhook", partial(_claim_due, "webhook"), _requeue_refused),
    )


async def _claim_due(channel: Channel, tx: Tx, limit: int) -> list[NewItem]:
    ids = await notices.claim_due(tx, channel, limit)
    return [NewItem(KIND, channel, f"notice {id}", data={"notice": id}) for id in ids]


async def _drop_letters(reason: str, tx: Tx, limit: int) -> list[NewItem]:
    """Drop due letters while mail is not configured, instead of queueing them."""
    await notices.drop_letters(tx, reason)
    return []


async def _requeue_refused(tx: Tx, refused: Sequence[RefusedItem]) -> None:
    await notices.requeue(tx, [item.new.data["notice"] for item in refused])


class LetterSender:
    """Renders letters and sends them with the configured mailer."""

    def __init__(self, settings: Settings) -> None:
        self.mailer = Mailer(settings)
        self.templates_dir: Path | None = settings.letters_dir
        self.base_url = public_base_url(settings)

    def render(
        self,
        outgoing: OutgoingLetter,
        secret: bytes,
        saved: LetterText | None = None,
        identity: CompanyIdentity = NO_IDENTITY,
    ) -> Letter:
        values = letters.template_values(outgoing, LinkSigner(secret), self.base_url)
        template = letters.choose_template(outgoing)
        text = letters.render_letter(template, values, self.templates_dir, saved, outgoing.language)
        id = letters.message_id(outgoing, secret, self.mailer.domain)
        name = values["name"] if outgoing.name else ""
        html = render_html(text.body, identity, outgoing.company, self.base_url)
        domain = self.mailer.domain
        calendar_files = (
            letter_calendars.make_offer_file(
                outgoing, secret, domain, values.get("accept_link", "")
            ),
            letter_calendars.make_interview_file(outgoing, secret, domain, values["my_link"]),
        )
        files = [file for file in calendar_files if file]
        return Letter(name, outgoing.email, text.subject, text.body, id, html, files)


async def send_letter(tools: Tools, sender: LetterSender, work: Work) -> Move:
    """Send one letter if its message still applies. A retry may deliver it twice, with the same
    Message-ID."""
    id: int = work.data["notice"]
    async with tools.db.transaction() as tx:
        outgoing = await notices.find_letter(tx, id)
        secret = await secrets.get_signing_key(tx)
        saved = await find_saved_text(tx, outgoing) if outgoing else None
        identity = await read_identity(tx)
    if outgoing is None or outgoing.state in ("sent", "dropped"):
        return Skip("already sent or dropped")
    if reason := notices.reason_not_to_send(outgoing):
        return Skip(reason, save=partial(_settle, id, "dropped", reason))
    try:
        await sender.mailer.send(sender.render(outgoing, secret, saved, identity))
    except (MailLoginFailed, Unavailable) as error:
        # Every letter would fail like this: block instead of losing letters.
        blocked = BlockedOn("mail", str(error))
        await _record_error(tools, work, blocked)
        raise blocked from error
    except (OutsideError, Invalid) as error:
        await _record_error(tools, work, error)
        raise
    return Finish("sent", save=partial(_settle, id, "sent", None))


async def find_saved_text(tx: Tx, outgoing: OutgoingLetter) -> LetterText | None:
    letter = letters.choose_template(outgoing)
    # Letters about an interview use the texts of the opening that it is for.
    return await letter_templates.find_text(tx, letter, outgoing.parent_id or outgoing.opening_id)


async def call_webhook(tools: Tools, sender: WebhookSender, work: Work) -> Move:
    """Send one event to one receiver. A retry may deliver it twice, with the same id."""
    id: int = work.data["notice"]
    async with tools.db.transaction() as tx:
        outgoing = await webhooks.find_outgoing(tx, id)
        audit_events = (
            await events.find_by_opening(tx, outgoing.opening_id, after=outgoing.seq - 1, limit=1)
            if outgoing
            else []
        )
    if outgoing is None or outgoing.state in ("sent", "dropped"):
        return Skip("already sent or dropped")
    if not outgoing.enabled:
        reason = "the webhook is disabled"
        return Skip(reason, save=partial(_settle, id, "dropped", reason))
    return await _deliver(tools, sender, work, outgoing, audit_events[0])


async def _deliver(
    tools: Tools,
    sender: WebhookSender,
    work: Work,
    outgoing: OutgoingDelivery,
    event: events.AuditEvent,
) -> Move:
    request = webhook.WebhookRequest(
        outgoing.id,
        outgoing.url,
        outgoing.secret,
        event.type,
        webhooks.encode_body(event),
        outgoing.read_at,
    )
    try:
        answer = await sender.send(request)
    except ReceiverGone as error:
        return Skip(str(error), save=partial(_disable, outgoing, str(error)))
    except OutsideError as error:
        await _record_error(tools, work, error)
        raise
    return Finish(answer, save=partial(_settle, outgoing.id, "sent", answer))


async def _settle(id: int, state: notices.FinalState, detail: str | None, tx: Tx) -> None:
    await notices.record_result(tx, id, state, detail)


async def _disable(outgoing: OutgoingDelivery, reason: str, tx: Tx) -> None:
    await webhooks.set_enabled(tx, outgoing.webhook_id, False)
    await notices.record_result(tx, outgoing.id, "failed", f"{reason}; the webhook is disabled")


async def _record_error(tools: Tools, work: Work, error: AppError) -> None:
    """Record the error with the notice, as failed if the queue will not retry."""
    async with tools.db.transaction() as tx:
        if not await lock_claim(tx, work):
            # Another attempt owns the notice now and records its own result.
            return
        if not isinstance(outcome_of_error(work, error), Retry | Block):
            await notices.record_result(tx, work.data["notice"], "failed", str(error))
        else:
            await notices.record_failed_attempt(tx, work.data["notice"], str(error))
