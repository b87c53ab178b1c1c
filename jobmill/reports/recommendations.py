"""Recommend what to change on a site: which page, which problem, and the text to add or fix."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from jobmill.plain_text import single_line
from jobmill.reports.answers import AnswerAnalysis, JudgedClaim, Recommendation
from jobmill.reports.cited_domains import site_host
from jobmill.reports.crawl import is_careers_page
from jobmill.reports.findings import BotAccess, Evidence, FactName, PageReadability, SiteFindings
from jobmill.reports.scores import WRONG_VERDICTS

_MAX_RECOMMENDATIONS: Final = 60
_MAX_OF_ONE_KIND: Final = 20
_STAGE_EFFECT: Final = {
    "discovery": 3.0,
    "consideration": 4.0,
    "evaluation": 5.0,
    "commitment": 4.0,
}
_BLOCKED_EFFECT: Final = 30.0
"""A search bot that may read no page; assistants that search with it cannot cite the site."""
_UNREADABLE_EFFECT: Final = 15.0
_WRONG_CLAIM_EFFECT: Final = 40.0
"""A wrong claim in every answer."""
_HARD_TO_FIND: Final = 1.5
_FACT_SENTENCES: Final[dict[FactName, str]] = {
    "size": "{company} has {value} ({year}).",
    "founded": "{company} was founded in {value}.",
    "remote_policy": "Where we work at {company} ({year}): {value}.",
    "benefits": "{company} offers: {value} ({year}).",
    "tech": "{company} works with {value} ({year}).",
    "hiring_process": "How {company} hires ({year}): {value}.",
    "industry": "{company} works in this field: {value}.",
}
_ANSWER_OUTLINES: Final = (
    (r"pay|salary|earn|wage|compensation", "We pay [amount] to [amount] a [year or hour] for [role], plus [bonus]."),
    (r"remote|home|hybrid|on.?site", "You work [on site / from home] [number] days a week; [exceptions]."),
    (r"interview|process|apply|application", "You have [number] conversations in [number] weeks: [steps]."),
    (r"benefit|insurance|pension|holiday|vacation|leave", "Everyone gets [number] days of leave, [benefit] and [benefit]."),
    (r"visa|sponsor|relocat", "We [do / do not] sponsor visas and pay [amount] towards a move."),
    (r"hour|shift|overtime|part.?time", "The working week has [number] hours; shifts start at [time]."),
    (r"train|learn|career|grow|promot", "You get [training] in the first [period], and [number] days of training a year."),
    (r"where|office|location", "We work in [places]; this job is in [place]."),
    (r"team|manager|report", "You work in a team of [number] and report to [role]."),
    (r"tool|tech|stack|equipment", "We work with [tools]."),
)  # fmt: skip
_OUTLINES_BY_PATTERN: Final = tuple(
    (re.compile(rf"\b(?:{words})", re.IGNORECASE), text) for words, text in _ANSWER_OUTLINES
)


def recommend(
    findings: SiteFindings, analyses: Iterable[AnswerAnalysis]
) -> tuple[Recommendation, ...]:
    """All recommendations, those with the largest effect first. Each names the finding it rests on."""
    recommendations = [
        *_wrong_claims(findings, list(analyses)),
        *_blocked_bots(findings),
        *_unreadable_pages(findings),
        *_open_questions(findings),
        *_structured_data(findings),
        *_contradictions(findings),
        *_hostile_text(findings),
    ]
    # Two facts of one topic can be wrong on one page, each with its own sentence.
    unique = {
        (recommendation.page, recommendation.finding, recommendation.evidence): recommendation
        for recommendation in reversed(recommendations)
    }
    ordered = sorted(unique.values(), key=_rank)
    return tuple(ordered[:_MAX_RECOMMENDATIONS])


def _rank(recommendation: Recommendation) -> tuple[float, str, str, str]:
    quote = recommendation.evidence.quote if recommendation.evidence else ""
    return -recommendation.effect, recommendation.page, recommendation.finding, quote


def _wrong_claims(
    findings: SiteFindings, analyses: Sequence[AnswerAnalysis]
) -> Iterator[Recommendation]:
    """Facts that answers get wrong: state them where they are easy to find."""
    wrong: dict[Evidence, list[JudgedClaim]] = {}
    for analysis in analyses:
        claims = {
            claim.evidence: claim for claim in analysis.claims if claim.verdict in WRONG_VERDICTS
        }
        for evidence, claim in claims.items():
            if evidence:
                wrong.setdefault(evidence, []).append(claim)
    for evidence, claims in wrong.items():
        hidden = _why_hard_to_find(findings, evidence)
        share = len(claims) / len(analyses)
        problem = (
            f"{len(claims)} of {len(analyses)} answers get this wrong, such as \u201c{claims[0].claim}\u201d;"
            f" the page says \u201c{evidence.quote}\u201d.{hidden}"
        )
        yield Recommendation(
            evidence.url, problem, _propose_fact(findings, evidence, claims[0].fact),
            round(_WRONG_CLAIM_EFFECT * share * (_HARD_TO_FIND if hidden else 1.0), 1),
            f"claim:{claims[0].fact or 'answer'}", evidence,
        )  # fmt: skip


def _why_hard_to_find(findings: SiteFindings, evidence: Evidence) -> str:
    """Why assistants may miss the page, as a sentence after a space; "" if nothing is known."""
    problem = next(
        (page.problem for page in findings.readability if page.url == evidence.url), None
    )
    if problem:
        return f" Assistants may miss it: the page is {problem.replace('_', ' ')}."
    blocked = [access.bot for access in findings.access if _is_blocked(access, evidence.url)]
    return f" Assistants may miss it: {blocked[0]} may not read the page." if blocked else ""


def _is_blocked(access: BotAccess, url: str) -> bool:
    return access.purpose == "search" and not access.allowed and access.url == url


def _blocked_bots(findings: SiteFindings) -> Iterator[Recommendation]:
    """Search bots only: whether training bots may read the site is the owner's choice."""
    by_bot: dict[str, list[BotAccess]] = {}
    for access in findings.access:
        if access.purpose == "search":
            by_bot.setdefault(access.bot, []).append(access)
    for bot, pages in by_bot.items():
        blocked = [access for access in pages if not access.allowed]
        if not blocked:
            continue
        by_robots = "robots.txt" in blocked[0].reason.lower()
        yield Recommendation(
            f"{_root(findings)}/robots.txt" if by_robots else blocked[0].url,
            f"{bot} may not read {len(blocked)} of {len(pages)} pages, such as {blocked[0].url}:"
            f" {blocked[0].reason}",
            _propose_rules(bot, blocked) if by_robots else f"Let {bot} read and index this page.",
            round(_BLOCKED_EFFECT * len(blocked) / len(pages), 1),
            f"access:{bot}",
        )  # fmt: skip


