"""Every page, with the filters, orders and tabs that people use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from bench.pages.sample_database import Sizes

NOT_PAGES = re.compile(r"/api(/|$)|/live$|/static")
"""The API, streams that never end, and files."""


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
            /rotation/reads /rotation/reads?status=paused /rotation/reads?status=bad
            /rotation/reads?platform=lever /rotation/reads?platform=rss&status=bad
        """,
        "queue": """
            /queue/tasks /queue/tasks?status=FAILED /queue/tasks?status=PENDING /queue/tasks?status=BLOCKED
            /queue/tasks?status=SUCCESS&kind=listing /queue/tasks?about=k5000 /queue/tasks?kind=nothing
        """,
        "hiring": "/hiring /hiring?status=open /hiring?status=closed",
        "public": "/openings",
    }
    plain = {
        "home": "/ /account /demo",
        "matches": f"""
            /applications /matches/news?since=1 /matches/{sizes.matches // 2}
        """,
        "listings": f"/jobs/{sizes.listings} /jobs/5 /jobs/{sizes.listings - 3}",
        "companies": "/companies/new /companies/2 /companies/77777",
        "sources": f"""
            /sources/new /sources/{last} /sources/{last}/change/disable /sources/4
        """,
        "rotation": f"""
            /rotation /rotation?platform=lever /rotation?ahead=day /rotation/yield /rotation/yield?of=week
            /rotation/yield?of=month /rotation/reads/{last} /rotation/platforms /rotation/platforms/lever
            /rotation/searches /rotation/searches/new /rotation/searches/5 /rotation/searches/5/remove
        """,
        "queue": f"""
            /queue /queue/pause /queue/resume /queue/unblock /queue/tasks/77 /queue/tasks/{sizes.items - 1}
            /queue/tasks/53/retry /queue/lineage/{sizes.big} /queue/lineage/{sizes.big}?item=7 /queue/alerts/1/clear
        """,
        "hiring": f"""
            /hiring/new {hot} /hiring/7 {hot}/change/close {hot}/edit {hot}?waiting=20000 {hot}/events {hot}/events?upto=40000
            {hot}/events/20 {hot}/events/60000 {hot}/events/80000 {hot}/summary {hot}/replay {hot}/replay?seq=40000
            {hot}/replay?at=MOMENT {hot}/people/20 {hot}/people/20000 {hot}/people/53000
        """,
        "public": f"""
            /openings/feed.xml /openings/1 /openings/7 /my /my/{token} /my/{token}/applications/20000
            /my/{token}/export /offer/none /sign-in
        """,
        "profile": "/profile /profile/edit /profile/upload /profile/version?version=1",
        "setup": "/setup /setup/model /setup/resume /setup/profile /setup/companies /setup/matches",
        "others": """
            /budget /people /people/keys /people/new /people/7 /people/7/end /people/keys/new /people/keys/3/end /settings
            /metrics /healthz /readyz
        """,
        "files": "/matches/export.csv /matches/export.jsonl",
    }
    for group, paths in paged.items():
        yield from (Route(group, path, pages=True) for path in paths.split())
    for group, paths in plain.items():
        yield from (Route(group, path) for path in paths.split())


def missed(app: FastAPI, walked: list[str]) -> list[str]:
    """The pages that were not requested."""
    paths = [path.partition("?")[0] for path in walked]
    unvisited: list[str] = []
    for route in iter_route_contexts(app.routes):
        pattern = re.sub(r"\{[^}]+\}", "[^/]+", str(route.path))
        if "GET" not in (route.methods or ()) or NOT_PAGES.search(str(route.path)):
            continue
        if not any(re.fullmatch(pattern, path) for path in paths):
            unvisited.append(str(route.path))
    return sorted(set(unvisited))
