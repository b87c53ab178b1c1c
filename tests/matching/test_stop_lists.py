"""Stop lists reject postings by their link."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.matching.profile import Profile, StopLists
from jobmill.matching.rules import stop_lists


def judge(url: str = "", title: str = "", company: str | None = None, **lists: list[str]) -> str:
    profile = Profile(stop_lists=StopLists.model_validate(lists))
    rejection = stop_lists.find_rejection(
        profile, PLATFORM_RULES, url=url, title=title, company=company
    )
    return rejection.rule if rejection else ""


@pytest.mark.parametrize(
    ("keyword", "title", "stopped"),
    [
        ("intern", "Software Engineer Intern", True),
        ("intern", "INTERN, Data", True),
        ("intern", "Intern/Working Student", True),
        ("intern", "Internal Tools Engineer", False),
        ("intern", "International Tax Lead", False),
        ("java", "Java Developer", True),
        ("java", "Senior Engineer (Java)", True),
        ("java", "JavaScript Developer", False),
        ("javascript", "Java Developer", False),
        ("c", "C Developer", True),
        ("c", "C++ Developer", False),
        ("c", "C# Developer", False),
        ("c++", "C++ Developer", True),
        ("c++", "C/C++ Developer", True),
        ("c++", "C Developer", False),
        (".net", "Senior .NET Engineer", True),
        (".net", ".NET/C# Engineer", True),
        (".net", "Net Revenue Analyst", False),
        ("net", "Senior .NET Engineer", False),
        ("node", "Node.js Engineer", False),
        ("node.js", "Node.js Engineer", True),
        ("security clearance", "Engineer - Security-Clearance required", True),
        ("security clearance", "Security Engineer", False),
        ("straße", "Engineer STRASSE", True),
        ("crypto", "Cryptography Engineer", False),
        ("-", "Engineer", False),
    ],
)
def test_a_keyword_is_a_whole_word_of_a_title(keyword: str, title: str, stopped: bool) -> None:
    assert judge(title=title, keywords=[keyword]) == ("excluded_keyword" if stopped else "")


@pytest.mark.parametrize(
    ("keyword", "url", "stopped"),
    [
        ("intern", "https://wells.example/openings/software-intern-2027", True),
        ("intern", "https://wells.example/openings/internal-tools", False),
        ("intern", "https://wells.example/software_intern?ref=1", True),
        ("intern", "https://wells.example/INTERN#apply", True),
        ("crypto", "https://www.crypto.example/7", True),
        ("crypto", "https://cryptography.example/7", False),
        ("java", "https://wells.example/javascript-developer", False),
        ("security clearance", "https://wells.example/security-clearance-engineer", True),
        ("security clearance", "https://wells.example/security%20clearance", True),
        ("c++", "https://wells.example/c%2B%2B-developer", True),
        ("c", "https://wells.example/c%2B%2B-developer", False),
        ("c", "https://wells.example/c-developer", True),
        (".net", "https://wells.net/developer", False),
        ("c", "https://wells.example/c-plus-plus-developer", False),
    ],
)
def test_a_keyword_is_a_whole_word_of_a_link(keyword: str, url: str, stopped: bool) -> None:
    assert judge(url, keywords=[keyword]) == ("excluded_keyword" if stopped else "")


@pytest.mark.parametrize(
    ("url", "stopped"),
    [
        ("https://brine.example/openings/7", True),
        ("https://careers.brine.example/7", True),
        ("https://BRINE.example:8443/7", True),
        ("https://notbrine.example/7", False),
        ("https://brine.example.org/7", False),
        ("https://wells.example/?from=brine.example", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_a_domain_stops_its_hosts_and_no_others(url: str, stopped: bool) -> None:
    assert judge(url, domains=["brine.example"]) == ("excluded_domain" if stopped else "")


@pytest.mark.parametrize(
    ("company", "url", "stopped"),
    [
        ("Brine Ltd", "", True),
        ("BRINE, Inc.", "", True),
        ("Brine Works", "", False),
        (None, "https://jobs.lever.co/brine/3f2504e0-4f89-41d3-9a0c-0305e82c3301", True),
        (None, "https://jobs.lever.co/wells/3f2504e0-4f89-41d3-9a0c-0305e82c3301", False),
        (None, "", False),
    ],
)
def test_a_company_is_recognised_by_name_or_board(
    company: str | None, url: str, stopped: bool
) -> None:
    rejection = judge(url, company=company, companies=["Brine Ltd"])
    assert rejection == ("excluded_company" if stopped else "")


def test_a_reason_names_the_list_and_the_words_seen() -> None:
    profile = Profile(stop_lists=StopLists(keywords=("crypto",)))
    rejection = stop_lists.find_rejection(
        profile, PLATFORM_RULES, url="https://wells.example/7", title="Crypto Engineer"
    )
    assert rejection is not None
    assert (rejection.reason, rejection.words) == ("Excluded keyword: crypto", "Crypto Engineer")


def test_find_rejections_returns_every_reason() -> None:
    lists = StopLists(companies=("Brine",), domains=("brine.example",), keywords=("crypto", "tax"))
    rejections = stop_lists.find_rejections(
        Profile(stop_lists=lists),
        PLATFORM_RULES,
        urls=("https://brine.example/tax", ""),
        title="Crypto Engineer",
        company="Brine GmbH",
    )
    rules = [rule.rule for rule in rejections]
    assert rules == ["excluded_company", "excluded_domain", "excluded_keyword", "excluded_keyword"]
