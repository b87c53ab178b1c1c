"""/api/notifications: what a person is told, when and where. Only for sessions and the local user: an API
key has no account to notify."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.notifications import channels, deliveries, preferences
from jobmill.notifications.channels import ChannelKind
from jobmill.notifications.kinds import Frequency, Kind, kinds_of_role
from jobmill.notifications.preferences import DigestSchedule
from jobmill.web.api.callers import SignedInCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterId, PageOfItems, RowLimit
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.dependencies import Db
from jobmill.web.notification_receiver import OfReceiver, Receiver
from jobmill.web.parameters import PLAIN_TEXT, OutputTime, PathId, WholeNumber
from jobmill.web.rate_limits import check_test_letter

router = APIRouter(prefix="/notifications", tags=["notifications"])

TimeOfDay = Annotated[
    str, Field(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$", examples=["08:00"]), PLAIN_TEXT
]
ChannelText = Annotated[str, Field(max_length=channels.MAX_LENGTH), PLAIN_TEXT]


class KindFrequency(Schema):
    kind: Annotated[Kind, Field(examples=["high_match"])]
    frequency: Annotated[Frequency, Field(examples=["daily"])]


class NotificationSettings(Schema):
    time_zone: Annotated[str, Field(examples=["America/New_York"])]
    daily_at: Annotated[str, Field(examples=["08:00"])]
    weekly_on: Annotated[int, Field(examples=[1])]
    """The day of weekly digests; 1 is Monday."""
    quiet_from: str | None
    quiet_until: str | None
    kinds: list[KindFrequency]


class NotificationSettingsBody(RequestBody):
    time_zone: Annotated[str, Field(max_length=100, examples=["America/New_York"]), PLAIN_TEXT]
    daily_at: TimeOfDay
    weekly_on: Annotated[WholeNumber, Field(ge=1, le=7, examples=[1])]
    quiet_from: TimeOfDay | None = None
    quiet_until: TimeOfDay | None = None
    kinds: Annotated[list[KindFrequency], Field(max_length=50)]
    """Kinds that are not named keep their frequency."""


class ChannelRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    kind: Annotated[ChannelKind, Field(examples=["ntfy"])]
    name: Annotated[str, Field(examples=["ntfy.sh …jobs"])]
    enabled: bool
    problem: str | None
    """Why it was switched off."""
    created_at: OutputTime
    secret: str | None = None
    """Of a new webhook, which signs its messages; shown only once."""


class ChannelRecords(Schema):
    items: list[ChannelRecord]


class NewChannelBody(RequestBody):
    kind: Annotated[
        Literal["email", "webhook", "ntfy", "telegram", "slack", "discord", "feed"],
        Field(examples=["ntfy"]),
    ]
    url: Annotated[ChannelText, Field(examples=["https://ntfy.sh/my-topic"])] = ""
    """Of a webhook, an ntfy topic, Slack or Discord."""
    token: ChannelText = ""
    """Of a Telegram bot or an ntfy server."""
    chat: ChannelText = ""
    """The Telegram chat."""
    address: ChannelText = ""
    """The email address of the local user; people with an account use that of their account."""


class ChannelStateBody(RequestBody):
    enabled: Annotated[StrictBool, Field(examples=[False])]


class DeliveryRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    channel: str
    channel_kind: ChannelKind
    frequency: str
    state: str
    """`unknown`: it may have arrived, and is not sent again."""
    attempts: int
    detail: str | None
    due_at: OutputTime
    ended_at: OutputTime | None
    events: int


class DeliveryRecords(PageOfItems):
    items: list[DeliveryRecord]


@router.get("/settings", response_model=NotificationSettings, responses=problems(409))
async def show_notification_settings(caller: SignedInCaller, receiver: OfReceiver) -> Response:
    """How often each kind of notification comes, and when digests do."""
    async with caller.db.transaction() as tx:
        return caller.respond(await _read_settings(tx, receiver))


@router.put("/settings", response_model=NotificationSettings)
async def save_notification_settings(
    body: NotificationSettingsBody, caller: SignedInCaller, receiver: OfReceiver
) -> Response:
    """Change them. Only kinds of the person's role can be chosen."""
    known = kinds_of_role(receiver.role)
    wanted: dict[Kind, str] = {item.kind: item.frequency for item in body.kinds}
    if unknown := [kind for kind in wanted if kind not in known]:
        raise Invalid(f"You cannot receive {', '.join(unknown)}. Choose from {', '.join(known)}.")

    async def work(tx: Tx) -> NotificationSettings:
        await preferences.save_schedule(tx, receiver.owner, _read_schedule(body))
        await preferences.save_frequencies(tx, receiver.owner, wanted)
        return await _read_settings(tx, receiver)

    return await caller.run_once(work)


