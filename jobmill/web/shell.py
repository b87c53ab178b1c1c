"""The app shell around each page: the menu, the current entry, and live update topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from jobmill.web.access_rights import Workspace
from jobmill.web.auth import SignedIn, Visitor
from jobmill.web.dependencies import Render, View
from jobmill.web.live_updates import Topic
from jobmill.web.translations import say


class MenuEntry(NamedTuple):
    name: str
    path: str
    workspace: Workspace | None
    """None: everyone who is signed in may open it."""

    def is_for(self, visitor: Visitor) -> bool:
        return self.workspace is None or visitor.may_open(self.workspace)


class MenuGroup(NamedTuple):
    name: str
    entries: Sequence[MenuEntry]


def menu() -> Sequence[MenuGroup]:
    """All entries, in the current language."""
    return (
        MenuGroup("", (MenuEntry(say("Home"), "/", None),)),
        MenuGroup(
            say("Job search"),
            (
                MenuEntry(say("Matches"), "/matches", "search"),
                MenuEntry(say("Applications"), "/applications", "search"),
                MenuEntry(say("Jobs"), "/jobs", "search"),
                MenuEntry(say("Companies"), "/companies", "search"),
                MenuEntry(say("Sources"), "/sources", "system"),
                MenuEntry(say("Rotation"), "/rotation", "system"),
                MenuEntry(say("Profile"), "/profile", "search"),
            ),
        ),
        MenuGroup(
            say("Hiring"),
            (
                MenuEntry(say("Openings"), "/hiring", "hiring"),
                MenuEntry(say("Website reports"), "/reports", "system"),
            ),
        ),
        MenuGroup(
            say("Operations"),
            (
                MenuEntry(say("Queue"), "/queue", "system"),
                MenuEntry(say("Budget"), "/budget", "system"),
                MenuEntry(say("People and keys"), "/people", "system"),
                MenuEntry(say("Settings"), "/settings", "system"),
            ),
        ),
    )


@dataclass(frozen=True, slots=True)
class AppShell:
    path: str
    visitor: Visitor
    topics: Sequence[Topic]

    @property
    def menu(self) -> list[MenuGroup]:
        """The entries that this visitor may open."""
        groups = (
            MenuGroup(group.name, [entry for entry in group.entries if entry.is_for(self.visitor)])
            for group in menu()
        )
        return [group for group in groups if group.entries]

    def is_at(self, entry: MenuEntry) -> bool:
        """Whether the page is this entry or below it."""
        below = entry.path != "/" and self.path.startswith(f"{entry.path}/")
        return self.path == entry.path or below


class PageRenderer:
    """Renders templates that extend shell.html."""

    def __init__(self, render: Render, path: str, visitor: Visitor) -> None:
        self._render = render
        self._path = path
        self._visitor = visitor

    def __call__(
        self,
        template: str,
        status: int = 200,
        /,
        *,
        topics: Sequence[Topic] = (),
        **values: object,
    ) -> HTMLResponse:
        shell = AppShell(self._path, self._visitor, topics)
        return self._render(template, status, shell=shell, **values)


async def _page_renderer(request: Request, visitor: SignedIn, view: View) -> PageRenderer:
    return PageRenderer(view, request.url.path, visitor)


Page = Annotated[PageRenderer, Depends(_page_renderer)]
