"""Every way to write a private address, through every function that fetches a URL."""

from __future__ import annotations

import contextlib
import datetime as dt
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import httpcore2
import pytest

import jobmill
from jobmill import app, queue
from jobmill.db import Database
from jobmill.errors import AppError
from jobmill.outside.fetch import open_fetch
from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.request import Fetch, Request
from jobmill.outside.webhook import WebhookRequest, WebhookSender
from jobmill.queue import Worker
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.outside.conftest import QUICK, SMALL
from tests.outside.dialled import Dialled
from tests.outside.site import LoopbackSite, open_site, redirect
from tests.outside.test_public_addresses import NOT_ASKED
from tests.people.helpers import PASSWORD, make_person
from tests.security.json_bodies import json_bodies
from tests.security.site_forms import HTML, walk_site
from tests.web.helpers import site_with
from tests.web.test_every_route import routes

PUBLIC = "93.184.216.34"
PRIVATE = ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1", "0.0.0.0", "100.64.0.1")  # fmt: skip
NAMES = [f"http://name-{number}.example/" for number in range(len(PRIVATE))]
"""Names that resolve to private addresses."""
FORMS = (*NOT_ASKED, *NAMES)
URL_NAMES = ("url", "website", "link", "callback", "endpoint", "address")
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


class Recorder(Dialled):
    """Connects the public address to a site on loopback, and no other."""

    def __init__(self, site: LoopbackSite) -> None:
        super().__init__()
        self._site = site
        self._dial: Any = httpcore2.AnyIOBackend()

    @property
    def private(self) -> list[str]:
        return [address for address in self.addresses if address != PUBLIC]

    async def connect(self, host: str, timeout: float | None) -> httpcore2.AsyncNetworkStream:
        if host != PUBLIC:
            raise httpcore2.ConnectError("a private address")
        place, _, number = self._site.place.rpartition(":")
        return await self._dial.connect_tcp(place, int(number), timeout)


async def resolve(host: str, port: int) -> Sequence[str]:
    for number, address in enumerate(PRIVATE):
        if host == f"name-{number}.example":
            return [PUBLIC, address]
    return [PUBLIC] if host.endswith("public.example") else [host]


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        yield site


@pytest.fixture
def recorder(site: LoopbackSite) -> Recorder:
    return Recorder(site)


@pytest.fixture
async def fetch(database: Database, recorder: Recorder) -> AsyncIterator[Fetch]:
    guard = AddressGuard(resolve=resolve, dial=recorder)
    async with open_fetch(
        database, Settings(), guard=guard, rate_limit=QUICK, limits=SMALL
    ) as fetch:
        yield fetch


def fetching_functions() -> list[Callable[..., Any]]:
    """Every function that takes a `fetch` and a URL."""
    functions: list[Callable[..., Any]] = []
    for module in pkgutil.walk_packages(jobmill.__path__, "jobmill."):
        if module.name.endswith("__main__") or module.name.startswith("jobmill.cli"):
            continue
        for function in vars(importlib.import_module(module.name)).values():
            if not inspect.iscoroutinefunction(function) or function.__module__ != module.name:
                continue
            names = inspect.signature(function).parameters
            is_public = not function.__name__.startswith("_")
            if is_public and "fetch" in names and set(names) & set(URL_NAMES):
                functions.append(function)
    return functions


async def test_no_function_that_fetches_connects_to_a_private_address(
    database: Database, fetch: Fetch, recorder: Recorder
) -> None:
    functions = fetching_functions()
    arguments: dict[str, object] = {
        "db": database, "fetch": fetch, "environ": {}, "company": "Acme"
    }  # fmt: skip
    for function in functions:
        names = inspect.signature(function).parameters
        for form in FORMS:
            values = {name: form if name in URL_NAMES else arguments[name] for name in names}
            # What counts is that nothing is connected, however the URL is refused.
            with contextlib.suppress(Exception):
                await function(**values)
    assert recorder.private == []
    assert len(functions) >= 3


@pytest.mark.parametrize("page", [False, True])
async def test_no_redirect_leads_to_a_private_address(
    fetch: Fetch, recorder: Recorder, site: LoopbackSite, page: bool
) -> None:
    for number, form in enumerate(FORMS):
        try:
            site.on(f"/{number}", redirect(form))
            await fetch(Request(f"http://{number}.public.example/{number}", page=page))
        except UnicodeEncodeError:
            continue  # Not a header.
    assert recorder.private == []
    assert len([request for request in site.requests if request.path != "/robots.txt"]) > 80


async def test_no_webhook_is_sent_to_a_private_address(recorder: Recorder) -> None:
    sender = WebhookSender(Settings(), guard=AddressGuard(resolve=resolve, dial=recorder))
    for form in FORMS:
        with pytest.raises(AppError):
            await sender.send(WebhookRequest(1, form, "secret", "test", b"{}", NOW))
    assert recorder.private == []


async def test_no_text_field_leads_to_a_private_address(
    database: Database, fetch: Fetch, recorder: Recorder
) -> None:
    """A URL in every text field of every form and JSON body, followed by the work that it starts.

    Each field gets one private URL and a public one; the other tests here try every form of a URL.
    """
    stages = app.build_stages(Tools(database, fetch), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, stages)
    private = itertools.cycle((*NAMES[:3], "http://127.0.0.1:5432/", "http://[::1]/"))
    hosts = itertools.count()

    def targets(texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for name in texts:
            yield name, next(private)
            yield name, f"http://{next(hosts)}.public.example/jobs"

    async with site_with(database, public_per_minute=100_000) as client:
        await make_person(database, "ada@example.org", "admin")
        login = {"email": "ada@example.org", "password": PASSWORD}
        assert (await client.post("/sign-in", data=login)).status_code == 303
        start = [route.path for route in routes() if "{" not in route.path]
        forms = (await walk_site(client, start)).forms.values()
        for form in (form for form in forms if form.method == "POST"):
            for name, target in targets(form.texts):
                fields = {
                    text: form.values.get(text) or f"Acme {next(hosts)}" for text in form.texts
                }
                fields = {**form.values, **fields, name: target}
                await client.post(form.action, data=fields, headers=HTML)
        document = (await client.get("/api/openapi.json")).json()
        for body in json_bodies(document):
            for name, target in targets(body.texts):
                await client.request(body.method, body.path, json={**body.sample, name: target})
    await Worker(database, stages).drain()
    assert recorder.private == []
    # The public URL was followed, so the others could have been.
    assert recorder.addresses.count(PUBLIC) >= 5
