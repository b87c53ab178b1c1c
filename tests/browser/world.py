"""Demo data after a day and a half, so that every page has content."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString

from fastapi import APIRouter
from fastapi.responses import FileResponse

from jobmill.catalog import submissions as added_jobs
from jobmill.db import Database
from jobmill.db.clock import server_time
from jobmill.demo.hiring import BY, EMPLOYER
from jobmill.errors import Forbidden
from jobmill.hiring.actor import by_applicant
from jobmill.hiring.applications import submissions, withdrawals
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.records import applicants, openings
from jobmill.hiring.records.openings import OpeningTerms
from jobmill.matching import matches, profiles
from jobmill.matching.matches import MatchQuery
from jobmill.people import keys, secrets
from tests.demo.helpers import begin, running, see, set_clock
from tests.people.helpers import make_person
from tests.web.helpers import site_with

BEGINNING: dict[str, LiteralString] = {
    "companies known well": "SELECT count(*) >= 20 FROM catalog.company WHERE analysis_status = 'complete'",
    "every vendor": "SELECT count(DISTINCT source_type) = 7 FROM catalog.source WHERE status = 'active'",
    "all of them read": "SELECT count(*) >= 21 FROM catalog.source WHERE last_scraped_at IS NOT NULL",
    "something to approve": "SELECT count(*) >= 2 FROM catalog.source WHERE status = 'pending_validation'",
    "listings": "SELECT count(*) > 60 FROM catalog.listing",
    "duplicates": "SELECT count(*) > 0 FROM catalog.listing WHERE duplicate_of IS NOT NULL",
    "every verdict": "SELECT count(DISTINCT outcome) = 3 FROM matching.verdict",
    "matches": "SELECT count(*) > 2 FROM matching.match",
    "nothing left to judge": "SELECT count(*) = 0 FROM matching.judging_queue",
    "the loop": "SELECT count(*) > 0 FROM queue.items WHERE error_text LIKE '%%in a loop%%'",
    "a miss": "SELECT count(*) > 0 FROM hiring.event WHERE type = 'DECAY_TRIGGERED'",
    "an offer": "SELECT count(*) > 0 FROM hiring.event WHERE type = 'PROMOTED'",
    "a yes": "SELECT count(*) > 0 FROM hiring.event WHERE type = 'ACKNOWLEDGED'",
}
TROUBLE: dict[str, LiteralString] = {
    "listings that came": "SELECT count(*) > 0 FROM catalog.run WHERE added BETWEEN 1 AND 3",
    "a turn of the rotation": "SELECT count(*) > 0 FROM rotation.call JOIN rotation.run ON run.id = run_id",
    "listings that went": "SELECT count(*) > 0 FROM catalog.listing WHERE closed_at IS NOT NULL",
    "a broken board": "SELECT count(*) > 0 FROM catalog.run WHERE detail LIKE '%%500%%'",
    "a lie": "SELECT count(*) > 0 FROM catalog.run WHERE detail LIKE '%%complete message body%%'",
    "a new format": "SELECT count(*) > 0 FROM catalog.source WHERE last_cause = 'changed_format'",
    "a limit": "SELECT count(*) > 0 FROM catalog.run WHERE cause = 'rate_limited'",
}
READ: dict[str, LiteralString] = {
    "all was read": "SELECT NOT EXISTS (SELECT FROM queue.live WHERE available_at <= now())",
}


async def live_a_while(database: Database) -> None:
    """Run the real pipelines until everything was read once, then again with failures, then stop all changes."""
    await begin(database, day=30)
    await set_clock(database, 0)
    async with running(database):
        await see(database, BEGINNING)
    await set_clock(database, 1.55)
    async with database.transaction() as tx:
        # Due by the demo's clock, so that the rotation reads all of them.
        await tx.execute(
            "UPDATE catalog.source SET last_scraped_at = last_scraped_at - INTERVAL '1 day'"
        )
    async with running(database):
        await see(database, TROUBLE | READ)
    await make_offer(database)


@dataclass(frozen=True, slots=True)
class ServedSite:
    """A served site and its database."""

    database: Database
    origin: str


FORBIDDEN, BROKEN, AXE = "/forbidden", "/broken", "/axe.min.js"
VENDOR = Path(__file__).parent / "vendor"
extra_router = APIRouter()


@extra_router.get(FORBIDDEN)
async def refuse() -> None:
    raise Forbidden("This page is only for admins.")


@extra_router.get(BROKEN)
async def fail() -> None:
    raise RuntimeError("a fault of the program")


@extra_router.get(AXE)
async def send_axe() -> FileResponse:
    return FileResponse(VENDOR / "axe.min.js", headers={"Cache-Control": "max-age=3600"})


@asynccontextmanager
async def serve(database: Database) -> AsyncIterator[ServedSite]:
    """A local site without rate limits, with two pages that fail and the script that checks pages."""
    async with site_with(database, extra_router, local=True, public_per_minute=100_000) as client:
        yield ServedSite(database, str(client.base_url).rstrip("/"))


async def add_decisions(database: Database) -> None:
    """Save a match, apply to one, and dismiss two of one company, which proposes a rule. Also a
    job that could not be read, another person and a key."""
    person = await make_person(database)
    async with database.transaction() as tx:
        await keys.add(tx, "Backup", "read", owner_id=person.id)
        version = await profiles.get(tx)
        found = await matches.find(tx, MatchQuery(version.profile_id))
        [(company, _)] = Counter(match.company for match in found).most_common(1)
        saved, applied, *_ = [match for match in found if match.company != company]
        await matches.set_status(tx, saved.id, "saved")
        await matches.set_status(tx, applied.id, "applied")
        for match in [match for match in found if match.company == company][:2]:
            await matches.set_status(tx, match.id, "dismissed")
            await matches.set_dismiss_reason(tx, match.id, "company")
        url = "https://jobs.example.com/gone"
        await added_jobs.add(tx, url, "job", url=url, profile_id=version.profile_id)
        await added_jobs.mark_unknown(tx, url, "HTTP 404", profile_id=version.profile_id)


async def make_offer(database: Database) -> None:
    """An opening with an open offer and a late deadline."""
    terms = OpeningTerms(
        "Lock Keeper",
        "You let boats through.",
        employer=EMPLOYER,
        require_acknowledgement=True,
        acknowledge_window=dt.timedelta(hours=2),
    )
    people = [
        applicants.parse_contact(name, f"{name}@demo.example") for name in ("ada", "bo", "cy")
    ]
    async with database.transaction() as tx:
        opening = await lifecycle.create(tx, terms, 1, BY)
        await submissions.apply_all(tx, opening.id, [ApplyRequest(person) for person in people])
        first = (await applicant_lists.get_detail(tx, opening.id)).active[0]
        await withdrawals.withdraw(tx, first.application_id, by_applicant(first.applicant_id))


async def links(database: Database) -> list[str]:
    """Personal links and answer links of applicants with an offer."""
    async with database.transaction() as tx:
        signer = LinkSigner(await secrets.get_signing_key(tx))
        made: list[str] = []
        for opening in await openings.list_openings(tx):
            for row in (await applicant_lists.get_detail(tx, opening.id)).active:
                if row.acknowledge_deadline:
                    version = await personal_links.find_link_version(tx, row.applicant_id)
                    assert version is not None
                    token = signer.sign_personal(row.applicant_id, version, await server_time(tx))
                    made.append(f"/my/{token}")
                    made.append(
                        f"/offer/{signer.sign_offer(row.application_id, row.acknowledge_deadline)}"
                    )
        return made
