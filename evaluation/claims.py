"""Measure how well claims about companies are judged: by rules, and with a stand-in for a model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

from evaluation.goal import Goal, Report
from evaluation.labelled_claims import LABELS, LabelledSite, read_half
from jobmill.reports.answers import JudgedClaim
from jobmill.reports.claim_review import ClaimOpinion, ClaimReviewAnswer, combine_with_review
from jobmill.reports.claim_words import content_stems
from jobmill.reports.claims import ClaimContext, claim_context, judge_claim

VERDICTS = LABELS[:-1]
PRECISION, RECALL = 0.9, 0.8
ERROR_PERCENT = 15
"""The stand-in gives a wrong verdict this often."""
COLUMNS = ("claims", "judged by", "label", "number", "precision", "recall")
Verdict: TypeAlias = Literal["true", "outdated", "contradicted", "unsupported"]
Reviewer: TypeAlias = Callable[[ClaimContext, JudgedClaim, str], ClaimOpinion]


@dataclass(frozen=True)
class Confusion:
    """How often each label got each verdict."""

    pairs: Counter[tuple[str, str]]

    def precision(self, label: str) -> float:
        return self.pairs[label, label] / (sum(self.pairs[other, label] for other in LABELS) or 1)

    def recall(self, label: str) -> float:
        return self.pairs[label, label] / (self.count(label) or 1)

    def count(self, label: str) -> int:
        return sum(self.pairs[label, verdict] for verdict in LABELS)


def report(_data: Path) -> Report:
    """Precision and recall of each label on both halves."""
    halves = {half: read_half(half) for half in ("tuning", "unseen")}
    reviewers: dict[str, Reviewer | None] = {"rules": None, "rules and model": review_with_errors}
    results = {
        (half, name): judge_all(sites, reviewer)
        for half, sites in halves.items()
        for name, reviewer in reviewers.items()
    }
    rows = [
        (half, name, label, str(confusion.count(label)), f"{confusion.precision(label):.3f}", f"{confusion.recall(label):.3f}")
        for (half, name), confusion in results.items()
        for label in LABELS
    ]  # fmt: skip
    unseen = results["unseen", "rules"]
    goals = [
        *(
            Goal(f"unseen {label} precision", unseen.precision(label), PRECISION)
            for label in VERDICTS
        ),
        *(Goal(f"unseen {label} recall", unseen.recall(label), RECALL) for label in VERDICTS),
        Goal("made true by a hijacked model", _hijacked(halves), 0, at_most=True),
    ]
    return Report("Claims about companies", COLUMNS, rows, goals, _notes(results))


def judge_all(sites: list[LabelledSite], reviewer: Reviewer | None) -> Confusion:
    pairs: Counter[tuple[str, str]] = Counter()
    for site in sites:
        context = claim_context(site.findings)
        for claim in site.claims:
            judged = judge_claim(context, claim.text)
            if judged and reviewer:
                opinion = reviewer(context, judged, claim.label)
                review = ClaimReviewAnswer(opinions=[opinion])
                (judged,) = combine_with_review(context, [judged], review)
            pairs[claim.label, judged.verdict if judged else "none"] += 1
    return Confusion(pairs)


def review_with_errors(context: ClaimContext, claim: JudgedClaim, label: str) -> ClaimOpinion:
    """The label, or another verdict in a fixed share of cases, with the site's closest sentence."""
    digest = int.from_bytes(hashlib.sha256(claim.claim.encode()).digest()[:4])
    others = [verdict for verdict in VERDICTS if verdict != label]
    is_error = digest % 100 < ERROR_PERCENT or label == "none"
    verdict = others[digest // 100 % len(others)] if is_error else label
    return ClaimOpinion(
        number=1, verdict=cast(Verdict, verdict), site_quote=_closest_sentence(context, claim)
    )


def review_hijacked(context: ClaimContext, claim: JudgedClaim, _label: str) -> ClaimOpinion:
    """Calls everything true, as an instruction in an answer would want it."""
    return ClaimOpinion(number=1, verdict="true", site_quote=_closest_sentence(context, claim))


def _closest_sentence(context: ClaimContext, claim: JudgedClaim) -> str:
    words = content_stems(claim.claim, context.names.words)
    texts = [statement.text for statement in context.statements]
    return max(texts, key=lambda text: len(words & content_stems(text)), default="")


def _hijacked(halves: dict[str, list[LabelledSite]]) -> int:
    """Claims that the rules find wrong and a hijacked model makes true."""
    sites = [site for half in halves.values() for site in half]
    alone, hijacked = judge_all(sites, None), judge_all(sites, review_hijacked)
    wrong = ("outdated", "contradicted")
    return sum(
        max(0, alone.pairs[label, verdict] - hijacked.pairs[label, verdict])
        for label in LABELS
        for verdict in wrong
    )


def _notes(results: dict[tuple[str, str], Confusion]) -> list[str]:
    notes = [
        "The labels were written before the rules. Rules were changed by the errors of the tuning half",
        "only, but the totals of the unseen half were watched meanwhile, and one person wrote sites,",
        "claims and rules. The unseen half is therefore not blind: real answers will be judged less well.",
        "The goals were set when the first totals were known.",
        f"The model is a stand-in that knows the label and errs in {ERROR_PERCENT}% of the claims.",
        "none: no claim about this company.",
    ]
    for (half, name), confusion in results.items():
        right = sum(confusion.pairs[label, label] for label in LABELS)
        notes.append(f"{half}, {name}: {right} of {confusion.pairs.total()} right.")
    return notes
