"""Who asks, and what they may do.

A handler names the least that it needs, and gets whoever asks:

    @router.post("/jobs/{opening_id}/pause")
    async def pause(opening_id: int, request: Request, visitor: Recruiter, db: Db) -> Response:
        return await once(
            request, visitor, db,
            lambda tx: openings.pause(tx, opening_id, visitor.actor),
            shape=Job.of,
        )

What an applicant may do for themselves is asked with the applicant in hand:

    async def withdraw(body: Which, visitor: Anyone, db: Db) -> Result:
        async with db.transaction() as tx:
            application = await applications.get(tx, body.application_id)
            visitor.require("recruiter", applicant_id=application.applicant_id)
            …

`Public` in limits.py is `Anyone`, counted: for what strangers may call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from jobmill.errors import Forbidden, Unauthenticated
from jobmill.hiring import actor
from jobmill.hiring.actor import Actor
from jobmill.hiring.messages import personal_links as link_keys
from jobmill.hiring.messages.signed_links import InvalidLink, LinkSigner
from jobmill.people import keys, secrets, sessions
from jobmill.people.persons import Role
from jobmill.web.peer import Peers
from jobmill.web.view import Db, Door

SESSION = "jobmill_session"
LINK = "jobmill_link"
"""The names of the cookies: one of a person's session, one that keeps an applicant's link."""

RANKS: dict[Role | None, int] = {None: 0, "viewer": 1, "recruiter": 2, "admin": 3}


class Stranger(Unauthenticated):
    """Nothing was shown that says who they are: signing in helps."""


@dataclass(frozen=True, slots=True)
class Visitor:
    role: Role | None
    """None: no right to anything of the company's."""
    actor: Actor
    """Who they are in the log."""
    applicant_id: int | None = None
    """Whose link they hold."""
    local: bool = False
    """Whether they need no sign-in, since they are at this machine."""
    name: str | None = None
    """What to call them."""

    def may(self, role: Role, *, applicant_id: int | None = None) -> bool:
        """Whether they have this role or a higher one, or are this applicant."""
        own = applicant_id is not None and applicant_id == self.applicant_id
        return own or RANKS[self.role] >= RANKS[role]

    def require(self, role: Role, *, applicant_id: int | None = None) -> None:
        """The same, for those who have no other answer: 401 for strangers, 403 for the rest."""
        if self.may(role, applicant_id=applicant_id):
            return
        if self.role is None and self.applicant_id is None:
            raise Stranger("Sign in first, or send an API key.")
        raise Forbidden(f"Only {_article(role)} may do this.")


def _article(role: Role) -> str:
    return "an admin" if role == "admin" else f"a {role}"


async def signer(request: Request, db: Db) -> LinkSigner:
    """Signs and reads links; the secret is read once in a process."""
    state = request.app.state
    if state.signer is None:
        async with db.transaction() as tx:
            secret = await secrets.get_signing_key(tx)
        state.signer = LinkSigner(secret)
    return cast(LinkSigner, state.signer)


async def find(request: Request, db: Db) -> Visitor:
    """What was shown for this one request comes first, then what a browser sends by itself."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    match scheme.lower():
        case "bearer":
            return await _holder(request, db, shown.strip())
        case "link":
            return await by_link(request, db, shown.strip())
        case _ if link := request.query_params.get("key"):
            return await by_link(request, db, link)
        case _:
            return await _browser(request, db)


async def _holder(request: Request, db: Door, key: str) -> Visitor:
    async with db.transaction() as tx:
        found = await keys.find_holder(tx, key)
    if found is None:
        raise Unauthenticated("This API key is unknown, or was ended.")
    return Visitor(found.role, _company(request, f"key:{found.id}"), name=found.name)


async def by_link(request: Request, db: Door, link: str) -> Visitor:
    """The applicant whose personal link this is; Unauthenticated if it does not open."""
    try:
        id = await _opened(request, db, link)
    except InvalidLink as error:
        raise Unauthenticated(str(error)) from error
    return Visitor(None, actor.by_applicant(id, request_id(request)), id)


async def _opened(request: Request, db: Door, link: str) -> int:
    """Whose link this is, if it still opens."""
    personal = (await signer(request, db)).read_personal(link)
    async with db.transaction() as tx:
        opens = await link_keys.is_current(tx, personal)
    if not opens:
        raise InvalidLink("This link no longer opens. Ask for a new one.")
    return personal.applicant_id


async def _browser(request: Request, db: Door) -> Visitor:
    """A cookie that is no good any more is none: it must not keep anybody from signing in."""
    applicant_id = await _remembered(request, db)
    if session := await _session(request, db):
        by = _company(request, f"person:{session.person_id}")
        return Visitor(session.role, by, applicant_id, name=session.name)
    if peers(request).is_local(request):
        return Visitor("admin", _company(request, "local"), applicant_id, local=True, name="local")
    if applicant_id is not None:
        return Visitor(None, actor.by_applicant(applicant_id, request_id(request)), applicant_id)
    return Visitor(None, Actor("applicant", "public", request_id(request)))


async def _remembered(request: Request, db: Door) -> int | None:
    link = request.cookies.get(LINK)
    try:
        return await _opened(request, db, link) if link else None
    except InvalidLink:
        return None


async def _session(request: Request, db: Door) -> sessions.Session | None:
    id = request.cookies.get(SESSION)
    if not id:
        return None
    async with db.transaction() as tx:
        return await sessions.find(tx, id)


def peers(request: Request) -> Peers:
    return cast(Peers, request.app.state.peers)


def request_id(request: Request) -> str:
    """What the guard calls this request, in the log and in the answer."""
    return cast(str, request.state.request_id)


def _company(request: Request, name: str) -> Actor:
    return Actor("company", name, request_id(request))


Anyone = Annotated[Visitor, Depends(find)]


def at_least(role: Role) -> Callable[[Visitor, Request, Door], Awaitable[Visitor]]:
    """Whoever asks, if they have this role or a higher one; what they change is done in their name."""

    async def check(visitor: Anyone, request: Request, db: Db) -> Visitor:
        visitor.require(role)
        if request.method != "GET":
            db.by = visitor.actor.name
        return visitor

    return check


viewer, recruiter, admin = at_least("viewer"), at_least("recruiter"), at_least("admin")
Viewer = Annotated[Visitor, Depends(viewer)]
Recruiter = Annotated[Visitor, Depends(recruiter)]
Admin = Annotated[Visitor, Depends(admin)]
Links = Annotated[LinkSigner, Depends(signer)]
