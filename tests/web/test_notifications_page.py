"""The notifications page, links in messages and the private feed."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from xml.etree import ElementTree as xml

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.notifications import channels, preferences, unsubscribe
from jobmill.notifications.preferences import DigestSchedule
from jobmill.people import persons, secrets
from jobmill.people.persons import LOCAL, Role
from jobmill.settings import Settings
from jobmill.web.pages.notifications.atom_feed import ATOM
from jobmill.web.site_settings import SiteSettings
from tests.notifications.helpers import Notifier, add_channel, add_event
from tests.people.helpers import bearer, make_person
from tests.queue.helpers import fetch
from tests.web.helpers import site_with
from tests.web.test_account_security import sign_in

HOME = "/account/notifications"
MAIL = Settings.model_validate(
    {"smtp_url": "smtp://127.0.0.1:1", "mail_from": "Wells <hiring@wells.example>"}
)
SCHEDULE = {"time_zone": "Europe/Berlin", "daily_at": "07:30", "weekly_on": "5"}


@pytest.fixture
async def site(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    settings = SiteSettings.from_settings(MAIL)
    async with site_with(database, site_settings=settings, public_per_minute=10_000) as client:
        yield client


async def enter(client: httpx2.AsyncClient, database: Database, name: str, role: Role) -> int:
    client.cookies.clear()
    person = await make_person(database, f"{name}@example.org", role)
    await sign_in(client, person.email)
    return person.id


def kinds(answer: httpx2.Response) -> list[str]:
    page = Html(answer.text)
    names = [str(node.attributes["name"]) for node in page.css("#preferences select")]
    return [name for name in names if name != "weekly_on"]


async def test_each_role_chooses_from_its_own_kinds(
    site: httpx2.AsyncClient, database: Database
) -> None:
    shown: dict[str, int] = {}
    roles: tuple[Role, ...] = ("seeker", "viewer", "recruiter", "admin")
    for role in roles:
        await enter(site, database, role, role)
        page = await site.get(HOME)
        shown[role] = len(kinds(page))
        assert ("high_match" in kinds(page)) == (role in ("seeker", "admin"))
    assert shown == {"seeker": 4, "viewer": 3, "recruiter": 3, "admin": 11}


async def test_preferences_are_saved_and_wrong_ones_are_explained(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await enter(site, database, "ada", "seeker")
    form = SCHEDULE | {"high_match": "instant", "alert": "instant"}
    assert (await site.post(HOME, data=form)).status_code == 303
    async with database.transaction() as tx:
        assert await preferences.read_schedule(tx, id) == DigestSchedule(
            "Europe/Berlin", dt.time(7, 30), 5
        )
        chosen = await fetch(tx, "SELECT kind, frequency FROM notification.preference")
    # Alerts are not for seekers.
    assert chosen == [("high_match", "instant")]
    for field, value, message in (
        ("time_zone", "Eastern", "IANA name"),
        ("daily_at", "noon", "hours and minutes"),
        ("weekly_on", "8", "day of the week"),
        ("high_match", "hourly", "Choose one of"),
        ("quiet_from", "22:00", "a start and an end"),
    ):
        answer = await site.post(HOME, data=form | {field: value})
        assert answer.status_code == 400
        assert message in answer.text


async def test_channels_are_added_once_tested_switched_and_removed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await enter(site, database, "ada", "recruiter")
    for _ in range(2):
        # Letters go to the address of the account only.
        added = await site.post(
            f"{HOME}/channels", data={"kind": "email", "address": "victim@example.org"}
        )
        assert added.status_code == 303
    async with database.transaction() as tx:
        [channel] = await channels.find_by_owner(tx, id)
    assert channel.name == "ada@example.org"
    here = f"{HOME}/channels/{channel.id}"
    assert (await site.post(f"{here}/test")).status_code == 303
    await site.post(f"{here}/state", data={"enabled": "no"})
    page = await site.get(HOME)
    assert "Test message" in page.text
    assert "Turn on" in page.text
    assert "Remove ada@example.org?" in (await site.get(f"{here}/remove")).text
    await site.post(f"{here}/remove")
    assert "No channels yet." in (await site.get(HOME)).text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"kind": "slack", "url": "http://169.254.169.254/latest"}, "invalid webhook URL"),
        ({"kind": "slack", "url": "http://hooks.slack.com/x"}, "needs https"),
        ({"kind": "discord", "url": "https://example.org/api/webhooks/1"}, "Discord webhook"),
        ({"kind": "ntfy", "url": "https://ntfy.sh/"}, "ntfy topic"),
        ({"kind": "telegram", "token": "x", "chat": "1"}, "token of your bot"),
        ({"kind": "telegram", "token": f"12345:{'a' * 30}", "chat": "me"}, "number of the chat"),
        (
            {"kind": "push", "endpoint": "https://push.example/1", "p256dh": "x", "auth": "x"},
            "incomplete subscription",
        ),
        # The operator has not switched it on.
        ({"kind": "apprise", "url": "json://127.0.0.1"}, "Choose a channel type"),
        ({"kind": "pigeon"}, "Choose a channel type"),
    ],
)
async def test_a_wrong_channel_is_refused(
    site: httpx2.AsyncClient, database: Database, form: dict[str, str], message: str
) -> None:
    await enter(site, database, "ada", "admin")
    answer = await site.post(f"{HOME}/channels", data=form)
    assert answer.status_code == 400
    assert message in answer.text
    assert await fetch(database, "SELECT id FROM notification.channel") == []


async def test_the_secret_of_a_webhook_is_shown_once(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await enter(site, database, "ada", "seeker")
    form = {"kind": "webhook", "url": "https://hook.example/in"}
    added = await site.post(f"{HOME}/channels", data=form)
    async with database.transaction() as tx:
        [channel] = await channels.find_by_owner(tx, id)
        secret = (await channels.decrypt_config(tx, channel))["secret"]
    assert secret in added.text
    assert added.headers["cache-control"] == "no-store"
    assert secret not in (await site.get(HOME)).text
    stored = await fetch(database, "SELECT encrypted FROM notification.channel")
    assert secret.encode() not in stored[0]


async def test_channels_of_others_do_not_exist(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await enter(site, database, "ada", "admin")
    async with database.transaction() as tx:
        channel_of_ada = await add_channel(tx, owner=id)
        local = await add_channel(tx, owner=LOCAL)
    await enter(site, database, "bo", "admin")
    for channel in (channel_of_ada, local):
        for path in ("test", "state", "remove"):
            answer = await site.post(f"{HOME}/channels/{channel.id}/{path}", data={})
            assert answer.status_code == 404
    assert "ada@example.org" not in (await site.get(HOME)).text
    site.cookies.clear()
    # API keys receive no notifications.
    assert (await site.get(HOME, headers=await bearer(database, "admin"))).status_code == 409


async def test_one_click_unsubscribes_without_a_sign_in_and_opening_the_link_does_not(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        channel = await add_channel(tx)
        token = unsubscribe.sign_link(await secrets.get_signing_key(tx), channel.id)

    async def is_enabled() -> bool:
        return (await fetch(database, "SELECT enabled FROM notification.channel"))[0]

    page = await site.get(f"/unsubscribe/{token}")
    assert "Stop all notifications to ada@example.org?" in page.text
    assert await is_enabled()
    # As mail programs do it.
    for _ in range(2):
        click = await site.post(f"/unsubscribe/{token}", data={"List-Unsubscribe": "One-Click"})
        assert click.status_code == 200
        assert not await is_enabled()
    assert "subscribed again" in (await site.post(f"/unsubscribe/{token}/undo")).text
    assert await is_enabled()
    assert (await site.post(f"/unsubscribe/{token[:-2]}xx")).status_code == 400


async def test_the_feed_shows_own_events_until_it_is_removed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await enter(site, database, "ada", "admin")
    await site.post(f"{HOME}/channels", data={"kind": "feed"})
    url = Html((await site.get(HOME)).text).css_first("a[href$='.atom']").attributes["href"]
    async with database.transaction() as tx:
        await add_event(tx, owner=id, detail="deep\x08 <b>")
        await add_event(tx, owner=LOCAL, cause="of another person")
        await add_event(tx, kind="match", owner=id, cause="nobody is told", match=1)
    await Notifier(database, Settings()).plan()
    site.cookies.clear()
    feed = await site.get(str(url))
    assert feed.headers["content-type"] == "application/atom+xml"
    root = xml.fromstring(feed.content)
    titles = [entry.findtext(f"{{{ATOM}}}title") for entry in root.iter(f"{{{ATOM}}}entry")]
    assert titles == ["Work queue alert: deep <b>"]
    async with database.transaction() as tx:
        await persons.deactivate(tx, "ada@example.org")
    assert (await site.get(str(url))).status_code == 404
