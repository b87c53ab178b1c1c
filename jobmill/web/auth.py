"""Identify the visitor of a request, and check what they may do.

Each router belongs to a workspace (site.py), which visitors without a right to it cannot open. A
handler declares what else it needs and receives the visitor:

    @router.post("/jobs/{opening_id}/pause")
    async def pause(opening_id: int, request: Request, visitor: Recruiter, db: Db) -> Response:
        ...

What applicants may do for themselves is checked with the applicant at hand:

    async def withdraw(body: Which, visitor: Anyone, db: Db) -> Result:
        async with db.transaction() as tx:
            application = await applications.get(tx, body.application_id)
            visitor.require("recruiter", applicant_id=application.applicant_id)
            ...

`Public` in rate_limits.py is `Anyone` with a rate limit, for routes without sign-in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from jobmill.db import Tx
from jobmill.errors import Forbidden, Unauthenticated
from jobmill.hiring import actor
from jobmill.hiring.actor import Actor
from jobmill.hiring.messages import personal_links as link_keys
from jobmill.hiring.messages.signed_links import InvalidLink, LinkSigner, PersonalLinkToken
from jobmill.people import keys, secrets, sessions
from jobmill.people.persons import Owner, Role
from jobmill.web import access_rights
from jobmill.web.access_rights import (
    ALL_RIGHTS,
    NO_RIGHTS,
    ROLE_RIGHTS,
    Access,
    Rights,
    Workspace,
    grant_rights,
    include_role,
)
from jobmill.web.client_address import ClientResolver
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.local_access import LocalAccess, cookie_name
from jobmill.web.middleware import SAFE_METHODS
from jobmill.web.site_settings import get_site_settings

SESSION_COOKIE = "jobmill_session"
LINK_COOKIE = "jobmill_link"
"""Remembers the personal link of an applicant."""


class NotSignedIn(Unauthenticated):
    """The request has no credentials: browsers are sent to the sign-in page."""


class PasswordNeeded(Forbidden):
    """The person must enter their password again; a page asks for it and repeats the form."""

    code = "PASSWORD_NEEDED"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.form: Mapping[str, str] = {}
        self.is_wrong = False


@dataclass(frozen=True, slots=True)
class Visitor:
    role: Role | None
    """None: an anonymous visitor or an applicant."""
    rights: Rights
    actor: Actor
    """As recorded in the audit log."""
    applicant_id: int | None = None
    """The applicant of the personal link that they opened."""
    link_issuer: str | None = None
    """The company member that issued that link; None for a link that the applicant was sent."""
    person_id: int | None = None
    """The signed-in person or the owner of the API key; None: the local user, or a key without owner."""
    local: bool = False
    """Whether they run this server on their machine: they need no account."""
    name: str | None = None
    is_confirmed: bool = True
    """Whether they entered their password a short time ago; also true without a password."""

    @property
    def is_company(self) -> bool:
        """Whether they take part in hiring; others apply like the public."""
        return self.may_open("hiring")

    @property
    def owner(self) -> Owner:
        """The owner of the job search that they see and change."""
        self.require_workspace("search", "read")
        return self.person_id

    def may_open(self, workspace: Workspace) -> bool:
        return access_rights.may(self.rights, workspace)

    def may_change(self, workspace: Workspace) -> bool:
        return access_rights.may(self.rights, workspace, "change")

    def require_workspace(self, workspace: Workspace, access: Access) -> None:
        """NotSignedIn for anonymous visitors. For others a job search that is not theirs does not
        exist (404); in the other workspaces they learn that they lack the right (403)."""
        if access_rights.may(self.rights, workspace, access):
            return
        self.require_signed_in()
        if workspace == "search" and not self.may_open("search"):
            raise HTTPException(HTTPStatus.NOT_FOUND)
        role = access_rights.find_least_role(workspace, access)
        raise Forbidden(f"Only {_article(role)} may do this.")

    def require_signed_in(self) -> None:
        """NotSignedIn for anonymous visitors; applicants with a link are not signed in either, and are
        refused."""
        if self.role is None and self.applicant_id is None:
            raise NotSignedIn("Sign in first, or send an API key.")
        if self.role is None:
            raise Forbidden("Only people with an account may do this.")

    def may(self, role: Role, *, applicant_id: int | None = None) -> bool:
        """Whether they may do everything that this role may, or are this applicant."""
        is_applicant = applicant_id is not None and applicant_id == self.applicant_id
        return is_applicant or include_role(self.rights, role)

    def require_own_data(self, applicant_id: int) -> None:
        """Only admins and the applicant may export or erase data, not holders of issued links."""
        self.require("admin", applicant_id=applicant_id)
        if self.link_issuer and not self.may("admin"):
            raise Forbidden(
                "A link that the company issued cannot export or erase data. Use the link in one of "
                "your emails."
            )

    def require_confirmed(self) -> None:
        """PasswordNeeded if a signed-in person entered their password too long ago."""
        if not self.is_confirmed:
            raise PasswordNeeded(
                "Enter your password again to do this: send it to POST /api/session/confirm."
            )

    def require(self, role: Role, *, applicant_id: int | None = None) -> None:
        """NotSignedIn for anonymous visitors, Forbidden for others without the role."""
        if self.may(role, applicant_id=applicant_id):
            return
        if self.role is None and self.applicant_id is None:
            raise NotSignedIn("Sign in first, or send an API key.")
        raise Forbidden(f"Only {_article(role)} may do this.")


def _article(role: Role) -> str:
    return "an admin" if role == "admin" else f"a {role}"


async def get_signer(request: Request, db: Db) -> LinkSigner:
    """Signs and reads personal links; the process reads its secret once."""
    state = request.app.state
    if state.signer is None:
        async with db.transaction() as tx:
            secret = await secrets.get_signing_key(tx)
        state.signer = LinkSigner(secret)
    return cast(LinkSigner, state.signer)


async def identify(request: Request, db: Db) -> Visitor:
    visitor = await _identify(request, db)
    request.state.is_personal = visitor.role is not None or visitor.applicant_id is not None
    # For error pages, which show the workspace of the visitor.
    request.state.visitor = visitor
    return visitor


async def _identify(request: Request, db: RequestDatabase) -> Visitor:
    """Explicit credentials of the request come first, then cookies."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    match scheme.lower():
        case "bearer":
            return await _identify_by_api_key(request, db, credentials.strip())
        case "link":
            return await identify_by_link(request, db, credentials.strip())
        case _ if link := request.query_params.get("key"):
            return await identify_by_link(request, db, link)
        case _:
            return await _identify_by_cookies(request, db)


