"""Who calls an operation of the API: a handler declares the role, and receives the caller.

@router.post("/jobs/{jobId}/pause", response_model=JobItem)
async def pause(job_id: JobPathId, caller: RecruiterCaller) -> Response:
    return await caller.run_once(
        lambda tx: openings.pause(tx, job_id, caller.actor), to_schema=JobItem.of
    )
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Request, Response
from pydantic import BaseModel

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.hiring.actor import Actor
from jobmill.hiring.records import idempotent_responses
from jobmill.hiring.records.idempotent_responses import NewResponse
from jobmill.people.persons import Owner
from jobmill.web import auth, idempotency
from jobmill.web.api.pagination import PageOfItems, json_response
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.rate_limits import check_public
from jobmill.web.site_settings import SiteSettings, get_site_settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiCaller:
    request: Request
    visitor: Visitor
    db: RequestDatabase

    @property
    def actor(self) -> Actor:
        return self.visitor.actor

    @property
    def owner(self) -> Owner:
        """The owner of the job search that they see and change."""
        return self.visitor.owner

    @property
    def site_settings(self) -> SiteSettings:
        return get_site_settings(self.request)

    async def run_once(
        self,
        work: Callable[[Tx], Awaitable[T]],
        *,
        to_schema: Callable[[T], BaseModel | AppError] | None = None,
        status: int = 200,
        secret: str = "",
        time_limit: float | None = None,
    ) -> Response:
        """Do the work in one transaction and respond with its schema; with an Idempotency-Key, once.

        `to_schema`: makes the schema of what the work returns; without it, the work returns a schema.

        Work that raises is rolled back and runs again for the next request. If the response is an error
        but the work must be committed, `to_schema` returns the error instead of raising it.
        `secret`: a field that is not stored, so that repeated responses have null in its place.
        """
        keyed = await idempotency.read_key(self.request, self.visitor)
        async with self.db.transaction(time_limit) as tx:
            if keyed and (stored := await idempotent_responses.claim_key(tx, keyed)):
                return idempotency.replay_response(stored)
            result = await work(tx)
            schema = to_schema(result) if to_schema else cast(BaseModel, result)
            response = idempotency.to_response(schema, status)
            if keyed:
                shown = idempotency.to_response(idempotency.without(schema, secret), status)
                new = NewResponse(response.status_code, bytes(shown.body).decode())
                await idempotent_responses.store_responses(tx, {keyed.key: new})
        return response

    def respond_page(
        self, schema: type[PageOfItems], rows: Sequence[object], limit: int, cursor: str = "id"
    ) -> Response:
        """A page of `limit` rows, if `rows` has one more than that when there is a next page; it starts
        behind the `cursor` of the last row."""
        next = getattr(rows[limit - 1], cursor) if len(rows) > limit else None
        return self.respond(schema.of(items=rows[:limit], next=next))

    def respond(
        self,
        schema: BaseModel | Sequence[BaseModel],
        next: str | int | None = None,
        *,
        status: int = 200,
        version: int | None = None,
    ) -> Response:
        """As `pagination.json_response`."""
        return json_response(self.request, schema, next, status=status, version=version)


def _identify_with(check: Callable[..., Awaitable[Visitor]]) -> Callable[..., Awaitable[ApiCaller]]:
    """A dependency that checks the visitor and makes a caller of them."""

    # Not `def`: FastAPI would run it in a thread.
    async def identify(request: Request, db: Db, visitor: Visitor = Depends(check)) -> ApiCaller:  # noqa: B008
        return ApiCaller(request, visitor, db)

    return identify


AnyCaller = Annotated[ApiCaller, Depends(_identify_with(auth.identify))]
PublicCaller = Annotated[ApiCaller, Depends(_identify_with(check_public))]
SignedInCaller = Annotated[ApiCaller, Depends(_identify_with(auth.signed_in))]
SeekerCaller = Annotated[ApiCaller, Depends(_identify_with(auth.seeker))]
ViewerCaller = Annotated[ApiCaller, Depends(_identify_with(auth.viewer))]
RecruiterCaller = Annotated[ApiCaller, Depends(_identify_with(auth.recruiter))]
AdminCaller = Annotated[ApiCaller, Depends(_identify_with(auth.admin))]
SearchAdminCaller = Annotated[ApiCaller, Depends(_identify_with(auth.search_admin))]
