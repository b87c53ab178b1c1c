"""The generated client against the real API: everything that a person does in a job search and around it."""

from __future__ import annotations

import asyncio
import datetime as dt
import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from jobmill.client import ApiError, Jobmill, OutdatedVersion, ServerUnreachable, models
from jobmill.db import Database
from jobmill.web import site
from jobmill.web.local_access import create_link
from scripts import client as generator
from tests.web.api.search_world import SearchWorld, fill_search, search_world
from tests.web.conftest import served


@pytest.fixture
async def world(database: Database) -> AsyncIterator[SearchWorld]:
    async with search_world(database) as world:
        yield world


def test_the_client_is_up_to_date() -> None:
    """If this fails, run: python -m scripts.client"""
    for file, source in generator.generate().items():
        assert (generator.FOLDER / file).read_text("utf-8") == source, file


async def test_a_person_searches_triages_and_tracks_jobs(world: SearchWorld) -> None:
    first, second, third = world.match_ids

    def journey(client: Jobmill) -> None:
        found = client.list_listings(q="pump", limit=2)
        assert len(found.items) == 2
        assert found.next
        everything = list(client.iterate(client.list_listings, q="pump", limit=2))
        assert {item.id for item in everything} == set(world.listing_ids)
        outcomes = {item.verdict.outcome for item in everything if item.verdict}
        assert outcomes == {"matched", "filtered"}
        decision = client.show_listing(world.listing_ids[3]).decision
        assert decision
        assert [strike.rule for strike in decision.strikes] == ["seniority", "location"]
        assert client.list_listing_history(world.listing_ids[0]).events

        inbox = list(client.iterate(client.list_matches, limit=1))
        assert [match.id for match in inbox] == [first, second, third]
        detail = client.show_match(first)
        assert (detail.score, detail.threshold) == (95, 80)
        assert [part.name for part in detail.items] == ["skills", "meaning"]

        saved = client.set_match_status(first, models.ApiStatusBody(status="saved", note="good"))
        assert saved.status == "saved"
        assert client.undo_match_status(first).status == "new"
        client.set_match_status(second, models.ApiStatusBody(status="dismissed"))
        reason = models.ApiDismissReasonBody(reason="pay")
        assert client.set_dismiss_reason(second, reason).dismiss_reason == "pay"
        events = client.list_match_history(second).events
        assert [event.what for event in events][-2:] == ["status", "dismiss reason"]
        counts = {count.status: count.count for count in client.count_matches().counts}
        assert (counts["new"], counts["dismissed"]) == (2, 1)

        view = client.create_saved_view(models.ApiNewSavedView(name="Good", min_score=90))
        assert [view.name for view in client.list_saved_views().items] == ["Good"]
        client.remove_saved_view(view.id)
        assert client.restore_saved_view(view.id).removed_at is None

    await world.run(journey)