async def _identify_by_api_key(request: Request, db: RequestDatabase, key: str) -> Visitor:
    async with db.transaction() as tx:
        api_key = await keys.find_holder(tx, key)
    if api_key is None:
        raise Unauthenticated("This API key is unknown, expired or revoked.")
    rights = grant_rights(api_key, request.url.path)
    _hold_during_changes(request, db, partial(keys.lock, id=api_key.id))
    return Visitor(
        access_rights.name_role(rights, api_key.owner_role),
        rights,
        _staff(request, f"key:{api_key.id}"),
        person_id=api_key.owner_id,
        name=api_key.name,
    )


def _hold_during_changes(
    request: Request, db: RequestDatabase, lock: Callable[[Tx], Awaitable[None]]
) -> None:
    """Let changes of this request commit only while its key or session is valid."""
    if request.method not in SAFE_METHODS:
        db.lock_credential = lock


async def identify_by_link(request: Request, db: RequestDatabase, link: str) -> Visitor:
    """The applicant with this personal link; Unauthenticated if the link is not valid."""
    try:
        personal = await _read_link(request, db, link)
    except InvalidLink as error:
        raise Unauthenticated(str(error)) from error
    return visitor_with_link(request, personal)


def visitor_with_link(request: Request, link: PersonalLinkToken) -> Visitor:
    by = actor.by_applicant(link.applicant_id, request_id(request), link.issuer)
    return Visitor(None, NO_RIGHTS, by, link.applicant_id, link.issuer)


async def _read_link(request: Request, db: RequestDatabase, link: str) -> PersonalLinkToken:
    personal = (await get_signer(request, db)).read_personal(link)
    async with db.transaction() as tx:
        is_valid = await link_keys.is_current(tx, personal)
    if not is_valid:
        raise InvalidLink("This link is no longer valid. Ask for a new one.")
    return personal


async def _identify_by_cookies(request: Request, db: RequestDatabase) -> Visitor:
    """Ignore invalid cookies: they must not keep the visitor from signing in."""
    link = await _remembered_link(request, db)
    holder = (link.applicant_id, link.issuer) if link else (None, None)
    if session := await _session(request, db):
        return Visitor(
            session.role,
            ROLE_RIGHTS[session.role],
            _person(request, session),
            *holder,
            person_id=session.person_id,
            name=session.name,
            is_confirmed=session.is_confirmed,
        )
    if _is_local_user(request):
        staff = _staff(request, "local")
        return Visitor("admin", ALL_RIGHTS, staff, *holder, local=True, name="local")
    if link:
        return visitor_with_link(request, link)
    return Visitor(None, NO_RIGHTS, Actor("applicant", "public", request_id(request)))


