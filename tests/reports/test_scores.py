from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from jobmill.reports.answers import AnswerAnalysis, ClaimVerdict, Score
from jobmill.reports.scores import (
    compute_scores,
    correlate_within,
    effective_count,
    wilson_interval,
)

from .report_data import make_analysis, make_prompt

NEUTRAL = make_prompt(names_company=False, key="neutral")
NAMED = make_prompt(names_company=True, key="named")
VERDICTS: list[ClaimVerdict] = ["true", "outdated", "contradicted", "unsupported"]


def build_analysis(verdicts: list[ClaimVerdict], position: int | None, key: str) -> AnswerAnalysis:
    return make_analysis(*verdicts, position=position, key=key)


analyses = st.lists(
    st.builds(
        build_analysis,
        st.lists(st.sampled_from(VERDICTS), max_size=4),
        st.none() | st.integers(1, 12),
        st.sampled_from(["neutral", "named"]),
    ),
    max_size=12,
)


def scores_of(answers: list[AnswerAnalysis]) -> dict[str, Score]:
    return {score.name: score for score in compute_scores([NEUTRAL, NAMED], answers)}


def recompute(arithmetic: str) -> float:
    """The value of the formula before the "="."""
    match = re.search(r"100 \* ([\d+/() ]+?) = ", arithmetic)
    assert match is not None, arithmetic
    total = 0.0
    inner = re.fullmatch(r"\((.+)\) / (\d+)", match[1])
    terms, divisor = (inner[1], int(inner[2])) if inner else (match[1], 1)
    for term in terms.split(" + "):
        numerator, denominator = term.split(" / ")
        total += int(numerator) / int(denominator)
    return 100 * total / divisor


@given(analyses)
def test_scores_are_bounded_and_follow_from_their_arithmetic(answers: list[AnswerAnalysis]) -> None:
    for score in scores_of(answers).values():
        if score.value is None:
            assert score.low is None
            assert score.high is None
            assert score.arithmetic
            continue
        assert score.low is not None
        assert score.high is not None
        assert 0 <= score.low <= score.value <= score.high <= 100
        assert abs(recompute(score.arithmetic) - score.value) <= 0.051


@given(analyses)
def test_the_order_of_answers_does_not_matter(answers: list[AnswerAnalysis]) -> None:
    assert scores_of(answers) == scores_of(answers[::-1])


@given(analyses)
def test_one_more_answer_that_names_the_company_never_lowers_visibility(
    answers: list[AnswerAnalysis],
) -> None:
    before = scores_of(answers)["visibility"].value or 0.0
    after = scores_of([*answers, make_analysis(position=3, key="neutral")])["visibility"].value
    assert after is not None
    assert after >= before - 0.051


@given(st.integers(1, 200), st.data())
def test_more_answers_narrow_the_interval(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = wilson_interval(successes / trials, trials)
    narrow_low, narrow_high = wilson_interval(successes / trials, 4 * trials)
    assert 0 <= low <= successes / trials <= high <= 1
    assert narrow_high - narrow_low < high - low


def test_values() -> None:
    answers = [
        make_analysis("true", "true", "outdated", "unsupported", position=1, key="neutral"),
        make_analysis("contradicted", position=4, key="neutral"),
        make_analysis(key="neutral"),
        make_analysis("true", position=1, key="named"),
    ]
    scores = scores_of(answers)
    assert scores["visibility"].value == 66.7
    assert scores["placement"].value == 62.5
    assert scores["accuracy"].value == 60.0
    assert "1 outdated, 1 contradicted; 1 unsupported" in scores["accuracy"].arithmetic
    assert "over 3 answers to 2 prompts" in scores["accuracy"].arithmetic


def test_five_equal_runs_tell_as_much_as_one() -> None:
    for count in (1, 5, 50):
        visibility = scores_of([make_analysis(position=1, key="neutral")] * count)["visibility"]
        assert (visibility.value, visibility.low, visibility.high) == (100, 20.7, 100)


def test_runs_of_one_prompt_count_as_far_as_they_differ() -> None:
    # Each prompt always gives the same answer: six prompts tell six things, however often they run.
    alike = {f"{number}": [float(number % 2)] * 5 for number in range(6)}
    assert correlate_within(alike) == 1
    assert effective_count(alike) == 6
    # Answers vary within each prompt and not between prompts: all thirty count.
    mixed = {f"{number}": [1.0, 0.0, 1.0, 0.0, 1.0] for number in range(6)}
    assert correlate_within(mixed) == 0
    assert effective_count(mixed) == 30
    # By hand: MSB = 5 * (0.2**2 + 0.2**2) / 1 = 0.4, MSW = (5 * 0.16 + 5 * 0.24) / 8 = 0.25,
    # correlation (0.4 - 0.25) / (0.4 + 4 * 0.25), design effect 1 + 4 * 0.107 = 1.43.
    between = {"a": [1.0, 1.0, 1.0, 1.0, 0.0], "b": [1.0, 1.0, 0.0, 0.0, 0.0]}
    assert round(correlate_within(between), 4) == 0.1071
    assert round(effective_count(between), 3) == 7.0


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=6), min_size=1))
def test_the_effective_count_lies_between_one_and_the_number_of_answers(
    groups: list[list[float]],
) -> None:
    observations = {f"{number}": values for number, values in enumerate(groups)}
    assert 1 - 1e-9 <= effective_count(observations) <= sum(map(len, groups)) + 1e-9


def test_prompts_that_name_the_company_do_not_count_as_visibility() -> None:
    scores = scores_of([make_analysis("true", position=1, key="named")])
    assert scores["visibility"].value is None
    assert scores["placement"].value is None
    assert scores["accuracy"].value == 100
