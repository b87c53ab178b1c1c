"""Pages that need JavaScript, rendered by a real browser."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from jobmill.db import Database
from jobmill.outside.browser import Browser, RenderLimits, find_browser
from jobmill.outside.fetch import open_fetch
from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.http_exchange import ExchangeError
from jobmill.outside.proxy import open_proxy
from jobmill.outside.public_addresses import parse_private_hosts, parse_url
from jobmill.outside.request import (
    Fetch,
    FetchFailure,
    Ok,
    PageGone,
    Request,
    Truncated,
    Validators,
)
from jobmill.settings import Settings
from tests.missing_browser import skip_or_fail

from .conftest import QUICK
from .site import LoopbackSite, ReceivedRequest, ResponseWriter, open_site, reply

needs_browser = pytest.mark.usefixtures("chromium")

PAGE = b"""<!doctype html><title>Careers</title><ul id=list></ul><script>
setTimeout(async () => {
  const found = await (await fetch("/data.json")).json();
  list.innerHTML = found.map(title => "<li>" + title + "</li>").join("");
}, 2000);
</script>"""


@pytest.fixture
def chromium() -> None:
    if not find_browser():
        skip_or_fail("No Chromium is in the PATH: install it, or set CHROMIUM=/path/to/it.")


@pytest.fixture
async def fetch(database: Database, site: LoopbackSite) -> AsyncIterator[Fetch]:
    settings = Settings(private_hosts=site.place)
    async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
        yield fetch


def render(site: LoopbackSite, path: str = "/careers") -> Request:
    return Request(site.url(path), render=True)


@needs_browser
async def test_a_page_is_read_after_its_scripts_have_run(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/careers", reply(PAGE, ETag='"shell"'))
    titles = '["Engineer", "Köchin"]'.encode()
    site.on("/data.json", reply(titles, content_type="application/json"))
    answer = await fetch(render(site), Validators('"shell"'))
    assert isinstance(answer, Ok), answer
    assert "<li>Engineer</li><li>Köchin</li>" in answer.text
    assert answer.url == site.url("/careers")
    # The validators of the HTML do not cover what scripts add.
    assert answer.validators == Validators(url=answer.url)
    assert not any("if-none-match" in request.headers for request in site.requests)
    assert {request.headers["user-agent"] for request in site.requests} == {Settings().user_agent}


@needs_browser
async def test_errors_that_a_browser_hides_are_detected_first(
    fetch: Fetch, site: LoopbackSite
) -> None:
    assert isinstance(await fetch(render(site)), PageGone)
    site.on("/busy", reply(b"<p>later", status=429, retry_after="9"))
    busy = await fetch(render(site, "/busy"))
    assert isinstance(busy, FetchFailure)
    assert busy.cause == "rate_limited"


@needs_browser
async def test_the_browser_obeys_robots_txt(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/robots.txt", reply(b"User-agent: *\nDisallow: /careers"))
    answer = await fetch(render(site))
    assert isinstance(answer, FetchFailure)
    assert answer.cause == "robots"


@needs_browser
async def test_a_rendered_page_cannot_reach_private_addresses(
    fetch: Fetch, site: LoopbackSite
) -> None:
    async with open_site() as secret:
        secret.on("/", reply(b"s3cret", access_control_allow_origin="*"))
        there = [secret.url(), f"http://localhost:{secret.port}/", f"http://[::1]:{secret.port}/"]
        page = f"""<p id=said>nothing</p><script>
        for (const url of {there}) fetch(url).then(r => r.text()).then(t => said.append(t));
        </script><iframe src="{secret.url()}"></iframe><script src="{secret.url()}"></script>
        <iframe src="file:///etc/hostname"></iframe><meta http-equiv=refresh content="1;{there[1]}">
        """
        site.on("/careers", reply(page.encode()))
        answer = await fetch(render(site))
        assert secret.requests == []
    assert "s3cret" not in str(getattr(answer, "body", b""))


@needs_browser
async def test_peer_connections_of_a_rendered_page_send_no_packets(
    fetch: Fetch, site: LoopbackSite
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as target:
        target.bind(("127.0.0.1", 0))
        target.setblocking(False)
        port = target.getsockname()[1]
        page = f"""<p id=state>none</p><script>
        const peer = new RTCPeerConnection({{iceServers: [
          {{urls: ["stun:127.0.0.1:{port}", "turn:127.0.0.1:{port}"], username: "a", credential: "b"}}]}});
        peer.createDataChannel("x");
        peer.createOffer().then(offer => peer.setLocalDescription(offer));
        peer.onicegatheringstatechange = () => state.textContent = peer.iceGatheringState;
        const wait = setInterval(() => fetch("/wait"), 200);
        </script>"""
        site.on("/careers", reply(page.encode()))
        answer = await fetch(render(site))
        assert isinstance(answer, Ok), answer
        assert "complete" in answer.text, "The page did not look for a connection."
        with pytest.raises(BlockingIOError):
            target.recv(1)


@needs_browser
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has more rights than the browser needs")
async def test_the_browser_does_not_run_as_root(fetch: Fetch, site: LoopbackSite) -> None:
    owners: set[int] = set()

    async def note_owners(_: ReceivedRequest, writer: ResponseWriter) -> None:
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if b"--dump-dom" in (folder / "cmdline").read_bytes():
                    owners.add(folder.stat().st_uid)
        await reply(b"[]")(_, writer)

    site.on("/careers", reply(PAGE))
    site.on("/data.json", note_owners)
    assert isinstance(await fetch(render(site)), Ok)
    assert owners
    assert 0 not in owners


@needs_browser
async def test_a_page_that_never_ends_is_killed_with_all_processes(site: LoopbackSite) -> None:
    site.on("/careers", reply(b"<script>for (;;) {}</script>"))
    guard = AddressGuard(parse_private_hosts(site.place))
    mark = f"jobmill-{uuid.uuid4()}"
    browser = Browser(guard, mark, limits=RenderLimits(seconds=4))
    with pytest.raises(ExchangeError) as caught:
        await browser.render(parse_url(site.url("/careers"), guard.private))
    assert caught.value.cause == "timeout"
    await until_ended(mark)


async def test_the_children_of_a_browser_end_with_it(site: LoopbackSite, tmp_path: Path) -> None:
    mark = f"jobmill-{uuid.uuid4()}"
    fake = tmp_path / "chromium"
    fake.write_text(f"#!/bin/sh\nsh -c 'sleep 90; :' {mark} &\nwait\n")
    fake.chmod(0o755)
    guard = AddressGuard(parse_private_hosts(site.place))
    browser = Browser(guard, "jobmill", fake, RenderLimits(seconds=0.5))
    with pytest.raises(ExchangeError):
        await browser.render(parse_url(site.url(), guard.private))
    await until_ended(mark)


@needs_browser
async def test_cancelling_a_render_kills_the_browser(site: LoopbackSite) -> None:
    there = asyncio.Event()

    async def hang(request: ReceivedRequest, out: ResponseWriter) -> None:
        there.set()
        await asyncio.sleep(60)

    site.on("/careers", hang)
    guard = AddressGuard(parse_private_hosts(site.place))
    mark = f"jobmill-{uuid.uuid4()}"
    browser = Browser(guard, mark)
    task = asyncio.create_task(browser.render(parse_url(site.url("/careers"), guard.private)))
    await there.wait()
    assert running(mark)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_ended(mark)


async def until_ended(mark: str) -> None:
    """A killed process disappears soon, but not immediately."""
    for _ in range(400):
        if not running(mark):
            break
        await asyncio.sleep(0.05)
    assert running(mark) == []


def running(mark: str) -> list[str]:
    """Running processes with `mark` in their command line."""
    processes: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_text()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark in command and state != "Z" and int(folder.name) != os.getpid():
            processes.append(command)
    return processes


@needs_browser
async def test_a_page_that_grows_too_large_is_truncated(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/careers", reply(b"<script>document.write('x'.repeat(50000))</script>"))
    answer = await fetch(Request(site.url("/careers"), render=True, max_bytes=10_000))
    assert isinstance(answer, Truncated)
    assert len(answer.body) == answer.limit == 10_000


@needs_browser
async def test_a_challenge_created_by_a_script_is_detected(
    fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/careers", reply(b"<script>document.title = 'Just a moment...'</script>"))
    answer = await fetch(render(site))
    assert isinstance(answer, FetchFailure)
    assert answer.cause == "forbidden"


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike `tmp_path`: root runs browsers as another user."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


async def test_responses_that_are_not_html_need_no_browser(
    database: Database, site: LoopbackSite, public_folder: Path
) -> None:
    """A program that is not a browser; the test fails if it is started."""
    fake = public_folder / "chromium"
    fake.write_text("#!/bin/sh\necho '<p>started'\n")
    fake.chmod(0o755)
    site.on("/data", reply(b"{}", content_type="application/json"))
    site.on("/page", reply(b"<p>plain"))
    settings = Settings(private_hosts=site.place, chromium=fake)
    async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
        data = await fetch(render(site, "/data"))
        page = await fetch(render(site, "/page"))
    assert isinstance(data, Ok)
    assert isinstance(page, Ok)
    assert (data.body, page.body) == (b"{}", b"<p>started\n")


async def test_without_a_browser_we_say_what_to_install(
    database: Database, site: LoopbackSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    site.on("/careers", reply(PAGE))
    for path, word in [(None, "install Chromium"), (tmp_path / "none", "setting chromium is")]:
        settings = Settings(private_hosts=site.place, chromium=path)
        async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
            answer = await fetch(render(site))
        assert isinstance(answer, FetchFailure)
        assert answer.cause == "no_browser"
        assert word in answer.detail
    assert site.requests == []


def test_the_configured_browser_is_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "google-chrome", "other"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert find_browser() == str(tmp_path / "google-chrome")
    monkeypatch.setenv("CHROMIUM", "other")
    assert find_browser() == str(tmp_path / "other")
    assert find_browser(tmp_path / "mine") == str(tmp_path / "mine")


# The proxy alone


async def say(proxy: str, text: str) -> bytes:
    host, _, port = proxy.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text.encode())
    answer = await reader.read()
    writer.close()
    return answer


async def test_the_proxy_connects_only_through_the_guard(site: LoopbackSite) -> None:
    site.on("/x", reply(b"hello"))
    async with (
        open_site() as secret,
        open_proxy(AddressGuard(parse_private_hosts(site.place)), 10_000) as proxy,
    ):
        head = (
            f"GET {site.url('/x?y')} HTTP/1.1\r\nHost: other\r\nProxy-Connection: k\r\nX: 1\r\n\r\n"
        )
        assert (await say(proxy, head)).endswith(b"hello")
        tunnel = f"CONNECT {site.place} HTTP/1.1\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n"
        assert (await say(proxy, tunnel)).startswith(b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200")
        for line in (
            f"CONNECT {secret.place}",
            f"CONNECT localhost:{secret.port}",
            f"CONNECT [::1]:{secret.port}",
            f"CONNECT 2130706433:{secret.port}",
            "CONNECT example.com:22",
            "CONNECT 169.254.169.254:80",
            f"GET {secret.url()}",
            "GET http://169.254.169.254/",
            "GET /x",
            "nonsense",
        ):
            answer = await say(proxy, f"{line} HTTP/1.1\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 403"), line
        assert secret.requests == []
    assert [request.path for request in site.requests] == ["/x?y", "/x"]
    assert site.requests[0].headers == {"host": site.place, "connection": "close", "x": "1"}


async def test_the_proxy_stops_at_its_traffic_limit(site: LoopbackSite) -> None:
    site.on("/", reply(b"x" * 1_000_000))
    async with open_proxy(AddressGuard(parse_private_hosts(site.place)), 200_000) as proxy:
        answer = await say(proxy, f"GET {site.url()} HTTP/1.1\r\n\r\n")
    assert len(answer) <= 200_000
