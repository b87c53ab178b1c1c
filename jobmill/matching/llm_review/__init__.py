"""Ask a strong model to review a listing, and combine its answer with the local score."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from itertools import accumulate

from pydantic import BaseModel, ConfigDict, Field

from jobmill.catalog.company_names import company_key
from jobmill.catalog.posting import Posting
from jobmill.matching.profile import RANKS, Profile, Skill
from jobmill.matching.verdict import MatchResult, ResumeIntake, ScoreItem
from jobmill.outside.model_question import ModelQuestion

from ..posting_facts import skills
from ..rules.company_facts import Employer
from ..rules.local_score import keep_above_zero, priority_of
from . import claim_checks, prompt_injection
from .claim_checks import ClaimChecker, DroppedClaims

PROMPT_VERSION = "1"
MAX_TOKENS = 3_000

# Together, in any alphabet, these stay below the default cost limit of a call.
MAX_LISTING_LENGTH = 8_000
"""Characters of a posting that are sent; about 1% of postings are longer."""
MAX_SUMMARY_LENGTH = 1_500
MAX_LINES_LENGTH = 2_000
"""Characters of each kind of profile line that are sent."""
MAX_SKILLS = 80

REVIEW_MARGIN = 15
"""Only scores at most this far below the threshold are reviewed; a review rarely lifts more."""
MAX_CHANGE = 20
"""How far a model may move the rules' score. It can refine a fit but not create one: even a model
that was tricked into answering 100 cannot turn a poor listing into a match."""
MAX_LIFT_PER_SKILL = 4
"""How far up a model may move the score for each skill that both texts contain, scaled by the share
of required skills that the profile has. The author of a listing cannot influence the profile."""

LOCAL_ITEMS = ("salary", "arrangement", "timezone", "size")
"""Items of the local score that a model does not judge."""
CANDIDATE, EMPLOYER, CONTACT = "[candidate]", "[employer]", "[contact]"
"""Placeholders sent instead of names, e-mail addresses and phone numbers."""
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
PHONE = re.compile(r"(?<![\w.,/$€£-])(?:\+|00|\(|0)\d[\d ().-]{6,20}\d(?!\w)")
MIN_PHONE_DIGITS = 9
"""Shorter numbers are figures of the person's work."""

INSTRUCTIONS = """\
You judge for a candidate how well a job listing fits them. The document has two parts: CANDIDATE,
then, from the line "=== LISTING ===" to its very end, LISTING.

fit, 0 to 100, by skills, experience, seniority and kind of role alone: 90 has all that is required and
nearly all that is preferred; 75 has what is required but for little; 50 lacks something central; 20
is another profession or level. Do not weigh place, time zone, pay, or who the company is. The
candidate's name, gender, age, origin and nationality are not known to you and must not be guessed.

Claim only what the texts hold: every claim is looked up in them, and dropped if it is not there."""


def is_near_threshold(local: MatchResult) -> bool:
    """Whether the local score is high enough for a review to make the listing a match."""
    return local.match_score >= local.threshold - REVIEW_MARGIN


