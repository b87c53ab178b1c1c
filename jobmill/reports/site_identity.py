"""What a site states about the company, each fact with the sentence it rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from jobmill.catalog.company_names import same_company
from jobmill.extract.company import office_locations, sentence_facts, site_facts
from jobmill.extract.company.page_sections import PageSections
from jobmill.matching.posting_facts import skills

from .findings import Evidence, Fact, FactName, QuestionAnswer
from .site_text import SiteSentence, quote_text

MAX_VALUES = 20
"""Values of one fact."""
_MAX_VALUE = 200
_MAX_ITEM = 80
_LISTS: dict[FactName, re.Pattern[str]] = {
    "products": re.compile(
        r"^(?:our )?(?:products?|services|solutions|product range|what we (?:make|offer))$",
        re.IGNORECASE,
    ),
    "values": re.compile(
        r"^(?:(?:our|core|company|the) )*(?:values|(?:operating |leadership )?principles)$"
        r"|^what we (?:value|believe)(?: in)?$|^unsere werte$|^nos valeurs$",
        re.IGNORECASE,
    ),
    "benefits": re.compile(
        r"^(?:(?:our|the|employee|company|additional|other|your|key) )*(?:perks|benefits)"
        r"(?: (?:and|&|\+) \w+)?(?: (?:include|at .{2,30}))?$|^(?:what )?we offer(?: you)?$"
        r"|^what you.?ll get$|^what.?s in it for you$|^was wir bieten$|^wir bieten$",
        re.IGNORECASE,
    ),
    "hiring_process": re.compile(
        r"^(?:(?:our|the) )?(?:interview|hiring|recruit(?:ing|ment)|application|selection) process$"
        r"|^how we hire$|^what to expect\b.{0,30}$|^bewerbungsprozess$",
        re.IGNORECASE,
    ),
}
_MIN_ITEMS = 2
_FROM_ANSWERS: dict[str, FactName] = {
    "products": "products", "values": "values", "health_insurance": "benefits",
    "vacation": "benefits", "parental_leave": "benefits", "retirement": "benefits",
    "equity": "benefits", "bonus": "benefits", "learning": "benefits", "wellbeing": "benefits",
    "equipment": "benefits", "hiring_steps": "hiring_process",
}  # fmt: skip
"""Questions whose answers state a fact, by id."""
_TECHNOLOGY_CONTEXT = re.compile(
    r"\b(?:stack|technolog(?:y|ies)|we (?:\w+ )?(?:use|build|code|work with)|built (?:with|on|in)"
    r"|written in|powered by|tools)\b",
    re.IGNORECASE,
)
_REMOTE_POLICIES = (
    ("remote", re.compile(
        r"\bremote[- ]first\b|\b(?:fully|100%|all|entirely|completely)[- ](?:remote|distributed)\b"
        r"|\bwork from anywhere\b|\bremote (?:company|team|by default)\b|\bwe (?:all )?work remotely\b"
        r"|\bdistributed (?:company|team|workforce)\b", re.IGNORECASE)),
    ("hybrid", re.compile(
        r"\bhybrid (?:work|working|model|company|schedule|policy|team|setup|environment|role)\b"
        r"|\bwork\w* hybrid\b|\b(?:one|two|three|four|[1-4])(?: to (?:two|three|four|[2-4]))? days"
        r" (?:a|per|each) week (?:in|from|at) (?:the|our|an?) (?:\w+ )?office\b"
        r"|\bremote[- ]friendly\b|\bflexib\w+ to work from home\b|\bwork from home or\b",
        re.IGNORECASE)),
    ("on-site", re.compile(
        r"\b(?:in[- ]office|office[- ]first|in[- ]person) (?:culture|company|team|first|by default)\b"
        r"|\bwork (?:together )?(?:in person|from (?:our|the) office)\b"
        r"|\b(?:five|5) days (?:a|per) week (?:in|from) (?:the|our) office\b", re.IGNORECASE)),
)  # fmt: skip
_SINGLE_OPENING = re.compile(
    r"\b(?:role|position|candidate|applicant|vacancy|interview)s?\b|\bnot\b|\bno longer\b",
    re.IGNORECASE,
)

_PLACE_OF_OPENING = re.compile(
    r"\b(?:role|position|candidate|applicant|vacancy|opportunity|job|contract)s?\b|^location\b",
    re.IGNORECASE,
)
"""The place of a single opening need not be one of the company's offices."""


def find_facts(
    pages: Sequence[PageSections],
    sentences: Sequence[SiteSentence],
    answers: Sequence[QuestionAnswer],
    *,
    company: str,
) -> tuple[Fact, ...]:
    """All facts, each value once."""
    facts: dict[tuple[str, str], Fact] = {}
    counts: dict[str, int] = {}
    for fact in _facts(pages, sentences, answers, company):
        key = (fact.name, fact.value.casefold())
        if key not in facts and counts.get(fact.name, 0) < MAX_VALUES:
            facts[key] = fact
            counts[fact.name] = counts.get(fact.name, 0) + 1
    return tuple(facts.values())


_TITLE_SEPARATOR = re.compile(r"\s+[|\u2013\u2014\u00b7:-]\s+")


def _facts(
    pages: Sequence[PageSections],
    sentences: Sequence[SiteSentence],
    answers: Sequence[QuestionAnswer],
    company: str,
) -> Iterator[Fact]:
    yield from _find_name(pages, company)
    yield from _find_description(pages, answers)
    yield from _find_stated_facts(pages, sentences)
    yield from _find_listed_facts(sentences)
    for answer in answers:
        name = _FROM_ANSWERS.get(answer.question_id)
        if name and answer.answer:
            yield Fact(name, _shorten(answer.answer.quote), answer.answer)
    yield from _find_technologies(sentences)
    yield from _find_remote_policy(sentences)


