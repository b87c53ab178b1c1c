"""Scores of a report from 0 to 100, with intervals and the arithmetic to recompute them.

All intervals are Wilson score intervals at 95%. Wilson needs no random numbers, stays between 0 and 100,
and does not shrink to a point when all answers agree by chance. A value between 0 and 1 never varies more
than a yes or no with the same mean, so the interval is wide enough for placement and accuracy, too.

Answers to the same prompt are not independent: what one run says, the next mostly says again. The interval
counts them as the number of independent answers that would tell as much (`effective_count`). For accuracy
answers count, not claims: claims of one answer are not independent either.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from jobmill.reports.answers import AnswerAnalysis, JudgedClaim, Prompt, Score

_Z: Final = 1.959964
"""95% of a normal distribution lie within this many standard deviations."""
WRONG_VERDICTS: Final = ("outdated", "contradicted")


def compute_scores(
    prompts: Iterable[Prompt], analyses: Iterable[AnswerAnalysis]
) -> tuple[Score, ...]:
    """Visibility, placement and accuracy of these answers."""
    neutral_keys = {prompt.key for prompt in prompts if not prompt.names_company}
    all_answers = list(analyses)
    neutral = [analysis for analysis in all_answers if analysis.prompt_key in neutral_keys]
    return _visibility(neutral), _placement(neutral), _accuracy(all_answers)


def wilson_interval(share: float, trials: float) -> tuple[float, float]:
    """The 95% interval of a share between 0 and 1 after this many trials."""
    square = _Z * _Z
    center = (share + square / (2 * trials)) / (1 + square / trials)
    spread = share * (1 - share) / trials + square / (4 * trials * trials)
    margin = _Z * math.sqrt(spread) / (1 + square / trials)
    return max(0.0, min(share, center - margin)), min(1.0, max(share, center + margin))


Observations: TypeAlias = Mapping[str, Sequence[float]]
"""Values between 0 and 1 of the answers to each prompt."""


def correlate_within(observations: Observations) -> float:
    """How alike the answers to one prompt are, from 0 (like answers to other prompts) to 1 (the same): the
    intraclass correlation of a one-way analysis of variance. 1 where the answers cannot show it."""
    groups = [list(values) for values in observations.values() if values]
    count = sum(map(len, groups))
    if len(groups) < 2 or count == len(groups):
        return 1.0
    mean = math.fsum(value for values in groups for value in values) / count
    means = [math.fsum(values) / len(values) for values in groups]
    between = math.fsum(
        len(values) * (group_mean - mean) ** 2
        for values, group_mean in zip(groups, means, strict=True)
    ) / (len(groups) - 1)
    within = math.fsum(
        (value - group_mean) ** 2
        for values, group_mean in zip(groups, means, strict=True)
        for value in values
    ) / (count - len(groups))
    size = (count - sum(len(values) ** 2 for values in groups) / count) / (len(groups) - 1)
    spread = between + (size - 1) * within
    return min(max((between - within) / spread, 0.0), 1.0) if spread > 1e-12 else 1.0


def effective_count(observations: Observations) -> float:
    """How many independent answers would tell as much as these: their number divided by the design effect
    1 + (answers per prompt - 1) * correlation."""
    sizes = [len(values) for values in observations.values() if values]
    count = sum(sizes)
    per_prompt = sum(size * size for size in sizes) / count
    return count / (1 + (per_prompt - 1) * correlate_within(observations))


def _visibility(answers: Sequence[AnswerAnalysis]) -> Score:
    named = sum(analysis.named for analysis in answers)
    if not answers:
        return _no_score("visibility", "No answer to a prompt that does not name the company.")
    text = (
        f"{named} of {len(answers)} answers to prompts that do not name the company name it:"
        f" 100 * {named} / {len(answers)}"
    )
    observations = _group((analysis.prompt_key, float(analysis.named)) for analysis in answers)
    return _score("visibility", named / len(answers), observations, text)


def _placement(answers: Sequence[AnswerAnalysis]) -> Score:
    positions = Counter(analysis.position for analysis in answers if analysis.position)
    count = positions.total()
    if not count:
        return _no_score(
            "placement", "No answer to a prompt that does not name the company names it."
        )
    total = sum(number / position for position, number in sorted(positions.items()))
    terms = " + ".join(f"{number} / {position}" for position, number in sorted(positions.items()))
    text = (
        "Each answer that names the company counts 1 divided by its position:"
        f" 100 * ({terms}) / {count}"
    )
    observations = _group(
        (analysis.prompt_key, 1 / analysis.position) for analysis in answers if analysis.position
    )
    return _score("placement", total / count, observations, text)


def _accuracy(answers: Sequence[AnswerAnalysis]) -> Score:
    decided = [
        (analysis.prompt_key, [claim.verdict for claim in analysis.claims if _is_decided(claim)])
        for analysis in answers
    ]
    claims = [verdict for _, verdicts in decided for verdict in verdicts]
    if not claims:
        return _no_score("accuracy", "No answer makes a claim that the site decides.")
    right = claims.count("true")
    open_claims = sum(
        claim.verdict == "unsupported" for analysis in answers for claim in analysis.claims
    )
    text = (
        f"{right} of {len(claims)} claims that the site decides are true"
        f" ({claims.count('outdated')} outdated, {claims.count('contradicted')} contradicted;"
        f" {open_claims} unsupported ones do not count): 100 * {right} / {len(claims)}"
    )
    observations = _group(
        (key, verdicts.count("true") / len(verdicts)) for key, verdicts in decided if verdicts
    )
    return _score("accuracy", right / len(claims), observations, text)


def _is_decided(claim: JudgedClaim) -> bool:
    return claim.verdict == "true" or claim.verdict in WRONG_VERDICTS


def _group(values: Iterable[tuple[str, float]]) -> Observations:
    """The values of each prompt, in an order that does not depend on that of the answers."""
    groups: dict[str, list[float]] = {}
    for key, value in sorted(values):
        groups.setdefault(key, []).append(value)
    return groups


def _score(
    name: Literal["visibility", "placement", "accuracy"],
    share: float,
    observations: Observations,
    text: str,
) -> Score:
    trials = effective_count(observations)
    low, high = (round(100 * end, 1) for end in wilson_interval(share, trials))
    value = round(100 * share, 1)
    count, prompts = sum(map(len, observations.values())), len(observations)
    answers = f"{count} {'answer' if count == 1 else 'answers'} to {prompts} {'prompt' if prompts == 1 else 'prompts'}"  # fmt: skip
    interval = (
        f"95% Wilson interval over {answers}, which tell as much as {trials:.1f} independent ones"
        f" (correlation {correlate_within(observations):.2f})"
    )
    return Score(name, value, low, high, f"{text} = {value}. {interval}: {low} to {high}.")


def _no_score(name: Literal["visibility", "placement", "accuracy"], reason: str) -> Score:
    return Score(name, None, None, None, reason)
