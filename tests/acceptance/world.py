"""One company with its site and its board on loopback, in real formats."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from tests.outside.site import LoopbackSite, open_site, reply

HOME = "https://tidewater.example"
BOARD = "https://boards.greenhouse.io/tidewater"
PAGE = f"{HOME}/jobs/senior-backend-engineer"

ABOUT = """
<html><head><title>About Tidewater</title>
<meta name="description" content="Tidewater builds software that keeps drinking water safe: sensors,
forecasts and control rooms for two hundred towns along the coast."></head><body>
<h1>About us</h1>
<p>Tidewater builds software that keeps drinking water safe: sensors, forecasts and control rooms for
two hundred towns along the coast. Founded in 2009, we are 250 people, headquartered in Portland, OR.</p>
<h2>Our culture</h2>
<p>We are a remote-first team. We value calm work, honest reviews and long weekends, and nobody is
on call alone.</p>
<h2>Our mission</h2><p>Our mission is to make clean water the most boring thing in the world.</p>
<p>Our stack: Python, PostgreSQL, Docker, Kubernetes and AWS.</p>
</body></html>
"""
CAREERS = f"""
<html><head><title>Careers at Tidewater</title></head><body><h1>Work with us</h1>
<p>See <a href="{BOARD}">all open positions</a>.</p></body></html>
"""
WANTED = (
    "Tidewater keeps water safe. You will build the services that read our sensors.\n"
    "Requirements:\n- 5+ years of experience building backend services\n- Python\n- PostgreSQL\n"
    "Nice to have:\n- Kubernetes\nThis role is fully remote within the United States."
)
UNWANTED = (
    "Work in our control room in Oslo, on site, five days a week. You will look after pumps, keep the "
    "logs, and talk to the crews. Requirements:\n- 2 years of experience\n- COBOL"
)
PROFILE = """
person: {home_city: "Portland, OR", timezone: America/Los_Angeles}
summary: Backend engineer who builds services in Python on PostgreSQL.
experience_years: 9
titles: [Senior Backend Engineer, Backend Engineer]
seniority: [senior]
role_types: [ic]
skills:
  - {name: Python, rank: primary}
  - {name: PostgreSQL, rank: strong}
  - Kubernetes
highlights: [Moved a billing service to PostgreSQL without a minute of downtime]
"""


def post(id: int, title: str, place: str, text: str) -> dict[str, Any]:
    return {
        "id": id,
        "internal_job_id": id + 1,
        "title": title,
        "absolute_url": f"{BOARD}/jobs/{id}",
        "location": {"name": place},
        "updated_at": "2026-11-01T10:00:00-05:00",
        "first_published": "2026-11-01T10:00:00-05:00",
        "content": text.replace("\n", "&lt;br&gt;"),
        "company_name": "Tidewater",
        "metadata": [],
        "departments": [],
        "offices": [],
    }


POSTS = [
    post(7001, "Senior Backend Engineer", "Remote, United States", WANTED),
    post(7002, "Pump Attendant", "Oslo, Norway", UNWANTED),
    post(7003, "Engineering Manager, Backend", "Remote, United States", WANTED),
]


def posting_page() -> bytes:
    node = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": "Senior Backend Engineer, Forecasts",
        "description": WANTED.replace("sensors", "forecasts").replace("\n", "<br>"),
        "datePosted": "2026-11-02",
        "jobLocationType": "TELECOMMUTE",
        "applicantLocationRequirements": {"@type": "Country", "name": "United States"},
        "hiringOrganization": {"@type": "Organization", "name": "Tidewater", "sameAs": HOME},
    }
    script = f'<script type="application/ld+json">{json.dumps(node)}</script>'
    return f"<html><head>{script}</head><body><h1>{node['title']}</h1></body></html>".encode()


@asynccontextmanager
async def open_world() -> AsyncIterator[dict[str, LoopbackSite]]:
    """The sites by host."""
    async with AsyncExitStack() as stack:
        site, board, api = [await stack.enter_async_context(open_site()) for _ in range(3)]
        for path in ("/about", "/"):
            site.on(path, reply(ABOUT.encode()))
        site.on("/careers", reply(CAREERS.encode()))
        site.on("/jobs/senior-backend-engineer", reply(posting_page()))
        answer = {"jobs": POSTS, "meta": {"total": len(POSTS)}}
        api.on("/v1/boards/tidewater/jobs", reply(_json(answer), content_type="application/json"))
        for post in POSTS:
            path = f"/v1/boards/tidewater/jobs/{post['id']}"
            api.on(path, reply(_json(post), content_type="application/json"))
        yield {
            "tidewater.example": site,
            "boards.greenhouse.io": board,
            "boards-api.greenhouse.io": api,
        }


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