async def test_a_person_tracks_an_application(world: SearchWorld) -> None:
    id = world.match_ids[0]

    def journey(client: Jobmill) -> None:
        moved = client.move_application(id, models.ApiApplicationMove(column="applied"))
        assert (moved.status, moved.column, moved.version) == ("applied", "applied", 0)
        step = models.ApiApplicationDates(
            next_step="Call", next_step_on=dt.date(2026, 11, 20), applied_on=dt.date(2026, 11, 17)
        )
        dated = client.save_application_dates(id, step, if_match=0)
        assert (dated.version, dated.next_step) == (1, "Call")
        with pytest.raises(OutdatedVersion):
            client.save_application_dates(id, models.ApiApplicationDates(), if_match=0)
        noted = client.add_application_note(id, models.ApiApplicationNoteBody(body="They called."))
        [note] = noted.notes
        edit = models.ApiApplicationNoteBody(body="They called twice.")
        client.edit_application_note(id, note.id, edit, if_match=note.version)
        with pytest.raises(OutdatedVersion):
            client.edit_application_note(
                id, note.id, models.ApiApplicationNoteBody(body="lost"), if_match=note.version
            )
        client.save_application_contact(id, models.ApiContactBody(name="Ada", email="a@b.example"))
        filed = client.add_application_file(id, b"Dear Ada", name="letter.txt")
        assert client.download_application_file(id, filed.files[0].id) == b"Dear Ada"
        client.remove_application_entry(id, "notes", note.id)
        assert client.show_tracked_application(id).notes == []
        restored = client.restore_application_entry(id, "notes", note.id)
        assert [note.body for note in restored.notes] == ["They called twice."]
        assert client.finish_application_step(id).next_step is None

        status = models.ApiCustomStatusBody(
            name="Phone", counts_as="interviewing", shown_after="applied"
        )
        client.create_custom_status(status)
        board = client.show_application_board()
        assert [column.name for column in board.columns if column.custom_status_id] == ["Phone"]
        assert board.columns[1].applications[0].match_id == id
        exported = client.export_tracked_applications()
        assert b"They called twice." in exported
        lines = client.import_tracked_applications(exported, dry_run=True).lines
        assert [line.outcome for line in lines] == ["known"]
        assert client.undo_application_move(id, models.ApiUndoApplicationMove()).status == "new"
        assert client.show_application_statistics().applied >= 0

    await world.run(journey)


async def test_a_person_changes_their_profile(world: SearchWorld) -> None:
    def journey(client: Jobmill) -> None:
        before = client.show_profile("main")
        assert before.profile["titles"] == ["Pump Engineer"]
        changed = {**before.profile, "titles": ["Well Builder"]}
        body = models.ApiProfileBody(profile=changed, note="new wish")
        after = client.save_profile("main", body, if_match=before.version)
        assert (after.version, after.note) == (2, "new wish")
        with pytest.raises(OutdatedVersion) as refused:
            client.save_profile("main", body, if_match=before.version)
        assert refused.value.status == 412
        versions = client.list_profile_versions("main").items
        assert [version.version for version in versions] == [2, 1]
        assert client.show_profile_version("main", 1).profile["titles"] == ["Pump Engineer"]
        assert client.pause_profile("main").paused_at
        assert client.resume_profile("main").paused_at is None
        second = models.ApiProfileBody(profile={"titles": ["Cook"]})
        assert not client.save_profile("second", second).is_default
        assert client.make_default_profile("second").is_default
        with pytest.raises(ApiError) as invalid:
            client.save_profile("main", models.ApiProfileBody(profile={"titels": ["x"]}))
        assert (invalid.value.code, list(invalid.value.errors)) == ("VALIDATION_ERROR", ["titels"])
        preview = client.preview_profile("main", models.ApiPreviewBody(profile=before.profile))
        assert preview.scored == 4
        what_if = client.try_what_if(world.listing_ids[0], without=["Python"], profile="main")
        assert what_if.before.score is not None
        assert client.list_proposed_rules("main").items == []
        draft = client.draft_profile(b"Ada Lovelace\nPump engineer\nSkills: Python, SQL\n")
        assert "skills" in draft.profile

    await world.run(journey)


