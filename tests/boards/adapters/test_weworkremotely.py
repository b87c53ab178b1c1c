"""We Work Remotely: titles "Company: Role", and the apply link at the end of the text."""

from __future__ import annotations

from jobmill.boards.adapters import rss, weworkremotely

from . import answer, read


def test_the_default_feed_needs_no_config() -> None:
    assert (
        rss.first_request(weworkremotely.WeWorkRemotelyFeed()).url
        == "https://weworkremotely.com/remote-jobs.rss"
    )


def test_a_posting_has_company_location_and_apply_url() -> None:
    (posting,) = read("weworkremotely", answer("weworkremotely/feed.xml"), {}).postings
    assert (posting.company, posting.title) == ("Paper Moon", "Kite Teacher: Evenings")
    assert (posting.location, posting.remote_from) == ("Anywhere in the World", ("Chile",))
    assert (posting.arrangement, posting.employment_type) == ("remote", "contract")
    assert posting.apply_url == "https://papermoon.example/apply"
    assert posting.valid_through
