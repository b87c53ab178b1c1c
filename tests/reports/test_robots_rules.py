from __future__ import annotations

from urllib.robotparser import RobotFileParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.reports import robots_rules
from jobmill.reports.robots_rules import RobotsFile
from jobmill.reports.site_analysis import CPU_SECONDS
from jobmill.sandbox import read_untrusted_now

from .robots_files import CASES, RobotsFileCase

SITE = "https://site.example"


def test_the_table_has_at_least_forty_different_files() -> None:
    assert len({case.text for case in CASES}) == len({case.name for case in CASES}) >= 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_robots_files_are_read_as_documented(case: RobotsFileCase) -> None:
    robots = RobotsFile(case.text)
    decisions = {key: robots.decide(key[0], SITE + key[1]).allowed for key in case.expected}
    assert decisions == case.expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_python_differs_exactly_where_the_table_says_why(case: RobotsFileCase) -> None:
    parser = RobotFileParser()
    parser.parse(case.text.splitlines())
    differing = {
        key for key, allowed in case.expected.items()
        if parser.can_fetch(key[0], SITE + key[1]) != allowed
    }  # fmt: skip
    assert differing == set(case.python_differs)


def test_the_decision_names_the_rule() -> None:
    robots = RobotsFile("User-agent: *\nDisallow: /a # why\nAllow: /a/b\n")
    decision = robots.decide("Googlebot", f"{SITE}/a/b/c")
    assert decision.rule is not None
    assert (decision.allowed, decision.agent, decision.rule.line) == (True, "*", "Allow: /a/b")


def test_a_hostile_file_is_read_in_bounded_time() -> None:
    stars = "Disallow: /" + "*a" * 19 + "*b\n"
    agents = "".join(f"User-agent: bot{number}\n" for number in range(25))
    assert read_untrusted_now(_decide_often, agents + stars * 10_000, cpu_seconds=CPU_SECONDS)


def _decide_often(text: str) -> bool:
    robots = RobotsFile(text)
    url = f"{SITE}/{'a' * 2_000}"
    return all(robots.decide(f"bot{number % 25}", url).allowed for number in range(25 * 25))


def test_a_line_that_is_cut_off_is_no_rule() -> None:
    comment = "#" * (robots_rules.MAX_LENGTH - 20)
    robots = RobotsFile(f"User-agent: *\n{comment}\nDisallow: /careers-archive\n")
    assert robots.decide("GPTBot", f"{SITE}/careers").allowed


TEXTS = st.text(st.sampled_from("ab*/$"), max_size=8)


def _matches_naively(pattern: str, path: str) -> bool:
    """The definition, by trying every length for each star."""
    if pattern in ("", "$"):
        return pattern == "" or path == ""
    if pattern[0] == "*":
        return any(_matches_naively(pattern[1:], path[at:]) for at in range(len(path) + 1))
    return path[:1] == pattern[0] and _matches_naively(pattern[1:], path[1:])


@given(TEXTS, st.text(st.sampled_from("ab/$"), max_size=10))
def test_patterns_match_as_defined(pattern: str, path: str) -> None:
    assert robots_rules.matches(pattern, path) == _matches_naively(pattern, path)


@given(st.text(max_size=300), st.text(max_size=30))
def test_any_text_is_a_file(text: str, path: str) -> None:
    decision = RobotsFile(text).decide("GPTBot", f"{SITE}/{path}")
    assert decision.rule is None or decision.rule.allows == decision.allowed or "robots" in path
