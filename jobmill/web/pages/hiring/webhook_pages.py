"""/hiring/company/webhooks: servers that receive the events of openings, and their deliveries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError, Conflict, Invalid, NotFound
from jobmill.hiring.messages import webhooks
from jobmill.hiring.messages.webhooks import CreatedWebhook
from jobmill.hiring.records import openings
from jobmill.outside.webhook import check_url
from jobmill.web.auth import Admin
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import Db, no_store
from jobmill.web.event_lines import event_labels
from jobmill.web.form import Fields, LongForm, read_long_form, read_optional_whole_number
from jobmill.web.form_keys import create_once, make_form_key
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/company/webhooks")

LIST = "/hiring/company/webhooks"
PAGE_SIZE = 50

Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
async def show(visitor: Admin, page: Page) -> HTMLResponse:
    return await _render_list(page, {})


@router.post("")
async def add(visitor: Admin, page: Page) -> Response:
    """Add a webhook and show its secret once; the same form again leads to the webhook, without the secret."""
    form = await read_long_form(page.request)
    created: list[CreatedWebhook] = []
    try:
        url = check_url(form.get("url", [""])[-1].strip(), page.site_settings.private_webhook_hosts)
        last = {name: values[-1] for name, values in form.items()}
        message = say("Choose an opening from the list.")
        opening_id = read_optional_whole_number(last, "opening", message)
        async with page.db.transaction() as tx:

            async def create() -> str:
                events = form.get("event", ())
                created.append(await webhooks.add(tx, url, opening_id=opening_id, events=events))
                return str(created[0].id)

            id = await create_once(tx, visitor, last.get("key", ""), sorted(form.items()), create)
    except (Invalid, NotFound) as error:
        return await _render_list(page, form, error)
    if not created:
        return RedirectResponse(f"{LIST}/{id}?added=true", 303)
    webhook, done_url = created[0], f"{LIST}/{id}"
    template = "hiring/webhook_secret.html"
    return no_store(page(template, secret=webhook.secret, url=webhook.url, done_url=done_url))


async def _render_list(
    page: PageRenderer, form: LongForm, error: AppError | None = None
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        rows = await webhooks.list_webhooks(tx)
        listed = await openings.list_openings(tx)
    return page(
        "hiring/webhooks.html",
        rows=rows,
        openings=listed,
        titles={opening.id: opening.title for opening in listed},
        labels=event_labels(),
        typed={name: form.get(name, [""])[-1] for name in ("url", "opening")},
        ticked=set(form.get("event", ())),
        key=form.get("key", [make_form_key()])[-1],
        error=error,
    )


@router.get("/{webhook_id}")
async def show_webhook(
    webhook_id: PathId, visitor: Admin, page: Page, before: Before = None, added: bool = False
) -> HTMLResponse:
    return await _render_webhook(page, webhook_id, before=before, added=added)


@router.get("/{webhook_id}/delete")
async def confirm_delete(webhook_id: PathId, visitor: Admin, page: Page) -> HTMLResponse:
    confirmation = Confirmation(
        f"{LIST}/{webhook_id}/delete",
        f"{LIST}/{webhook_id}",
        say("Delete this webhook?"),
        say("Delete webhook"),
        [say("Its server gets no more events, and the list of deliveries is deleted as well.")],
        danger=True,
    )
    return await _render_webhook(page, webhook_id, confirmation=confirmation)


@router.post("/{webhook_id}/delete")
async def delete(webhook_id: PathId, visitor: Admin, db: Db) -> Response:
    async with db.transaction() as tx:
        await webhooks.remove(tx, webhook_id)
    return RedirectResponse(LIST, 303)


@router.post("/{webhook_id}/state")
async def change_state(webhook_id: PathId, visitor: Admin, form: Fields, db: Db) -> Response:
    async with db.transaction() as tx:
        await webhooks.set_enabled(tx, webhook_id, form.get("enabled") == "yes")
    return RedirectResponse(f"{LIST}/{webhook_id}", 303)


@router.post("/{webhook_id}/deliveries/{delivery_id}/replay")
async def replay(
    webhook_id: PathId, delivery_id: PathId, visitor: Admin, form: Fields, page: Page
) -> Response:
    """Send a delivery again, as a new one; a second tap on the button sends nothing."""
    try:
        async with page.db.transaction() as tx:

            async def create() -> str:
                return str(await webhooks.redeliver(tx, delivery_id))

            await create_once(tx, visitor, form.get("key", ""), delivery_id, create)
    except Conflict as error:
        return await _render_webhook(page, webhook_id, error=error)
    return RedirectResponse(f"{LIST}/{webhook_id}", 303)


async def _render_webhook(
    page: PageRenderer,
    id: int,
    *,
    before: int | None = None,
    added: bool = False,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        webhook = await webhooks.get(tx, id)
        rows = await webhooks.list_deliveries(tx, id, before=before, limit=PAGE_SIZE + 1)
        titles = await openings.find_titles(
            tx, {row.opening_id for row in rows} | {webhook.opening_id or 0}
        )
    return page(
        "hiring/webhook.html",
        topics=["hiring"],
        webhook=webhook,
        titles=titles,
        labels=event_labels(),
        rows=rows[:PAGE_SIZE],
        more=rows[PAGE_SIZE - 1].id if len(rows) > PAGE_SIZE else None,
        key=make_form_key(),
        added=added,
        confirmation=confirmation,
        error=error,
    )