def _propose_rules(bot: str, blocked: Sequence[BotAccess]) -> str:
    """Rules for these pages only: a new group for the bot would open all that other groups close."""
    paths = dict.fromkeys(urlsplit(access.url).path or "/" for access in blocked)
    rules = "\n".join(f"Allow: {path}" for path in list(paths)[:_MAX_OF_ONE_KIND])
    return f"In the group of robots.txt that applies to {bot}, add:\n{rules}"


def _unreadable_pages(findings: SiteFindings) -> Iterator[Recommendation]:
    pages = [page for page in findings.readability if page.problem]
    for page in pages[:_MAX_OF_ONE_KIND]:
        yield Recommendation(
            page.url, _describe_problem(page), _propose_readable(page),
            round(_UNREADABLE_EFFECT * (1.5 if is_careers_page(page.url) else 1.0) / len(pages) ** 0.5, 1),
            f"page:{page.problem}",
        )  # fmt: skip


def _describe_problem(page: PageReadability) -> str:
    if page.problem == "needs_javascript" and page.rendered_characters:
        return (
            f"Without JavaScript the page has {page.raw_characters} of"
            f" {page.rendered_characters} characters; many AI crawlers run none."
        )
    name = (page.problem or "").replace("_", " ")
    return f"Crawlers cannot read the page ({name}){f': {page.reason}' if page.reason else '.'}"


def _propose_readable(page: PageReadability) -> str:
    if page.problem in ("needs_javascript", "empty"):
        return "Send the text of this page in its HTML (render it on the server)."
    if page.problem == "too_large":
        return "Split the page, or remove embedded data from its HTML."
    return "Make the page answer with status 200 and its text."


def _open_questions(findings: SiteFindings) -> Iterator[Recommendation]:
    page = _careers_page(findings)
    for question in findings.questions:
        if question.answer is None:
            yield Recommendation(
                page, f"The site does not answer \u201c{question.question}\u201d",
                _propose_answer(question.question), _STAGE_EFFECT[question.stage],
                f"question:{question.question_id}",
            )  # fmt: skip


