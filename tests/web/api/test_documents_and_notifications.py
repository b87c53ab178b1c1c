"""Documents and notifications over the API."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from jobmill.db import Database
from tests.notifications.helpers import add_channel
from tests.people.helpers import bearer, make_person
from tests.web.api.search_world import SearchWorld, search_world
from tests.web.helpers import site_with, status_and_code


@pytest.fixture
async def world(database: Database) -> AsyncIterator[SearchWorld]:
    async with search_world(database) as world:
        yield world


async def test_a_document_is_written_edited_once_sent_and_downloaded(world: SearchWorld) -> None:
    body = {"matchId": world.match_ids[0], "kind": "resume"}
    written = (await world.site.post("/api/documents", json=body)).json()
    assert (await world.site.post("/api/documents", json=body)).json() == written
    url = f"/api/documents/{written['id']}"
    seen = {"If-Match": (await world.site.get(url)).headers["etag"]}
    key = written["lines"][0]["key"]
    change = {"template": "modern", "lines": [{"key": key, "text": "In my words"}]}
    edited = (await world.site.patch(url, json=change, headers=seen)).json()
    assert (edited["version"], edited["template"]) == (2, "modern")
    assert (edited["lines"][0]["text"], edited["lines"][0]["wording"]) == ("In my words", "own")
    again = await world.site.patch(url, json={"paper": "us-letter"}, headers=seen)
    assert status_and_code(again) == (412, "CHANGED_MEANWHILE")

    sent = await world.site.post(f"{url}/sent", json={"version": 2, "format": "txt"})
    assert [file["version"] for file in sent.json()["sent"]] == [2]
    frozen = await world.site.get(f"{url}/sent/2/txt")
    assert "In my words" in frozen.text
    assert frozen.headers["content-disposition"].startswith("attachment")
    restored = (await world.site.post(f"{url}/restore/1")).json()
    assert (restored["version"], restored["lines"]) == (3, written["lines"])
    assert (await world.site.get(f"{url}/files/3/txt")).text != frozen.text


async def test_documents_are_listed_page_by_page(world: SearchWorld) -> None:
    for id in world.match_ids:
        body = {"matchId": id, "kind": "resume"}
        assert (await world.site.post("/api/documents", json=body)).status_code == 201
    listed: list[int] = []
    url = "/api/documents?limit=2"
    while url:
        page = await world.site.get(url)
        listed += [document["matchId"] for document in page.json()["items"]]
        url = page.links["next"]["url"] if "next" in page.links else ""
    assert listed == list(world.match_ids)[::-1]


async def test_a_line_that_the_document_lacks_is_refused(world: SearchWorld) -> None:
    body = {"matchId": world.match_ids[0], "kind": "letter"}
    id = (await world.site.post("/api/documents", json=body)).json()["id"]
    change = {"lines": [{"key": "nothing", "enabled": False}]}
    refused = await world.site.patch(f"/api/documents/{id}", json=change)
    assert refused.status_code == 400
    assert "no line 'nothing'" in refused.json()["error"]["message"]
    assert (await world.site.get(f"/api/documents/{id}")).json()["version"] == 1


SETTINGS = "/api/notifications/settings"
CHANNELS = "/api/notifications/channels"


async def test_notifications_are_chosen_and_a_channel_is_added_tested_and_removed(
    site: httpx2.AsyncClient,
) -> None:
    wanted = {
        "timeZone": "Europe/Berlin",
        "dailyAt": "07:30",
        "weeklyOn": 5,
        "quietFrom": "22:00",
        "quietUntil": "06:00",
        "kinds": [{"kind": "high_match", "frequency": "weekly"}],
    }
    saved = (await site.put(SETTINGS, json=wanted)).json()
    assert saved == (await site.get(SETTINGS)).json()
    assert {name: saved[name] for name in wanted if name != "kinds"} == {
        name: value for name, value in wanted.items() if name != "kinds"
    }
    assert {"kind": "high_match", "frequency": "weekly"} in saved["kinds"]

    new = {"kind": "webhook", "url": "https://hooks.example.com/in"}
    added = await site.post(CHANNELS, json=new)
    assert (added.status_code, len(added.json()["secret"])) == (201, 43)
    url = f"{CHANNELS}/{added.json()['id']}"
    assert (await site.post(f"{url}/test")).status_code == 204
    (delivery,) = (await site.get("/api/notifications/deliveries")).json()["items"]
    assert (delivery["channelKind"], delivery["frequency"]) == ("webhook", "test")
    assert (await site.patch(url, json={"enabled": False})).json()["enabled"] is False
    (listed,) = (await site.get(CHANNELS)).json()["items"]
    assert (listed["secret"], listed["enabled"]) == (None, False)
    assert (await site.delete(url)).status_code == 204
    assert (await site.get(CHANNELS)).json()["items"] == []


async def test_a_channel_of_another_person_does_not_exist_and_keys_receive_nothing(
    database: Database,
) -> None:
    ada = await make_person(database, "ada@example.org", "seeker")
    async with database.transaction() as tx:
        channel = (await add_channel(tx, owner=ada.id)).id
    async with site_with(database, local=True) as local:
        for method, path in (("PATCH", ""), ("POST", "/test"), ("DELETE", "")):
            answer = await local.request(
                method, f"{CHANNELS}/{channel}{path}", json={"enabled": False}
            )
            assert answer.status_code == 404, method
    async with site_with(database) as site:
        key = await bearer(database, "admin")
        assert (await site.get(SETTINGS, headers=key)).status_code == 409
