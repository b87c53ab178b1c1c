from __future__ import annotations

from dataclasses import replace

from jobmill.reports.finding_changes import FindingChange, compare_findings
from jobmill.reports.findings import BotAccess, Evidence, Fact, PageReadability, QuestionAnswer

from .report_data import SITE, make_findings


def test_the_same_findings_have_no_changes() -> None:
    assert compare_findings(make_findings(), make_findings()) == ()


def test_a_fact_with_one_value_changes() -> None:
    after = make_findings()
    larger = Fact("size", "510 employees", Evidence("We are 510 employees.", f"{SITE}/team"))
    facts = (larger, *(fact for fact in after.facts if fact.name != "size"))
    assert compare_findings(make_findings(), replace(after, facts=facts)) == (
        FindingChange("fact: size", "changed", "420 employees", "510 employees", f"{SITE}/team"),
    )


def test_a_place_is_added_and_another_removed() -> None:
    before = make_findings()
    facts = [fact for fact in before.facts if fact.value != "York, UK"]
    facts.append(Fact("places", "Hull", Evidence("We opened in Hull.", SITE)))
    assert compare_findings(before, replace(before, facts=tuple(facts))) == (
        FindingChange("fact: places", "removed", "York, UK", "", f"{SITE}/about"),
        FindingChange("fact: places", "added", "", "Hull", SITE),
    )


def test_access_pages_and_questions() -> None:
    blocked = BotAccess("PerplexityBot", "search", SITE, False, "robots.txt")
    question = QuestionAnswer("pay", "evaluation", "What does it pay?", None)
    before = replace(
        make_findings(), access=(blocked,), readability=(PageReadability(SITE, 0, None, "empty"),), questions=(question,),
    )  # fmt: skip
    after = replace(
        make_findings(),
        access=(replace(blocked, allowed=True), replace(blocked, bot="GPTBot", purpose="training")),
        readability=(PageReadability(SITE, 900, None),),
        questions=(replace(question, answer=Evidence("We pay well.", SITE)),),
    )
    assert [(change.subject, change.kind) for change in compare_findings(before, after)] == [
        ("access: PerplexityBot", "removed"),
        (f"page: {SITE}", "removed"),
        ("question: pay", "added"),
    ]
