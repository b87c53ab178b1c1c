from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobmill.reports import site_text
from jobmill.reports.candidate_questions import answer_questions
from jobmill.reports.findings import CrawledPage
from jobmill.reports.question_list import load_questions
from jobmill.reports.site_analysis import CPU_SECONDS
from jobmill.sandbox import read_untrusted_now

URL = "https://acme.example/careers"


def _answers(html: str) -> dict[str, str]:
    pages = site_text.read_pages([CrawledPage(URL, 200, f"<body>{html}</body>")])
    answers = answer_questions(site_text.read_sentences(pages))
    return {answer.question_id: answer.answer.quote for answer in answers if answer.answer}


def test_there_are_about_forty_questions_in_four_stages() -> None:
    questions = load_questions()
    assert len({question.id for question in questions}) == len(questions)
    assert 35 <= len(questions) <= 45
    stages = Counter(question.stage for question in questions)
    assert set(stages) == {"discovery", "consideration", "evaluation", "commitment"}
    assert min(stages.values()) >= 8
    assert all(question.text.endswith("?") for question in questions)


ANSWERS = {
    "what_it_does": "Acme builds pumps and controllers for wells in dry regions.",
    "products": "Our product is a controller that tells farmers when to water.",
    "customers": "Our pumps are trusted by farmers in forty countries.",
    "offices": "Acme is headquartered in Porto, with workshops in Faro.",
    "size": "We are a team of 120 people from fourteen countries.",
    "founded": "Acme was founded in 1998 by three plumbers.",
    "mission": "Our mission is to bring water to every village.",
    "leadership": "Our CEO Maria Santos started as an apprentice here.",
    "growth": "We raised $20 million in our Series A last spring.",
    "recognition": "We were named one of the best places to work in Portugal.",
    "values": "Our values are honesty, patience and clean workshops.",
    "culture": "We have a culture of trust where mistakes are discussed openly.",
    "remote_policy": "We are a remote-first company without a fixed office.",
    "working_hours": "Everyone here has flexible working hours between 7 and 19.",
    "diversity": "We are committed to building an inclusive and diverse workshop.",
    "teams": "Our engineering team is split into three groups of five.",
    "technology": "Our stack is built on Python and PostgreSQL.",
    "responsibility": "We donate one percent of our revenue to charities for clean water.",
    "pay": "The salary range for this job is $60,000 - $75,000 a year.",
    "bonus": "Everyone receives an annual bonus after a good year.",
    "equity": "All employees receive stock options after one year.",
    "health_insurance": "We pay for private health insurance for your whole family.",
    "vacation": "Everyone gets 30 days of paid vacation each year.",
    "parental_leave": "We offer six months of paid parental leave to all parents.",
    "retirement": "Acme matches your 401(k) contributions up to five percent.",
    "learning": "Each of us has a learning budget of 1,500 euros a year.",
    "career_growth": "There is a clear career path from apprentice to master.",
    "wellbeing": "A gym membership is part of our package for everyone.",
    "equipment": "We provide a laptop of your choice and a quiet desk.",
    "relocation": "We offer relocation support and sponsor visas for engineers.",
    "how_to_apply": "Send us your resume and two lines about a pump you like.",
    "hiring_steps": "Our hiring process has three steps: a call, a task and a visit.",
    "hiring_time": "The whole hiring process takes two weeks on average.",
    "recruiting_contact": "Questions about a job go to Ana at jobs@acme.example any day.",
    "accommodations": "Tell us if you need accommodations during the interview process.",
    "equal_opportunity": "Acme is an equal opportunity employer in all countries.",
    "applicant_privacy": "We handle the personal data of applicants as the law demands.",
    "checks": "We run a background check before the first day for drivers.",
    "onboarding": "In your first week you build a small pump with a colleague.",
    "contract": "This is a permanent full-time position with a fair notice period.",
    "students": "Our internships last six months and are paid.",
    "open_applications": "If you don't see the right job, write to us anyway today.",
    "employee_voices": "I joined Acme after school and still learn something every day.",
}


@pytest.mark.parametrize("question", [question.id for question in load_questions()])
def test_a_sentence_answers_its_question(question: str) -> None:
    answer = ANSWERS[question]
    page = f"<h1>Acme</h1><p>Hello there, dear visitor.</p><p>{answer}</p>"
    assert _answers(page).get(question) == answer


NO_ANSWERS = [
    '<nav><a href="/benefits">Benefits and health insurance for all our employees</a></nav>',
    "<p><a href='/remote'>Remote work and our flexible working hours policy</a></p>",
    "<h2>Benefits</h2><h2>Remote work</h2><h2>Our values</h2>",
    "<p>Do you offer health insurance and paid vacation to employees?</p>",
    "<p>You will develop training programs and manage the onboarding of customers.</p>",
    "<h2>Requirements</h2><ul><li>Experience with remote teams and stock options</li></ul>",
    "<p>Our medical devices help patients in remote areas of the world.</p>",
    "<p>Ability to work in a fast-paced environment with flexible hours.</p>",
    "<footer><p>We are a remote-first company with unlimited vacation.</p></footer>",
    "<p>Bonus points if you know private equity and health plans.</p>",
    "<p>Below are our core values that guide us:</p>",
]  # fmt: skip


@pytest.mark.parametrize("html", NO_ANSWERS)
def test_menus_tasks_and_questions_answer_nothing(html: str) -> None:
    assert _answers(html) == {}


def test_a_list_below_a_heading_answers() -> None:
    html = "<h2>Our values</h2><ul><li>Honesty</li><li>Patience</li><li>Clean hands</li></ul>"
    assert _answers(html) == {"values": "Our values: Honesty; Patience; Clean hands"}
    assert _answers(html.replace("<li>Patience</li>", "")) == {}


def test_a_statement_below_a_heading_answers() -> None:
    html = "<h2>How we hire</h2><p>Two of us call you, then you visit the workshop for a day.</p>"
    assert "hiring_steps" in _answers(html)


def test_hostile_text_is_answered_in_bounded_time() -> None:
    words = "we our remote salary health your the in a is to of team and apply $1 " * 2_000
    html = "".join(f"<p>{number} {words[number : 900 + number]}</p>" for number in range(600))
    for text in (html, f"<p>{'a ' * 500_000}</p>"):
        read_untrusted_now(_answers, text, cpu_seconds=CPU_SECONDS)


@settings(max_examples=50)
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for quote in _answers(f"<p>{text}</p>").values():
        assert len(quote) <= site_text.MAX_QUOTE + 2
