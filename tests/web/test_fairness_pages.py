"""Tests of the public fairness proof and of names in place of actors."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import httpx2
from fastapi import FastAPI

from jobmill.db import Database
from jobmill.db.clock import server_time
from jobmill.hiring.actor_names import find_actor_names
from jobmill.hiring.audit_log import verify_fairness
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.people import keys, persons, secrets
from jobmill.web import site as web_site
from tests.hiring.helpers import make_applicant, make_opening
from tests.web.api.helpers import apply, make_job, make_person
from tests.web.conftest import served
from tests.web.helpers import site_with
from tests.web.hiring_helpers import fill, look, post, text, texts


async def test_the_company_publishes_a_proof_that_strangers_verify(
    site: httpx2.AsyncClient, database: Database, tmp_path: Path
) -> None:
    job = await make_job(site)
    ada = await make_person(site, "Ada")
    first = (await apply(site, job, ada))["applicationId"]
    await fill(site, job, "Ben Cy")
    path = f"/openings/{job}/fairness"
    async with site_with(database) as stranger:
        for off in (path, f"{path}/log.jsonl", f"{path}/verify_fairness.py"):
            assert (await stranger.get(off)).status_code == 404
        assert (await stranger.get(f"/api/jobs/{job}/fairness")).status_code == 404
        change = await site.patch(f"/api/jobs/{job}/settings", json={"fairnessProof": True})
        assert change.json()["fairnessProof"] is True
        await post(site, f"/hiring/{job}/people/{first}/remove", {"reason": "private words"})
        page = await look(stranger, path)
        assert "Ada" not in text(page)
        assert "private words" not in text(page)
        assert len(texts(page, ".log li")) == 7
        assert texts(page, ".log .what")[0].endswith(" was offered a place")
        head = (await stranger.get(f"/api/jobs/{job}/fairness")).json()["head"]
        assert f"--head {head['seq']}:{head['hash']}" in text(page)
        log, script = tmp_path / "log.jsonl", tmp_path / "verify_fairness.py"
        log.write_bytes((await stranger.get(f"{path}/log.jsonl")).content)
        script.write_bytes((await stranger.get(f"{path}/verify_fairness.py")).content)
        assert (await stranger.get(f"/api/jobs/{job}/fairness/log")).content == log.read_bytes()
        assert "Fairness proof" in text(await look(stranger, f"/openings/{job}"))
    command = [sys.executable, "-I", str(script), str(log)]
    saved = ["--head", f"{head['seq']}:{head['hash']}"]
    result = subprocess.run([*command, *saved], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    [code] = {json.loads(line)["who"] for line in log.read_text().splitlines()[2:3]}
    async with database.transaction() as tx:
        signer = LinkSigner(await secrets.get_signing_key(tx))
        version = await personal_links.find_link_version(tx, ada)
        assert version is not None
        personal_path = f"/my/{signer.sign_personal(ada, version, await server_time(tx))}"
    async with site_with(database) as applicant:
        await look(applicant, personal_path)
        assert code in text(await look(applicant, f"{personal_path}/applications/{first}"))
        assert f"Your code in this history: {code}." in text(await look(applicant, path))


async def test_the_page_tells_no_more_than_the_public_log(site: httpx2.AsyncClient) -> None:
    job = await make_job(
        site, 1, admission="review", fairnessProof=True, acknowledgeWindowSeconds=172_800
    )
    [ada] = await fill(site, job, "Ada")
    await site.post(f"/api/applications/{ada}/score", json={"score": 89})
    await site.post(f"/api/applications/{ada}/accept")
    await site.post("/api/acknowledge", json={"applicationId": ada})
    body = {"fromStage": "screen", "toStage": "interview"}
    assert (await site.post(f"/api/applications/{ada}/stage", json=body)).status_code == 200
    page = await look(site, f"/openings/{job}/fairness")
    log = (await site.get(f"/openings/{job}/fairness/log.jsonl")).text
    for secret in ("89", "nterview", "score"):
        assert secret not in "\n".join(texts(page, ".log li"))
    assert "SCORED" not in log
    assert "STAGE_CHANGED" not in log
    lines = texts(page, ".log li")
    # Neither who nor when.
    assert [line for line in lines if "Internal" in line] == [
        "7 Internal step of the company",
        "3 Internal step of the company",
    ]
    assert "whom the company accepts is not checked" in text(page)
    assert "for at least 2 days" in text(page)


async def test_requests_for_one_head_wait_without_a_connection(database: Database) -> None:
    guard = web_site.create_app(database)
    heads = cast(FastAPI, guard.app).state.fairness_exports.heads
    async with database.transaction() as tx:
        first, second = [(await make_opening(tx, fairness_proof=True)).id for _ in range(2)]
    async with served(guard) as client:
        async with heads.lock(first):
            waiting = [
                asyncio.create_task(client.get(path))
                for path in (f"/openings/{first}/fairness", f"/api/jobs/{first}/fairness")
            ]
            # Another opening does not wait, so these requests have had their chance.
            for _ in range(3):
                await look(client, f"/openings/{second}/fairness")
            assert not any(request.done() for request in waiting)
        assert [(await request).status_code for request in waiting] == [200, 200]


async def test_the_checkbox_switches_the_proof_on_and_off(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    form = await look(site, f"/hiring/{job}/edit")
    fields = {
        str(node.attributes["name"]): node.attributes.get("value") or ""
        for node in form.css(".terms input:not([type=checkbox])")
    }
    fields |= {"unit": "minutes", "description": ""}
    await post(site, f"/hiring/{job}/edit", {**fields, "fairness_proof": "yes"})
    assert "Fairness proof" in texts(await look(site, f"/hiring/{job}"), ".links a")
    assert "fairness proof" in text(await look(site, f"/hiring/{job}/events/2")).lower()
    await post(site, f"/hiring/{job}/edit", fields)
    await look(site, f"/openings/{job}/fairness", 404)


async def test_downloads_of_public_logs_wait_for_each_other(database: Database) -> None:
    guard = web_site.create_app(database)
    exports = cast(FastAPI, guard.app).state.fairness_exports
    async with database.transaction() as tx:
        path = f"/openings/{(await make_opening(tx, fairness_proof=True)).id}/fairness"
    async with served(guard) as client:
        async with exports.lock:
            download = asyncio.create_task(client.get(f"{path}/log.jsonl"))
            # Pages do not wait, so the download has had its chance.
            for _ in range(3):
                await look(client, path)
            assert not download.done()
        assert (await download).text.count("\n") == 3


async def test_people_read_names_instead_of_actors(database: Database) -> None:
    async with database.transaction() as tx:
        maria = await persons.add(tx, "Maria", "maria@example.org", "recruiter", "correct horse 9")
        key = await keys.add(tx, "Website", "hiring")
        ada = await make_applicant(tx, "Ada")
        actors = [
            *(f"person:{maria.id}", f"key:{key.id}", f"applicant:{ada.id}", "worker", "local"),
            *(f"applicant:{ada.id} link:person:{maria.id}", "person:999", "demo"),
        ]
        names = await find_actor_names(tx, actors, reader=f"person:{maria.id}")
        assert [names[actor] for actor in actors] == [
            *("You", "API key 'Website'", "Ada", "Jobmill (automatic)", "Server operator"),
            *("Ada, with a link from You", "person:999", "demo"),
        ]
        assert (await find_actor_names(tx, [actors[0]]))[actors[0]] == "Maria (recruiter)"


def test_the_verifier_needs_only_the_standard_library() -> None:
    source = Path(verify_fairness.__file__).read_text()
    imports = [
        line.split()[1] for line in source.splitlines() if line.startswith(("import", "from"))
    ]
    assert {name.split(".")[0] for name in imports} <= sys.stdlib_module_names
