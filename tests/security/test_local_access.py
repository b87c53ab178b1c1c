"""Other users of the machine cannot use a server on loopback; the one that started it can."""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path

import httpx2
import pytest

from jobmill.cli.servers import local_server_files
from jobmill.db import Database
from jobmill.errors import Unavailable
from jobmill.settings import Settings
from jobmill.web.local_access import (
    COOKIE_LIFETIME,
    LINK_LIFETIME,
    LocalAccess,
    cookie_name,
    create_link,
)
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML
from tests.web.test_every_route import OPEN, RouteTester, routes


def link(access: LocalAccess) -> str:
    return create_link("", access.link_key)


def cookie_jar(client: httpx2.AsyncClient, cookie: str) -> None:
    client.cookies.clear()
    client.cookies.set(cookie_name(client.base_url.port or 0), cookie)


async def test_another_user_of_the_machine_is_refused_on_every_route(database: Database) -> None:
    async with site_with(database, local=True) as client:
        client.cookies.clear()
        world = RouteTester({}, client, {"stranger": {}, "browser": HTML})
        answers = {
            route.name: await world.ask(route, "stranger")
            for route in routes()
            if not route.is_signed and route.name not in OPEN
        }
        assert len(answers) > 100
        reached = {name: status for name, status in answers.items() if status not in (401, 403)}
        assert reached == {}
        page = await client.get("/activity", headers=HTML, follow_redirects=True)
        assert page.url.path == "/sign-in"
        assert "jobmill open" in page.text
        for path in ("/healthz", "/api/healthz"):
            assert (await client.get(path)).status_code == 200


async def test_a_link_admits_one_browser_once(database: Database) -> None:
    access = LocalAccess()
    async with site_with(database, local=True, local_access=access) as client:
        client.cookies.clear()
        url = link(access)
        prefetch = await client.get(url, headers={"Sec-Purpose": "prefetch;prerender"})
        assert (prefetch.status_code, len(client.cookies)) == (401, 0)
        answer = await client.get(url)
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert answer.headers["cache-control"] == "no-store"
        assert (await client.get("/api/session")).json()["role"] == "admin"
        # The same browser may open it again.
        assert (await client.get(url)).status_code == 200
        client.cookies.clear()
        again = await client.get(url)
        assert (again.status_code, len(client.cookies)) == (401, 0)
        assert "already used" in again.text
        assert (await client.get("/api/session")).status_code == 401


async def test_forged_and_expired_links_and_cookies_are_refused(database: Database) -> None:
    now = 1_800_000_000.0
    clock = [now]
    access = LocalAccess(clock=lambda: clock[0])
    other = LocalAccess(clock=lambda: clock[0])
    async with site_with(database, local=True, local_access=access) as client:
        good_cookie, good_link = access.create_cookie(), create_link("", access.link_key, now)
        expires, nonce, signature = good_cookie.split(".")
        forged = (
            "",
            "x",
            ".",
            "..",
            "9999999999",
            f"9999999999.{nonce}.{signature}",
            f"{expires}.{nonce}.{signature[:-1]}{'1' if signature[-1] == '0' else '0'}",
            f"{expires}.{nonce}.",
            f"{expires}.{signature}",
            other.create_cookie(),
            good_link.rpartition("=")[2],
        )
        for cookie in forged:
            cookie_jar(client, cookie)
            assert (await client.get("/api/session")).status_code == 401, cookie
        client.cookies.clear()
        for token in (*forged[:-1], good_cookie, "\ud800", "ü" * 50):
            params = {"token": token.encode("utf-8", "replace").decode()}
            assert (await client.get("/sign-in/local", params=params)).status_code == 401, token
        foreign = create_link("", other.link_key, now)
        assert (await client.get(foreign)).status_code == 401
        cookie_jar(client, good_cookie)
        assert (await client.get("/api/session")).status_code == 200
        clock[0] = now + COOKIE_LIFETIME.total_seconds() + 1
        assert (await client.get("/api/session")).status_code == 401
        client.cookies.clear()
        assert (await client.get(good_link)).status_code == 401
        clock[0] = now + LINK_LIFETIME.total_seconds() - 1
        assert (await client.get(good_link)).status_code == 200


async def test_links_and_cookies_count_for_nothing_behind_a_proxy(database: Database) -> None:
    access = LocalAccess()
    async with site_with(database, local=True, local_access=access) as client:
        proxied = {"X-Forwarded-For": "203.0.113.9"}
        assert (await client.get("/api/session", headers=proxied)).status_code == 401
        client.cookies.clear()
        assert (await client.get(link(access), headers=proxied)).status_code == 401
    async with site_with(database, local_access=access) as client:
        cookie_jar(client, access.create_cookie())
        assert (await client.get("/api/session")).status_code == 401
        assert (await client.get(link(access))).status_code == 401


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", web_port=0)


def test_only_the_user_can_read_the_keys_of_a_local_server(settings: Settings) -> None:
    old = os.umask(0)
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            local_server_files.announce(settings, listener) as access,
        ):
            assert access
            folder = settings.data_dir / local_server_files.FOLDER
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
            server = local_server_files.find_server(settings)
            assert bytes.fromhex(server.link_key) == access.link_key
            port = listener.getsockname()[1]
    finally:
        os.umask(old)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert modes == {"cookie-key": 0o600, f"server-{port}.json": 0o600}
    with pytest.raises(Unavailable, match="jobmill up"):
        local_server_files.find_server(settings)


def test_browsers_stay_signed_in_unless_others_could_read_the_key(settings: Settings) -> None:
    def run() -> LocalAccess:
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            local_server_files.announce(settings, listener) as access,
        ):
            assert access
            return access

    cookie = run().create_cookie()
    later = run()
    assert later.accepts_cookie(cookie)
    key = settings.data_dir / local_server_files.FOLDER / local_server_files.COOKIE_KEY
    key.chmod(0o644)
    assert not run().accepts_cookie(cookie)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_server_file_that_others_can_write_is_not_used(settings: Settings) -> None:
    folder = settings.data_dir / local_server_files.FOLDER
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        local_server_files.announce(settings, listener),
    ):
        folder.chmod(0o777)
        with pytest.raises(Unavailable, match="everyone may write"):
            local_server_files.find_server(settings)


def test_a_program_on_the_port_of_a_killed_server_gets_no_valid_link(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with local_server_files.announce(settings, listener):
            [file] = (settings.data_dir / local_server_files.FOLDER).glob("server-*.json")
            stale = file.read_text()
        file.write_text(stale)
        server = local_server_files.find_server(settings)
        token = create_link(server.url, bytes.fromhex(server.link_key)).rpartition("=")[2]
        with local_server_files.announce(settings, listener) as access:
            assert access
            assert json.loads(file.read_text())["link_key"] != server.link_key
            assert not access.redeem(token)
