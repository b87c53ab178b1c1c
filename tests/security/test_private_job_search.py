"""A job search exists only for its owner: every route, every kind of visitor.

The routes come from the application. A route below a path of the job search must answer 404 to
other people with its ids and names, unless `OWN` or `SEARCH_OF_ADMINS` classifies it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import httpx2
import pytest

from jobmill.catalog import submissions
from jobmill.db import Database, Tx, fetch_value
from jobmill.documents import store as documents
from jobmill.matching import matches, profiles, saved_views
from jobmill.matching.job_applications import custom_statuses, details, entries, files
from jobmill.matching.job_applications.details import ApplicationDetails
from jobmill.matching.job_applications.entries import ContactFields
from jobmill.matching.profile import Profile
from jobmill.matching.saved_views import InboxFilters
from jobmill.matching.verdict import ScoreItem
from jobmill.people import keys
from jobmill.people.persons import LOCAL, Owner
from jobmill.pipelines import company, discovery, judging, submission
from jobmill.pipelines import documents as document_pipeline
from jobmill.queue import Move, NewItem, Stage, Work, declare_stages, lineage, submit_all
from jobmill.queue.spawn_rules import ChildItem, spawn_children
from jobmill.web.api import router as api_router
from jobmill.web.auth import SESSION_COOKIE
from tests.catalog import helpers
from tests.documents.samples import make_resume
from tests.matching import judged
from tests.people.helpers import PASSWORD, make_person
from tests.web.helpers import site_with
from tests.web.test_every_route import (
    OPEN,
    SEARCH,
    SEARCH_OF_ADMINS,
    SIGNED,
    Route,
    routes,
)

REST = (
    "/", "/account", "/hiring", "/health", "/activity", "/queue", "/rotation", "/sources", "/budget", "/reports", "/people", "/settings",
    "/demo", "/metrics", "/live", "/openings", "/my", "/offer", "/confirm", "/sign-in", "/sign-out", "/healthz",
    "/readyz", "/static", "/api/healthz", "/api/openapi.json", "/api/docs", "/api/jobs", "/api/session", "/api/apply",
    "/api/apply-public", "/api/withdraw", "/api/acknowledge", "/api/offers", "/api/applications", "/api/applicants",
    "/api/status", "/api/timeline", "/api/queue", "/api/pipeline", "/api/webhooks", "/api/blocklist", "/api/reports",
    "/api/notes", "/api/mentions", "/api/interviews", "/api/company", "/api/letters", "/api/messages", "/api/sources", "/api/approvals",
    "/api/searches", "/api/rotation", "/api/tasks", "/api/lineages", "/api/work-queue", "/api/budget", "/api/health",
    "/api/people", "/api/keys", "/api/notifications",
)  # fmt: skip
"""The other workspaces, public pages and the account."""

OWN = {
    "GET /today": "the matches of the visitor",
    "POST /today/intro": "a cookie of the visitor",
    "GET /companies": "shared",
    "GET /matches/board": "redirects to the board of the visitor",
    "GET /companies/{company_id}": "shared",
    "GET /jobs/added": "lists what the visitor added",
    "POST /jobs/added": "adds for the visitor",
    "POST /api/submissions": "adds for the visitor",
    "GET /api/submissions": "lists what the visitor added",
    "GET /api/listings/{listing_id}/history": "shared",
    "GET /api/companies": "shared",
    "GET /api/companies/{company_id}": "shared",
    "GET /api/documents": "lists the documents of the visitor",
    "GET /api/profiles": "the profiles of the visitor",
    "PUT /api/profiles/{name}": "saves a profile of the visitor; another name than the victim's, so that "
    "requests for that one still find nothing",
    "POST /api/profiles/draft": "nothing is saved",
    "GET /profile/upload": "an empty form",
    "POST /profile/upload": "nothing is saved",
    "POST /profile/edit": "saves a profile of the visitor, whatever its name",
    "GET /setup": "the profile of the visitor",
    "GET /setup/resume": "an empty form",
    "POST /setup/resume": "nothing is saved",
    "GET /setup/profile": "the profile of the visitor",
    "POST /setup/profile": "saves a profile of the visitor, whatever its name",
    "GET /setup/matches": "the matches of the visitor",
}
"""Routes that name nothing of other people, and why: they show and change what is the visitor's."""

