"""The app shell: menu, live updates and vendored files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.hiring.actor import LOCAL
from jobmill.web.auth import Visitor
from jobmill.web.dependencies import WEB_DIR
from jobmill.web.shell import AppShell, menu

VENDOR = WEB_DIR / "static" / "vendor"


async def test_a_page_marks_its_menu_entry_and_subscribes_to_its_topics(
    site: httpx2.AsyncClient,
) -> None:
    page = Html((await site.get("/queue")).text)
    [here] = page.css(".menu [aria-current]")
    assert here.attributes["href"] == "/queue"
    [live] = page.css("#live")
    assert live.attributes["hx-sse:connect"] == "/live?topic=queue"
    [part] = page.css("[hx-select]")
    assert f"#{part.attributes['id']}" == part.attributes["hx-select"]
    assert page.css_first(".skip").attributes["href"] == "#main"
    assert page.css_first("main#main")


async def test_no_page_loads_files_from_other_sites(site: httpx2.AsyncClient) -> None:
    for path in ("/", "/openings"):
        for url in re.findall(r'(?:src|href)="([^"]+)"', (await site.get(path)).text):
            assert url.startswith(("/", "#")), url
    for name in ("app.css", "app.js", "vendor/htmx.min.js", "vendor/hx-sse.min.js"):
        assert (await site.get(f"/static/{name}")).status_code == 200


def test_the_menu_shows_only_allowed_entries() -> None:
    nobody = AppShell("/", Visitor(None, LOCAL), [])
    assert nobody.menu == []
    admin = AppShell("/", Visitor("admin", LOCAL), [])
    assert [group.name for group in admin.menu] == [group.name for group in menu()]


def test_vendored_files_match_their_checksums() -> None:
    for folder in (VENDOR, Path(__file__).parents[1] / "browser" / "vendor"):
        lines = (folder / "README.md").read_text()
        listed = dict(re.findall(r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", lines, re.MULTILINE))
        files = [file for file in folder.iterdir() if file.suffix != ".md"]
        assert {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files
        } == listed
