"""Competitors of a report: companies that answers name beside it, and reports about their sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobmill.catalog import urls
from jobmill.catalog.company_names import compact_key, company_key
from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.reports import store
from jobmill.reports.report import Report, ReportContents, ReportId, ReportOptions

MAX_FOUND = 30
MAX_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class FoundCompetitor:
    """A company that answers name beside the one of the report."""

    name: str
    answers: int
    """How many answers name it."""
    domain: str | None = None
    """Its website, if an answer cites it or the catalog knows it."""


def find_competitors(contents: ReportContents) -> tuple[FoundCompetitor, ...]:
    """The companies beside it, those that most answers name first, with the domains that answers cite."""
    analyses = [stored.analysis for stored in contents.answers if stored.analysis]
    # "Northwind" and "Northwind Ltd" are one company; the longer name is shown.
    mentions = [{company_key(name): name for name in analysis.beside} for analysis in analyses]
    counts = Counter(key for names in mentions for key in names)
    longest = {
        key: max((names[key] for names in mentions if key in names), key=len) for key in counts
    }
    cited = dict.fromkeys(domain for analysis in analyses for domain in analysis.cited_domains)
    by_label = {_label(domain): domain for domain in reversed(cited)}
    return tuple(
        FoundCompetitor(longest[key], count, by_label.get(compact_key(longest[key])))
        for key, count in counts.most_common(MAX_FOUND)
    )


def _label(domain: str) -> str:
    """The part of a domain that a company's name can equal: "northwind" of jobs.northwind.co.uk."""
    return urls.domain(f"https://{domain}").partition(".")[0].replace("-", "")


async def locate_competitors(tx: Tx, contents: ReportContents) -> tuple[FoundCompetitor, ...]:
    """The companies beside it, also with the domains of the catalog."""
    rivals = find_competitors(contents)
    cursor = await tx.execute(
        """
        SELECT key, min(domain) FROM catalog.company
         WHERE key = ANY (%s) AND domain IS NOT NULL
         GROUP BY key HAVING count(DISTINCT domain) = 1
        """,
        [[company_key(competitor.name) for competitor in rivals]],
    )
    domains: dict[str, str] = dict(await cursor.fetchall())
    return tuple(
        replace(competitor, domain=competitor.domain or domains.get(company_key(competitor.name)))
        for competitor in rivals
    )


async def create_reports(
    tx: Tx, id: int, sites: Sequence[str], *, by: str | None = None
) -> list[ReportId]:
    """Create a report about the site of each competitor, which asks no model. A site that has one for this
    report already gets no second."""
    if not 1 <= len(sites) <= MAX_AT_ONCE:
        raise Invalid(f"name 1 to {MAX_AT_ONCE} websites of competitors (got {len(sites)})")
    # The lock of the row keeps two requests from creating the same reports.
    report = await store.get(tx, id, lock=True)
    existing = {competitor.site for competitor in await find_reports(tx, id)} | {report.site}
    created: list[ReportId] = []
    for site in sites:
        url = store.normalize_site(site)
        if url not in existing:
            existing.add(url)
            options = ReportOptions(site_only=True)
            created.append(await store.create(tx, url, options, by=by, competitor_of=id))
    return created


async def find_reports(tx: Tx, id: int) -> list[Report]:
    """The reports about competitors of a report."""
    return await fetch_all(
        tx,
        Report,
        f"SELECT {store.COLUMNS} FROM reports.report WHERE competitor_of = %s ORDER BY id",
        [id],
    )