def _shorten(text: str) -> str:
    return " ".join(text.split())[:_MAX_VALUE]


def _find_name(pages: Sequence[PageSections], company: str) -> Iterator[Fact]:
    """The name as structured data, a title, a description or a sentence of the site has it."""
    for page in pages:
        stated = [node.get("name") for node in page.organizations]
        for text in (*stated, *_TITLE_SEPARATOR.split(page.title)):
            if (
                isinstance(text, str)
                and 0 < len(text) <= _MAX_VALUE
                and same_company(text, company)
            ):
                yield Fact("name", text.strip(), Evidence(quote_text(text), page.url))
                return
    name = re.compile(rf"(?<!\w){re.escape(company.strip())}(?!\w)", re.IGNORECASE)
    for page in pages if company.strip() else ():
        texts = [page.title, page.description, *(block.text for block in page.blocks)]
        for text in texts:
            if match := name.search(text[:2_000]):
                sentence = next(filter(name.search, sentence_facts.split_sentences(text)), text)
                yield Fact("name", match[0], Evidence(quote_text(sentence), page.url))
                return


def _find_description(
    pages: Sequence[PageSections], answers: Sequence[QuestionAnswer]
) -> Iterator[Fact]:
    """What the company says in one line: in a sentence, or in the description of the first page."""
    answer = next((item.answer for item in answers if item.question_id == "what_it_does"), None)
    described = [
        Evidence(quote_text(page.description), page.url) for page in pages if page.description
    ]
    for evidence in ([answer] if answer else described)[:1]:
        yield Fact("description", _shorten(evidence.quote), evidence)


def _find_stated_facts(
    pages: Sequence[PageSections], sentences: Sequence[SiteSentence]
) -> Iterator[Fact]:
    """Size, founding year, industry and places, as company pages are read elsewhere."""
    facts = site_facts.read_facts(pages)
    finders: list[tuple[FactName, str | None, Callable[[list[str]], object]]] = [
        ("founded", facts.founded, sentence_facts.find_founding_year),
        ("size", facts.size, sentence_facts.find_size),
        ("industry", facts.industry, sentence_facts.find_industry),
    ]
    for name, value, finder in finders:
        if value:
            yield Fact(name, value, _find_evidence(value, finder, pages, sentences))
    places = [*filter(None, [facts.headquarters_location]), *facts.offices]
    for place in dict.fromkeys(place for place in places if len(place) > 1):
        evidence = _find_evidence(place, _find_places, pages, sentences)
        if not _PLACE_OF_OPENING.search(evidence.quote):
            yield Fact("places", place, evidence)


def _find_places(texts: list[str]) -> list[str]:
    headquarters = office_locations.find_headquarters(texts)
    offices = office_locations.find_offices(texts) + office_locations.find_addresses(texts)
    return [*([headquarters] if headquarters else []), *offices]


def _find_evidence(
    value: str,
    finder: Callable[[list[str]], object],
    pages: Sequence[PageSections],
    sentences: Sequence[SiteSentence],
) -> Evidence:
    """The sentence in which the finder reads the value; else a line that names it; else the
    structured data."""
    first_word = value.split(",")[0]
    lines = [
        *((sentence.text, sentence.url) for sentence in sentences),
        *((page.description, page.url) for page in pages),
        *((block.text, page.url) for page in pages for block in page.blocks),
    ]
    naming = [(text, url) for text, url in lines if first_word in text]
    for text, url in naming:
        reading = finder([text])
        if reading == value or (isinstance(reading, list) and value in reading):
            return Evidence(quote_text(text), url)
    for text, url in naming:
        return Evidence(quote_text(text), url)
    url = next((page.url for page in pages if page.organizations), pages[0].url)
    return Evidence(f"Structured data of the organization: {quote_text(value)}", url)


def _find_listed_facts(sentences: Sequence[SiteSentence]) -> Iterator[Fact]:
    """Short items below a heading that names a list, such as "Our values"."""
    for name, heading in _LISTS.items():
        items = [
            sentence for sentence in sentences if sentence.headings and _is_item(sentence, heading)
        ]
        for item in items if len(items) >= _MIN_ITEMS else ():
            evidence = Evidence(quote_text(f"{item.headings[-1]}: {item.text}"), item.url)
            yield Fact(name, _shorten(item.text), evidence)


def _is_item(sentence: SiteSentence, heading: re.Pattern[str]) -> bool:
    is_short = 2 < len(sentence.text) <= _MAX_ITEM and not sentence.text.endswith(("?", ":"))
    return is_short and bool(heading.match(sentence.headings[-1].strip(" :")))


def _find_technologies(sentences: Iterable[SiteSentence]) -> Iterator[Fact]:
    """Technologies in sentences about what the company uses, not about what applicants know."""
    for sentence in sentences:
        heading = sentence.headings[-1] if sentence.headings else ""
        is_context = _TECHNOLOGY_CONTEXT.search(sentence.text) or re.search(
            r"\bstack\b|technolog", heading, re.IGNORECASE
        )
        if is_context and not _SINGLE_OPENING.search(sentence.text):
            for name in skills.skill_names(sentence.text):
                yield Fact("tech", name, sentence.evidence)


def _find_remote_policy(sentences: Iterable[SiteSentence]) -> Iterator[Fact]:
    """The first statement about where people work that is not about a single opening."""
    for sentence in sentences:
        if sentence.is_statement and not _SINGLE_OPENING.search(sentence.text):
            for policy, pattern in _REMOTE_POLICIES:
                if pattern.search(sentence.text):
                    yield Fact("remote_policy", policy, sentence.evidence)
                    return