def _structured_data(findings: SiteFindings) -> Iterator[Recommendation]:
    data = findings.structured_data
    if not data.organization_pages:
        yield Recommendation(
            _root(findings), "No page has structured data about the organization.",
            _organization_script(findings), 6.0, "structured_data:organization",
        )  # fmt: skip
    elif data.missing_organization_fields:
        names = ", ".join(data.missing_organization_fields)
        yield Recommendation(
            data.organization_pages[0], f"The structured data of the organization lacks {names}.",
            f"Add {names} to the Organization data.", 2.0, "structured_data:organization",
        )  # fmt: skip
    without = data.postings - data.postings_with_data
    if without > 0:
        yield Recommendation(
            _careers_page(findings), f"{without} of {data.postings} postings have no JobPosting data.",
            "Add JobPosting data with title, datePosted, validThrough, jobLocation and baseSalary.",
            round(8.0 * without / data.postings, 1), "structured_data:postings",
        )  # fmt: skip
    for field, count in data.missing_posting_fields[:_MAX_OF_ONE_KIND]:
        yield Recommendation(
            _careers_page(findings), f"{count} postings have no {field} in their structured data.",
            f"Add {field} to the JobPosting data.",
            round(4.0 * count / max(data.postings, count, 1), 1), f"structured_data:{field}",
        )  # fmt: skip
    if data.self_rating:
        yield Recommendation(
            data.self_rating.url, "The site rates itself as an employer, which search engines ignore or punish.",
            "Remove EmployerAggregateRating from this page.", 4.0, "structured_data:self_rating",
            data.self_rating,
        )  # fmt: skip


def _contradictions(findings: SiteFindings) -> Iterator[Recommendation]:
    for contradiction in findings.structured_data.contradictions[:_MAX_OF_ONE_KIND]:
        yield Recommendation(
            contradiction.listing_url,
            f"The {contradiction.field} differs: \u201c{contradiction.on_site}\u201d on the site,"
            f" \u201c{contradiction.on_board}\u201d on the job board.",
            f"State the same {contradiction.field} in both places, such as \u201c{contradiction.on_board}\u201d.",
            7.0 if contradiction.field in ("pay", "place") else 3.0, f"contradiction:{contradiction.field}",
        )  # fmt: skip


def _hostile_text(findings: SiteFindings) -> Iterator[Recommendation]:
    problems = {
        "hidden_text": "The page has text that visitors cannot see.",
        "prompt_injection": "The page gives instructions to language models.",
    }
    for hostile in findings.hostile[:_MAX_OF_ONE_KIND]:
        yield Recommendation(
            hostile.evidence.url, problems[hostile.kind],
            f"Remove \u201c{hostile.evidence.quote[:200]}\u201d.", 5.0, f"hostile:{hostile.kind}", hostile.evidence,
        )  # fmt: skip


def _root(findings: SiteFindings) -> str:
    host = site_host(findings.site)
    scheme = "http" if findings.site.startswith("http://") else "https"
    return f"{scheme}://{host}" if host else findings.site


def _careers_page(findings: SiteFindings) -> str:
    """The page for candidates: the one that the crawl saw, else the start page."""
    pages = [page.url for page in findings.readability]
    pages += [fact.evidence.url for fact in findings.facts]
    return next((url for url in pages if is_careers_page(url)), _root(findings))


def _organization_script(findings: SiteFindings) -> str:
    """JSON-LD from the facts. "<" is escaped, so that no value of the site ends the script."""
    values = {fact.name: single_line(fact.value[:300]) for fact in reversed(findings.facts)}
    data = {
        "@context": "https://schema.org",
        "@type": "Organization",
        "name": findings.company,
        "url": _root(findings),
        "description": values.get("description"),
        "foundingDate": values.get("founded"),
        "numberOfEmployees": values.get("size"),
        "address": values.get("places"),
    }
    text = json.dumps({key: value for key, value in data.items() if value}, ensure_ascii=False)
    return f'<script type="application/ld+json">{text.replace("<", chr(92) + "u003c")}</script>'


def _propose_answer(question: str) -> str:
    """A question with the outline of its answer; the site's owner fills in the brackets."""
    outline = next(
        (text for pattern, text in _OUTLINES_BY_PATTERN if pattern.search(question)),
        "[The answer in one sentence with a number, a place or a name.]",
    )
    return f"{single_line(question) or ''}\n{outline}"


def _propose_fact(findings: SiteFindings, evidence: Evidence, name: FactName | None) -> str:
    """A sentence that states a fact on its own: with the company's name, and a year where it changes."""
    values = [
        fact.value for fact in findings.facts if fact.name == name and fact.evidence == evidence
    ]
    if name not in _FACT_SENTENCES or not values:
        return f"{findings.company} ({findings.read_at.year}): {evidence.quote}"
    return _FACT_SENTENCES[name].format(
        company=findings.company, value=", ".join(values), year=findings.read_at.year
    )
