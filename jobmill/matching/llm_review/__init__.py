"""What a strong model is asked about a listing, and what its answer may do to the score."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from itertools import accumulate

from pydantic import BaseModel, ConfigDict, Field

from jobmill.catalog.company_names import company_key
from jobmill.catalog.posting import Posting
from jobmill.matching.profile import RANKS, Profile, Skill
from jobmill.matching.verdict import Intake, Item, MatchResult
from jobmill.outside.model_question import ModelQuestion

from ..posting_facts import skills
from ..rules.company_facts import Employer
from ..rules.scoring import limited, priority
from . import claim_checks, prompt_injection
from .claim_checks import Checked, Held

PROMPT_VERSION = "1"
MAX_TOKENS = 3_000

# All of it together, in any alphabet, stays within what a call may cost by default.
LONGEST_LISTING = 8_000
"""Letters of a posting's text that are sent; about one in a hundred is longer."""
LONGEST_SUMMARY = 1_500
LONGEST_LINES = 2_000
"""Letters of each kind of line of the profile that are sent."""
MOST_SKILLS = 80

REACH = 20
"""So far may a model move what the rules see: it tells shades of a fit, it does not make one. Were
it talked into a hundred, a poor match would still be none."""
LIFT = 4
"""Up, only so far for each skill that stands in both texts, and by the share that these have of all
that are asked for: those who write a listing do not write the profile."""

KEPT = ("timezone", "size")
"""Items of the local score that a model does not judge."""
LIMIT = "limit"
CANDIDATE, EMPLOYER = "[candidate]", "[employer]"
"""What is sent in place of names."""

INSTRUCTIONS = """\
You judge for a candidate how well a job listing fits them. The document has two parts: CANDIDATE,
then, from the line "=== LISTING ===" to its very end, LISTING.

fit, 0 to 100, by skills, experience, seniority and kind of role alone: 90 has all that is required and
nearly all that is preferred; 75 has what is required but for little; 50 lacks something central; 20
is another profession or level. Do not weigh place, time zone, pay, or who the company is. The
candidate's name, gender, age, origin and nationality are not known to you and must not be guessed.

Claim only what the texts hold: every claim is looked up in them, and dropped if it is not there."""