NOT_FOUND_FOR_OWNER = {"POST /profile/rules", "POST /api/profiles/{name}/proposed-rules/{key}"}
"""No rule is proposed here."""
NEEDS_INPUT = {"GET /api/listings/{listing_id}/what-if", "GET /matches/{match_id}/what-if"}
"""Reads that refuse the owner's request without further parameters."""

PHASES = (
    (judging.KIND, "scrape"),
    (submission.KIND, "detect"),
    (discovery.KIND, "discover"),
    (company.KIND, "fetch"),
    (document_pipeline.KIND, "write"),
)
WORDS = {"entry_path": "notes", "kind": "resume", "format": "pdf"}
"""Valid values of parameters that are no numbers."""
CHANGES = ("POST", "PUT", "PATCH", "DELETE")
NUMBERS = count(1)


@dataclass(frozen=True)
class Victim:
    owner: Owner
    profile: str
    secret: str
    """In everything that the job search consists of."""
    ids: Mapping[str, int | str]

    def url(self, route: Route, *, named: bool = True) -> str:
        def fill(match: re.Match[str]) -> str:
            name = match[1].split(":")[0]
            if name in WORDS:
                return WORDS[name]
            if name == "name" and named and route.method != "PUT":
                return self.profile
            is_number = name.lower().endswith(("id", "seq"))
            return str(self.ids.get(name, 1 if is_number else "x"))

        return re.sub(r"\{([^}]+)\}", fill, route.path)

    def is_named_by(self, route: Route) -> bool:
        """Whether the path has an id of the job search."""
        return any(f"{{{name}}}" in route.path for name in self.ids)

    def form(self, *, named: bool = True) -> dict[str, str]:
        names = {"profile": self.profile, "name": self.profile} if named else {}
        return {
            **names,
            "status": "dismissed",
            "column": "dismissed",
            "body": "intruded",
            "version": "1",
            "status_name": "intruded",
            "counts_as": "applied",
            "shown_after": "applied",
            "contact_name": "intruded",
            "text": "title,company\nCook,Acme",
            "confirmed": "yes",
            "reason": "company",
            "format": "docx",
            "rule": "company:wells",
            "decision": "declined",
            "action": "save",
            "what": "https://jobs.example.com/other",
            "back": f"/matches/{self.ids['match_id']}",
        }

    def body(self, route: Route, *, named: bool = True) -> dict[str, Any]:
        """Valid for every operation of the API, which ignore fields of others."""
        is_document = route.path.startswith("/api/profiles")
        name = self.profile if named else None
        return {
            "input": "https://jobs.example.com/other",
            "profile": {"titles": ["Intruder"]} if is_document else name,
            "name": "intruded",
            "status": "dismissed",
            "reason": "company",
            "decision": "declined",
            "column": "dismissed",
            "body": "intruded",
            "countsAs": "applied",
            "shownAfter": "applied",
            "matchId": self.ids["match_id"],
            "kind": "resume",
            "version": 1,
            "format": "docx",
        }

    def query(self, route: Route, *, named: bool = True) -> dict[str, str]:
        """The parameters that name the profile, as far as the route has them."""
        own = {"profile": self.profile} if named else {}
        if not route.path.startswith("/api/"):
            return own
        description: Any = api_router.description()
        operation = description["paths"][route.path][route.method.lower()]
        names = {part["name"] for part in operation.get("parameters", ()) if part["in"] == "query"}
        values = {**own, "name": "cv.txt"}
        return {name: value for name, value in values.items() if name in names}


@dataclass(frozen=True)
class World:
    client: httpx2.AsyncClient
    visitors: Mapping[str, dict[str, str]]
    """The headers of each visitor."""
    victims: Mapping[str, Victim]

    async def ask(
        self, route: Route, who: str, victim: Victim, *, named: bool = True
    ) -> tuple[int, str]:
        """`named`: with the profile of the victim in the query and the form."""
        has_query = named or route.method in CHANGES
        more: dict[str, Any] = {"params": victim.query(route, named=named)} if has_query else {}
        if route.path == "/live":
            more["params"] = {"topic": "queue"}
        if route.method in CHANGES and route.path.startswith("/api/"):
            more["json"] = victim.body(route, named=named)
        elif route.method in CHANGES:
            more["data"] = victim.form(named=named)
        headers = self.visitors[who]
        # Visitors that try a name see what they typed.
        url = victim.url(route, named=named)
        async with self.client.stream(route.method, url, headers=headers, **more) as answer:
            if "event-stream" in answer.headers.get("content-type", ""):
                return answer.status_code, ""
            return answer.status_code, (await answer.aread()).decode("utf-8", "replace")


