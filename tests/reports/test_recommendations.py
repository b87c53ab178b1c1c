from __future__ import annotations

import json
from dataclasses import replace

import pytest

from jobmill.reports.answer_analysis import analyze_answer
from jobmill.reports.answers import AnswerAnalysis, JudgedClaim, Recommendation
from jobmill.reports.crawl import is_careers_page
from jobmill.reports.findings import (
    BotAccess,
    Contradiction,
    Evidence,
    Fact,
    HostileText,
    PageReadability,
    QuestionAnswer,
    SiteFindings,
    StructuredData,
)
from jobmill.reports.recommendations import recommend

from .report_data import SITE, make_analysis, make_answer, make_findings, make_prompt

CAREERS = f"{SITE}/careers"
COMPLETE = StructuredData(organization_pages=(SITE,))
BLOCKED = BotAccess("OAI-SearchBot", "search", CAREERS, False, "robots.txt: Disallow: /careers")


def with_findings(**changes: object) -> SiteFindings:
    return replace(make_findings(), **({"structured_data": COMPLETE} | changes))  # type: ignore[arg-type]


def analyze(*texts: str) -> list[AnswerAnalysis]:
    findings = make_findings()
    return [analyze_answer(findings, make_prompt(), make_answer(text)) for text in texts]


def only(findings: SiteFindings, analyses: list[AnswerAnalysis] | None = None) -> Recommendation:
    (recommendation,) = recommend(findings, analyses or [])
    return recommendation


def test_nothing_to_recommend() -> None:
    assert recommend(with_findings(), analyze("Lantern Mill was founded in 1998.")) == ()


def test_a_wrong_claim_names_the_page_and_proposes_the_sentence() -> None:
    wrong = "Lantern Mill has 4,000 employees."
    recommendation = only(with_findings(), analyze(wrong, "Lantern Mill makes oak tables."))
    assert recommendation.page == f"{SITE}/about"
    assert "1 of 2 answers" in recommendation.problem
    assert wrong in recommendation.problem
    assert recommendation.proposed_text == "Lantern Mill Ltd has 420 employees (2026)."
    assert recommendation.finding == "claim:size"
    assert recommendation.evidence is not None


def test_a_wrong_claim_weighs_more_when_its_page_is_hard_to_read() -> None:
    answers = analyze("Lantern Mill is fully remote.")
    page = PageReadability(CAREERS, 10, 900, "needs_javascript")
    plain = recommend(with_findings(), answers)[0]
    hidden = recommend(with_findings(readability=(page,)), answers)[0]
    assert hidden.effect > plain.effect
    assert "needs javascript" in hidden.problem


def test_blocked_search_bots_but_not_training_bots() -> None:
    training = replace(BLOCKED, bot="GPTBot", purpose="training")
    recommendation = only(
        with_findings(access=(BLOCKED, replace(BLOCKED, url=SITE, allowed=True), training))
    )
    assert recommendation.page == f"{SITE}/robots.txt"
    assert recommendation.proposed_text == (
        "In the group of robots.txt that applies to OAI-SearchBot, add:\nAllow: /careers"
    )
    assert recommendation.finding == "access:OAI-SearchBot"
    assert recommendation.effect == 15


def test_open_questions_go_to_the_careers_page_with_an_outline() -> None:
    questions = (
        QuestionAnswer("pay", "evaluation", "What does it pay?", None),
        QuestionAnswer("canteen", "evaluation", "Is there a canteen?", Evidence("Yes.", CAREERS)),
    )
    recommendation = only(with_findings(questions=questions))
    assert recommendation.page == CAREERS
    assert recommendation.finding == "question:pay"
    assert "[amount]" in recommendation.proposed_text


def test_structured_data_is_proposed_from_the_facts_and_cannot_end_its_script() -> None:
    facts = (Fact("description", "</script><script>alert(1)", Evidence("x", SITE)),)
    recommendation = only(make_findings(facts=facts))
    body = recommendation.proposed_text.removeprefix('<script type="application/ld+json">')
    assert recommendation.proposed_text.count("</script>") == 1
    data = json.loads(body.removesuffix("</script>"))
    assert data["name"] == "Lantern Mill Ltd"
    assert data["description"] == facts[0].value


@pytest.mark.parametrize(
    ("changes", "page", "finding"),
    [
        ({"readability": (PageReadability(CAREERS, 5, 800, "needs_javascript"),)}, CAREERS, "page:needs_javascript"),
        ({"structured_data": replace(COMPLETE, postings=4, postings_with_data=1)}, CAREERS, "structured_data:postings"),
        ({"structured_data": replace(COMPLETE, missing_posting_fields=(("baseSalary", 3),))}, CAREERS,
         "structured_data:baseSalary"),
        ({"structured_data": replace(COMPLETE, self_rating=Evidence("5 stars", CAREERS))}, CAREERS,
         "structured_data:self_rating"),
        ({"structured_data": replace(COMPLETE, contradictions=(Contradiction(f"{SITE}/1", "pay", "1", "2"),))},
         f"{SITE}/1", "contradiction:pay"),
        ({"hostile": (HostileText("prompt_injection", Evidence("Ignore it.", SITE)),)}, SITE, "hostile:prompt_injection"),
    ],
)  # fmt: skip
def test_each_finding_has_its_recommendation(
    changes: dict[str, object], page: str, finding: str
) -> None:
    recommendation = only(with_findings(**changes))
    assert (recommendation.page, recommendation.finding) == (page, finding)
    assert recommendation.problem
    assert recommendation.proposed_text


def test_larger_effects_come_first_and_the_number_is_bounded() -> None:
    questions = tuple(
        QuestionAnswer(str(number), "discovery", f"Question {number}?", None)
        for number in range(200)
    )
    findings = with_findings(questions=questions, access=(BLOCKED,))
    recommendations = recommend(findings, analyze("Lantern Mill was founded in 1950."))
    effects = [recommendation.effect for recommendation in recommendations]
    assert effects == sorted(effects, reverse=True)
    assert [each.finding for each in recommendations[:2]] == [
        "claim:founded",
        "access:OAI-SearchBot",
    ]
    assert len(recommendations) == 60
    assert all(each.finding for each in recommendations)


def test_two_wrong_facts_about_one_topic_are_both_recommended() -> None:
    facts = (
        Fact("benefits", "28 days of leave", Evidence("You get 28 days of leave.", CAREERS)),
        Fact("benefits", "a pension of 8%", Evidence("We pay a pension of 8%.", CAREERS)),
    )
    claims = tuple(
        JudgedClaim(claim, "contradicted", fact.evidence, "", "benefits")
        for claim, fact in zip(("20 days of leave.", "A pension of 5%."), facts, strict=True)
    )
    analysis = replace(make_analysis(), claims=claims)
    wrong = [
        each
        for each in recommend(make_findings(facts=facts), [analysis])
        if each.finding == "claim:benefits"
    ]
    assert {each.evidence for each in wrong} == {fact.evidence for fact in facts}


@pytest.mark.parametrize(
    ("path", "is_careers"),
    [
        ("/careers", True),
        ("/en/careers/benefits", True),
        ("/jobs.html", True),
        ("/work-with-us", True),
        ("/network", False),
        ("/workshops", False),
        ("/our-work", False),
        ("/steamship", False),
        ("/jobsite-safety", False),
    ],
)
def test_careers_pages_are_known_by_whole_words(path: str, is_careers: bool) -> None:
    assert is_careers_page(f"https://team.example{path}") is is_careers
