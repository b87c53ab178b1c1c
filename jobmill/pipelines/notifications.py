"""Notifications: plan the deliveries of new events, and send those that are due."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError, Invalid, OutsideError, ReplyLost, Unavailable
from jobmill.matching import announcements
from jobmill.matching.announcements import Announcement, MatchSummary
from jobmill.notifications import (
    channel_requests,
    channels,
    deliveries,
    events,
    messages,
    preferences,
    unsubscribe,
)
from jobmill.notifications.channels import ChannelConfig, Recipient
from jobmill.notifications.deliveries import (
    FinalState,
    OutgoingNotification,
    PlannedDelivery,
    Transport,
)
from jobmill.notifications.events import NotificationEvent, PlannedEvent
from jobmill.notifications.kinds import (
    UNPLANNED_MATCH,
    Frequency,
    Kind,
    as_kind,
    kinds_of_role,
)
from jobmill.notifications.messages import Message
from jobmill.notifications.preferences import DigestSchedule
from jobmill.notifications.push_keys import get_push_key
from jobmill.outside import mail
from jobmill.outside.apprise_services import load_apprise
from jobmill.outside.mail import Letter, Mailer, MailLoginFailed
from jobmill.outside.webhook import ReceiverGone, WebhookSender
from jobmill.people import secrets
from jobmill.people.persons import Owner
from jobmill.queue import (
    Block,
    BlockedOn,
    Finish,
    Move,
    NewItem,
    RefusedItem,
    Skip,
    WaitUntil,
    Work,
    lock_claim,
)
from jobmill.queue.feed import QueueFeed
from jobmill.queue.retry import outcome_of_error
from jobmill.queue.stages import Retry
from jobmill.settings import Settings, public_base_url
from jobmill.tools import Tools

KIND = "notification"
RETRIES = 14
"""About nine hours."""
PLAN_EVERY = 1.0
PLAN_BATCH = 200
STEPS_EVERY = 60.0
MAX_SEPARATE = 5
"""More events than this at once become one message: a new profile can have hundreds of matches."""

MAX_DIGESTS_TRIED = 3


# Planning: events become deliveries.


async def plan(tx: Tx) -> bool:
    """Write the deliveries of new events; True if there may be more events."""
    batch = await events.claim_unplanned(tx, PLAN_BATCH)
    if not batch:
        await deliveries.announce_due(tx)
        return False
    batch.sort(key=lambda event: (event.person_id or 0, event.id))
    owners = {event.person_id for event in batch}
    planner = _Planner(
        await server_time(tx),
        await preferences.read_schedules(tx, owners),
        await preferences.read_frequencies(tx, owners),
        await channels.find_recipients(tx, owners),
    )
    for owner, of_owner in groupby(batch, key=lambda event: event.person_id):
        await planner.plan(tx, owner, list(of_owner))
    await deliveries.announce_due(tx)
    return len(batch) == PLAN_BATCH


@dataclass(frozen=True, slots=True)
class _Planner:
    at: dt.datetime
    schedules: Mapping[Owner, DigestSchedule]
    frequencies: Mapping[Owner, Mapping[Kind, Frequency]]
    recipients: Sequence[Recipient]

    async def plan(self, tx: Tx, owner: Owner, batch: Sequence[NotificationEvent]) -> None:
        planned = await self._decide(tx, owner, batch)
        await events.mark_planned(tx, planned)
        for recipient in self.recipients:
            if recipient.person_id == owner:
                allowed = kinds_of_role(recipient.role)
                await self._deliver(
                    tx, recipient, [event for event in planned if event.kind in allowed]
                )

    async def _decide(
        self, tx: Tx, owner: Owner, batch: Sequence[NotificationEvent]
    ) -> list[PlannedEvent]:
        ids = [event.data["match"] for event in batch if "match" in event.data]
        summaries = await announcements.read_summaries(tx, owner, ids) if ids else {}
        new = {event.data["match"] for event in batch if event.kind == UNPLANNED_MATCH}
        announced = await announcements.find_announcements(
            tx, [summary for summary in summaries.values() if summary.id in new]
        )
        return [self._decide_one(event, summaries, announced) for event in batch]

    def _decide_one(
        self,
        event: NotificationEvent,
        summaries: Mapping[int, MatchSummary],
        announced: Mapping[int, Sequence[Announcement]],
    ) -> PlannedEvent:
        frequencies, data = self.frequencies[event.person_id], dict(event.data)
        if match := summaries.get(data.get("match", 0)):
            data |= {"title": match.title, "company": match.company, "score": match.score}
        elif "match" in data:
            # The match was erased.
            return PlannedEvent(event.id, event.kind, "off", data)
        if event.kind != UNPLANNED_MATCH:
            kind = as_kind(event.kind)
            return PlannedEvent(event.id, event.kind, frequencies[kind] if kind else "off", data)
        for announcement in announced.get(data["match"], ()):
            if frequencies[announcement.kind] != "off":
                data |= {"view": announcement.view} if announcement.view else {}
                frequency = frequencies[announcement.kind]
                return PlannedEvent(event.id, announcement.kind, frequency, data)
        return PlannedEvent(event.id, event.kind, "off", data)

    async def _deliver(self, tx: Tx, recipient: Recipient, planned: Sequence[PlannedEvent]) -> None:
        by_frequency: dict[Frequency, list[int]] = {}
        for event in planned:
            by_frequency.setdefault(event.frequency, []).append(event.id)
        # In one order: planners wait for each other's digests.
        for frequency, ids in sorted(by_frequency.items()):
            if frequency == "instant":
                await self._send_soon(tx, recipient, ids)
            elif frequency != "off":
                await self._add_to_digest(tx, recipient, frequency, ids)

    async def _send_soon(self, tx: Tx, recipient: Recipient, ids: Sequence[int]) -> None:
        schedule = self.schedules[recipient.person_id]
        due_at = schedule.end_of_quiet_hours(self.at) or self.at
        groups = [[id] for id in ids] if len(ids) <= MAX_SEPARATE else [ids]
        for group in groups:
            key = f"event {group[0]}" if len(group) == 1 else f"events {group[0]} to {group[-1]}"
            await deliveries.add_instant(
                tx, PlannedDelivery(recipient.channel_id, key, "instant", due_at, group)
            )

    async def _add_to_digest(
        self, tx: Tx, recipient: Recipient, frequency: Frequency, ids: Sequence[int]
    ) -> None:
        if frequency not in ("daily", "weekly"):
            return
        schedule, after = self.schedules[recipient.person_id], self.at
        for _ in range(MAX_DIGESTS_TRIED):
            key, due_at = schedule.next_digest(frequency, after)
            new = PlannedDelivery(recipient.channel_id, key, frequency, due_at, ids)
            if await deliveries.add_to_digest(tx, new):
                return
            # That digest is on its way already, or the channel was removed a moment ago.
            after = due_at


# Sending: deliveries become messages.


def queue_feeds() -> tuple[QueueFeed, ...]:
    return (
        QueueFeed(KIND, "mail", partial(_claim_due, "mail"), _requeue_refused),
        QueueFeed(KIND, "post", partial(_claim_due, "post"), _requeue_refused),
    )


async def _claim_due(transport: Transport, tx: Tx, limit: int) -> list[NewItem]:
    ids = await deliveries.claim_due(tx, transport, limit)
    return [NewItem(KIND, transport, f"delivery {id}", data={"delivery": id}) for id in ids]


async def _requeue_refused(tx: Tx, refused: Sequence[RefusedItem]) -> None:
    await deliveries.requeue(tx, [item.new.data["delivery"] for item in refused])


@dataclass(frozen=True, slots=True)
class _Outgoing:
    delivery: OutgoingNotification
    message: Message
    config: ChannelConfig = field(repr=False)
    signing_key: bytes = field(repr=False)
    push_key: bytes | None = field(default=None, repr=False)


class NotificationSender:
    """Sends messages by mail and through the address guard."""

    def __init__(self, settings: Settings) -> None:
        self._mailer = Mailer(settings)
        self._webhooks = WebhookSender(settings)
        self._base_url = public_base_url(settings)
        self.missing_mail_setting = mail.missing_setting(settings)
        self.allows_apprise = settings.apprise

    async def send(self, outgoing: _Outgoing) -> str:
        """Returns the answer; raises ReplyLost if the message may have arrived."""
        if outgoing.delivery.channel_kind == "email":
            await self._mailer.send(self.compose_letter(outgoing))
            return "accepted by the mail server"
        if outgoing.delivery.channel_kind == "apprise":
            text = messages.render_text(outgoing.message, self._base_url)
            services = load_apprise()
            return await services.send(outgoing.config["url"], outgoing.message.subject, text)
        request = channel_requests.build_request(
            outgoing.delivery,
            outgoing.config,
            outgoing.message,
            self._base_url,
            outgoing.push_key,
        )
        return await self._webhooks.post(request.url, request.headers, request.body)

    def compose_letter(self, outgoing: _Outgoing) -> Letter:
        delivery, message = outgoing.delivery, outgoing.message
        token = unsubscribe.sign_link(outgoing.signing_key, delivery.channel_id)
        url = f"{self._base_url}/unsubscribe/{token}"
        settings_url = f"{self._base_url}{messages.SETTINGS_PATH}"
        footer = f"-- \nChange notifications: {settings_url}\nUnsubscribe: {url}\n"
        return Letter(
            delivery.name or "",
            outgoing.config["address"],
            message.subject,
            f"{messages.render_text(message, self._base_url)}\n\n{footer}",
            # The same for every attempt.
            f"notification.{delivery.id}.{delivery.created_at:%Y%m%d%H%M%S}@{self._mailer.domain}",
            messages.render_html(message, self._base_url, url),
            unsubscribe_url=url,
        )


async def send(tools: Tools, sender: NotificationSender, work: Work) -> Move:
    """Send one delivery, unless there is a reason not to.

    It is marked as being sent in a transaction of its own. If the worker dies before it records the
    result, the next attempt reports the delivery as unknown instead of sending it twice, except to
    channels that recognize a repetition.
    """
    async with tools.db.transaction() as tx:
        if not await lock_claim(tx, work):
            return Skip("another worker has taken over this delivery")
        outgoing = await _prepare(tx, sender, work)
        if not isinstance(outgoing, _Outgoing):
            return outgoing
        await deliveries.mark_sending(tx, outgoing.delivery.id)
    id = outgoing.delivery.id
    try:
        answer = await sender.send(outgoing)
    except ReceiverGone as error:
        return Skip(str(error), save=partial(_switch_off, outgoing.delivery, str(error)))
    except ReplyLost as error:
        return await _handle_lost_reply(tools, work, outgoing.delivery, error)
    except (MailLoginFailed, Unavailable) as error:
        # Every message would fail like this: block instead of losing them.
        kind = outgoing.delivery.channel_kind
        blocked = BlockedOn("mail" if kind == "email" else kind, str(error))
        await _record_error(tools, work, blocked)
        raise blocked from error
    except (OutsideError, Invalid) as error:
        await _record_error(tools, work, error)
        raise
    return Finish(answer, save=partial(_settle, id, "sent", answer))


async def _prepare(tx: Tx, sender: NotificationSender, work: Work) -> _Outgoing | Move:
    """What to send, or why nothing is sent now."""
    delivery = await deliveries.lock(tx, work.data["delivery"])
    if delivery is None or delivery.state not in ("queued", "sending"):
        return Skip("already ended, or its channel was removed")
    end = partial(_end, delivery.id)
    if delivery.may_have_arrived:
        return end("unknown", "the worker stopped while it was sending")
    if not delivery.enabled:
        return end("dropped", "the channel is switched off")
    if delivery.channel_kind == "email" and sender.missing_mail_setting:
        return end("dropped", sender.missing_mail_setting)
    if delivery.channel_kind == "apprise" and not (
        sender.allows_apprise and delivery.role == "admin"
    ):
        return end("dropped", "Apprise is not switched on for this person: set apprise")
    schedule = await preferences.read_schedule(tx, delivery.person_id)
    if delivery.frequency != "test" and (until := schedule.end_of_quiet_hours(delivery.at)):
        return WaitUntil(until, "held until the quiet hours end")
    message = await _compose(tx, delivery)
    if message is None:
        return end("dropped", "nothing is left to report")
    signing_key = await secrets.get_signing_key(tx)
    config = channels.decrypt_with(signing_key, delivery.channel_kind, delivery.encrypted)
    push_key = await get_push_key(tx) if delivery.channel_kind == "push" else None
    return _Outgoing(delivery, message, config, signing_key, push_key)


def _end(id: int, state: FinalState, reason: str) -> Move:
    return Skip(reason, save=partial(_settle, id, state, reason))


async def _compose(tx: Tx, delivery: OutgoingNotification) -> Message | None:
    """The message about what still matters; None if nothing does."""
    if delivery.frequency == "test":
        return messages.compose_message("test", [])
    linked = await events.find_by_delivery(tx, delivery.id)
    ids = [event.data["match"] for event in linked if "match" in event.data]
    summaries = await announcements.read_summaries(tx, delivery.person_id, ids) if ids else {}
    allowed = kinds_of_role(delivery.role)
    lines = [
        line
        for event in linked
        if event.kind in allowed and _still_matters(event, summaries)
        if (line := messages.describe_event(event.kind, event.data))
    ]
    return messages.compose_message(delivery.frequency, lines) if lines else None


def _still_matters(event: NotificationEvent, summaries: Mapping[int, MatchSummary]) -> bool:
    """A match that was opened, dismissed or closed meanwhile is no news, nor is an erased one."""
    if "match" not in event.data:
        return True
    match = summaries.get(event.data["match"])
    is_news = event.kind in ("high_match", "saved_search")
    return match is not None and (match.is_new or not is_news)


async def _handle_lost_reply(
    tools: Tools, work: Work, delivery: OutgoingNotification, error: ReplyLost
) -> Move:
    """Repeat only what its receiver recognizes as a repetition."""
    if delivery.channel_kind in channels.REPEATABLE:
        await _record_error(tools, work, error)
        raise error
    reason = f"{error}; it may have arrived, so it is not sent again"
    return Finish(reason, save=partial(_settle, delivery.id, "unknown", reason))


async def _settle(id: int, state: FinalState, detail: str | None, tx: Tx) -> None:
    await deliveries.record_result(tx, id, state, detail)


async def _switch_off(delivery: OutgoingNotification, reason: str, tx: Tx) -> None:
    await channels.set_enabled(tx, delivery.channel_id, False, reason)
    await deliveries.record_result(tx, delivery.id, "failed", f"{reason}; the channel is off")


async def _record_error(tools: Tools, work: Work, error: AppError) -> None:
    """Record the error with the delivery, as failed if the queue will not retry."""
    async with tools.db.transaction() as tx:
        if not await lock_claim(tx, work):
            # Another attempt owns the delivery now and records its own result.
            return
        if isinstance(outcome_of_error(work, error), Retry | Block):
            await deliveries.record_failed_attempt(tx, work.data["delivery"], str(error))
        else:
            await deliveries.record_result(tx, work.data["delivery"], "failed", str(error))
