"""Every page, with the filters, orders and tabs that people use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fastapi.routing import iter_route_contexts

from bench.pages.sample_database import Sizes
from jobmill.web import site

NOT_PAGES = re.compile(
    r"/api(/|$)|/live$|/static|^/(queue|rotation)(/|$)|^/sign-in/local$|^/$|^/matches/board$"
)
"""The API, streams that never end, files, and addresses that only redirect."""


@dataclass(frozen=True)
class Route:
    group: str
    path: str
    pages: bool = False
    """Whether to request its next page, too."""


def walk(sizes: Sizes, token: str) -> Iterator[Route]:
    """The ids are those of a database that was empty before it was filled."""
    last = sizes.sources - 43  # an active source with runs
    hot = "/hiring/1"
    paged = {
        "matches": """
            /matches /matches?order=newest /matches?arrangement=remote /matches?status=saved
            /matches?status=new&order=newest /matches?least=80&arrangement=onsite&order=newest /matches?q=python
            /matches?q=fortran /matches?q=nothinglikeit /matches?status=dismissed&arrangement=hybrid
        """,
        "listings": """
            /jobs /jobs?q=python /jobs?q=python&sort=best /jobs?q=fortran&sort=best
            /jobs?q=engineer&sort=best /jobs?q=fortran /jobs?company=river
            /jobs?company=river+mill /jobs?location=lisbon /jobs?location=vard%C3%B8
            /jobs?company=nobody /jobs?q=python&company=river&location=oslo /jobs?arrangement=remote
            /jobs?state=closed /jobs?state=all&q=rust /jobs?days=7 /jobs?days=7&q=nurse&sort=best
            /jobs?q=nothinglikeit
        """,
        "companies": """
            /companies /companies?order=newest /companies?tier=S /companies?tier=D&order=newest /companies?data=sparse
            /companies?data=good&order=newest /companies?waiting=true /companies?q=river /companies?q=nobody
            /companies?q=harbor&tier=A&data=minimal
        """,
        "sources": """
            /sources /sources?show=waiting /sources?show=troubled /sources?show=disabled /sources?show=rejected
            /sources?platform=lever /sources?q=river /sources?q=nobody /sources?platform=rss&show=troubled
            /sources?platform=nothing
        """,
        "rotation": """
            /sources/rotation/reads /sources/rotation/reads?status=paused /sources/rotation/reads?status=bad
            /sources/rotation/reads?platform=lever /sources/rotation/reads?platform=rss&status=bad
        """,
        "queue": """
            /activity/tasks /activity/tasks?status=FAILED /activity/tasks?status=PENDING /activity/tasks?status=BLOCKED
            /activity/tasks?status=SUCCESS&kind=listing /activity/tasks?about=k5000 /activity/tasks?kind=nothing
        """,
        "hiring": """
            /hiring /hiring?status=open /hiring?status=closed /hiring/applicants /hiring/applicants?status=WAITLIST
            /hiring/applicants?q=nobody /hiring/messages /hiring/messages?state=failed
        """,
        "public": "/openings",
    }
    plain = {
        "today": "/today /health /account /account/notifications /demo",
        "matches": f"""
            /applications /applications/import /applications/{sizes.matches // 2} /documents /matches/news?since=1
            /matches/{sizes.matches // 2} /matches/{sizes.matches // 2}/panel
        """,
        "listings": f"/jobs/{sizes.listings} /jobs/5 /jobs/{sizes.listings - 3} /jobs/added",
        "companies": "/companies/new /companies/2 /companies/77777",
        "sources": f"""
            /sources/new /sources/{last} /sources/{last}/change/disable /sources/4
        """,
        "rotation": f"""
            /sources/rotation /sources/rotation?platform=lever /sources/rotation?ahead=day
            /sources/rotation/yield /sources/rotation/yield?of=week
            /sources/rotation/yield?of=month /sources/rotation/reads/{last} /sources/rotation/platforms /sources/rotation/platforms/lever
            /sources/rotation/searches /sources/rotation/searches/new /sources/rotation/searches/5 /sources/rotation/searches/5/remove
        """,
        "queue": f"""
            /activity /activity/pause?phase=listing /activity/resume?phase=listing /activity/unblock?on=budget /activity/tasks/77 /activity/tasks/{sizes.items - 1}
            /activity/tasks/53/retry /activity/lineage/{sizes.big} /activity/lineage/{sizes.big}?item=7 /activity/alerts/1/clear
        """,
        "hiring": f"""
            /hiring/new {hot} /hiring/7 {hot}/change/pause {hot}/edit {hot}?waiting=20000 {hot}/events {hot}/events?upto=40000
            {hot}/events/20 {hot}/events/60000 {hot}/events/80000 {hot}/summary {hot}/replay {hot}/replay?seq=40000
            {hot}/replay?at=MOMENT {hot}/replay/frame?seq=40000 {hot}/people/20 {hot}/people/20000 {hot}/people/53000
            {hot}/people/20/erase {hot}/close {hot}/form {hot}/import {hot}/interviews {hot}/review {hot}/stages {hot}/stages/edit
            /hiring/company /hiring/company/blocklist /hiring/company/email-templates /hiring/company/email-templates/promoted
            /hiring/company/verification /hiring/company/webhooks /hiring/company/website /hiring/import /hiring/messages/setup
            /reports
        """,
        "public": f"""
            /openings/feed.xml /openings/feed.json /openings/embed /openings/company.css /openings/1 /openings/7 /my /my/{token} /my/{token}/applications/20000
            /my/{token}/export /offer/none /sign-in
        """,
        "profile": "/profile /profile/edit /profile/upload /profile/version?version=1 /profile/resume /profile/export",
        "setup": "/setup /setup/model /setup/resume /setup/profile /setup/companies /setup/matches",
        "others": """
            /budget /people /people/keys /people/new /people/7 /people/7/end /people/7/erase-search /people/changes /people/keys/new /people/keys/3/end /settings
            /metrics /healthz /readyz
        """,
        "files": "/matches/export.csv /matches/export.jsonl /applications/export.csv /hiring/openings.csv",
    }
    for group, paths in paged.items():
        yield from (Route(group, path, pages=True) for path in paths.split())
    for group, paths in plain.items():
        yield from (Route(group, path) for path in paths.split())


def missed(walked: list[str]) -> list[str]:
    """The pages that were not requested."""
    paths = [path.partition("?")[0] for path in walked]
    unvisited: list[str] = []
    for route in iter_route_contexts(site.list_routes()):
        pattern = re.sub(r"\{[^}]+\}", "[^/]+", str(route.path))
        if "GET" not in (route.methods or ()) or NOT_PAGES.search(str(route.path)):
            continue
        if not any(re.fullmatch(pattern, path) for path in paths):
            unvisited.append(str(route.path))
    return sorted(set(unvisited))
