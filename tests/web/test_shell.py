"""The app shell: menu, live updates and vendored files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.hiring.actor import LOCAL
from jobmill.people.persons import Role
from jobmill.web.access_rights import NO_RIGHTS, ROLE_RIGHTS
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import WEB_DIR
from jobmill.web.shell import AppShell
from jobmill.web.workspace_menus import all_workspaces
from tests.people.helpers import bearer
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML

VENDOR = WEB_DIR / "static" / "vendor"
STYLESHEETS = sorted((WEB_DIR / "static").glob("*.css"))
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"[^"\n]*"', re.DOTALL)


async def test_a_page_marks_its_menu_entry_and_subscribes_to_its_topics(
    empty_site: httpx2.AsyncClient,
) -> None:
    page = Html((await empty_site.get("/activity")).text)
    [here] = page.css(".entries [aria-current]")
    assert here.attributes["href"] == "/activity"
    [live] = page.css("#live")
    assert live.attributes["hx-sse:connect"] == "/live?topic=queue"
    [part] = page.css("[hx-select]")
    assert f"#{part.attributes['id']}" == part.attributes["hx-select"]
    assert page.css_first(".skip").attributes["href"] == "#main"
    assert page.css_first("main#main")


async def test_no_page_loads_files_from_other_sites(empty_site: httpx2.AsyncClient) -> None:
    for path in ("/today", "/openings"):
        for url in re.findall(r'(?:src|href)="([^"]+)"', (await empty_site.get(path)).text):
            assert url.startswith(("/", "#")), url
    for name in ("app.css", "app.js", "vendor/htmx.min.js", "vendor/hx-sse.min.js"):
        assert (await empty_site.get(f"/static/{name}")).status_code == 200


@pytest.mark.parametrize("path", STYLESHEETS, ids=lambda path: path.name)
def test_every_block_of_a_stylesheet_ends(path: Path) -> None:
    """A merge that lost a brace had put the rest of the rules into a media query for phones."""
    text = COMMENT_OR_TEXT.sub("", path.read_text())
    for line, depth in enumerate_depths(text):
        # A rule at the start of a line is not inside of another block.
        assert depth == 0 or not line.startswith((".", "#", "@")), line
    assert text.count("{") == text.count("}")


def enumerate_depths(text: str) -> Iterator[tuple[str, int]]:
    """The lines, each with the number of blocks that are open before it."""
    depth = 0
    for line in text.splitlines():
        yield line, depth
        depth += line.count("{") - line.count("}")


@pytest.mark.parametrize(
    ("role", "opened"),
    [
        (None, []),
        ("seeker", ["search"]),
        ("viewer", ["hiring"]),
        ("recruiter", ["hiring"]),
        ("admin", ["search", "hiring", "system"]),
    ],
)
def test_the_menu_shows_only_allowed_workspaces(role: Role | None, opened: list[str]) -> None:
    rights = ROLE_RIGHTS[role] if role else NO_RIGHTS
    shell = AppShell("/settings", Visitor(role, rights, LOCAL))
    assert [workspace.id for workspace in shell.workspaces] == opened


async def test_every_menu_entry_opens_a_page_with_the_same_heading(
    empty_site: httpx2.AsyncClient,
) -> None:
    for workspace in all_workspaces():
        for entry in workspace.entries:
            page = Html((await empty_site.get(entry.path)).text)
            [here] = page.css(".entries [aria-current]")
            assert here.attributes["href"] == entry.path
            [current] = page.css(".workspaces [aria-current]")
            assert current.text(strip=True) == workspace.name
            # Without a profile these pages lead to the setup instead.
            if entry.path not in ("/profile", "/applications"):
                assert page.css_first("h1").text(strip=True) == entry.name
                assert page.css_first("title").text().startswith(entry.name)


async def test_errors_keep_the_menu_of_a_member_and_no_one_elses(
    site: httpx2.AsyncClient, database: Database
) -> None:
    for path, status in (
        ("/nowhere", 404),
        ("/hiring/999", 404),
        ("/activity/tasks?status=x", 422),
    ):
        answer = await site.get(path, headers=HTML)
        page = Html(answer.text)
        assert answer.status_code == status
        assert len(page.css(".menu .entries a")) > 3, path
        assert page.css("main .actions a"), path
    async with site_with(database) as public:
        headers = {**HTML, **await bearer(database, "viewer")}
        refused = await public.get("/settings", headers=headers)
        page = Html(refused.text)
        assert refused.status_code == 403
        assert [link.attributes["href"] for link in page.css(".workspaces a")] == [
            "/today",
            "/hiring",
        ]
        assert "viewer" in page.css_first("main").text()
        unknown = Html((await public.get("/nowhere", headers=HTML)).text)
        assert unknown.css(".menu") == []


async def test_old_addresses_lead_to_the_new_ones(empty_site: httpx2.AsyncClient) -> None:
    for old, new in (
        ("/queue", "/activity"),
        ("/queue/tasks?status=FAILED", "/activity/tasks?status=FAILED"),
        ("/rotation", "/sources/rotation"),
        ("/rotation/reads", "/sources/rotation/reads"),
        ("/hiring/company/letters?opening=3", "/hiring/company/email-templates?opening=3"),
        ("/hiring/company/letters/promoted", "/hiring/company/email-templates/promoted"),
    ):
        answer = await empty_site.get(old)
        assert (answer.status_code, answer.headers["location"]) == (308, new)


def test_vendored_files_match_their_checksums() -> None:
    for folder in (VENDOR, Path(__file__).parents[1] / "browser" / "vendor"):
        lines = (folder / "README.md").read_text()
        listed = dict(re.findall(r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", lines, re.MULTILINE))
        files = [file for file in folder.iterdir() if file.suffix != ".md"]
        assert {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files
        } == listed
