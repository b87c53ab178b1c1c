"""Read facts about a company from its pages by rules, without a language model and without
guessing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from jobmill.catalog import company_analyses
from jobmill.catalog.companies import GOOD_ABOUT_LENGTH, GOOD_CULTURE_LENGTH
from jobmill.catalog.company_analyses import CompanyFacts
from jobmill.places import location_text

from . import office_locations, schema_organization, sentence_facts
from .page_sections import PageBlock, PageSections

MAX_TEXT_LENGTH = 1_500
"""Characters of a text that are kept."""
_SHORT_TEXT = 100
"""A text this short is used only if there is no longer one."""

_ABOUT_HEADING = re.compile(
    r"^(?:about\b|who we are|our (?:story|company|history)|what we do|the company|über uns|wer wir sind"
    r"|à propos|qui sommes|sobre nosotros|quiénes somos|chi siamo|over ons|o nas|om oss)",
    re.IGNORECASE,
)
_CULTURE_HEADING = re.compile(
    r"\bcultur|\b(?:our|core|company|the) (?:values|principles|beliefs)|^values\b|what we (?:value|believe)"
    r"|life at\b|working (?:at|with|for)\b|work (?:at|with us)|why (?:join|work)|how we work|join (?:us\b|our team)"
    r"|\b(?:our|employee|team) (?:perks|benefits)|^(?:perks|benefits)(?: (?:and|&) \w+)?$|diversity"
    r"|inclusion|unternehmenskultur|unsere werte|arbeiten bei"
    r"|nos valeurs|nuestr[oa]s valores|nuestra cultura|nossos valores|onze waarden",
    re.IGNORECASE,
)
_MISSION_HEADING = re.compile(
    r"\b(?:mission|vision|purpose)\b|why we exist|leitbild|notre raison|misión|missie",
    re.IGNORECASE,
)
_MISSION_SENTENCE = re.compile(
    r"\bour (?:mission|purpose|vision)(?: statement)?(?: is|:| has| at)|\bmission (?:is|was) to\b"
    r"|\bon a mission\b|\bwe exist to\b|\bunsere mission\b|\bnotre mission\b|\bnuestra misión\b",
    re.IGNORECASE,
)
_CULTURE_SENTENCE = re.compile(
    r"\b(?:our|company|a|the) culture\b|\bwe (?:value|care (?:about|for)|believe in|treat|trust|encourage"
    r"|celebrate|support each)\b|\bour (?:core )?values\b|\bwork[- ]life balance\b"
    r"|\b(?:inclusive|diverse|collaborative|supportive|flexible)\b[^.]{0,40}"
    r"\b(?:team|work|culture|environment|place)"
    r"|\bunsere (?:kultur|werte)\b|\bnos valeurs\b|\bnuestros valores\b",
    re.IGNORECASE,
)
_ABOUT_PAGE = re.compile(
    r"about|company|who-we-are|our-story|story|ueber|a-propos|nosotros|chi-siamo"
)
_CAREERS_PAGE = re.compile(r"career|jobs?\b|join|vacanc|karriere|work-with")
_OFFICES_HEADING = re.compile(
    r"^(?:our |global )?(?:offices?|locations?|hubs)(?: (?:locations|around the world))?$"
    r"|^where (?:we are|to find us|we work)$|^(?:unsere )?standorte$|^nos bureaux$|^oficinas$",
    re.IGNORECASE,
)
_HEADQUARTERS_LABEL = re.compile(
    r"^(?:(?:our|global|corporate|world) )?(?:headquarters|hq|head office|hauptsitz)$",
    re.IGNORECASE,
)
_TOWN = re.compile(r"(?:[A-ZÀ-Þ][\w.'\u2019-]+ ?){1,3}(?:, (?:[A-ZÀ-Þ][\w.]* ?){1,3}){0,2}")
_NOT_A_TOWN = re.compile(
    r"^(?:contact|learn|view|get|directions|phone|email|e-mail|map|apply|see|our|the|we|join|open|read|more"
    r"|show|find|call|visit|home|about|careers|blog|office|offices|locations?|headquarters|monday|mon)\b",
    re.IGNORECASE,
)
_MAX_OFFICES = 30


def read_facts(pages: Sequence[PageSections]) -> CompanyFacts:
    """The facts on the pages. Structured data wins over sentences, and about pages over other
    pages."""
    ordered = sorted(pages, key=_rank)
    stated = schema_organization.read_organizations(
        node for page in ordered for node in page.organizations
    )
    descriptions = [page.description for page in ordered if page.description]
    lines = descriptions + _lines(ordered)
    company_lines = descriptions + _lines(page for page in ordered if _rank(page) < 2)
    headquarters = stated.headquarters_location or _labelled_headquarters(ordered)
    headquarters = (
        headquarters
        or office_locations.find_headquarters(company_lines)
        or office_locations.find_headquarters(lines, named=True)
    )
    offices = [
        *stated.offices,
        *_listed_offices(ordered),
        *office_locations.find_offices(lines),
        *office_locations.find_addresses(lines),
    ]
    return CompanyFacts(
        about=_about(ordered, stated.about, descriptions),
        culture=_section(ordered, _CULTURE_HEADING)
        or _find_sentences(ordered, _CULTURE_SENTENCE, 4),
        mission=_mission(ordered),
        size=stated.size or sentence_facts.find_size(lines),
        headquarters_location=headquarters or _single(office_locations.find_addresses(lines)),
        industry=stated.industry or sentence_facts.find_industry(lines),
        founded=stated.founded or sentence_facts.find_founding_year(lines),
        offices=location_text.unique_locations(
            [*([headquarters] if headquarters else []), *offices]
        )[:_MAX_OFFICES],
        remote_first=sentence_facts.find_remote_first(lines),
    )


def _lines(pages: Iterable[PageSections]) -> list[str]:
    return [block.text for page in pages for block in page.blocks if not block.is_link]


def merge_facts(facts: CompanyFacts, more: CompanyFacts) -> CompanyFacts:
    """`facts`, completed by `more` where a fact is missing or a text is too short."""
    return replace(
        facts,
        about=company_analyses.choose_text(more.about, facts.about, GOOD_ABOUT_LENGTH),
        culture=company_analyses.choose_text(more.culture, facts.culture, GOOD_CULTURE_LENGTH),
        mission=facts.mission or more.mission,
        size=facts.size or more.size,
        headquarters_location=facts.headquarters_location or more.headquarters_location,
        industry=facts.industry or more.industry,
        founded=facts.founded or more.founded,
        offices=location_text.unique_locations([*facts.offices, *more.offices])[:_MAX_OFFICES],
        remote_first=more.remote_first if facts.remote_first is None else facts.remote_first,
    )


def _rank(page: PageSections) -> int:
    """Sort key: about pages first, careers pages last."""
    if _CAREERS_PAGE.search(page.path):
        return 2
    return 0 if _ABOUT_PAGE.search(page.path) else 1


def _about(
    pages: Sequence[PageSections], stated: str | None, descriptions: Sequence[str]
) -> str | None:
    """A description: below an "About" heading, on an about page, in structured data, or from other
    pages."""
    texts = [
        _join_sentences(block.text for block in page.paragraphs if _is_about(block))
        for page in pages
    ]
    texts += [_paragraphs(page) for page in pages if _rank(page) == 0]
    texts += [stated, *descriptions]
    texts += [_paragraphs(page) for page in pages if _rank(page) > 0]
    candidates = [text for text in texts if text]
    return next(
        (text for text in candidates if len(text) > _SHORT_TEXT),
        max(candidates, key=len, default=None),
    )


def _is_about(block: PageBlock) -> bool:
    return bool(block.headings and _ABOUT_HEADING.search(block.headings[-1]))


def _paragraphs(page: PageSections) -> str | None:
    """The first paragraphs that are about the company and not its culture, mission or offices."""
    other = (_CULTURE_HEADING, _MISSION_HEADING, _OFFICES_HEADING)
    return _join_sentences(
        block.text
        for block in page.paragraphs
        if not any(pattern.search(heading) for pattern in other for heading in block.headings)
    )


def _section(pages: Iterable[PageSections], heading: re.Pattern[str]) -> str | None:
    """The text below the first heading that matches and has text below it."""
    texts = (
        _join_sentences(_as_sentence(block) for block in _below(page, heading)) for page in pages
    )
    return next((text for text in texts if text and len(text) > 40), None)


def _below(page: PageSections, heading: re.Pattern[str]) -> list[PageBlock]:
    below = [
        block
        for block in page.blocks
        if any(heading.search(text) for text in block.headings)
        and not (block.in_frame or block.is_link)
    ]
    # Labels alone say nothing: there must be a statement, or several labels.
    has_statement = any(block.is_paragraph for block in below) or len(below) >= 3
    return (
        [block for block in below if block.is_paragraph or len(block.text) > 3]
        if has_statement
        else []
    )


def _as_sentence(block: PageBlock) -> str:
    """The text of a block, ended with a period so that labels between statements read as sentences."""
    return block.text if block.text[-1:] in ".!?:" else f"{block.text}."


def _join_sentences(texts: Iterable[str]) -> str | None:
    """The texts without duplicates, joined up to the maximum length in whole sentences."""
    joined = ""
    for text in dict.fromkeys(texts):
        for sentence in sentence_facts.split_sentences(text):
            if len(joined) + len(sentence) > MAX_TEXT_LENGTH:
                return joined.strip() or sentence[:MAX_TEXT_LENGTH]
            joined += f" {sentence}"
    return joined.strip() or None


def _mission(pages: Sequence[PageSections]) -> str | None:
    sentence = _find_sentences(pages, _MISSION_SENTENCE, 1)
    return sentence or _join_sentences(
        list((_section(pages, _MISSION_HEADING) or "").splitlines())[:3]
    )


def _find_sentences(
    pages: Iterable[PageSections], pattern: re.Pattern[str], limit: int
) -> str | None:
    """The first sentences that match."""
    sentences: dict[str, None] = {}
    for page in pages:
        for block in page.paragraphs:
            sentences |= {
                sentence: None
                for sentence in sentence_facts.split_sentences(block.text)
                if pattern.search(sentence)
            }
    return _join_sentences(list(sentences)[:limit])


def _labelled_headquarters(pages: Iterable[PageSections]) -> str | None:
    """The place right below a "Headquarters" label."""
    for page in pages:
        for before, block in zip(page.blocks, page.blocks[1:], strict=False):
            if _HEADQUARTERS_LABEL.match(before.text) and _is_town(block):
                return block.text
    return None


def _listed_offices(pages: Iterable[PageSections]) -> list[str]:
    """Places right below "Our offices": headings, or a city with its state."""
    return [
        block.text
        for page in pages
        for block in page.blocks
        if block.headings and _OFFICES_HEADING.match(block.headings[-1]) and _is_town(block)
        if block.level or "," in block.text
    ]


def _is_town(block: PageBlock) -> bool:
    text = block.text
    return len(text) <= 50 and bool(_TOWN.fullmatch(text)) and not _NOT_A_TOWN.match(text)


def _single(places: Sequence[str]) -> str | None:
    """The place, if all places are the same."""
    return places[0] if len(set(places)) == 1 else None
