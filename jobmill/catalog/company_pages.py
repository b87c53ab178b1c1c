"""Pages of a company's site, stored between the stages of its analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all


@dataclass(frozen=True, slots=True)
class CompanyPage:
    url: str
    """The URL after redirects."""
    html: str


async def replace_all(tx: Tx, *, id: int, pages: Sequence[CompanyPage]) -> None:
    """Replace the stored pages of a company."""
    await delete_all(tx, id=id)
    await tx.execute(
        """
        INSERT INTO catalog.company_page (company_id, position, url, html)
        SELECT %(id)s, position, url, html
          FROM unnest(%(urls)s::text[], %(html)s::text[]) WITH ORDINALITY
               AS page (url, html, position)
        """,
        {"id": id, "urls": [page.url for page in pages], "html": [page.html for page in pages]},
    )


async def find(tx: Tx, id: int) -> list[CompanyPage]:
    """The stored pages of a company, in the order in which they were fetched."""
    return await fetch_all(
        tx,
        CompanyPage,
        "SELECT url, html FROM catalog.company_page WHERE company_id = %s ORDER BY position",
        [id],
    )


async def delete_all(tx: Tx, *, id: int) -> None:
    await tx.execute("DELETE FROM catalog.company_page WHERE company_id = %s", [id])
