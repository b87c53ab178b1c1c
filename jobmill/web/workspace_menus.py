"""The three workspaces with their menus; access_rights.py says who may open which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobmill.web import access_rights
from jobmill.web.auth import Visitor
from jobmill.web.translations import say

WORKSPACE_COOKIE = "jobmill_workspace"
"""Remembers the workspace that the person used last."""


class MenuEntry(NamedTuple):
    name: str
    path: str

    def contains(self, path: str) -> bool:
        """Whether the page is this entry or below it."""
        return path == self.path or path.startswith(f"{self.path}/")


class Workspace(NamedTuple):
    id: access_rights.Workspace
    name: str
    entries: Sequence[MenuEntry]
    other_paths: Sequence[str] = ()
    """Pages of this workspace that its menu does not list."""

    @property
    def path(self) -> str:
        """Its first page."""
        return self.entries[0].path

    def find_entry(self, path: str) -> MenuEntry | None:
        """The entry of a page: the longest one, since `/hiring` contains all pages of Hiring."""
        matching = [entry for entry in self.entries if entry.contains(path)]
        return max(matching, key=lambda entry: len(entry.path), default=None)

    def contains(self, path: str) -> bool:
        below = any(path == other or path.startswith(f"{other}/") for other in self.other_paths)
        return below or self.find_entry(path) is not None


def all_workspaces() -> Sequence[Workspace]:
    """Every workspace with all entries, in the current language."""
    return (
        Workspace(
            "search",
            say("Job search"),
            (
                MenuEntry(say("Today"), "/today"),
                MenuEntry(say("Matches"), "/matches"),
                MenuEntry(say("Applications"), "/applications"),
                MenuEntry(say("Documents"), "/documents"),
                MenuEntry(say("Jobs"), "/jobs"),
                MenuEntry(say("Companies"), "/companies"),
                MenuEntry(say("Profile"), "/profile"),
            ),
            ("/setup",),
        ),
        Workspace(
            "hiring",
            say("Hiring"),
            (
                MenuEntry(say("Openings"), "/hiring"),
                MenuEntry(say("Applicants"), "/hiring/applicants"),
                MenuEntry(say("Messages"), "/hiring/messages"),
                MenuEntry(say("Company"), "/hiring/company"),
                MenuEntry(say("Website reports"), "/reports"),
            ),
        ),
        Workspace(
            "system",
            say("System"),
            (
                MenuEntry(say("Health"), "/health"),
                MenuEntry(say("Sources"), "/sources"),
                MenuEntry(say("Activity"), "/activity"),
                MenuEntry(say("Budget"), "/budget"),
                MenuEntry(say("People and keys"), "/people"),
                MenuEntry(say("Settings"), "/settings"),
            ),
            ("/demo",),
        ),
    )


def list_workspaces(visitor: Visitor) -> list[Workspace]:
    """The workspaces that a visitor may open."""
    return [workspace for workspace in all_workspaces() if visitor.may_open(workspace.id)]


def find_workspace(
    workspaces: Sequence[Workspace], path: str, last_used: str = ""
) -> Workspace | None:
    """The workspace of a page; for pages of none, such as the account, the one that was used last."""
    containing = [workspace for workspace in workspaces if workspace.contains(path)]
    remembered = [workspace for workspace in workspaces if workspace.id == last_used]
    return next(iter((*containing, *remembered, *workspaces)), None)


def may_follow(visitor: Visitor, url: str) -> bool:
    """Whether a link of a page leads this visitor somewhere that they may open."""
    path = url.partition("?")[0]
    return any(workspace.contains(path) for workspace in list_workspaces(visitor))
