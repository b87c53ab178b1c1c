"""Find which questions of candidates a site answers, and with which sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .findings import Evidence, QuestionAnswer
from .question_list import CandidateQuestion, load_questions
from .site_text import SiteSentence, quote_text

_MAX_ITEMS_QUOTED = 8
_MIN_STATEMENT = 45
"""Characters from which a sentence below a heading is an answer."""
_MIN_ITEM_WORDS = 2
# Tasks and requirements of a single opening say nothing about the company.
_TASK = re.compile(
    r"^(?:you (?:will|have|are|should|must|bring|know|can demonstrate)\b(?! (?:receive|get|enjoy|be (?:eligible|given)))"
    r"|you'll (?!(?:get|receive|enjoy|have access|be (?:eligible|given))\b)|you've\b|(?:must|ability|able|proven"
    r"|bonus points|nice to have|strong|excellent|demonstrated|preferred|minimum|required|thrives?|comfort\w*|flexible to|those who|familiar\w*|knowledge"
    r"|understanding|experience[d]?|proficien\w+|bachelor\w*|master\w*|degree|willing\w*|passion\w*|applicants? must"
    r"|the ideal candidate|candidates? (?:must|should|will)|\d+\+? years)\b"
    r"|(?:assist|build|build out|collaborat|communicat|conduct|contribut|coordinat|creat|defin|deliver|design"
    r"|develop|driv|ensur|establish|evaluat|execut|facilitat|identif|implement|improv|lead|leverag|maintain"
    r"|manag|mentor|monitor|operat|oversee|own|partner|perform|plan|prepar|present|provid|research|respond"
    r"|review|serv|support|track|train|translat|understand|work|writ|explor|analy[sz]|act|help|guid|utili[sz]"
    r"|recommend|interact|oversight|participat|document|inform|influenc|interpret|organi[sz]|apply|adapt|resolve"
    r"|handl|optimi[sz]|champion|gather|produc|foster|engag|run|test|troubleshoot|use|scale|shape|set|stay|advis|consult)"
    r"(?:e|es|s|ing|ies|y)? (?!(?:at|for|from|with us|here)\b))",
    re.IGNORECASE,
)
_CANDIDATE = re.compile(
    r"\b(?:successful|ideal|right|selected|strong) (?:candidate|applicant)s?\b|^(?:the|our|as an?|as the) (?:[\w/-]+ ){0,4}"
    r"(?:scientist|engineer|manager|analyst|director|specialist|developer|associate|consultant|intern|assistant"
    r"|coordinator|representative|architect|designer|nurse|officer|technician|administrator)s?,?\b",
    re.IGNORECASE,
)
"""A sentence about the wanted candidate."""
_NON_DISCRIMINATION = re.compile(r"\b(?:race|religion|national origin|veteran)\b", re.IGNORECASE)
"""A sentence that names promotion, pay or retirement only to promise equal treatment."""
_TASK_HEADING = re.compile(
    r"responsibilit|requirement|qualificat|\bduties\b|what you(?:'ll| will) (?:do|bring|need)|who you are"
    r"|your (?:role|profile|tasks)|what we(?:'re| are) looking|about you\b|you (?:have|bring|are)\b|must[- ]have"
    r"|nice to have|skills|experience|the (?:role|job|position)$|job (?:description|summary)|aufgaben|profil",
    re.IGNORECASE,
)
_PLAIN_SIGNS = str.maketrans("\u2019\u2018\u2013\u2014\u201c\u201d\u00a0", "''--\"\" ")
_MAX_MATCHED = 600
"""Characters of a sentence that are compared."""


def answer_questions(sentences: Sequence[SiteSentence]) -> tuple[QuestionAnswer, ...]:
    """All questions, each with the first sentence that answers it."""
    return tuple(
        QuestionAnswer(question.id, question.stage, question.text, _answer(question, sentences))
        for question in load_questions()
    )


def _answer(question: CandidateQuestion, sentences: Sequence[SiteSentence]) -> Evidence | None:
    stated = next((sentence for sentence in sentences if _states(question, sentence)), None)
    if stated:
        return stated.evidence
    below = [sentence for sentence in sentences if _is_below(question, sentence)]
    return _first_statement(below) or _list_items(question, below)


def _states(question: CandidateQuestion, sentence: SiteSentence) -> bool:
    text = _plain(sentence.text)
    if text.endswith("?") or text.count(" ") < _MIN_ITEM_WORDS:
        return False
    if _is_task(sentence) or not (sentence.is_statement or sentence.headings):
        return False
    if text.endswith((":", "\u2026", "...")):
        return False
    return bool(question.sentence.search(text)) and not _is_about_other(question, text)


def _is_task(sentence: SiteSentence) -> bool:
    if _TASK.match(_plain(sentence.text)):
        return True
    heading = sentence.headings[-1] if sentence.headings else ""
    return bool(_TASK_HEADING.search(_plain(heading)))


def _plain(text: str) -> str:
    """The start of a text, with plain apostrophes and hyphens as the patterns have them."""
    return text[:_MAX_MATCHED].translate(_PLAIN_SIGNS)


def _is_about_other(question: CandidateQuestion, text: str) -> bool:
    if question.unless is not None and question.unless.search(text):
        return True
    if question.stage == "commitment":
        return False
    is_disclaimer = question.stage == "evaluation" and _NON_DISCRIMINATION.search(text)
    return bool(is_disclaimer or _CANDIDATE.search(text))


def _is_below(question: CandidateQuestion, sentence: SiteSentence) -> bool:
    if not (question.heading and sentence.headings) or _is_task(sentence):
        return False
    if sentence.text.endswith("?") or _is_about_other(question, _plain(sentence.text)):
        return False
    return bool(question.heading.search(_plain(sentence.headings[-1]).strip(" :?!")))


def _first_statement(below: Sequence[SiteSentence]) -> Evidence | None:
    statements = (
        sentence
        for sentence in below
        if sentence.is_statement and len(sentence.text) >= _MIN_STATEMENT
    )
    return next((statement.evidence for statement in statements), None)


def _list_items(question: CandidateQuestion, below: Sequence[SiteSentence]) -> Evidence | None:
    """The items of the first list below the heading, if there are enough for an answer."""
    for items in _lists(below):
        if len(items) >= question.min_items > 1:
            words = "; ".join(item.text for item in items[:_MAX_ITEMS_QUOTED])
            return Evidence(quote_text(f"{items[0].headings[-1]}: {words}"), items[0].url)
    return None


def _lists(below: Sequence[SiteSentence]) -> Iterator[list[SiteSentence]]:
    items: list[SiteSentence] = []
    for sentence in below:
        if items and (items[0].url, items[0].headings) != (sentence.url, sentence.headings):
            yield items
            items = []
        items.append(sentence)
    if items:
        yield items
