"""Ask a model for a second opinion on claims, and combine it with the verdicts of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from jobmill.outside.model_question import ModelQuestion
from jobmill.plain_text import fold_case, single_line
from jobmill.reports.answers import AnswerAnalysis, JudgedClaim
from jobmill.reports.claim_words import content_stems
from jobmill.reports.claims import ClaimContext, claim_context
from jobmill.reports.findings import SiteFindings
from jobmill.reports.quantities import compare, find_quantities
from jobmill.reports.site_statements import SiteStatement

PROMPT_VERSION: Final = "1"
MAX_TOKENS: Final = 3_000
MAX_CLAIMS: Final = 30
"""Claims in one question."""
_MAX_SITE_LENGTH: Final = 12_000
_MIN_QUOTE_LENGTH: Final = 12

INSTRUCTIONS: Final = """\
You compare claims about a company with sentences of its own website. The document has two parts: SITE,
one sentence on each line, then, from the line "=== CLAIMS ===", numbered CLAIMS.

For each claim: true if SITE states it or it follows from SITE; outdated if SITE shows that it was right
earlier; contradicted if SITE states something else about the same thing; unsupported if SITE says nothing
about it. Copy into site_quote, verbatim, the one sentence of SITE that decides it; leave it empty if the
claim is unsupported. A quote that is not in SITE is dropped together with its verdict."""


# The schema is part of the cache key: renaming this class would ask for answers that are already paid.
class ClaimOpinion(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    number: int
    """Of the claim."""
    verdict: Literal["true", "outdated", "contradicted", "unsupported"]
    site_quote: str
    """The sentence of SITE that decides it, verbatim; empty if unsupported."""


class ClaimReviewAnswer(BaseModel):
    opinions: list[ClaimOpinion]


def open_claims(analyses: Iterable[AnswerAnalysis]) -> tuple[JudgedClaim, ...]:
    """The claims of all answers that the rules leave open, each once."""
    claims = {claim.claim: claim for analysis in analyses for claim in analysis.claims}
    return claims_to_review(tuple(claims.values()))


def build_review(
    findings: SiteFindings, analyses: Sequence[AnswerAnalysis], item: int, run: str
) -> ModelQuestion[ClaimReviewAnswer] | None:
    """The question about the open claims of all answers; None if no claim is open."""
    claims = open_claims(analyses)
    if not claims:
        return None
    return build_claim_question(claim_context(findings), claims, item=item, run=run)


def apply_review(
    findings: SiteFindings, analyses: Sequence[AnswerAnalysis], review: ClaimReviewAnswer
) -> tuple[AnswerAnalysis, ...]:
    """The analyses with the model's verdicts on claims that the rules leave open."""
    reviewed = combine_with_review(claim_context(findings), open_claims(analyses), review)
    by_text = {claim.claim: claim for claim in reviewed}
    return tuple(
        replace(
            analysis, claims=tuple(by_text.get(claim.claim, claim) for claim in analysis.claims)
        )
        for analysis in analyses
    )


def claims_to_review(claims: Sequence[JudgedClaim]) -> tuple[JudgedClaim, ...]:
    """The claims that the rules leave open, which a model is asked about."""
    return tuple(claim for claim in claims if claim.verdict == "unsupported")[:MAX_CLAIMS]


def build_claim_question(
    context: ClaimContext, claims: Sequence[JudgedClaim], *, item: int | None, run: str | None
) -> ModelQuestion[ClaimReviewAnswer]:
    """The question about the open ones among these claims."""
    sentences = dict.fromkeys(statement.text for statement in context.statements if statement.text)
    site = "\n".join(sentences)[:_MAX_SITE_LENGTH]
    numbered = [
        f"{number}. {single_line(claim.claim) or ''}"
        for number, claim in enumerate(claims_to_review(claims), 1)
    ]
    return ModelQuestion(
        tier="cheap",
        purpose="check claims",
        instructions=INSTRUCTIONS,
        text=f"=== SITE ===\n{site}\n\n=== CLAIMS ===\n" + "\n".join(numbered),
        answer_type=ClaimReviewAnswer,
        prompt_version=PROMPT_VERSION,
        max_tokens=MAX_TOKENS,
        item=item,
        run=run,
    )


def combine_with_review(
    context: ClaimContext, claims: Sequence[JudgedClaim], review: ClaimReviewAnswer
) -> tuple[JudgedClaim, ...]:
    """The claims with the model's verdicts on the open ones, where a sentence of the site supports
    them.

    The claims come from an answer that can carry instructions to the model, so verdicts of the rules
    stay: a hijacked model cannot turn "contradicted" into "true".
    """
    opinions = {opinion.number: opinion for opinion in review.opinions[: 2 * MAX_CLAIMS]}
    reviewed = [
        _combine(context, claim, opinions.get(number))
        for number, claim in enumerate(claims_to_review(claims), 1)
    ]
    replaced = iter(reviewed)
    return tuple(
        next(replaced, claim) if claim.verdict == "unsupported" else claim for claim in claims
    )


def _combine(
    context: ClaimContext, claim: JudgedClaim, opinion: ClaimOpinion | None
) -> JudgedClaim:
    if opinion is None or opinion.verdict == "unsupported":
        return claim
    statement = _find_statement(context, opinion.site_quote)
    if statement is None or not _is_about(claim, statement, context):
        return claim
    if opinion.verdict == "true" and not _states_numbers(claim, statement):
        return claim
    return replace(
        claim,
        verdict=opinion.verdict,
        evidence=statement.evidence,
        reason="A model judged it by this sentence of the site.",
        fact=statement.fact,
    )


def _find_statement(context: ClaimContext, quote: str) -> SiteStatement | None:
    """The site's sentence that contains the quoted words."""
    words = fold_case(single_line(quote[:1_000]) or "").strip(" \"'.\u201c\u201d")
    if len(words) < _MIN_QUOTE_LENGTH:
        return None
    matches = (statement for statement in context.statements if words in fold_case(statement.text))
    return next(matches, None)


def _is_about(claim: JudgedClaim, statement: SiteStatement, context: ClaimContext) -> bool:
    """Whether claim and sentence share a word besides the company's name."""
    words = content_stems(claim.claim, context.names.words)
    return bool(words & content_stems(f"{statement.text} {statement.value}"))


def _states_numbers(claim: JudgedClaim, statement: SiteStatement) -> bool:
    """Whether the sentence has every number of the claim: a model does not vouch for numbers."""
    stated = find_quantities(statement.text)
    return all(
        any(compare(quantity, other, 0.1) == "same" for other in stated)
        for quantity in find_quantities(claim.claim)
    )
