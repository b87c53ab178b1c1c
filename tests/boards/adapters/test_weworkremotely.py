"""We Work Remotely: "Company: Role", and the way to apply at the end of the text."""

from __future__ import annotations

from jobmill.boards.adapters import rss, weworkremotely

from . import answer, read


def test_the_preset_needs_no_config() -> None:
    assert (
        rss.first_request(weworkremotely.WeWorkRemotelyFeed()).url
        == "https://weworkremotely.com/remote-jobs.rss"
    )


def test_a_posting_is_read_with_company_place_and_way_to_apply() -> None:
    (one,) = read("weworkremotely", answer("weworkremotely/feed.xml"), {}).postings
    assert (one.company, one.title) == ("Paper Moon", "Kite Teacher: Evenings")
    assert (one.location, one.remote_from) == ("Anywhere in the World", ("Chile",))
    assert (one.arrangement, one.employment_type) == ("remote", "contract")
    assert one.apply_url == "https://papermoon.example/apply"
    assert one.valid_through
