"""/budget: costs and limits of language models."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.outside import model_tiers
from jobmill.outside.budget_ledger import BudgetCaps, LedgerLine, PeriodSpending
from jobmill.queue import Block, Move, NewItem, Stage, Work
from jobmill.settings import Settings
from jobmill.web.pages.budget import BudgetUsage, total_by_day, total_by_use
from jobmill.web.site_settings import SiteSettings
from tests.queue.helpers import drain, put
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, attribute, look, text, texts

KEY = {"ANTHROPIC_API_KEY": "sk-very-secret"}


def line(
    day: str = "2026-11-15", model: str = "a:x", purpose: str = "read", **values: float
) -> LedgerLine:
    numbers = {"calls": 1, "cache_hits": 0, "failures": 0, "tokens_in": 0, "tokens_out": 0}
    return LedgerLine(day, model, purpose, **(numbers | {"spent": 0.1, "unknown": 0} | values))  # pyright: ignore[reportArgumentType]


async def spend(database: Database, model: str = "a:x") -> None:
    """Today: a call of $0.25, one from the cache, and one in progress that may cost $0.0625."""
    async with database.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO budget.call (ends_at, settled_at, model, tier, purpose, prompt_version,
                                     cache_hit, reserved, tokens_in, tokens_out, cost, outcome)
            VALUES (now(), now(), %(model)s, 'cheap', 'read', '1', false, 0.5, 10, 5, 0.25, 'answered'),
                   (now(), now(), %(model)s, 'cheap', 'read', '1', true, 0, NULL, NULL, 0, 'cached'),
                   (now() + interval '1 hour', NULL, 'a:y', 'strong', 'judge', '1', false, 0.0625,
                    NULL, NULL, NULL, NULL)
            """,
            {"model": model},
        )


async def test_spending_is_shown_with_its_limits(database: Database) -> None:
    await spend(database)
    rules = SiteSettings.from_settings(Settings(), KEY)
    async with site_with(database, local=True, site_settings=rules) as site:
        page = await look(site, "/budget")
    today, month = texts(page, "#budget .card")
    assert "$0.25 of $1.00" in today
    assert "$0.6875 left" in today
    assert "$0.0625 reserved" in today
    assert "$0.25 of $20.00" in month
    assert "Within budget" in text(page, ".verdict")
    assert attribute(page, "#live", "hx-sse:connect") == "/live?topic=budget"
    assert attribute(page, "#budget", "hx-select") == "#budget"
    assert "sk-very-secret" not in (page.html or "")