def _read_schedule(body: NotificationSettingsBody) -> DigestSchedule:
    return DigestSchedule(
        body.time_zone,
        dt.time.fromisoformat(body.daily_at),
        body.weekly_on,
        dt.time.fromisoformat(body.quiet_from) if body.quiet_from else None,
        dt.time.fromisoformat(body.quiet_until) if body.quiet_until else None,
    )


async def _read_settings(tx: Tx, receiver: Receiver) -> NotificationSettings:
    schedule = await preferences.read_schedule(tx, receiver.owner)
    frequencies = (await preferences.read_frequencies(tx, [receiver.owner]))[receiver.owner]
    return NotificationSettings(
        time_zone=schedule.time_zone,
        daily_at=f"{schedule.daily_at:%H:%M}",
        weekly_on=schedule.weekly_on,
        quiet_from=f"{schedule.quiet_from:%H:%M}" if schedule.quiet_from else None,
        quiet_until=f"{schedule.quiet_until:%H:%M}" if schedule.quiet_until else None,
        kinds=[
            KindFrequency(kind=kind, frequency=frequencies[kind])
            for kind in kinds_of_role(receiver.role)
        ],
    )


@router.get("/channels", response_model=ChannelRecords, responses=problems(409))
async def list_notification_channels(caller: SignedInCaller, receiver: OfReceiver) -> Response:
    """Where the person receives notifications."""
    async with caller.db.transaction() as tx:
        rows = await channels.find_by_owner(tx, receiver.owner)
    return caller.respond(ChannelRecords.of(items=rows))


@router.post("/channels", response_model=ChannelRecord, status_code=201)
async def add_notification_channel(
    body: NewChannelBody, caller: SignedInCaller, receiver: OfReceiver
) -> Response:
    """Add a channel. Adding the same one again switches it on."""
    private = caller.site_settings.private_webhook_hosts
    typed = body.model_dump(exclude={"kind"})
    new = channels.read_form(body.kind, typed, private, address=receiver.email)

    async def work(tx: Tx) -> ChannelRecord:
        channel = await channels.add(tx, receiver.owner, new)
        secret = new.config["secret"] if body.kind == "webhook" else None
        return ChannelRecord.of(channel, secret=secret)

    return await caller.run_once(work, status=201, secret="secret")


@router.patch("/channels/{channel_id}", response_model=ChannelRecord)
async def change_notification_channel(
    channel_id: PathId, body: ChannelStateBody, caller: SignedInCaller, receiver: OfReceiver
) -> Response:
    """Switch a channel on or off."""

    async def work(tx: Tx) -> ChannelRecord:
        channel = await channels.get(tx, receiver.owner, channel_id)
        return ChannelRecord.of(await channels.set_enabled(tx, channel.id, body.enabled) or channel)

    return await caller.run_once(work)


@router.post("/channels/{channel_id}/test", status_code=204)
async def test_notification_channel(
    channel_id: PathId, caller: SignedInCaller, receiver: OfReceiver
) -> None:
    """Send a test message."""
    check_test_letter(caller.request, caller.visitor)
    async with caller.db.transaction() as tx:
        channel = await channels.get(tx, receiver.owner, channel_id)
        await deliveries.add_test(tx, channel.id)


@router.delete("/channels/{channel_id}", status_code=204)
async def remove_notification_channel(channel_id: PathId, receiver: OfReceiver, db: Db) -> None:
    """Remove a channel with its part of the delivery log."""
    async with db.transaction() as tx:
        await channels.remove(tx, receiver.owner, channel_id)


@router.get("/deliveries", response_model=DeliveryRecords, responses=problems(409))
async def list_notification_deliveries(
    caller: SignedInCaller, receiver: OfReceiver, after: AfterId = 0, limit: RowLimit = 50
) -> Response:
    """What was sent, the newest first."""
    async with caller.db.transaction() as tx:
        rows = await deliveries.find_log(tx, receiver.owner, before=after or None, limit=limit + 1)
    return caller.respond_page(DeliveryRecords, rows, limit)
