"""The app shell around each page: workspaces, menu, health, and live update topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from jobmill.errors import AppError
from jobmill.web import workspace_menus
from jobmill.web.auth import SignedIn, Visitor
from jobmill.web.dependencies import Db, Render, RequestDatabase, View
from jobmill.web.live_updates import Topic
from jobmill.web.site_settings import SiteSettings, get_site_settings
from jobmill.web.workspace_menus import WORKSPACE_COOKIE, MenuEntry, Workspace

COOKIE_SECONDS = 365 * 24 * 3600


class AppShell:
    """The frame of one page, as its visitor sees it."""

    def __init__(
        self, path: str, visitor: Visitor, topics: Sequence[Topic] = (), last_used: str = ""
    ) -> None:
        self.path = path
        self.visitor = visitor
        self.topics = topics
        self.workspaces = workspace_menus.list_workspaces(visitor)
        self.workspace: Workspace | None = workspace_menus.find_workspace(
            self.workspaces, path, last_used
        )
        self._entry = self.workspace.find_entry(path) if self.workspace else None

    def is_at(self, entry: MenuEntry) -> bool:
        """Whether the page is this entry or below it."""
        return self._entry == entry

    def remember_workspace(self, response: HTMLResponse, last_used: str) -> None:
        """Let `/` open this workspace the next time."""
        here = self.workspace
        if here and here.id != last_used and here.contains(self.path):
            response.set_cookie(
                WORKSPACE_COOKIE, here.id, COOKIE_SECONDS, httponly=True, samesite="lax"
            )


class PageRenderer:
    """Renders templates that extend shell.html. Like an ApiCaller, it has what most handlers need of
    their request."""

    def __init__(
        self, render: Render, request: Request, visitor: Visitor, db: RequestDatabase
    ) -> None:
        self._render = render
        self._last_used = request.cookies.get(WORKSPACE_COOKIE, "")
        self.request = request
        self.visitor = visitor
        self.db = db
        self.did = request.query_params.get("did", "")
        """What was done before a redirect to this page."""

    @property
    def site_settings(self) -> SiteSettings:
        return get_site_settings(self.request)

    def __call__(
        self,
        template: str,
        status: int = 200,
        /,
        *,
        topics: Sequence[Topic] = (),
        error: AppError | str | None = None,
        **values: object,
    ) -> HTMLResponse:
        shell = AppShell(self.request.url.path, self.visitor, topics, self._last_used)
        response = self._render(template, status, error=error, shell=shell, **values)
        if response.status_code < 400:
            shell.remember_workspace(response, self._last_used)
        return response


async def _page_renderer(request: Request, visitor: SignedIn, view: View, db: Db) -> PageRenderer:
    return PageRenderer(view, request, visitor, db)


Page = Annotated[PageRenderer, Depends(_page_renderer)]
