"""What surrounds a page of the product: its menu, where we are in it, what it hears of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from jobmill.people.persons import Role
from jobmill.web.live import Topic
from jobmill.web.rights import Viewer, Visitor
from jobmill.web.texts import say
from jobmill.web.view import Render, View


class Entry(NamedTuple):
    name: str
    path: str
    role: Role = "viewer"


class Group(NamedTuple):
    name: str
    entries: Sequence[Entry]


def menu() -> Sequence[Group]:
    """All there is, in the language of who asks."""
    return (
        Group("", (Entry(say("Home"), "/"),)),
        Group(
            say("Seek"),
            (
                Entry(say("Matches"), "/matches"),
                Entry(say("Listings"), "/listings"),
                Entry(say("Companies"), "/companies"),
                Entry(say("Sources"), "/sources"),
                Entry(say("Rotation"), "/rotation"),
                Entry(say("Profile"), "/profile"),
            ),
        ),
        Group(say("Hire"), (Entry(say("Openings"), "/hiring"),)),
        Group(
            say("Run"),
            (
                Entry(say("Queue"), "/queue"),
                Entry(say("Budget"), "/budget"),
                Entry(say("People and keys"), "/people", "admin"),
                Entry(say("Settings"), "/settings", "admin"),
            ),
        ),
    )


@dataclass(frozen=True, slots=True)
class Shell:
    path: str
    visitor: Visitor
    topics: Sequence[Topic]

    @property
    def menu(self) -> list[Group]:
        """What this visitor may see."""
        groups = (
            Group(one.name, [entry for entry in one.entries if self.visitor.may(entry.role)])
            for one in menu()
        )
        return [group for group in groups if group.entries]

    def is_at(self, entry: Entry) -> bool:
        """Whether we are at an entry, or somewhere below it."""
        below = entry.path != "/" and self.path.startswith(f"{entry.path}/")
        return self.path == entry.path or below


class Pages:
    """Fills in a template that extends shell.html."""

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
        shell = Shell(self._path, self._visitor, topics)
        return self._render(template, status, shell=shell, **values)


async def _pages(request: Request, visitor: Viewer, view: View) -> Pages:
    return Pages(view, request.url.path, visitor)


Page = Annotated[Pages, Depends(_pages)]
