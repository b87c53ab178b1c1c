"""Fields of a profile, their defaults, and reported problems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from jobmill.errors import Invalid
from jobmill.matching import profile_document
from jobmill.matching.profile import RANKS, Profile, Rules
from jobmill.matching.profile_document import InvalidProfile, model_of

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "profile.md"


@pytest.mark.parametrize(
    ("rule", "number"),
    [
        ("strikes.threshold", 5),
        ("strikes.location.least", 2),
        ("strikes.location.most", 3),
        ("strikes.seniority.least", 2),
        ("strikes.seniority.most", 3),
        ("strikes.missing_skill.least", 1),
        ("strikes.missing_skill.most", 3),
        ("strikes.missing_skills_cap", 4),
        ("strikes.experience.least", 2),
        ("strikes.experience.most", 3),
        ("company.home_city_office", 50),
        ("company.tech_alignment", 100),
        ("company.remote_first", 15),
        ("company.ai_ml", 10),
        ("tiers.S", 150),
        ("tiers.A", 100),
        ("tiers.B", 70),
        ("tiers.C", 50),
        ("weights.skills", 45),
        ("weights.title", 15),
        ("weights.seniority", 10),
        ("weights.experience", 10),
        ("weights.salary", 5),
        ("weights.arrangement", 5),
        ("weights.meaning", 10),
        ("timezone.least", -15),
        ("timezone.most", 5),
        ("size.preferred", 10),
        ("size.small", -5),
        ("match.score", 80),
        ("match.with_home_city", 65),
        ("priorities.high", 85),
        ("priorities.medium", 70),
    ],
)
def test_the_default_of_each_rule_is_what_was_agreed(rule: str, number: int) -> None:
    assert dict(leaves(Rules().model_dump()))[rule] == number


def test_no_rule_is_missing_from_the_table_above() -> None:
    (marks,) = [
        mark
        for mark in test_the_default_of_each_rule_is_what_was_agreed.pytestmark  # type: ignore[attr-defined]
        if mark.name == "parametrize"
    ]
    assert {rule for rule, _ in marks.args[1]} == {name for name, _ in leaves(Rules().model_dump())}


def test_a_primary_skill_weighs_three_and_a_familiar_one_one() -> None:
    assert RANKS == {"primary": 3, "strong": 2, "familiar": 1}


def test_the_home_city_is_a_default_and_not_a_rule() -> None:
    assert Profile().person.home_city == "Portland, OR"
    moved = profile_document.read_profile(
        "person: {home_city: Porto, timezone: Europe/Lisbon}", "x"
    )
    assert moved.person.home_city == "Porto"


def leaves(data: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every value by its path; of a list of groups, those of the first."""
    for name, value in data.items():
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            yield from leaves(inner, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def fields(model: type[BaseModel], before: str = "") -> Iterator[tuple[str, object]]:
    """Every field of a profile by its path, with its default."""
    for name, field in model.model_fields.items():
        inner = model_of(field.annotation)
        if inner:
            yield from fields(inner, f"{before}{name}.")
        else:
            yield f"{before}{name}", field.default


def test_the_example_holds_every_field_and_the_default_rules() -> None:
    read = profile_document.read_profile(profile_document.read_example(), "example")
    assert read.rules == Rules()
    data, _ = profile_document.parse_yaml(profile_document.read_example(), "example")
    # The fields of a span have no defaults.
    assert {name for name, _ in leaves(data)} == {name for name, _ in fields(Profile)}


def test_the_reference_names_every_field_with_its_default() -> None:
    documented = dict(
        re.findall(r"^\| `([\w.]+)` \| (.*?) \|", REFERENCE.read_text(), re.MULTILINE)
    )
    defaults = dict(leaves(Profile().model_dump(mode="json")))
    assert set(documented) == {name for name, _ in fields(Profile)}
    for name, default in fields(Profile):
        value = defaults.get(name, default)
        if isinstance(value, int | float | str) and value != "":
            assert documented[name] == f"`{value}`", name
        elif isinstance(value, list) and value:
            assert documented[name] == ", ".join(f"`{element}`" for element in value), name
        else:
            assert documented[name] in ("", "required"), name


def test_a_profile_survives_writing_and_reading() -> None:
    profile = profile_document.read_profile(profile_document.read_example(), "example")
    assert profile_document.read_profile(profile_document.to_yaml(profile), "again") == profile
    assert profile_document.read_profile(profile_document.to_yaml(Profile()), "empty") == Profile()
    assert Profile.model_validate(profile.model_dump(mode="json")) == profile
    assert profile_document.read_profile(profile.model_dump_json(), "x.json") == profile


def test_short_forms_mean_what_they_say() -> None:
    read = profile_document.read_profile(
        "skills: [Python, {name: Go, rank: 3}]\ntitles:\nstop_lists: {domains: [WWW.Brine.example]}",
        "x",
    )
    assert [(skill.name, skill.rank) for skill in read.skills] == [
        ("Python", "familiar"),
        ("Go", "primary"),
    ]
    assert read.titles == ()
    assert read.stop_lists.domains == ("brine.example",)
    assert profile_document.read_profile("", "x") == Profile()
    assert (
        profile_document.read_profile('{"summary": "\\ud83d\\udca7"}', "x").summary == "\U0001f4a7"
    )


def test_all_problems_are_reported_at_once_with_line_numbers() -> None:
    text = """\
skils: [Python]
skills:
  - name: Python
    rank: best
  - name: Go
    years: yes
person:
  timezone: Mars/Olympus
  home_town: Porto
rules:
  strikes:
    treshold: 4
  tiers: {S: 10}
"""
    with pytest.raises(InvalidProfile) as caught:
        profile_document.read_profile(text, "me.yaml")
    messages = {(problem.line, problem.field): problem.message for problem in caught.value.problems}
    assert messages == {
        (1, "skils"): "is not a profile field: did you mean skills?",
        (4, "skills.1.rank"): "should be 'primary', 'strong' or 'familiar', not 'best'",
        (6, "skills.2.years"): "should be a number, not True",
        (8, "person.timezone"): "should be a time zone such as Europe/Lisbon",
        (9, "person.home_town"): "is not a profile field: did you mean home_city?",
        (12, "rules.strikes.treshold"): "is not a profile field: did you mean threshold?",
        (13, "rules.tiers"): "should have S above A, A above B, B above C",
    }
    assert "me.yaml:4: skills.1.rank should be" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- Python", "x:1: not a profile"),
        ("just words", "x:1: not a profile"),
        ("a: [", "invalid YAML"),
        ("titles: [a]\ntitles: [b]", "x:2: titles appears twice (first on line 1)"),
        ("titles: Cook", "titles should be a list, not 'Cook'"),
        ("titles: ['']", "titles.1 should not be empty"),
        ("titles: [no]", "titles.1 should be text (put values"),
        ("skills: [{rank: strong}]", "skills.1.name is missing"),
        ("skills: [5]", "skills.1 should be a group"),
        ("skills: [Go, go]", "skills should list each skill only once: go"),
        ("skills: [{name: Go, rank: 4}]", "not 4"),
        ("skills: [{name: Go, years: -1}]", "greater than or equal to 0, not -1"),
        ("skills: [{name: Go, years: .inf}]", "skills.1.years"),
        ("seniority: [wizard]", "'intern', 'entry'"),
        ("arrangements: [moon]", "'remote', 'hybrid' or 'onsite', not 'moon'"),
        ("salary_floor: {amount: 5, currency: dollars}", "three capital letters"),
        ("salary_floor: {amount: 0}", "greater than 0"),
        ("stop_lists: {domains: ['https://x.example/']}", "should be a domain"),
        ("rules: {timezone: {least: 6, most: 5}}", "should have least (6) at or below most (5)"),
        ("rules: {strikes: {location: {least: -1, most: 3}}}", "should not have negative strikes"),
        ("rules: {strikes: {threshold: '5'}}", "a whole number, not '5'"),
        ("rules: {weights: {skills: 50}}", "rules.weights should add up to 100, not 105"),
        ("rules: {match: {score: 101}}", "less than or equal to 100"),
        ("rules: {priorities: {high: 70}}", "should have high above medium"),
        ('{"summary": "\\u0000"}', "control characters"),
        ('{"summary": "\\ud800"}', "control characters"),
        ("&a [*a]", "nested too deeply"),
        ("[" * 5_000, "nested too deeply"),
        ("a: " + "{a: " * 20 + "1" + "}" * 20, "nested too deeply"),
        ("a: &a [1]\n" + "".join(f"{n}: &{n} [{', '.join([f'*{m}'] * 9)}]\n" for m, n in zip("abcdefgh", "bcdefghi", strict=True)), "too long"),
        ("a: 2026-99-99", "invalid value"),
        ("summary: " + "x" * 1_000_001, "longer than 1,000,000"),
        ("? [a]\n: b", "a field name should be a plain word"),
    ],
)  # fmt: skip
def test_an_invalid_profile_is_refused_with_an_explanation(text: str, words: str) -> None:
    with pytest.raises(Invalid) as caught:
        profile_document.read_profile(text, "x")
    assert words in str(caught.value)