class _Form(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class Reason(_Form):
    quote: str
    """Up to 12 words of LISTING, verbatim."""
    speaks_for: bool
    """Whether they speak for the fit or against it."""


class Opinion(_Form):
    """What a model says of a fit."""

    fit: int = Field(ge=0, le=100)
    reasons: list[Reason]
    """The 3 to 6 that weigh most."""
    matched_skills: list[str]
    """Bare names of skills that both parts name."""
    gaps: list[str]
    """Bare names of skills that LISTING asks for and CANDIDATE lacks."""
    summary: str
    """Professional summary for this listing, 2 or 3 plain sentences in the words of CANDIDATE; no fact from elsewhere."""
    prioritized_skills: list[str]
    """Of CANDIDATE's skills, at most 12, the most relevant first."""
    highlights: list[str]
    """Lines of CANDIDATE's highlights, verbatim, at most 5."""
    projects: list[str]
    """Lines of CANDIDATE's projects, verbatim, at most 3."""
    achievement_angles: list[str]
    """Lines of CANDIDATE's achievements or highlights, verbatim, at most 3."""
    ats_keywords: list[str]
    """Words of LISTING, verbatim, that CANDIDATE can truthfully use, at most 12."""


def ask(
    profile: Profile,
    posting: Posting,
    employer: Employer,
    local: MatchResult,
    *,
    item: int | None,
    run: str | None,
) -> ModelQuestion[Opinion]:
    """The question; neither the person's name nor the company's is in it."""
    candidate = _without(_own_names(profile), CANDIDATE, _candidate(profile, local))
    names = (*_bare(employer.name), *_bare(posting.company))
    listing = _without(names, EMPLOYER, _listing(posting))
    return ModelQuestion(
        tier="strong",
        purpose="match",
        instructions=INSTRUCTIONS,
        text=f"=== CANDIDATE ===\n{candidate}\n\n=== LISTING ===\n{listing}",
        answer_type=Opinion,
        prompt_version=PROMPT_VERSION,
        max_tokens=MAX_TOKENS,
        item=item,
        run=run,
    )


def _without(names: Iterable[str], mark: str, text: str) -> str:
    """The text with a mark for each of the names; a name that is also a skill's stays."""
    for name in sorted({name for name in names if len(name) > 2}, key=len, reverse=True):
        if not claim_checks.is_known(skills.canonical(name)):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", mark, text)
    return text


def _own_names(profile: Profile) -> tuple[str, ...]:
    name = profile.person.name or ""
    return (name, *name.split())


def _bare(company: str | None) -> tuple[str, ...]:
    """A company's name, and without what only says of which kind it is ("Inc.", "GmbH")."""
    words = (company or "").split()
    while len(words) > 1 and company_key(" ".join(words[:-1])) == company_key(company):
        words.pop()
    return company or "", " ".join(words).rstrip(",")


def _candidate(profile: Profile, local: MatchResult) -> str:
    ranked = sorted(profile.skills, key=lambda one: -RANKS[one.rank])[:MOST_SKILLS]
    years = profile.experience_years
    facts = {
        "Years of experience": "" if years is None else f"{years:g}",
        "Skills": "; ".join(map(_skill, ranked)),
        "Wanted titles": "; ".join(profile.titles),
        "Wanted seniority": ", ".join(profile.seniority),
        "Wanted kind of role": ", ".join(profile.role_types),
        "Skills found in both texts by rules": "; ".join(local.matched_skills),
        "Skills found in the listing alone by rules": "; ".join(local.skill_gaps),
        "Summary": profile.summary[:LONGEST_SUMMARY],
        "Highlights": _lines(profile.highlights),
        "Projects": _lines(profile.projects),
        "Achievements": _lines(profile.achievements),
    }
    return "\n".join(f"{name}: {value}" for name, value in facts.items() if value)


def _skill(skill: Skill) -> str:
    years = "" if skill.years is None else f", {skill.years:g} years"
    return f"{skill.name} ({skill.rank}{years})"


def _lines(lines: tuple[str, ...]) -> str:
    return "".join(f"\n- {line}" for line in _sent(lines))


def _sent(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The first of the lines, as many as there is room for."""
    sizes = accumulate(map(len, lines))
    return tuple(line for line, size in zip(lines, sizes, strict=True) if size <= LONGEST_LINES)


def _listing(posting: Posting) -> str:
    text = posting.description or posting.requirements or ""
    return f"Title: {posting.title}\n{text[:LONGEST_LISTING]}"


def combine(
    opinion: Opinion, model: str, local: MatchResult, profile: Profile, posting: Posting
) -> MatchResult:
    """The local score with a model's fit in place of its base, as far as the texts bear it out."""
    held, checked = Held(profile, posting), Checked()
    matched = checked.keep("skill", opinion.matched_skills, held.matched)
    gaps = checked.keep("gap", opinion.gaps, held.gap)
    reasons = _reasons(opinion, held, checked, posting)
    intake = _filled(_intake(opinion, held, checked, profile), local.resume_intake)
    shared = _union(local.matched_skills, matched)
    lacking = _union(local.skill_gaps, gaps, but=shared)
    lift = _lift(len(shared), len(lacking))
    points, why = _weigh(opinion.fit, _base(local), lift, prompt_injection.find(held.posting))
    judged = Item("model", points, 100, f"{model} {why}", reasons)
    items = limited(judged, *(one for one in local.items if one.name in KEPT))
    score = sum(one.points for one in items)
    return MatchResult(
        match_score=score,
        application_priority=priority(profile, score),
        matched_skills=shared,
        skill_gaps=lacking,
        items=items,
        threshold=local.threshold,
        threshold_why=local.threshold_why,
        resume_intake=intake,
        scored_by=model,
        dropped_claims=tuple(checked.dropped),
    )


def _base(local: MatchResult) -> int:
    """What the rules say of what the model is asked for."""
    parts = (one.points for one in local.items if one.name not in (*KEPT, LIMIT))
    return max(0, min(100, sum(parts)))


def _lift(shared: int, lacking: int) -> int:
    return min(LIFT * shared, REACH * shared // (shared + lacking or 1))


def _weigh(fit: int, base: int, lift: int, spoken: str | None) -> tuple[int, str]:
    """How much of a fit counts, and why."""
    if spoken:
        return base, f"says {fit}, which does not count: the listing speaks to models (“{spoken}”)"
    points = max(base - REACH, 0, min(fit, base + lift))
    if points == fit:
        return points, f"says {fit}; rules alone say {base}"
    bound = (
        f"the skills in both texts lift that by {lift} at most"
        if fit > base
        else f"it may take {REACH} off"
    )
    return points, f"says {fit}, held to {points}: rules say {base}, and {bound}"


def _reasons(opinion: Opinion, held: Held, checked: Checked, posting: Posting) -> tuple[str, ...]:
    """Quotes, those that speak for it first."""

    def quote(said: str) -> str | None:
        whole = (said.replace(EMPLOYER, name) for name in (*_bare(posting.company), EMPLOYER))
        return next(filter(None, map(held.quote, whole)), None)

    def quotes(speaks_for: bool) -> tuple[str, ...]:
        said = (one.quote for one in opinion.reasons if one.speaks_for is speaks_for)
        return checked.keep("quote", said, quote)

    return (*(f"for: {one}" for one in quotes(True)), *(f"against: {one}" for one in quotes(False)))


def _intake(opinion: Opinion, held: Held, checked: Checked, profile: Profile) -> Intake:
    names = _own_names(profile)

    def among(*kinds: tuple[str, ...]) -> Callable[[str], str | None]:
        lines = (line for kind in kinds for line in _sent(kind))
        sent = {_without(names, CANDIDATE, line): line for line in lines}
        return lambda claim: sent.get(claim_checks.closest(claim, list(sent)) or "")

    told = claim_checks.sentences(opinion.summary.replace(CANDIDATE, names[0] or "I"))
    return Intake(
        professional_summary=" ".join(checked.keep("summary", told, held.sentence)),
        prioritized_skills=checked.keep("own skill", opinion.prioritized_skills, held.skill),
        experience_highlights=checked.keep(
            "highlight", opinion.highlights, among(profile.highlights)
        ),
        projects_to_include=checked.keep("project", opinion.projects, among(profile.projects)),
        achievement_angles=checked.keep(
            "achievement",
            opinion.achievement_angles,
            among(profile.achievements, profile.highlights),
        ),
        ats_keywords=checked.keep("keyword", opinion.ats_keywords, held.keyword),
    )


def _filled(intake: Intake, local: Intake) -> Intake:
    """Where nothing is left of what the model said, what the rules say."""
    said = {one.name: getattr(intake, one.name) for one in fields(intake)}
    return replace(local, **{name: words for name, words in said.items() if words})


def _union(
    names: tuple[str, ...], more: tuple[str, ...], but: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """All names, each once, however it is spelt."""
    by_name = {_key(one): one for one in reversed((*names, *more))}
    left_out = set(map(_key, but))
    return tuple(reversed([one for key, one in by_name.items() if key not in left_out]))


def _key(skill: str) -> str:
    return skills.canonical(skill).casefold()
