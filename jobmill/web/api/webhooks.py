"""/api/webhooks: subscriptions of other servers to events, and their deliveries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.hiring.messages import webhooks
from jobmill.hiring.messages.notices import NoticeState
from jobmill.hiring.transitions import EventType
from jobmill.outside.webhook import check_url
from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterId, PageLimit, PageOfItems
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.parameters import DIGITS_ONLY, MAX_ID, PLAIN_TEXT, BodyId, OutputTime

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

WebhookPathId = Annotated[int, Path(alias="webhookId", ge=1, le=MAX_ID, examples=[1]), DIGITS_ONLY]
DeliveryPathId = Annotated[
    int, Path(alias="deliveryId", ge=1, le=MAX_ID, examples=[1]), DIGITS_ONLY
]


class NewWebhook(RequestBody):
    url: Annotated[
        str,
        Field(min_length=1, max_length=2_000, examples=["https://example.org/hook"]),
        PLAIN_TEXT,
    ]
    job_id: BodyId | None = None
    """Null: all openings."""
    events: Annotated[list[EventType], Field(max_length=50)] | None = None
    """Null: all events."""


class AddedWebhook(Schema):
    id: Annotated[int, Field(examples=[1])]
    url: Annotated[str, Field(examples=["https://example.org/hook"])]
    secret: str | None
    """Signs the deliveries; shown only once: null if the response is repeated for an Idempotency-Key."""


class WebhookItem(Schema):
    id: int
    url: str
    job_id: Annotated[int | None, Field(validation_alias="opening_id")]
    events: list[str] | None
    enabled: bool
    created_at: OutputTime


class WebhookChange(RequestBody):
    enabled: Annotated[StrictBool, Field(examples=[False])]


class DeliveryItem(Schema):
    id: int
    webhook_id: int
    job_id: Annotated[int, Field(validation_alias="opening_id")]
    seq: int
    event_type: Annotated[EventType, Field(validation_alias="event")]
    state: NoticeState
    attempts: int
    detail: str | None
    created_at: OutputTime
    ended_at: OutputTime | None


class DeliveryPage(PageOfItems):
    items: list[DeliveryItem]


class NewDelivery(Schema):
    id: Annotated[int, Field(examples=[8])]


@router.get("", response_model=list[WebhookItem])
async def list_webhooks(caller: AdminCaller) -> Response:
    """All webhooks, oldest first."""
    async with caller.db.transaction() as tx:
        return caller.respond(
            [WebhookItem.of(webhook) for webhook in await webhooks.list_webhooks(tx)]
        )


@router.post("", response_model=AddedWebhook, status_code=201, responses=problems(404))
async def add_webhook(body: NewWebhook, caller: AdminCaller) -> Response:
    """Subscribe a server to new events."""
    url = check_url(body.url, caller.site_settings.private_webhook_hosts)
    return await caller.run_once(
        lambda tx: webhooks.add(tx, url, opening_id=body.job_id, events=body.events),
        to_schema=AddedWebhook.of,
        status=201,
        secret="secret",
    )


@router.get("/{webhookId}", response_model=WebhookItem)
async def show_webhook(webhook_id: WebhookPathId, caller: AdminCaller) -> Response:
    """One webhook."""
    async with caller.db.transaction() as tx:
        return caller.respond(WebhookItem.of(await webhooks.get(tx, webhook_id)))


@router.patch("/{webhookId}", response_model=WebhookItem)
async def change_webhook(
    webhook_id: WebhookPathId, body: WebhookChange, caller: AdminCaller
) -> Response:
    """Disable or enable a webhook."""
    return await caller.run_once(
        lambda tx: webhooks.set_enabled(tx, webhook_id, body.enabled), to_schema=WebhookItem.of
    )


@router.delete("/{webhookId}", status_code=204)
async def remove_webhook(webhook_id: WebhookPathId, visitor: Admin, db: Db) -> None:
    """Delete a webhook and its deliveries."""
    async with db.transaction() as tx:
        await webhooks.remove(tx, webhook_id)


@router.get("/{webhookId}/deliveries", response_model=DeliveryPage)
async def list_deliveries(
    webhook_id: WebhookPathId,
    caller: AdminCaller,
    state: NoticeState | None = None,
    after: AfterId = 0,
    limit: PageLimit = 50,
) -> Response:
    """Deliveries of a webhook, newest first."""
    async with caller.db.transaction() as tx:
        page = await webhooks.list_deliveries(
            tx, webhook_id, state=state, before=after or None, limit=limit + 1
        )
    return caller.respond_page(DeliveryPage, page, limit)


@router.post("/deliveries/{deliveryId}/replay", response_model=NewDelivery, status_code=201)
async def replay_delivery(delivery_id: DeliveryPathId, caller: AdminCaller) -> Response:
    """Send a delivery again, as a new one."""

    async def work(tx: Tx) -> NewDelivery:
        return NewDelivery(id=await webhooks.redeliver(tx, delivery_id))

    return await caller.run_once(work, status=201)
