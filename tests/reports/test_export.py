"""Exports: text from sites and models keeps no meaning in Markdown and HTML, and every format has all parts."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace

import pytest

from jobmill.reports import comparison, export
from jobmill.reports.answers import (
    AnswerAnalysis,
    JudgedClaim,
    Prompt,
    Recommendation,
    Score,
    StoredAnswer,
)
from jobmill.reports.competitors import FoundCompetitor, find_competitors
from jobmill.reports.document import MAX_ROWS, build_sections
from jobmill.reports.findings import (
    BotAccess,
    Evidence,
    Fact,
    PageReadability,
    PostingShares,
    QuestionAnswer,
    SiteFindings,
)
from jobmill.reports.report import (
    LIMITS,
    Report,
    ReportAnswer,
    ReportContents,
    ReportId,
    ReportPrompt,
    storable,
)

NOW = dt.datetime(2026, 11, 17, tzinfo=dt.UTC)
SITE = "https://tidewater.example/"


def make_contents(
    id: int = 1, *, value: str = "250 people", url: str = SITE, site: str = SITE, score: float = 50
) -> ReportContents:
    report = Report(
        ReportId(id), site, None, "Tidewater", "completed", False, None, None, None, None, None, [],
        5, 7, False, None, False, None, None, None, None, None, 1, 1, list(LIMITS), None, NOW, NOW, NOW,
    )  # fmt: skip
    evidence = Evidence(value, url)
    findings = SiteFindings(
        site,
        "Tidewater",
        NOW,
        facts=(Fact("size", value, evidence),),
        questions=(
            QuestionAnswer("size", "discovery", "How many people work there?", evidence),
            QuestionAnswer("pay", "evaluation", "What does it pay?", None),
        ),
    )
    claim = JudgedClaim("It has 900 people.", "contradicted", evidence, "The site states another.")
    analysis = AnswerAnalysis(
        "p1", "openai:gpt", 1, True, 2, ("Aquaflow",), "neutral", ("example.org",), (claim,)
    )
    return ReportContents(
        report,
        findings,
        (ReportPrompt(Prompt("p1", "Who is good?", "discovery", "everyone", False), None, 1),),
        (ReportAnswer(StoredAnswer("p1", "openai:gpt", 1, "Text"), None, None, NOW, analysis),),
        (Score("visibility", score, score - 10, score + 10, "100 * 1 / 2"),),
        (Recommendation(SITE, "It says nothing about pay.", "We pay …", 3.0),),
    )


@pytest.mark.parametrize("write", [export.to_markdown, export.to_html, export.to_json])
def test_every_format_has_scores_evidence_claims_and_limits(write) -> None:  # pyright: ignore
    text = write(make_contents())
    parts = ("250 people", "It has 900 people.", "Aquaflow", "What does it pay?", "We pay …")
    assert [part for part in (*parts, "How often candidates ask") if part not in text] == []


def test_html_escapes_text_and_links_only_to_pages() -> None:
    html = export.to_html(
        make_contents(value="<script>alert(1)</script>", url="javascript:alert(1)")
    )
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert 'href="javascript' not in html
    quoted = export.to_html(make_contents(url='https://x.example/" onclick="alert(1)'))
    assert 'onclick="' not in quoted


def test_markdown_escapes_text_and_urls() -> None:
    hostile = "[a](https://evil.example) | b `c` <img>"
    markdown = export.to_markdown(make_contents(value=hostile, url="https://x.example/a|b) c"))
    assert "[a](" not in markdown
    assert "<img>" not in markdown
    assert "https://x.example/a%7Cb%29%20c" in markdown
    facts = [line for line in markdown.splitlines() if line.startswith("| Size")]
    assert len(facts) == 1
    assert facts[0].replace("\\|", "").count("|") == 4


def test_json_holds_everything() -> None:
    data = json.loads(export.to_json(make_contents()))
    assert data["findings"]["facts"][0]["evidence"] == {"quote": "250 people", "url": SITE}
    assert data["answers"][0]["analysis"]["claims"][0]["verdict"] == "contradicted"


def test_numbers_lead_to_their_evidence() -> None:
    sections = {section.id: section for section in build_sections(make_contents())}
    assert sections["scores"].bars[0].url == "#answers"
    assert "answers" in sections
    [table] = sections["claims"].tables
    assert [cell.url for cell in table.rows[0]] == [None, "#texts", None, SITE, None]
    assert [cell.text for cell in table.rows[0]][:2] == ["contradicted", "1"]


def test_every_bar_and_link_leads_to_an_anchor_of_the_document() -> None:
    contents = make_contents()
    shares = PostingShares(2, 1, 2, 2, 2, unstated=(("pay", "Nurse", f"{SITE}jobs/1"),))
    blocked = BotAccess("Googlebot", "search", SITE, False, "robots.txt: Disallow: /")
    page = PageReadability(SITE, 900, None, None)
    assert contents.findings is not None
    findings = replace(contents.findings, postings=shares, access=(blocked,), readability=(page,))
    contents = replace(contents, findings=findings)
    sections = build_sections(contents)
    assert all(bar.url for section in sections for bar in section.bars)
    html = export.to_html(contents)
    anchors = set(re.findall(r' id="([^"]+)"', html))
    links = set(re.findall(r'href="#([^"]+)"', html))
    assert links - anchors == set()
    assert {"texts", "claim-list", "question-list", "unstated", "unreadable-pages"} <= links


def test_tone_and_companies_beside_are_shown_in_every_format() -> None:
    sections = {section.id: section for section in build_sections(make_contents())}
    [bar] = sections["answers"].bars
    assert bar.name == "Neutral tone: 1 of 1"
    assert "1 neutral" in [cell.text for cell in sections["answers"].tables[0].rows[0]]
    [row] = sections["beside"].tables[0].rows
    assert [cell.text for cell in row] == ["Aquaflow", "1", "-"]


def test_a_company_beside_with_and_without_its_legal_form_counts_once() -> None:
    contents = make_contents()
    [stored] = contents.answers
    assert stored.analysis is not None
    analyses = [
        replace(stored.analysis, beside=beside, cited_domains=("jobs.aquaflow.example",))
        for beside in (("Aquaflow", "Aquaflow Ltd"), ("Aquaflow",))
    ]
    answers = tuple(replace(stored, analysis=analysis) for analysis in analyses)
    assert find_competitors(replace(contents, answers=answers)) == (
        FoundCompetitor("Aquaflow Ltd", 2, "jobs.aquaflow.example"),
    )


def test_long_tables_are_cut_and_say_so() -> None:
    contents = make_contents()
    assert contents.findings is not None
    fact = contents.findings.facts[0]
    many = SiteFindings(SITE, "Tidewater", NOW, facts=(fact,) * (MAX_ROWS + 5))
    cut = ReportContents(contents.report, many, (), (), (), ())
    assert "… and 5 more" in export.to_html(cut)
    assert "… and 5 more" in export.to_markdown(cut)


def test_a_comparison_names_changes_and_what_may_be_chance() -> None:
    compared = comparison.compare(make_contents(1), make_contents(2, value="300 people", score=55))
    assert compared.same_site
    [visibility] = [number for number in compared.numbers if number.name == "Visibility"]
    assert (visibility.change, visibility.overlaps) == (5, True)
    assert (compared.changes[0].before, compared.changes[0].after) == ("250 people", "300 people")
    text = export.sections_to_markdown("x", comparison.build_comparison(compared))
    assert "+5 (may be chance: the intervals overlap)" in text
    clear = comparison.compare(make_contents(1), make_contents(2, score=90))
    assert "may be chance" not in export.sections_to_markdown(
        "x", comparison.build_comparison(clear)
    )


def test_a_comparison_with_a_competitor_lists_what_only_one_answers() -> None:
    other = make_contents(2, site="https://aquaflow.example/")
    silent = ReportContents(
        other.report, SiteFindings("https://aquaflow.example/", "Aquaflow", NOW), (), (), (), ()
    )
    compared = comparison.compare(make_contents(1), silent)
    assert (compared.same_site, compared.changes) == (False, ())
    assert compared.only_first == ("How many people work there?",)
    assert compared.only_second == ()


def test_text_that_postgresql_cannot_store_is_cleaned() -> None:
    assert storable("a\0b\ud800c") == "ab?c"
