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
from jobmill.web.view import Render, View


class Entry(NamedTuple):
    name: str
    path: str
    role: Role = "viewer"


class Group(NamedTuple):
    name: str
    entries: Sequence[Entry]


MENU = (
    Group("Seek", (Entry("Matches", "/matches"), Entry("Listings", "/listings"))),
    Group("Run", (Entry("Queue", "/"),)),
    Group("Hire", (Entry("Openings", "/hiring"),)),
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
            for one in MENU
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