class _Form(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class Reason(_Form):
    quote: str
    """Up to 12 words of LISTING, verbatim."""
    speaks_for: bool
    """Whether they speak for the fit or against it."""


class ModelReviewAnswer(_Form):
    """What a model says of a fit."""

    # The schema is part of the cache key: answers that are already paid for carry this title.
    model_config = ConfigDict(title="Opinion")

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


def build_question(
    profile: Profile,
    posting: Posting,
    employer: Employer,
    local: MatchResult,
    *,
    item: int | None,
    run: str | None,
) -> ModelQuestion[ModelReviewAnswer]:
    """Build the question. It contains neither the person's name and contact details nor the
    company's name, and nothing of the master resume."""
    candidate = _anonymise(profile, _candidate(profile, local))
    names = (*_company_names(employer.name), *_company_names(posting.company))
    listing = _replace_names(names, EMPLOYER, _listing(posting))
    return ModelQuestion(
        tier="strong",
        purpose="match",
        instructions=INSTRUCTIONS,
        text=f"=== CANDIDATE ===\n{candidate}\n\n=== LISTING ===\n{listing}",
        answer_type=ModelReviewAnswer,
        prompt_version=PROMPT_VERSION,
        max_tokens=MAX_TOKENS,
        item=item,
        run=run,
    )


def _replace_names(names: Iterable[str], mark: str, text: str) -> str:
    """Replace each name with a placeholder, except names that are also skills."""
    for name in sorted({name for name in names if len(name) > 2}, key=len, reverse=True):
        if not claim_checks.is_known_skill(skills.canonical_name(name)):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", mark, text)
    return text


def _anonymise(profile: Profile, text: str) -> str:
    """Replace the person's name, and e-mail addresses and phone numbers wherever they stand."""
    text = PHONE.sub(_hide_phone, EMAIL.sub(CONTACT, text))
    return _replace_names(_candidate_names(profile), CANDIDATE, text)


def _hide_phone(match: re.Match[str]) -> str:
    return CONTACT if sum(map(str.isdigit, match.group())) >= MIN_PHONE_DIGITS else match.group()


def preview_candidate(profile: Profile) -> str:
    """What a model is told about the person, besides which skills of a job they have."""
    return _anonymise(profile, _candidate(profile, None))


def _candidate_names(profile: Profile) -> tuple[str, ...]:
    name = profile.person.name or ""
    return (name, *name.split())


def _company_names(company: str | None) -> tuple[str, ...]:
    """A company's name, with and without its legal form ("Inc.", "GmbH")."""
    words = (company or "").split()
    while len(words) > 1 and company_key(" ".join(words[:-1])) == company_key(company):
        words.pop()
    return company or "", " ".join(words).rstrip(",")


def _candidate(profile: Profile, local: MatchResult | None) -> str:
    ranked = sorted(profile.skills, key=lambda skill: -RANKS[skill.rank])[:MAX_SKILLS]
    years = profile.experience_years
    facts = {
        "Years of experience": "" if years is None else f"{years:g}",
        "Skills": "; ".join(map(_skill, ranked)),
        "Wanted titles": "; ".join(profile.titles),
        "Wanted seniority": ", ".join(profile.seniority),
        "Wanted kind of role": ", ".join(profile.role_types),
        "Skills found in both texts by rules": "; ".join(local.matched_skills) if local else "",
        "Skills found in the listing alone by rules": "; ".join(local.skill_gaps) if local else "",
        "Summary": profile.summary[:MAX_SUMMARY_LENGTH],
        "Highlights": _lines(profile.highlights),
        "Projects": _lines(profile.projects),
        "Achievements": _lines(profile.achievements),
    }
    return "\n".join(f"{name}: {value}" for name, value in facts.items() if value)


def _skill(skill: Skill) -> str:
    years = "" if skill.years is None else f", {skill.years:g} years"
    return f"{skill.name} ({skill.rank}{years})"


def _lines(lines: tuple[str, ...]) -> str:
    return "".join(f"\n- {line}" for line in _lines_to_send(lines))


def _lines_to_send(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The first lines, up to the length limit."""
    sizes = accumulate(map(len, lines))
    return tuple(line for line, size in zip(lines, sizes, strict=True) if size <= MAX_LINES_LENGTH)


def _listing(posting: Posting) -> str:
    text = posting.description or posting.requirements or ""
    return f"Title: {posting.title}\n{text[:MAX_LISTING_LENGTH]}"


def combine_with_review(
    review: ModelReviewAnswer, model: str, local: MatchResult, profile: Profile, posting: Posting
) -> MatchResult:
    """Replace the items that a model judges with its fit, as far as both texts support it. Its
    maximum is the sum of theirs."""
    checker, dropped = ClaimChecker(profile, posting), DroppedClaims()
    matched = dropped.keep_verified("skill", review.matched_skills, checker.check_matched_skill)
    gaps = dropped.keep_verified("gap", review.gaps, checker.check_gap)
    reasons = _verified_reasons(review, checker, dropped, posting)
    intake = _fill_gaps(_verified_intake(review, checker, dropped, profile), local.resume_intake)
    shared = _union(local.matched_skills, matched)
    lacking = _union(local.skill_gaps, gaps, but=shared)
    lift = _max_lift(len(shared), len(lacking))
    kept = [item for item in local.items if item.name in LOCAL_ITEMS]
    most = 100 - sum(item.most for item in kept)
    bound = min(_max_points(local, len(shared) - len(local.matched_skills)), most)
    points, why = _bound_fit(
        review.fit,
        most,
        _base_score(local),
        lift,
        bound,
        prompt_injection.find_injection(checker.posting_text),
    )
    model_item = ScoreItem("model", points, most, f"{model} {why}", reasons)
    items = keep_above_zero((model_item, *kept))
    return MatchResult(
        match_score=sum(item.points for item in items),
        application_priority=priority_of(profile, items),
        matched_skills=shared,
        skill_gaps=lacking,
        items=items,
        threshold=local.threshold,
        threshold_why=local.threshold_why,
        resume_intake=intake,
        scored_by=model,
        dropped_claims=tuple(dropped.dropped),
    )


def _base_score(local: MatchResult) -> int:
    """The rules' score for what the model judges."""
    return sum(item.points for item in local.items if item.name not in LOCAL_ITEMS)


def _max_lift(shared: int, lacking: int) -> int:
    return min(MAX_LIFT_PER_SKILL * shared, MAX_CHANGE * shared // (shared + lacking or 1))


def _max_points(local: MatchResult, new_skills: int) -> int:
    """The points with which a listing stays below its threshold, unless the rules alone reach it, or
    the skills that only the model noticed, and that both texts contain, make up for the rest."""
    if local.fits:
        return 100
    others = local.match_score - _base_score(local)
    supported = local.match_score + MAX_LIFT_PER_SKILL * new_skills
    return max(supported, local.threshold - 1) - others


def _bound_fit(
    fit: int, most: int, base: int, lift: int, bound: int, injection: str | None
) -> tuple[int, str]:
    """How many of `most` points the model's fit is worth, and why."""
    rated = f"rated the fit {fit} of 100"
    if injection:
        reason = f"ignored: the job text addresses models (“{injection}”)"
        return base, f"{rated}, which is {reason}"
    wanted = (fit * most + 50) // 100
    points = max(base - MAX_CHANGE, 0, min(wanted, base + lift, bound))
    rules = f"the rules alone give {base} points"
    if points == wanted:
        return points, f"{rated}; {rules}"
    if wanted < base:
        reason = f"a model may take off at most {MAX_CHANGE}"
    elif base + lift <= bound:
        reason = f"the shared skills allow at most {lift} more"
    else:
        reason = "a rating alone cannot make a match"
    return points, f"{rated}, limited to {points} points: {rules}, and {reason}"


def _verified_reasons(
    review: ModelReviewAnswer, checker: ClaimChecker, dropped: DroppedClaims, posting: Posting
) -> tuple[str, ...]:
    """Verified quotes, those in favour first."""

    def quote(claim: str) -> str | None:
        variants = (
            claim.replace(EMPLOYER, name) for name in (*_company_names(posting.company), EMPLOYER)
        )
        return next(filter(None, map(checker.check_quote, variants)), None)

    def quotes(speaks_for: bool) -> tuple[str, ...]:
        claims = (reason.quote for reason in review.reasons if reason.speaks_for is speaks_for)
        return dropped.keep_verified("quote", claims, quote)

    return (
        *(f"for: {words}" for words in quotes(True)),
        *(f"against: {words}" for words in quotes(False)),
    )


def _verified_intake(
    review: ModelReviewAnswer, checker: ClaimChecker, dropped: DroppedClaims, profile: Profile
) -> ResumeIntake:
    names = _candidate_names(profile)

    def among(*kinds: tuple[str, ...]) -> Callable[[str], str | None]:
        lines = (line for kind in kinds for line in _lines_to_send(kind))
        sent = {_anonymise(profile, line): line for line in lines}
        return lambda claim: sent.get(claim_checks.closest_line(claim, list(sent)) or "")

    sentences = claim_checks.split_sentences(review.summary.replace(CANDIDATE, names[0] or "I"))
    return ResumeIntake(
        professional_summary=" ".join(
            dropped.keep_verified("summary", sentences, checker.check_sentence)
        ),
        prioritized_skills=dropped.keep_verified(
            "own skill", review.prioritized_skills, checker.check_profile_skill
        ),
        experience_highlights=dropped.keep_verified(
            "highlight", review.highlights, among(profile.highlights)
        ),
        projects_to_include=dropped.keep_verified(
            "project", review.projects, among(profile.projects)
        ),
        achievement_angles=dropped.keep_verified(
            "achievement",
            review.achievement_angles,
            among(profile.achievements, profile.highlights),
        ),
        ats_keywords=dropped.keep_verified("keyword", review.ats_keywords, checker.check_keyword),
    )


def _fill_gaps(intake: ResumeIntake, local: ResumeIntake) -> ResumeIntake:
    """Use the local suggestions wherever nothing from the model remains."""
    values = {field.name: getattr(intake, field.name) for field in fields(intake)}
    return replace(local, **{name: words for name, words in values.items() if words})


def _union(
    names: tuple[str, ...], more: tuple[str, ...], but: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """All names once, ignoring spelling variants."""
    by_name = {_key(name): name for name in reversed((*names, *more))}
    left_out = set(map(_key, but))
    return tuple(reversed([name for key, name in by_name.items() if key not in left_out]))


def _key(skill: str) -> str:
    return skills.canonical_name(skill).casefold()
