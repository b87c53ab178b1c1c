"""Helpers for the hiring pages, read as a browser without scripts would."""

from __future__ import annotations

from typing import Any

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html
from selectolax.lexbor import LexborNode

from jobmill.db import Database
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from tests.web.api.helpers import apply, make_person

HTML = {"Accept": "text/html"}


async def post(
    site: httpx2.AsyncClient, path: str, fields: dict[str, Any] | None = None
) -> httpx2.Response:
    return await site.post(path, data=fields or {}, headers=HTML)


async def look(site: httpx2.AsyncClient, path: str, status: int = 200) -> Html:
    answer = await site.get(path, headers=HTML)
    assert answer.status_code == status, answer.text
    return Html(answer.text)


def part(page: Html, where: str) -> LexborNode:
    node = page.css_first(where)
    assert node, where
    return node


def attribute(page: Html, where: str, name: str) -> str:
    return part(page, where).attributes[name] or ""


def texts(page: Html, where: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(where)]


def text(page: Html, where: str = "main") -> str:
    return " ".join(texts(page, where))


async def the_opening(database: Database, id: int) -> Opening:
    async with database.transaction() as tx:
        return await openings.get(tx, id)


async def fill(site: httpx2.AsyncClient, job: int, names: str) -> list[int]:
    """Apply in order; returns the applications."""
    people = [await make_person(site, name) for name in names.split()]
    return [(await apply(site, job, person))["applicationId"] for person in people]


async def import_many(site: httpx2.AsyncClient, job: int, count: int) -> None:
    lines = "".join(f"Guest {n},guest.{n}@example.org\n" for n in range(1, count + 1))
    answer = await site.post(f"/api/jobs/{job}/import", content=f"name,email\n{lines}")
    assert answer.status_code == 200, answer.text
