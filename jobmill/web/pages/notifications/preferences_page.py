"""/account/notifications: what a person is told, when and where, and the log of deliveries."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, cast, get_args

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid, Unavailable
from jobmill.notifications import channels, deliveries, preferences, push_keys, web_push
from jobmill.notifications.channels import ChannelKind, NotificationChannel
from jobmill.notifications.kinds import FREQUENCIES, KINDS, Kind, kinds_of_role
from jobmill.notifications.preferences import DigestSchedule
from jobmill.people.persons import Role
from jobmill.web import notification_labels
from jobmill.web.auth import SignedIn
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db, no_store
from jobmill.web.form import Fields
from jobmill.web.notification_receiver import OfReceiver, Receiver, may_use_apprise
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.rate_limits import check_test_letter
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import get_site_settings
from jobmill.web.translations import say

HOME = "/account/notifications"
LOG_SIZE = 20

router = APIRouter(prefix=HOME)

Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
async def show(receiver: OfReceiver, page: Page, before: Before = None) -> HTMLResponse:
    return await _render(page, receiver, before=before)


@router.post("")
async def save(receiver: OfReceiver, form: Fields, page: Page) -> Response:
    """Save how often each kind comes, the hour of digests and the quiet hours."""
    kinds = kinds_of_role(receiver.role)
    try:
        schedule = _read_schedule(form)
        async with page.db.transaction() as tx:
            await preferences.save_schedule(tx, receiver.owner, schedule)
            await preferences.save_frequencies(
                tx, receiver.owner, {kind: form[kind] for kind in kinds if kind in form}
            )
    except Invalid as error:
        return await _render(page, receiver, error=error, typed=form)
    return RedirectResponse(f"{HOME}?did=saved", 303)


@router.post("/channels")
async def add_channel(receiver: OfReceiver, form: Fields, page: Page) -> Response:
    kind = form.get("kind", "")
    try:
        if kind not in get_args(ChannelKind) or (
            kind == "apprise" and not may_use_apprise(page.request, receiver)
        ):
            raise Invalid(say("Choose a channel type."))
        private = page.site_settings.private_webhook_hosts
        new = channels.read_form(cast(ChannelKind, kind), form, private, address=receiver.email)
        async with page.db.transaction() as tx:
            channel = await channels.add(tx, receiver.owner, new)
    except (Invalid, Conflict, Unavailable) as error:
        return await _render(page, receiver, error=error, typed=form)
    if kind == "webhook":
        template, secret = "notifications/webhook_secret.html", new.config["secret"]
        return no_store(page(template, secret=secret, url=channel.name, done_url=HOME))
    return RedirectResponse(f"{HOME}?did=added#channels", 303)


@router.post("/channels/{channel_id}/test")
async def test_channel(
    channel_id: PathId, request: Request, receiver: OfReceiver, visitor: SignedIn, db: Db
) -> Response:
    check_test_letter(request, visitor)
    async with db.transaction() as tx:
        channel = await channels.get(tx, receiver.owner, channel_id)
        await deliveries.add_test(tx, channel.id)
    return RedirectResponse(f"{HOME}?did=tested#log", 303)


@router.post("/channels/{channel_id}/state")
async def change_state(channel_id: PathId, receiver: OfReceiver, form: Fields, db: Db) -> Response:
    async with db.transaction() as tx:
        channel = await channels.get(tx, receiver.owner, channel_id)
        await channels.set_enabled(tx, channel.id, form.get("enabled") == "yes")
    return RedirectResponse(f"{HOME}#channels", 303)


@router.get("/channels/{channel_id}/remove")
async def confirm_removal(channel_id: PathId, receiver: OfReceiver, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        channel = await channels.get(tx, receiver.owner, channel_id)
    confirmation = Confirmation(
        f"{HOME}/channels/{channel_id}/remove",
        HOME,
        say("Remove %(name)s?") % {"name": channel.name},
        say("Remove channel"),
        [
            say(
                "Messages still waiting for this channel are not sent, and its deliveries are deleted."
            )
        ],
        danger=True,
    )
    return await _render(page, receiver, confirmation=confirmation)


@router.post("/channels/{channel_id}/remove")
async def remove_channel(channel_id: PathId, receiver: OfReceiver, db: Db) -> Response:
    async with db.transaction() as tx:
        await channels.remove(tx, receiver.owner, channel_id)
    return RedirectResponse(f"{HOME}?did=removed#channels", 303)


def _read_schedule(form: Mapping[str, str]) -> DigestSchedule:
    weekly_on = form.get("weekly_on", "1")
    if weekly_on not in map(str, notification_labels.weekday_labels()):
        raise Invalid(say("Choose a day of the week."))
    return DigestSchedule(
        form.get("time_zone", "").strip(),
        _read_time(form, "daily_at") or dt.time(8),
        int(weekly_on),
        _read_time(form, "quiet_from"),
        _read_time(form, "quiet_until"),
    )


def _read_time(form: Mapping[str, str], name: str) -> dt.time | None:
    typed = form.get(name, "").strip()
    if not typed:
        return None
    try:
        return dt.datetime.strptime(typed[:5], "%H:%M").time()  # noqa: DTZ007 - a time of day has no zone
    except ValueError as error:
        raise Invalid(say("Enter times as hours and minutes, such as 08:30.")) from error


async def _render(
    page: PageRenderer,
    receiver: Receiver,
    *,
    before: int | None = None,
    typed: Mapping[str, str] | None = None,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        own_channels = await channels.find_by_owner(tx, receiver.owner)
        feed_urls = await _read_feed_urls(tx, page.request, own_channels)
        schedule = await preferences.read_schedule(tx, receiver.owner)
        push_key = web_push.public_key(await push_keys.get_push_key(tx))
        is_new = not await preferences.has_schedule(tx, receiver.owner)
        frequencies = (await preferences.read_frequencies(tx, [receiver.owner]))[receiver.owner]
        log = await deliveries.find_log(tx, receiver.owner, before=before, limit=LOG_SIZE + 1)
    labels = notification_labels.kind_labels()
    return page(
        "notifications/page.html",
        receiver=receiver,
        audiences=[
            (name, [(kind, *labels[kind], frequencies[kind]) for kind in of_audience])
            for name, of_audience in group_kinds(receiver.role)
        ],
        frequencies={name: notification_labels.frequency_labels()[name] for name in FREQUENCIES},
        schedule=schedule,
        is_new=is_new,
        weekdays=notification_labels.weekday_labels(),
        channels=own_channels,
        channel_names=notification_labels.channel_labels(),
        feed_urls=feed_urls,
        push_key=push_key,
        may_use_apprise=may_use_apprise(page.request, receiver),
        sends_mail=page.site_settings.sends_mail,
        log=log[:LOG_SIZE],
        more=log[LOG_SIZE - 1].id if len(log) > LOG_SIZE else None,
        states=notification_labels.state_labels(),
        typed=defaultdict(str, typed or {}),
        confirmation=confirmation,
        notice=_notices().get(page.did),
        error=error,
    )


async def _read_feed_urls(
    tx: Tx, request: Request, own_channels: list[NotificationChannel]
) -> dict[int, str]:
    link = get_site_settings(request).link
    return {
        channel.id: link(
            request, f"/feeds/{(await channels.decrypt_config(tx, channel))['token']}.atom"
        )
        for channel in own_channels
        if channel.kind == "feed"
    }


def group_kinds(role: Role) -> list[tuple[str, list[Kind]]]:
    """The kinds of a role, by the workspace that they are about."""
    kinds = kinds_of_role(role)
    groups: list[tuple[str, list[Kind]]] = [
        (name, [kind for kind in kinds if KINDS[kind].audience == audience])
        for audience, name in notification_labels.audience_labels().items()
    ]
    return [(name, of_audience) for name, of_audience in groups if of_audience]


def _notices() -> Mapping[str, str]:
    return {
        "saved": say("Notifications saved."),
        "added": say("Channel added. Send a test message to check it."),
        "tested": say("A test message is on its way. Reload this page to see the result."),
        "removed": say("Channel removed."),
    }