@pytest.fixture
async def world(database: Database) -> AsyncIterator[World]:
    async with site_with(database, local=True, public_per_minute=100_000) as client:
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        client.cookies.clear()
        visitors = {"local": {"Cookie": cookies}}
        people: dict[str, int] = {}
        for name, role in (
            ("anna", "seeker"),
            ("bob", "seeker"),
            ("recruiter", "recruiter"),
            ("viewer", "viewer"),
            ("admin", "admin"),
        ):
            person = await make_person(database, f"{name}@example.org", role)
            people[name] = person.id
            visitors[name] = await sign_in(client, person.email)
        async with database.transaction() as tx:
            for name in ("anna", "bob", "admin"):
                key = await keys.add(tx, f"key of {name}", "admin", owner_id=people[name])
                visitors[f"key of {name}"] = {"Authorization": f"Bearer {key.key}"}
        async with database.transaction() as tx:
            await declare_stages(tx, {phase: Stage(run_nothing) for phase in PHASES})
            victims = {"anna": await fill(tx, people["anna"]), "local": await fill(tx, LOCAL)}
            await profiles.save(tx, "main", Profile(titles=("Cook",)), owner=people["bob"])
        yield World(client, visitors, victims)


async def run_nothing(work: Work) -> Move:
    raise NotImplementedError


async def sign_in(client: httpx2.AsyncClient, email: str) -> dict[str, str]:
    body = {"email": email, "password": PASSWORD}
    assert (await client.post("/api/session", json=body)).status_code == 200
    headers = {"Cookie": f"{SESSION_COOKIE}={client.cookies[SESSION_COOKIE]}"}
    client.cookies.clear()
    return headers


async def fill(tx: Tx, owner: Owner) -> Victim:
    """A profile with a match, a note, a view, an added job and a task."""
    # Visitors that try the name of a profile see what they typed, so the secret is another word.
    name, secret = f"hidden-{owner or 'local'}", f"zeldasecret-{owner or 'local'}"
    place = await judged.make(
        tx,
        postings=[helpers.posting((owner or 0) + 1)],
        profile=Profile(titles=("Pump Engineer",), summary=secret),
        name=name,
        owner=owner,
    )
    reason = ScoreItem("skills", 90, 100, secret, ("Python",))
    match_id = await matches.save_verdict(tx, place.word(90, items=(reason,)))
    assert match_id is not None
    await matches.set_status(tx, match_id, "saved", owner=owner, note=secret, actor="x")
    await details.save(tx, match_id, ApplicationDetails(next_step=secret), owner=owner)
    note_id = await entries.add_note(tx, match_id, secret, owner=owner)
    await entries.save_contact(tx, match_id, ContactFields(secret), owner=owner)
    await files.add(tx, match_id, "cv.txt", secret.encode(), owner=owner)
    [file] = await files.find_all(tx, match_id)
    custom_status_id = await custom_statuses.add(
        tx, place.profile, secret, status="applied", shown_after="applied"
    )
    document_id = await documents.create(tx, match_id, make_resume(), owner=owner)
    await documents.mark_sent(tx, document_id, 1, "pdf", secret.encode(), owner=owner)
    view = await saved_views.save(tx, place.profile, secret, InboxFilters("saved"))
    url = f"https://jobs.example.com/{secret}"
    added = await submissions.add(tx, url, "job", owner=owner, url=url, profile_id=place.profile)
    await submissions.mark_unknown(tx, url, secret, profile_id=place.profile)
    new_item = judging.new_item_for_url(url, place.profile)
    [item] = await submit_all(tx, [new_item])
    # It may not be its own child; a task of everyone may not have it as a child either.
    [shared] = await submit_all(
        tx, [NewItem(company.KIND, "fetch", f"company of {name[:3]}{owner}")]
    )
    await spawn_children(tx, [ChildItem(item.id, new_item), ChildItem(shared.id, new_item)])
    await tx.execute("UPDATE queue.item SET message = %s WHERE id = %s", [secret, item.id])
    company_id = await fetch_value(
        tx, int, "INSERT INTO catalog.company (name, key) VALUES (%(n)s, %(n)s) RETURNING id",
        {"n": f"Wells {owner}"},
    )  # fmt: skip
    assert company_id
    ids = {
        "match_id": match_id,
        "note_id": note_id,
        "entry_id": note_id,
        "file_id": file.id,
        "custom_status_id": custom_status_id,
        "view_id": view.id,
        "submission_id": added.id,
        "listing_id": place.listing,
        "company_id": company_id,
        "item_id": item.id,
        "shared_item_id": shared.id,
        "tracking_id": str(await lineage.get_tracking_id(tx, item.id)),
        "shared_tracking_id": str(await lineage.get_tracking_id(tx, shared.id)),
        "document_id": document_id,
        "version": 1,
        "number": 1,
    }
    return Victim(owner, name, secret, ids)