async def test_an_admin_runs_the_system(world: SearchWorld) -> None:
    def journey(client: Jobmill) -> None:
        [source] = client.list_sources().items
        assert (
            client.disable_source(source.id, models.ApiSourceReasonBody(reason="x")).enabled
            is False
        )
        assert client.enable_source(source.id).enabled
        assert [event.what for event in client.list_source_history(source.id).events][-2:] == [
            "disabled", "enabled"
        ]  # fmt: skip
        run = client.run_source(source.id)
        assert client.run_source(source.id).task_id == run.task_id
        task = client.show_task(run.task_id)
        assert (task.status, task.data["source"]) == ("PENDING", source.id)
        cancelled = client.cancel_task(run.task_id, models.ApiCancelTaskBody(reason="not now"))
        assert cancelled.status == "SKIPPED"
        assert client.retry_task(run.task_id).status == "PENDING"
        assert run.task_id in [item.id for item in client.list_tasks(status="PENDING").items]
        lineage = client.show_lineage(task.tracking_id)
        assert [item.id for item in lineage.items] == [run.task_id]
        body = models.ApiPauseBody(kind=task.kind, reason="repair")
        assert [pause.kind for pause in client.pause_step(body).pauses] == [task.kind]
        assert client.resume_step(models.ApiResumeBody(kind=task.kind)).pauses == []
        schedule = models.ApiScheduleBody(priority=70, interval_hours=12)
        target = client.set_target_schedule(source.id, schedule)
        assert (target.priority, target.interval_hours) == (70, 12)
        assert client.change_target(source.id, "pause").status == "paused"
        assert client.change_target(source.id, "resume").status == "active"
        assert [item.source_id for item in client.list_targets().items] == [source.id]
        assert client.list_due_targets(ahead="week").items
        limits = client.set_platform_limits("greenhouse", models.ApiPlatformLimits(per_day=9))
        assert [row.per_day for row in limits.items if row.platform == "greenhouse"] == [9]
        platform = client.list_platforms().items[0].platform
        assert platform
        assert client.show_budget(days=2).today.spent == 0
        assert [found.code for found in client.show_system_health().conditions][:1] == ["no_worker"]
        company = client.create_company(
            models.ApiNewCompany(name="Springs", website="springs.example")
        )
        assert company.task_id
        assert client.show_company_facts(company.company_id).analysis_status == "pending"
        assert [row.name for row in client.list_companies(q="springs").items] == ["Springs"]
        tracked = client.track_boards(models.ApiBoardsBody(boards=["greenhouse/springs"]))
        assert (tracked.boards, tracked.new) == (1, 1)
        assert client.list_approvals().items == []

    await world.run(journey)


async def test_what_an_admin_cannot_do_with_a_key_says_what_to_do(world: SearchWorld) -> None:
    def journey(client: Jobmill) -> None:
        with pytest.raises(ApiError) as refused:
            client.list_keys()
        assert (refused.value.status, refused.value.code) == (403, "FORBIDDEN")
        assert "jobmill key" in str(refused.value)

    await world.run(journey)


async def test_the_user_of_the_machine_signs_in_with_a_link(database: Database) -> None:
    await fill_search(database)
    guard = site.create_app(database, local=True)
    async with served(guard) as pages:
        url = str(pages.base_url).rstrip("/")
        link = create_link(url, cast(FastAPI, guard.app).state.local_access.link_key)

        def journey() -> str:
            with Jobmill(url) as client:
                client.open_link(link)
                [match, *_] = client.list_matches().items
                return client.set_match_status(
                    match.id, models.ApiStatusBody(status="saved")
                ).status

        assert await asyncio.to_thread(journey) == "saved"


async def test_a_change_is_repeated_with_its_key_until_it_is_answered() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        seen.append(request.headers["idempotency-key"])
        busy = len(seen) < 3
        headers = {"Retry-After": "0"} if busy else {}
        answer: Response = JSONResponse({"count": 1}, 503 if busy else 200, headers)
        await answer(scope, receive, send)

    async with served(app) as pages:
        world = SearchWorld(pages, "jm_x", [], [])
        body = models.ApiUnblockBody(resource="budget")
        answer = await world.run(lambda client: client.unblock_tasks(body))
    assert answer.count == 1
    assert len(seen) == 3
    assert len(set(seen)) == 1


def test_a_server_that_is_not_there_is_told_by_its_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = Jobmill(f"http://127.0.0.1:{port}", key="jm_x", retries=0)
    with client, pytest.raises(ServerUnreachable, match=r"127\.0\.0\.1 did not respond"):
        client.list_matches()
