"""/unsubscribe/{token}: links in messages that work without a sign-in."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.notifications import channels, unsubscribe
from jobmill.notifications.channels import NotificationChannel
from jobmill.people import secrets
from jobmill.web.dependencies import Db, Render, View, no_store
from jobmill.web.rate_limits import Public
from jobmill.web.translations import say

router = APIRouter()


@router.get("/unsubscribe/{token}")
async def confirm(token: str, db: Db, view: View) -> HTMLResponse:
    """Only asks: mail programs follow links, too, and must not unsubscribe people."""
    async with db.transaction() as tx:
        channel = await _find_channel(tx, token)
    return _render(view, channel, token)


@router.post("/unsubscribe/{token}")
async def unsubscribe_address(token: str, visitor: Public, db: Db, view: View) -> HTMLResponse:
    """Also the one click of mail programs (RFC 8058): they need no form fields and follow no
    redirects."""
    async with db.transaction() as tx:
        channel = await _find_channel(tx, token)
        if channel and channel.enabled:
            channel = await channels.set_enabled(
                tx, channel.id, False, "You unsubscribed with the link in a message."
            )
    return _render(view, channel, token)


@router.post("/unsubscribe/{token}/undo")
async def subscribe_again(token: str, visitor: Public, db: Db, view: View) -> HTMLResponse:
    async with db.transaction() as tx:
        channel = await _find_channel(tx, token)
        if channel:
            channel = await channels.set_enabled(tx, channel.id, True)
    return _render(view, channel, token, say("You are subscribed again."))


def _render(
    view: Render, channel: NotificationChannel | None, token: str, notice: str | None = None
) -> HTMLResponse:
    return no_store(
        view("notifications/unsubscribe.html", channel=channel, token=token, notice=notice)
    )


async def _find_channel(tx: Tx, token: str) -> NotificationChannel | None:
    """The channel of the link; None if it was removed. Invalid if the link is not complete."""
    id = unsubscribe.read_link(await secrets.get_signing_key(tx), token)
    return await channels.find_by_id(tx, id)