async def checksum(database: Database, owner: Owner) -> str:
    """Of all rows of a job search."""
    async with database.transaction() as tx:
        value = await fetch_value(
            tx,
            str,
            """
            WITH own AS (SELECT * FROM matching.profile WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint),
            rows AS (
                SELECT own::text AS text FROM own
                UNION ALL SELECT version::text FROM matching.profile_version AS version JOIN own ON own.id = profile_id
                UNION ALL SELECT chosen::text FROM matching.default_profile AS chosen JOIN own ON own.id = profile_id
                UNION ALL SELECT verdict::text FROM matching.verdict JOIN own ON own.id = profile_id
                UNION ALL SELECT match::text FROM matching.match JOIN own ON own.id = profile_id
                UNION ALL SELECT event::text FROM matching.event JOIN matching.match ON match.id = match_id
                                                               JOIN own ON own.id = profile_id
                UNION ALL SELECT stored::text FROM matching.application AS stored
                            JOIN matching.match ON match.id = match_id JOIN own ON own.id = profile_id
                UNION ALL SELECT stored::text FROM matching.application_note AS stored
                            JOIN matching.match ON match.id = match_id JOIN own ON own.id = profile_id
                UNION ALL SELECT stored::text FROM matching.application_contact AS stored
                            JOIN matching.match ON match.id = match_id JOIN own ON own.id = profile_id
                UNION ALL SELECT stored::text FROM matching.application_file AS stored
                            JOIN matching.match ON match.id = match_id JOIN own ON own.id = profile_id
                UNION ALL SELECT stored::text FROM matching.document AS stored
                            JOIN matching.match ON match.id = match_id JOIN own ON own.id = profile_id
                UNION ALL SELECT stored::text FROM matching.document_version AS stored
                            JOIN matching.document ON document.id = document_id
                            JOIN matching.match ON match.id = match_id JOIN own ON own.id = profile_id
                UNION ALL SELECT stored::text FROM matching.sent_document AS stored
                            JOIN matching.document ON document.id = document_id
                            JOIN matching.match ON match.id = match_id JOIN own ON own.id = profile_id
                UNION ALL SELECT custom::text FROM matching.custom_status AS custom JOIN own ON own.id = profile_id
                UNION ALL SELECT decision::text FROM matching.rule_decision AS decision JOIN own ON own.id = profile_id
                UNION ALL SELECT view::text FROM matching.view JOIN own ON own.id = profile_id
                UNION ALL SELECT waiting::text FROM matching.judging_queue AS waiting JOIN own ON own.id = profile_id
                UNION ALL SELECT submission::text FROM catalog.submission
                           WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint
            )
            SELECT count(*) || md5(string_agg(text, ';' ORDER BY text)) FROM rows
            """,
            {"owner": owner},
        )
    assert value
    return value


def search_routes() -> list[Route]:
    return [route for route in routes() if route.is_below(SEARCH)]


def test_every_route_is_classified() -> None:
    everything = routes()
    unknown = [
        route.name
        for route in everything
        if not (route.is_below(SEARCH) or route.is_below(REST) or route.name in OPEN)
        and not route.path.startswith(SIGNED)
    ]
    assert unknown == []
    names = {route.name for route in search_routes()}
    assert set(OWN) | SEARCH_OF_ADMINS <= names
    assert len(names - set(OWN) - SEARCH_OF_ADMINS) >= 18


async def test_no_page_shows_a_job_search_to_others(world: World) -> None:
    assert await find_leaks(world) == []
    await check_cursors(world)


