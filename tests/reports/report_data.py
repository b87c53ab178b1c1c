"""Findings and answers for tests of reports."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from jobmill.reports.answers import (
    AnswerAnalysis,
    ClaimVerdict,
    JudgedClaim,
    Prompt,
    StoredAnswer,
)
from jobmill.reports.findings import Evidence, Fact, FactName, SiteFindings

SITE = "https://lantern.example"
READ_AT = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
FACTS: tuple[tuple[FactName, str, str, str], ...] = (
    ("size", "420 employees", "Today 420 employees work at Lantern Mill.", "/about"),
    ("founded", "1998", "Lantern Mill was founded in 1998.", "/about"),
    ("places", "Leeds, UK", "Our headquarters are in Leeds, with a depot in York.", "/about"),
    ("places", "York, UK", "Our headquarters are in Leeds, with a depot in York.", "/about"),
    ("industry", "furniture", "Lantern Mill is a furniture manufacturer.", "/"),
    ("products", "oak tables", "We make oak tables and chairs.", "/"),
    ("benefits", "28 days of leave", "You get 28 days of leave and a canteen.", "/careers"),
    ("remote_policy", "hybrid", "Office teams work from home two days a week.", "/careers"),
    ("tech", "SolidWorks", "We switched from AutoCAD to SolidWorks.", "/careers"),
)


def make_findings(
    company: str = "Lantern Mill Ltd", facts: tuple[Fact, ...] | None = None
) -> SiteFindings:
    stated = tuple(
        Fact(name, value, Evidence(quote, SITE + path)) for name, value, quote, path in FACTS
    )
    return SiteFindings(SITE, company, READ_AT, facts=stated if facts is None else facts)


def make_prompt(*, names_company: bool = True, key: str = "prompt") -> Prompt:
    return Prompt(key, "What is it like?", "consideration", "job seekers", names_company)


def make_answer(text: str, *, key: str = "prompt", run: int = 1) -> StoredAnswer:
    return StoredAnswer(key, "stand-in", run, text)


def make_analysis(
    *verdicts: ClaimVerdict,
    key: str = "prompt",
    position: int | None = None,
    tone: Literal["positive", "neutral", "negative"] = "neutral",
) -> AnswerAnalysis:
    claims = tuple(JudgedClaim("A claim.", verdict, None, "") for verdict in verdicts)
    return AnswerAnalysis(key, "stand-in", 1, position is not None, position, (), tone, (), claims)
