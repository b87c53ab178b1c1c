"""What-if: the effect of a changed profile on one listing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobmill.errors import Invalid
from jobmill.matching import profile_document, what_if
from jobmill.matching.local_verdict import LocalVerdict
from jobmill.matching.profile import Profile
from jobmill.matching.profile_document import InvalidProfile
from jobmill.matching.rescore import ScoredOutcome
from jobmill.matching.verdict import FilterResult, ScoreItem, Strike
from jobmill.matching.what_if import ScoreItemChange
from tests.catalog import helpers

from . import judged

PROFILE = profile_document.read_profile(
    """
titles: [Senior Backend Engineer]
skills: [{name: Python, rank: primary, years: 8}, {name: Golang}, {name: "C++", rank: strong}]
""",
    "me.yaml",
)


def skills(profile: Profile) -> list[tuple[str, str]]:
    return [(skill.name, skill.rank) for skill in profile.skills]


@pytest.mark.parametrize(
    ("without", "left"),
    [
        (["python"], ["Golang", "C++"]),
        (["go"], ["Python", "C++"]),
        (["Golang", "c++"], ["Python"]),
    ],
)
def test_a_skill_is_left_out_by_any_of_its_names(without: list[str], left: list[str]) -> None:
    changed = what_if.apply_changes(PROFILE, without=without)
    assert [name for name, _ in skills(changed)] == left


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("Rust", ("Rust", "familiar")),
        ("Rust:strong", ("Rust", "strong")),
        ("Rust:3", ("Rust", "primary")),
        ("go:primary", ("Golang", "primary")),
        ("c++:familiar", ("C++", "familiar")),
    ],
)
def test_a_skill_is_had_with_a_rank(values: str, expected: tuple[str, str]) -> None:
    assert expected in skills(what_if.apply_changes(PROFILE, having=[values]))


def test_what_is_had_already_keeps_its_rank_and_years() -> None:
    assert what_if.apply_changes(PROFILE, having=["python"]) == PROFILE


def test_the_profile_itself_stays_as_it_is() -> None:
    before = PROFILE.model_dump()
    what_if.apply_changes(PROFILE, without=["Python"], having=["Rust"], settings=["titles=[Diver]"])
    assert PROFILE.model_dump() == before


@pytest.mark.parametrize(
    ("setting", "field", "value"),
    [
        ("rules.match.score=75", "rules.match.score", 75),
        ("rules.tiers.S=200", "rules.tiers.S", 200),
        ("titles=[Cook, Diver]", "titles", ("Cook", "Diver")),
        ("titles.1=Cook", "titles", ("Cook",)),
        ("skills.2.rank=strong", "skills.1.rank", "strong"),
        ("person.home_city=Portland, ME", "person.home_city", "Portland, ME"),
        ("summary=a=b", "summary", "a=b"),
        ("salary_floor.amount=90000", "salary_floor.amount", 90_000),
        ("salary_floor={amount: 5, currency: EUR}", "salary_floor.currency", "EUR"),
        ("arrangements=[onsite]", "arrangements", ("onsite",)),
        ("company_size=", "company_size", None),
        ("stop_lists.keywords=[crypto]", "stop_lists.keywords", ("crypto",)),
    ],
)
def test_any_field_is_set_by_its_path(setting: str, field: str, value: object) -> None:
    current: object = what_if.apply_changes(PROFILE, settings=[setting])
    for part in field.split("."):
        is_place = part.isdecimal()
        current = current[int(part)] if is_place else getattr(current, part)  # type: ignore[index]
    assert current == value


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("rules.match.score=many", "rules.match.score should be a whole number, not 'many'"),
        ("rules.match.score=101", "rules.match.score"),
        ("titels=[A]", "titels is not a profile field: did you mean titles?"),
        ("rules.mach.score=1", "rules.mach is not a profile field: did you mean match?"),
        ("skills.1.rank=best", "skills.1.rank should be"),
        ("titles=[", "invalid YAML"),
    ],
)
def test_mistakes_are_told_as_for_a_file(setting: str, words: str) -> None:
    with pytest.raises(InvalidProfile) as caught:
        what_if.apply_changes(PROFILE, settings=[setting])
    assert words in str(caught.value)


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(InvalidProfile) as caught:
        what_if.apply_changes(PROFILE, having=["Go:best"], settings=["titels=[A]"])
    assert {problem.field for problem in caught.value.problems} == {"skills.2.rank", "titels"}


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"without": ["Pyhton"]}, "does not list the skill Pyhton. Did you mean Python?"),
        ({"without": ["Cooking"]}, "It lists Python, Golang, C++"),
        ({"settings": ["titles"]}, "Write FIELD=VALUE"),
        ({"settings": ["=5"]}, "Write FIELD=VALUE"),
        ({"settings": ["titles.2=Cook"]}, "not a position in a list of 1"),
        ({"settings": ["skills.0.rank=strong"]}, "not a position in a list of 3"),
        ({"settings": ["summary.words=5"]}, "summary is a single value"),
    ],
)
def test_impossible_changes_are_refused(wish: dict[str, list[str]], words: str) -> None:
    with pytest.raises(Invalid) as caught:
        what_if.apply_changes(PROFILE, **wish)
    assert words in str(caught.value)


POSTING = helpers.posting(
    1, location="Tavira", description="You know Go, month-end close and Kubernetes."
)


@pytest.mark.parametrize(
    "changes",
    [
        {"having": ["Rust", "golang:strong", "C++:2"]},
        # Not in our list, but in the posting.
        {"having": ["month-end close:primary"]},
        {"places": ["Porto, Portugal", "Berlin", "Portland, OR", "Germany", "Tavira"]},
    ],
)
def test_known_skills_and_places_can_be_added(changes: dict[str, list[str]]) -> None:
    what_if.check_changes(POSTING, **changes)


@pytest.mark.parametrize(
    ("unknown", "words"),
    [
        ({"having": ["Kuberntes"]}, "Unknown skill: Kuberntes. Did you mean Kubernetes?"),
        ({"having": ["Basketry:1"]}, "Unknown skill: Basketry. The job does not mention it; it mentions Kubernetes"),
        ({"having": ["Go:best"]}, "best is not a skill rank. The rank of Go can be primary, strong, familiar"),
        ({"places": ["Atlantis"]}, "Unknown place: Atlantis. The job does not mention it; it mentions Tavira"),
        ({"having": ["Basketry"], "places": ["Atlantis"]}, "Basketry. The job"),
        ({"having": ["Basketry"], "places": ["Atlantis"]}, "Unknown place: Atlantis"),
    ],
)  # fmt: skip
def test_unknown_skills_and_places_are_refused_with_suggestions(
    unknown: dict[str, list[str]], words: str
) -> None:
    with pytest.raises(Invalid) as caught:
        what_if.check_changes(POSTING, **unknown)
    assert words in str(caught.value)


def test_no_more_of_a_text_is_searched_for_a_skill_than_is_read() -> None:
    what_if.check_changes(replace(POSTING, description="dig Basketry"), having=["Basketry"])
    endless = replace(POSTING, description=f"{'dig ' * 10_000}Basketry", requirements=None)
    with pytest.raises(Invalid, match="Unknown skill: Basketry"):
        what_if.check_changes(endless, having=["Basketry"])


def test_places_are_added_and_arrangements_replaced() -> None:
    changed = what_if.apply_changes(PROFILE, places=["Porto", "Porto"], arrangements=["onsite"])
    assert (changed.locations, changed.arrangements) == (("Porto",), ("onsite",))
    assert what_if.apply_changes(changed, places=["Porto"]) == changed
    assert what_if.apply_changes(PROFILE, arrangements=[]).arrangements == ()
    assert what_if.apply_changes(PROFILE) == PROFILE


def judgement(score: int, filter: FilterResult = judged.PASSED, **more: object) -> LocalVerdict:
    return LocalVerdict(filter, judged.result(score, **more))


@pytest.mark.parametrize(
    ("verdict", "stands"),
    [
        (judgement(80), ScoredOutcome("matched", 80)),
        (judgement(79), ScoredOutcome("skipped", 79)),
        # A filtered listing is scored for comparison, and stays filtered.
        (judgement(95, judged.STRUCK), ScoredOutcome("filtered", 95)),
        (LocalVerdict(judged.STRUCK, None), ScoredOutcome("filtered")),
    ],
)
def test_a_filtered_listing_stays_filtered_despite_its_score(
    verdict: LocalVerdict, stands: ScoredOutcome
) -> None:
    assert what_if.outcome_of(verdict) == stands


def test_changed_items_and_strikes_are_reported() -> None:
    came = Strike("missing_skill", "Python is missing", 2, "Python")
    went, stays = judged.STRUCK.strikes
    before = judgement(
        84,
        FilterResult(True, 4, (), (went, stays), ""),
        items=(
            ScoreItem("skills", 40, 40, "all"),
            ScoreItem("title", 10, 15, "near"),
            ScoreItem("size", 34, 45, ""),
        ),
    )
    after = judgement(
        79,
        FilterResult(True, 4, (), (stays, came), ""),
        items=(
            ScoreItem("skills", 30, 40, "some"),
            ScoreItem("title", 10, 15, "near"),
            ScoreItem("limit", 39, 45, ""),
        ),
    )
    difference = what_if.compare_verdicts(before, after)
    assert (difference.before, difference.after) == (
        ScoredOutcome("matched", 84),
        ScoredOutcome("skipped", 79),
    )
    assert difference.items == (
        ScoreItemChange("skills", 40, 30, "some"),
        ScoreItemChange("size", 34, 0, ""),
        ScoreItemChange("limit", 0, 39, ""),
    )
    assert (difference.added_reasons, difference.removed_reasons) == ((came,), (went,))


def test_a_lower_threshold_alone_is_reported() -> None:
    difference = what_if.compare_verdicts(judgement(75), judgement(75, threshold=70))
    assert (difference.items, difference.added_reasons, difference.removed_reasons) == ((), (), ())
    assert (difference.passing_before.threshold, difference.passing_after.threshold) == (80, 70)
    assert difference.after.outcome == "matched"