async def _remembered_link(request: Request, db: RequestDatabase) -> PersonalLinkToken | None:
    link = request.cookies.get(LINK_COOKIE)
    try:
        return await _read_link(request, db, link) if link else None
    except InvalidLink:
        return None


async def _session(request: Request, db: RequestDatabase) -> sessions.Session | None:
    key = request.cookies.get(SESSION_COOKIE)
    if not key:
        return None
    idle = get_site_settings(request).session_idle
    async with db.transaction() as tx:
        session = await sessions.find(tx, key, idle=idle, note_use=not _is_background(request))
    if session:
        _hold_during_changes(request, db, partial(sessions.lock, key=key))
    return session


def _is_background(request: Request) -> bool:
    """Whether an open page sent this request by itself: it does not keep an idle session alive."""
    is_part = "hx-request" in request.headers
    is_stream = "text/event-stream" in request.headers.get("accept", "")
    return request.method == "GET" and (is_part or is_stream)


def _is_local_user(request: Request) -> bool:
    access = get_local_access(request)
    return access is not None and access.accepts_cookie(
        request.cookies.get(local_cookie_name(request), "")
    )


def get_local_access(request: Request) -> LocalAccess | None:
    """How the user who runs this server is admitted; None for requests that did not come straight from
    this machine."""
    if not get_client_resolver(request).is_local(request):
        return None
    return cast(LocalAccess, request.app.state.local_access)


def local_cookie_name(request: Request) -> str:
    return cookie_name(request.scope["server"][1])


def get_client_resolver(request: Request) -> ClientResolver:
    return cast(ClientResolver, request.app.state.client_resolver)


def request_id(request: Request) -> str:
    return cast(str, request.state.request_id)


def _person(request: Request, session: sessions.Session) -> Actor:
    """A seeker does not act for the company in the audit log of hiring."""
    is_company = access_rights.may(ROLE_RIGHTS[session.role], "hiring")
    kind = "company" if is_company else "applicant"
    return Actor(kind, f"person:{session.person_id}", request_id(request))


def _staff(request: Request, name: str) -> Actor:
    return Actor("company", name, request_id(request))


Anyone = Annotated[Visitor, Depends(identify)]


def workspace_gate(
    workspace: Workspace,
) -> Callable[[Visitor, Request, RequestDatabase], Awaitable[Visitor]]:
    """A dependency that requires the right to read a workspace, or to change it for requests that
    change something, and attributes changes to the visitor."""

    async def check(visitor: Anyone, request: Request, db: Db) -> Visitor:
        visitor.require_workspace(workspace, "read" if request.method in SAFE_METHODS else "change")
        return _attribute_changes(visitor, request, db)

    return check


def at_least(role: Role) -> Callable[[Visitor, Request, RequestDatabase], Awaitable[Visitor]]:
    """A dependency that requires all rights of a role, and attributes changes to the visitor."""

    async def check(visitor: Anyone, request: Request, db: Db) -> Visitor:
        visitor.require(role)
        return _attribute_changes(visitor, request, db)

    return check


async def signed_in(visitor: Anyone, request: Request, db: Db) -> Visitor:
    """A dependency that requires an account, an API key or the local user, whatever their rights."""
    visitor.require_signed_in()
    return _attribute_changes(visitor, request, db)


def _attribute_changes(visitor: Visitor, request: Request, db: RequestDatabase) -> Visitor:
    if request.method not in SAFE_METHODS:
        db.changed_by = visitor.actor.name
    return visitor


seeker = workspace_gate("search")
viewer, recruiter, admin = at_least("viewer"), at_least("recruiter"), at_least("admin")


async def search_admin(visitor: Annotated[Visitor, Depends(seeker)]) -> Visitor:
    """A dependency for what admins change in the job search of everyone; for visitors without a job
    search it does not exist."""
    visitor.require("admin")
    return visitor


SignedIn = Annotated[Visitor, Depends(signed_in)]
Seeker = Annotated[Visitor, Depends(seeker)]
Viewer = Annotated[Visitor, Depends(viewer)]
Recruiter = Annotated[Visitor, Depends(recruiter)]
Admin = Annotated[Visitor, Depends(admin)]
Links = Annotated[LinkSigner, Depends(get_signer)]