@pytest.mark.parametrize("who", ["admin", "key of admin", "local"])
async def test_refused_tasks_do_not_show_a_job_search_to_admins(world: World, who: str) -> None:
    ids = world.victims["anna"].ids
    for path in (
        f"/activity/lineage/{ids['tracking_id']}",
        f"/activity/lineage/{ids['shared_tracking_id']}",
        f"/activity/tasks/{ids['shared_item_id']}",
        f"/api/tasks/{ids['shared_item_id']}",
    ):
        headers = {"Accept": "text/html"} | world.visitors[who]
        answer = await world.client.get(path, headers=headers)
        assert answer.status_code == 200, path
        assert "refused" in answer.text.lower(), path
        assert world.victims["anna"].secret not in answer.text, path


@pytest.mark.parametrize("victim", ["anna", "local"])
async def test_a_job_search_exists_only_for_its_owner(
    world: World, database: Database, victim: str
) -> None:
    assert await intrude(world, database, victim) == {}


@pytest.mark.parametrize("visitor", ["anna", "key of anna"])
async def test_the_owner_may_use_every_route(
    world: World, database: Database, visitor: str
) -> None:
    assert await use_own(world, database, visitor) == {}


async def with_new_status(victim: Victim, database: Database) -> Victim:
    """A removed status does not come back, so that the next route needs another one."""
    async with database.transaction() as tx:
        profile_id = (await profiles.get(tx, victim.profile, owner=victim.owner)).profile_id
        id = await custom_statuses.add(
            tx, profile_id, f"again {next(NUMBERS)}", status="applied", shown_after="applied"
        )
    return replace(victim, ids={**victim.ids, "custom_status_id": id})


async def find_leaks(world: World) -> list[str]:
    """Without naming anything: home, the shared catalog, the queue, budget, people and their changes."""
    victim = world.victims["anna"]
    leaks: list[str] = []
    for who in ("bob", "recruiter", "viewer", "admin", "key of admin", "local"):
        for route in routes():
            if route.method != "GET":
                continue
            status, text = await world.ask(route, who, victim, named=False)
            if victim.secret in text or victim.profile in text or status >= 500:
                leaks.append(f"{who}: {route.name} ({status})")
    return leaks


async def check_cursors(world: World) -> None:
    """The order after a match of another person would tell how it scored."""
    after = world.victims["anna"].ids["match_id"]
    for who, expected in (("bob", 404), ("local", 404), ("anna", 200)):
        page = await world.client.get(f"/matches?after={after}", headers=world.visitors[who])
        assert page.status_code == expected, who


async def intrude(world: World, database: Database, victim_name: str) -> dict[str, int]:
    """Everyone else tries every route of the job search with the names and ids of the victim, and
    somebody with a job search changes with the ids alone: their own profile is taken then."""
    victim = world.victims[victim_name]
    before = await checksum(database, victim.owner)
    wrong: dict[str, int] = {}
    for who in world.visitors:
        if who in (victim_name, f"key of {victim_name}"):
            continue
        for route in search_routes():
            status, text = await world.ask(route, who, victim)
            has_search = who not in ("recruiter", "viewer")
            may_answer = has_search and route.name in {*OWN, *SEARCH_OF_ADMINS}
            if not (status == 404 or may_answer) or victim.secret in text or status >= 500:
                wrong[f"{who}: {route.name}"] = status
        assert await checksum(database, victim.owner) == before, who
    for route in search_routes():
        if route.method in CHANGES:
            status, text = await world.ask(route, "bob", victim, named=False)
            may_answer = route.name in {*OWN, *SEARCH_OF_ADMINS} or not victim.is_named_by(route)
            if not (status == 404 or may_answer) or victim.secret in text or status >= 500:
                wrong[f"bob, by id: {route.name}"] = status
    assert await checksum(database, victim.owner) == before
    return wrong


async def use_own(world: World, database: Database, who: str) -> dict[str, int]:
    """Which routes do not work for the owner; they change something."""
    victim = world.victims["anna"]
    before = await checksum(database, victim.owner)
    wrong: dict[str, int] = {}
    for route in search_routes():
        if "{custom_status_id}" in route.path:
            victim = await with_new_status(victim, database)
        status, _ = await world.ask(route, who, victim)
        may_refuse = route.method in CHANGES or route.name in NEEDS_INPUT
        is_allowed = status < 400 or (status in (400, 409, 422) and may_refuse)
        if route.name in NOT_FOUND_FOR_OWNER:
            is_allowed = status == 404
        if status != 403 if route.name in SEARCH_OF_ADMINS else not is_allowed:
            wrong[route.name] = status
    assert await checksum(database, victim.owner) != before
    return wrong
