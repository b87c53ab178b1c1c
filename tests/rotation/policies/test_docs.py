"""Checks the reference page of the policies."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from jobmill.rotation.policies import interval_policy, yield_model
from jobmill.rotation.policies.eligibility import BreakerRules

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "rotation-policy.md").read_text()


def test_the_example_runs() -> None:
    example = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example
    names: dict[str, object] = {}
    exec(compile(example[1], "example", "exec", dont_inherit=True), names)  # noqa: S102
    assert names["chosen"] == [2]


def test_every_number_of_a_policy_is_on_the_page_with_its_default() -> None:
    for title, rules in (
        ("`yield`", yield_model.YieldRules()),
        ("`seed`", interval_policy.IntervalRules()),
        ("Both", BreakerRules()),
    ):
        part = PAGE.split(f"### {title}\n")[1].split("\n##")[0]
        written = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", part, re.MULTILINE))
        defaults = {
            rule.name: getattr(rules, rule.name) for rule in fields(rules) if rule.name != "breaker"
        }
        assert {name: float(value) for name, value in written.items()} == defaults
