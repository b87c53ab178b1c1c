"""/api/webhooks: servers of others that are told of events."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BeforeValidator, Field, StrictBool

from jobmill.db import Tx
from jobmill.hiring.messages import webhooks
from jobmill.hiring.messages.notices import NoticeState
from jobmill.hiring.transitions import EventType
from jobmill.outside.webhook import check_url
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import Cursor, PageLimit, PageOfItems, json_response
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.idempotency import run_once
from jobmill.web.parameters import MAX_ID, PLAIN_TEXT, BodyId, OutputTime, require_digits
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

HookId = Annotated[
    int, Path(alias="webhookId", ge=1, le=MAX_ID, examples=[1]), BeforeValidator(require_digits)
]
DeliveryId = Annotated[
    int, Path(alias="deliveryId", ge=1, le=MAX_ID, examples=[1]), BeforeValidator(require_digits)
]


class NewWebhook(RequestBody):
    url: Annotated[
        str,
        Field(min_length=1, max_length=2_000, examples=["https://example.org/hook"]),
        PLAIN_TEXT,
    ]
    job_id: BodyId | None = None
    """Null: of all openings."""
    events: Annotated[list[EventType], Field(max_length=50)] | None = None
    """Null: all of them."""


class AddedWebhook(Schema):
    id: Annotated[int, Field(examples=[1])]
    url: Annotated[str, Field(examples=["https://example.org/hook"])]
    secret: str
    """What deliveries are signed with; shown this once."""


class Webhook(Schema):
    id: int
    url: str
    job_id: Annotated[int | None, Field(validation_alias="opening_id")]
    events: list[str] | None
    enabled: bool
    created_at: OutputTime


class WebhookChange(RequestBody):
    enabled: Annotated[StrictBool, Field(examples=[False])]


class Delivery(Schema):
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


class Deliveries(PageOfItems):
    items: list[Delivery]


class NewDelivery(Schema):
    id: Annotated[int, Field(examples=[8])]


@router.get("", response_model=list[Webhook])
async def list_webhooks(request: Request, visitor: Admin, db: Db) -> Response:
    """All of them, oldest first."""
    async with db.transaction() as tx:
        return json_response(request, [Webhook.of(one) for one in await webhooks.list_webhooks(tx)])


@router.post("", response_model=AddedWebhook, status_code=201, responses=problems(404))
async def add_webhook(
    body: NewWebhook, request: Request, visitor: Admin, db: Db, site_settings: CurrentSiteSettings
) -> Response:
    """Tell a server of what happens from now on."""
    url = check_url(body.url, site_settings.private_webhook_hosts)
    return await run_once(
        request,
        visitor,
        db,
        lambda tx: webhooks.add(tx, url, opening_id=body.job_id, events=body.events),
        shape=AddedWebhook.of,
        status=201,
    )


@router.get("/{webhookId}", response_model=Webhook, responses=problems(404))
async def show_webhook(webhook_id: HookId, request: Request, visitor: Admin, db: Db) -> Response:
    """One of them."""
    async with db.transaction() as tx:
        return json_response(request, Webhook.of(await webhooks.get(tx, webhook_id)))


@router.patch("/{webhookId}", response_model=Webhook, responses=problems(404))
async def change_webhook(
    webhook_id: HookId, body: WebhookChange, request: Request, visitor: Admin, db: Db
) -> Response:
    """Tell it no more, or again from now on."""
    return await run_once(
        request,
        visitor,
        db,
        lambda tx: webhooks.set_enabled(tx, webhook_id, body.enabled),
        shape=Webhook.of,
    )


@router.delete("/{webhookId}", status_code=204, responses=problems(404))
async def remove_webhook(webhook_id: HookId, visitor: Admin, db: Db) -> None:
    """Forget it, with all its deliveries."""
    async with db.transaction() as tx:
        await webhooks.remove(tx, webhook_id)


@router.get("/{webhookId}/deliveries", response_model=Deliveries, responses=problems(404))
async def list_deliveries(
    webhook_id: HookId,
    request: Request,
    visitor: Admin,
    db: Db,
    state: NoticeState | None = None,
    after: Cursor = 0,
    limit: PageLimit = 50,
) -> Response:
    """What it was told, the latest first."""
    async with db.transaction() as tx:
        found = await webhooks.list_deliveries(
            tx, webhook_id, state=state, before=after or None, limit=limit + 1
        )
    next = found[limit - 1].id if len(found) > limit else None
    return json_response(
        request, Deliveries(items=[Delivery.of(one) for one in found[:limit]], next=next)
    )


@router.post(
    "/deliveries/{deliveryId}/replay",
    response_model=NewDelivery,
    status_code=201,
    responses=problems(404),
)
async def replay_delivery(
    delivery_id: DeliveryId, request: Request, visitor: Admin, db: Db
) -> Response:
    """Make a delivery once more, as a new one."""

    async def work(tx: Tx) -> NewDelivery:
        return NewDelivery(id=await webhooks.redeliver(tx, delivery_id))

    return await run_once(request, visitor, db, work, shape=NewDelivery.of, status=201)