async def test_usage_is_listed_by_model_and_purpose_with_cache_savings(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await spend(database)
    page = await look(site, "/budget")
    assert texts(page, "table[data-sort] tbody th") == ["a:x", "a:y"]
    assert texts(page, "table[data-sort] td[data-value]") == ["$0.25", "$0.0625"]
    figures = dict(zip(texts(page, ".figures dt"), texts(page, ".figures dd"), strict=True))
    assert figures["Saved by cache (estimate)"] == "$0.25"
    assert figures["Answers from cache"] == "1"
    assert "$" not in figures["Cost per match"]


async def test_each_day_is_a_table_row_for_the_chart(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await spend(database)
    page = await look(site, "/budget?days=7")
    times = [int(cell.attributes["data-value"] or "") for cell in page.css("#daily tbody th")]
    cents = [
        float(cell.attributes["data-value"] or "") for cell in page.css("#daily td[data-value]")
    ]
    assert len(times) == 7
    assert all(cell % 86_400 == 0 for cell in times)
    assert times == sorted(times, reverse=True)
    assert cents == [31.25, 0, 0, 0, 0, 0, 0]
    assert attribute(page, ".switch [aria-current]", "href") == "/budget?days=7"
    scripts = [cell.attributes.get("src") for cell in page.css("script")]
    assert "/static/series.js" in scripts
    for src in scripts:
        assert (await site.get(src or "")).status_code == 200


async def test_without_a_model_the_page_explains_how_to_set_one_up(
    empty_site: httpx2.AsyncClient,
) -> None:
    page = await look(empty_site, "/budget")
    assert "Jobmill works without one" in text(page, ".empty")
    assert attribute(page, ".empty a", "href") == "/settings#model-keys"
    assert "No model calls in the last 30 days." in text(page)
    assert texts(page, ".details dd").count("$1.00") == 2
    assert "not used" in texts(page, ".details dd")[0]
    assert "budget_" not in text(page, "main")


async def wait_for_money(work: Work) -> Move:
    return Block("budget", "budget_day is spent", recheck=dt.timedelta(minutes=5))


async def test_tasks_waiting_for_the_budget_are_shown(database: Database) -> None:
    stages = {("tea", "boil"): Stage(wait_for_money)}
    await put(database, stages, NewItem("tea", "boil", "earl-grey"))
    await drain(database, stages)
    async with site_with(
        database,
        local=True,
        site_settings=SiteSettings.from_settings(Settings(), KEY),
    ) as site:
        page = await look(site, "/budget")
        assert text(page, ".verdict") == "1 task is waiting for the budget"
        assert "next day or month" in text(page, ".message")
    local = SiteSettings(caps=BudgetCaps(*[Decimal(1)] * 4, local_when_spent=True))
    async with site_with(database, local=True, site_settings=local) as site:
        assert "without a model" in text(await look(site, "/budget"), ".message")


@pytest.mark.parametrize("days", ["0", "401", "x", "-1"])
async def test_an_invalid_period_is_refused(empty_site: httpx2.AsyncClient, days: str) -> None:
    assert (await empty_site.get(f"/budget?days={days}", headers=HTML)).status_code == 422


@pytest.mark.server_clock(dt.timedelta(days=1))
async def test_the_server_says_which_day_is_today(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await spend(database)
    page = await look(site, "/budget?days=7")
    newest = page.css_first("#daily tbody tr")
    assert newest.css_first("td").text(strip=True) == "31.25"


async def test_model_names_are_escaped(site: httpx2.AsyncClient, database: Database) -> None:
    hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>{{7*7}}'
    await spend(database, hostile)
    answer = await site.get("/budget", headers=HTML)
    page = Html(answer.text)
    assert hostile in texts(page, "tbody th")
    assert not page.css("main img, main script, [style]")
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")


@pytest.mark.parametrize(
    ("spent", "reserved", "cap", "left", "widths"),
    [
        (0.25, 0.25, 1, 0.5, (25, 25)),
        (1.5, 0.5, 1, 0, (100, 0)),
        (0.9, 0.3, 1, 0, (90, 10)),
        (0, 0, 0, 0, (0, 0)),
    ],
)
def test_a_usage_bar_never_exceeds_its_limit(
    spent: float, reserved: float, cap: int, left: float, widths: tuple[float, float]
) -> None:
    usage = BudgetUsage.of(PeriodSpending(spent, reserved), Decimal(cap))
    assert (usage.left, usage.widths) == (left, widths)


def test_usage_is_summed_and_sorted_by_cost() -> None:
    uses = total_by_use(
        [line(), line(day="2026-11-14", cache_hits=3), line(model="a:y", spent=0.5)]
    )
    assert [(use.model, use.total.calls, round(use.total.spent, 6)) for use in uses] == [
        ("a:y", 1, 0.5),
        ("a:x", 2, 0.2),
    ]
    assert round(uses[1].total.saved, 6) == 0.3
    assert total_by_use([line(calls=0, cache_hits=2, spent=0)])[0].total.saved == 0


def test_days_without_calls_are_included() -> None:
    days = total_by_day([line(), line(model="a:y")], 3, dt.date(2026, 11, 16))
    assert [(day.at.day, day.total.calls) for day in days] == [(16, 0), (15, 2), (14, 0)]


def test_site_settings_know_which_models_are_available() -> None:
    assert [tier.missing for tier in SiteSettings.from_settings(Settings(), KEY).tiers] == [
        None,
        None,
    ]
    assert model_tiers.describe_mode(SiteSettings().tiers) == "local only"
    poor = SiteSettings.from_settings(Settings(budget_day=0), KEY)
    assert {tier.missing for tier in poor.tiers} == {"the budget is 0"}
    cheap, _ = model_tiers.find_tiers(Settings(model_cheap="ollama:x", budget_day=0), {})
    assert cheap.missing is None
