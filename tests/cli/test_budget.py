from __future__ import annotations

import json

import psycopg

from jobmill.db import Database
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from tests.catalog.helpers import make_source, posting, run
from tests.cli.conftest import Jobmill
from tests.cli.forked import as_url


def test_a_new_installation_is_local_only_and_says_what_is_missing(
    jobmill: Jobmill, url: str
) -> None:
    done = jobmill("budget", DATABASE_URL=as_url(url), ANTHROPIC_API_KEY="")
    assert done.returncode == 0, done.stderr
    assert "local only" in done.stdout
    assert done.stdout.count("set the environment variable ANTHROPIC_API_KEY") == 2
    assert "$1 per day" in done.stdout
    assert "No model was called in the last 7 days." in done.stdout


def test_costs_are_reported_by_day_model_and_purpose(jobmill: Jobmill, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(
            """
            INSERT INTO budget.call (at, ends_at, settled_at, model, tier, purpose, prompt_version,
                                     cache_hit, reserved, tokens_in, tokens_out, cost, outcome)
            VALUES (now(), now(), now(), 'a:x', 'cheap', 'read', '1', false, 0.5, 10, 5, 0.25, 'answered'),
                   (now(), now(), now(), 'a:x', 'cheap', 'read', '1', true, 0, NULL, NULL, 0, 'cached'),
                   (now(), now(), now(), 'a:x', 'cheap', 'match', '1', false, 0.125, 9, 9, NULL, 'failed'),
                   (now(), now() + interval '1 hour', NULL, 'a:y', 'strong', 'match', '1', false, 0.0625,
                    NULL, NULL, NULL, NULL),
                   (now() - interval '80 days', now(), now(), 'a:x', 'cheap', 'read', '1', false, 1, 1, 1,
                    1, 'answered')
            """
        )
    key = {"DATABASE_URL": as_url(url), "ANTHROPIC_API_KEY": "sk-very-secret"}
    done = jobmill("budget", "--json", **key)
    report = json.loads(done.stdout)
    assert (
        report["mode"] == "cheap: anthropic:claude-haiku-5-5, strong: anthropic:claude-sonnet-5-5"
    )
    assert report["today"] == {"spent": 0.375, "reserved": 0.0625}
    assert report["month"] == report["today"]
    assert report["caps"] == {"call": 0.25, "run": 1, "day": 1, "month": 20}
    table = {(day["model"], day["purpose"]): day for day in report["days"]}
    read, failed = table["a:x", "read"], table["a:x", "match"]
    assert (read["calls"], read["cache_hits"], read["spent"]) == (1, 1, 0.25)
    assert (failed["failures"], failed["unknown"], failed["spent"]) == (1, 1, 0.125)
    assert table["a:y", "match"]["failures"] == 0
    assert len(json.loads(jobmill("budget", "--json", "--days", 100, **key).stdout)["days"]) == 4
    shown = jobmill("budget", **key)
    assert "$0.2500" in shown.stdout
    assert "sk-very-secret" not in done.stdout + shown.stdout + shown.stderr


async def test_the_cost_per_saved_match_is_reported(
    jobmill: Jobmill, url: str, database: Database
) -> None:
    on = {"DATABASE_URL": as_url(url), "ANTHROPIC_API_KEY": ""}
    assert "no match was saved in the last 7 days" in jobmill("budget", **on).stdout
    async with database.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO budget.call (at, ends_at, settled_at, model, tier, purpose, prompt_version,
                                     reserved, cost, outcome)
            VALUES (now(), now(), now(), 'a:x', 'strong', 'match', '1', 1, 0.5, 'answered'),
                   (now(), now(), now(), 'a:x', 'cheap', 'read page', '1', 1, 0.25, 'answered'),
                   (now() - interval '9 days', now(), now(), 'a:x', 'cheap', 'read page', '1', 1, 0.25,
                    'answered')
            """
        )
        await profiles.save(tx, "dana", Profile())
        await run(tx, await make_source(tx), 0, [posting(n) for n in range(4)])
        await tx.execute(
            """
            INSERT INTO matching.match
                   (profile_id, listing_id, profile_version, match_score, application_priority,
                    matched_skills, skill_gaps, resume_intake, items, scored_by, created_at)
            SELECT profile.id, listing.id, 1, 90, 'High', '{}', '{}', '{}', '[]', 'local',
                   now() - ('{0,6,8,9}'::int[])[row_number() OVER ()] * interval '24 hours'
              FROM matching.profile, catalog.listing
            """
        )
    assert "$0.3750 (2 saved in the last 7 days)" in jobmill("budget", **on).stdout
    report = json.loads(jobmill("budget", "--days", 20, "--json", **on).stdout)
    assert (report["matches"], report["per_match"]) == (4, 0.25)
