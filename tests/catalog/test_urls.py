from __future__ import annotations

import pytest

from jobmill.catalog import urls
from jobmill.catalog.platform_rules import PlatformRules


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://careers.acme.example/x", "acme.example"),
        ("https://jobs.acme.co.uk", "acme.co.uk"),
        ("https://acme.com.au/", "acme.com.au"),
        ("https://acme.github.io/jobs", "acme.github.io"),
        ("http://127.0.0.1:8000/x", "127.0.0.1"),
        ("http://[::1]:8000/x", "[::1]"),
        ("http://localhost/x", "localhost"),
    ],
)
def test_the_domain_is_the_registered_part_of_the_host(url: str, domain: str) -> None:
    assert urls.domain(url) == domain


def test_without_platforms_only_the_general_rules_for_urls_apply() -> None:
    rules = PlatformRules()
    url = "https://job-boards.greenhouse.io/Acme/jobs/401/?utm_source=x&gh_src=y"
    assert rules.canonical(url) == "https://job-boards.greenhouse.io/Acme/jobs/401"
    assert rules.posting_key(url) is None
    assert rules.is_specific(url)
