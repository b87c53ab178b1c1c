"""Scores of a report from 0 to 100, with intervals and the arithmetic to recompute them.

All intervals are Wilson score intervals at 95% over answers. Wilson needs no random numbers, stays
between 0 and 100, and does not shrink to a point when five runs agree by chance. A value between 0 and
1 never varies more than a yes or no with the same mean, so the interval is wide enough for placement and
accuracy, too. For accuracy the number of answers counts, not of claims: claims of one answer are
not independent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from jobmill.reports.answers import AnswerAnalysis, Prompt, Score

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


def wilson_interval(share: float, trials: int) -> tuple[float, float]:
    """The 95% interval of a share between 0 and 1 after this many trials."""
    square = _Z * _Z
    center = (share + square / (2 * trials)) / (1 + square / trials)
    spread = share * (1 - share) / trials + square / (4 * trials * trials)
    margin = _Z * math.sqrt(spread) / (1 + square / trials)
    return max(0.0, min(share, center - margin)), min(1.0, max(share, center + margin))


def _visibility(answers: Sequence[AnswerAnalysis]) -> Score:
    named = sum(analysis.named for analysis in answers)
    if not answers:
        return _no_score("visibility", "No answer to a prompt that does not name the company.")
    text = (
        f"{named} of {len(answers)} answers to prompts that do not name the company name it:"
        f" 100 * {named} / {len(answers)}"
    )
    return _score("visibility", named / len(answers), len(answers), text)


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
    return _score("placement", total / count, count, text)


def _accuracy(answers: Sequence[AnswerAnalysis]) -> Score:
    verdicts = [[claim.verdict for claim in analysis.claims] for analysis in answers]
    decided = [
        [verdict for verdict in each if verdict == "true" or verdict in WRONG_VERDICTS]
        for each in verdicts
    ]
    claims = [verdict for each in decided for verdict in each]
    if not claims:
        return _no_score("accuracy", "No answer makes a claim that the site decides.")
    right, answer_count = claims.count("true"), sum(map(bool, decided))
    open_claims = sum(each.count("unsupported") for each in verdicts)
    text = (
        f"{right} of {len(claims)} claims that the site decides are true"
        f" ({claims.count('outdated')} outdated, {claims.count('contradicted')} contradicted;"
        f" {open_claims} unsupported ones do not count): 100 * {right} / {len(claims)}"
    )
    return _score("accuracy", right / len(claims), answer_count, text)


def _score(
    name: Literal["visibility", "placement", "accuracy"], share: float, trials: int, text: str
) -> Score:
    low, high = (round(100 * end, 1) for end in wilson_interval(share, trials))
    value = round(100 * share, 1)
    interval = f"95% Wilson interval over {trials} {'answer' if trials == 1 else 'answers'}"
    return Score(name, value, low, high, f"{text} = {value}. {interval}: {low} to {high}.")


def _no_score(name: Literal["visibility", "placement", "accuracy"], reason: str) -> Score:
    return Score(name, None, None, None, reason)
