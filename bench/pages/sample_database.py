"""Fills a database with a million listings and everything else that pages show."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, LiteralString

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class Sizes:
    """The number of rows of each kind."""

    listings: int = 1_000_000
    companies: int = 100_000
    sources: int = 50_000
    verdicts: int = 200_000
    matches: int = 50_000
    items: int = 100_000
    live: int = 1_000
    lineage: int = 1_000
    calls: int = 1_000_000
    runs: int = 5_000
    ran: int = 2_000
    """Sources with 20 runs each."""
    openings: int = 200
    applications: int = 100_000
    hot: int = 53_500
    """Applications for one opening: 40,000 of them wait, and its log has 80,501 events."""
    left: int = 13_500
    """How many of these have been offered a slot."""
    big: str = "b1600000-0000-4000-8000-000000000000"
    """The tracking id of the large lineage."""
    budget: int = 10_000
    people: int = 100
    platforms: list[str] = field(
        default_factory=lambda: [
            *(
                "greenhouse",
                "lever",
                "ashby",
                "workday",
                "smartrecruiters",
                "workable",
                "recruitee",
            ),
            *("personio", "teamtailor", "bamboohr", "breezy", "remotive", "adzuna", "rss", "html"),
        ]
    )


def fill(connection: Connection, sizes: Sizes) -> None:
    """Fill an empty database that has a profile; needs the rights of the server's owner.

    Triggers are off meanwhile, so events have no valid hashes (no page reads them) and no
    notifications are sent. Indexes are built after the tables are filled, which takes a third of
    the time.
    """
    connection.execute("SET session_replication_role = replica")
    connection.execute("SET maintenance_work_mem = '512MB'")
    connection.execute("SET synchronous_commit = off")
    for table in ("catalog.listing", "rotation.call", "hiring.event", "queue.event"):
        _drop_indexes(connection, table)
    for statement in (*CATALOG, *MATCHING, *QUEUE, *ROTATION, *HIRING, *OTHERS):
        connection.execute(statement, asdict(sizes))
    for (definition,) in connection.execute("SELECT indexdef FROM dropped").fetchall():
        connection.execute(definition)
    connection.execute("SET session_replication_role = DEFAULT")
    connection.execute("VACUUM ANALYZE")


def _drop_indexes(connection: Connection, table: LiteralString) -> None:
    """Unique indexes stay, because inserts rely on them."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS dropped (indexdef text)")
    indexes = connection.execute(
        """
        WITH kept AS (
            INSERT INTO dropped SELECT pg_get_indexdef(indexrelid) FROM pg_index
             WHERE indrelid = %s::regclass AND NOT indisunique)
        SELECT indexrelid::regclass::text FROM pg_index
         WHERE indrelid = %s::regclass AND NOT indisunique
        """,
        [table, table],
    ).fetchall()
    for (name,) in indexes:
        connection.execute(f"DROP INDEX {name}")


CATALOG: tuple[LiteralString, ...] = (
    """
    INSERT INTO catalog.company (name, key, website, domain, analysis_status, about, culture, industry,
        headquarters_location, tech_stack, tier, priority_score, created_at, analyzed_at,
        job_board_url, job_board_type, job_board_confidence)
    SELECT name, lower(name), 'https://c' || n || '.example', 'c' || n || '.example',
           CASE WHEN n %% 10 = 0 THEN 'pending' ELSE 'complete' END::catalog.analysis,
           CASE WHEN n %% 10 > 1 THEN repeat('We build things that people use every day. ', 4) END,
           CASE WHEN n %% 3 > 0 THEN repeat('Calm and kind. ', 6) END,
           (ARRAY['Software', 'Energy', 'Health', 'Finance', 'Retail'])[1 + n %% 5],
           (ARRAY['Berlin', 'Lisbon', 'London', 'Paris', 'Madrid', 'Oslo'])[1 + n %% 6],
           ARRAY['Python', 'PostgreSQL'],
           CASE WHEN n %% 10 > 0 THEN (ARRAY['S', 'A', 'B', 'C', 'D'])[1 + n %% 5] END,
           CASE WHEN n %% 10 > 0 THEN n * 7 %% 100 END,
           now() - (%(companies)s - n) * interval '5 minutes', now(),
           CASE WHEN n > %(sources)s AND n %% 100 = 0 THEN 'https://c' || n || '.example/jobs' END,
           'html', 'medium'
      FROM (SELECT n, (ARRAY['Blue', 'North', 'River', 'Quiet', 'Bright', 'Stone', 'Open', 'Silver'])[1 + n %% 8]
                   || ' ' || (ARRAY['Harbor', 'Field', 'Mill', 'Works', 'Labs', 'Water', 'Bridge'])[1 + n %% 7]
                   || ' ' || n AS name
              FROM generate_series(1, %(companies)s) AS n) AS named
    """,
    """
    INSERT INTO catalog.source (name, source_type, token, config, url, status, company_id, company_name,
        discovered_via, discovered_at, discovery_confidence, disabled_reason, last_scraped_at,
        last_scraped_status, last_cause, last_detail, last_run_started_at, created_at)
    SELECT company.name, (%(platforms)s::text[])[1 + n %% cardinality(%(platforms)s::text[])], 'board' || n,
           jsonb_build_object('board_token', 'board' || n), 'https://boards.example/' || n, status,
           n, company.name, 'import', now() - (%(sources)s - n) * interval '10 minutes', 'high',
           CASE WHEN status = 'disabled' THEN 'five failures in a row' END,
           now() - n %% 1440 * interval '1 minute', 'complete',
           CASE WHEN n %% 40 = 7 THEN 'timeout' END, CASE WHEN n %% 40 = 7 THEN 'no answer in 20 s' END,
           now() - n %% 1440 * interval '1 minute', now() - (%(sources)s - n) * interval '10 minutes'
      FROM (SELECT n, CASE n %% 50 WHEN 1 THEN 'pending_validation' WHEN 2 THEN 'rejected'
                                   WHEN 3 THEN 'disabled' WHEN 4 THEN 'disabled' ELSE 'active' END
                   ::catalog.source_status AS status
              FROM generate_series(1, %(sources)s) AS n) AS made
      JOIN catalog.company ON company.id = n
    """,
    """
    INSERT INTO catalog.listing (source_id, company_id, identity, url, url_hash, title, company, location,
        locations, arrangement, seniority, employment_type, posted_at, salary_min, salary_max,
        salary_currency, salary_period, description, platform, board, vendor_id, listed_hash, fingerprint,
        first_seen_at, last_seen_at, changed_at, closed_at, duplicate_of, duplicate_kind, via)
    SELECT 1 + n %% %(sources)s, company.id, 'made:' || n, 'https://jobs.example/' || n,
           md5('u' || n)::uuid, title, company.name, place, ARRAY[place],
           (ARRAY['remote', 'hybrid', 'onsite'])[1 + n %% 3],
           (ARRAY['junior', 'mid', 'senior', 'lead'])[1 + n / 3 %% 4], 'full_time', seen,
           CASE WHEN n %% 2 = 0 THEN 40000 + n %% 60 * 1000 END,
           CASE WHEN n %% 2 = 0 THEN 50000 + n %% 60 * 1500 END, 'EUR', 'year',
           'As a ' || title || ' in ' || place || ' you work with ' || skill ||
           ' in a small team. You ask before you build, and you finish what you begin. Ref ' || n,
           'greenhouse', 'board' || 1 + n %% %(sources)s, n::text, md5('l' || n)::uuid, md5('f' || n)::uuid,
           seen, seen + interval '1 day', seen,
           CASE WHEN n %% 5 = 0 THEN seen + interval '20 days' END,
           CASE WHEN n %% 33 = 0 AND n > 1 THEN n - 1 END, CASE WHEN n %% 33 = 0 AND n > 1 THEN 'same' END,
           'board'
      FROM (SELECT n, now() - (%(listings)s - n) * interval '30 seconds' AS seen,
                   (ARRAY['Senior ', 'Junior ', 'Lead ', 'Staff ', ''])[1 + n %% 5]
                   || (ARRAY['Python', 'Data', 'Pump', 'Sales', 'Support', 'Platform', 'Security', 'Water',
                             'Mobile', 'Network', 'Quality'])[1 + n / 5 %% 11]
                   || (ARRAY[' Engineer', ' Manager', ' Analyst', ' Designer', ' Technician', ' Lead', ' Nurse'])
                      [1 + n / 55 %% 7] AS title,
                   (ARRAY['Berlin, Germany', 'Lisbon, Portugal', 'London, UK', 'Paris, France', 'Madrid, Spain',
                          'Oslo, Norway', 'Porto, Portugal', 'Remote', 'New York, US', 'Utrecht, Netherlands'])
                      [1 + n / 7 %% 10] || CASE WHEN n %% 100000 = 9 THEN ', Vardø' ELSE '' END AS place,
                   (ARRAY['Python and PostgreSQL', 'Go and Kubernetes', 'Java and Spring', 'pumps and valves',
                          'Salesforce', 'Excel', 'Rust'])[1 + n / 11 %% 7]
                   || CASE WHEN n %% 50000 = 17 THEN ' and Fortran' ELSE '' END AS skill
              FROM generate_series(1, %(listings)s) AS n) AS made
      JOIN catalog.company ON company.id = 1 + n %% %(companies)s
     ORDER BY n
    """,
    """
    INSERT INTO catalog.run (source_id, vendor, started_at, ended_at, outcome, cause, calls, seen, added)
    SELECT id, source_type, now() - k * interval '6 hours', now() - k * interval '6 hours',
           CASE WHEN k %% 9 = 0 THEN 'failed' ELSE 'complete' END::catalog.outcome,
           CASE WHEN k %% 9 = 0 THEN 'timeout' END, 1, 20 + k %% 7, k %% 3
      FROM generate_series(20, 1, -1) AS k, catalog.source WHERE id > %(sources)s - %(ran)s
    """,
    """
    INSERT INTO catalog.event (at, subject_type, subject_id, type)
    SELECT now(), 'source', id::text, 'created' FROM catalog.source
    UNION ALL SELECT now(), 'company', id::text, 'created' FROM catalog.company
    UNION ALL SELECT first_seen_at, 'listing', id::text, 'created' FROM catalog.listing
               WHERE id > %(listings)s - %(verdicts)s
    """,
)

MATCHING: tuple[LiteralString, ...] = (
    """
    INSERT INTO matching.verdict (profile_id, listing_id, profile_version, outcome, score, local_score,
        scored_by, filter_result, match_result, judged_at)
    SELECT (SELECT min(id) FROM matching.profile), id, 1, outcome, score, score,
           CASE WHEN score IS NOT NULL THEN 'local' END,
           jsonb_build_object('passed', outcome <> 'filtered', 'total_strikes', 0, 'strikes', '[]'::jsonb,
               'hard_rejections', CASE WHEN outcome = 'filtered'
                   THEN '[{"rule": "arrangement", "reason": "on site, and not in your city", "words": "on site"}]'
                   ELSE '[]' END::jsonb,
               'rejection_summary', CASE WHEN outcome = 'filtered' THEN 'on site, and not in your city' ELSE '' END),
           CASE WHEN score IS NOT NULL THEN jsonb_build_object(
               'match_score', score, 'application_priority', 'Medium', 'matched_skills', '["Python"]'::jsonb,
               'skill_gaps', '["Go"]'::jsonb, 'threshold', 60, 'threshold_why', 'a firm of middle size',
               'items', jsonb_build_array(
                   jsonb_build_object('name', 'skills', 'points', score / 2, 'most', 50, 'why', '1 of 2 that it asks for', 'words', '["Python"]'::jsonb),
                   jsonb_build_object('name', 'meaning', 'points', score - score / 2, 'most', 50, 'why', 'much alike', 'words', '[]'::jsonb)),
               'resume_intake', '{}'::jsonb, 'scored_by', 'local', 'dropped_claims', '[]'::jsonb) END,
           first_seen_at
      FROM (SELECT id, first_seen_at,
                   CASE id %% 4 WHEN 0 THEN 'matched' WHEN 1 THEN 'skipped' ELSE 'filtered' END::matching.outcome AS outcome,
                   CASE id %% 4 WHEN 0 THEN 60 + id %% 41 WHEN 1 THEN 20 + id %% 40 END::int AS score
              FROM catalog.listing WHERE id > %(listings)s - %(verdicts)s ORDER BY id) AS judged
    """,
    """
    INSERT INTO matching.match (profile_id, listing_id, company_id, profile_version, match_score,
        application_priority, matched_skills, skill_gaps, resume_intake, items, scored_by, status, dropped_at,
        created_at, updated_at, status_at)
    SELECT profile_id, listing_id, company_id, 1, score, 'Medium', ARRAY['Python'], ARRAY['Go'], '{}',
           match_result->'items', 'local',
           CASE WHEN n %% 20 < 12 THEN 'new'
                ELSE (ARRAY['saved', 'applied', 'interviewing', 'offer', 'rejected', 'dismissed', 'dismissed', 'saved'])
                     [n %% 20 - 11] END::matching.match_status,
           CASE WHEN n %% 20 = 0 THEN now() END, judged_at, judged_at, judged_at
      FROM (SELECT *, row_number() OVER (ORDER BY listing_id) AS n FROM matching.verdict
             WHERE outcome = 'matched' ORDER BY listing_id LIMIT %(matches)s) AS verdict
      JOIN catalog.listing ON listing.id = listing_id
     ORDER BY listing_id
    """,
    """
    INSERT INTO matching.event (at, match_id, type) SELECT created_at, id, 'created' FROM matching.match
    """,
    """
    INSERT INTO matching.view (profile_id, name, status, min_score, arrangement, newest)
    SELECT min(id), view.name, NULL, 80, arrangement, newest
      FROM matching.profile, (VALUES ('Far away', 'remote', false), ('Today', NULL, true), ('Near', 'onsite', true))
           AS view (name, arrangement, newest) GROUP BY view.name, arrangement, newest
    """,
)

QUEUE: tuple[LiteralString, ...] = (
    "INSERT INTO queue.alert (rule, subject, detail) VALUES ('sample', 'sample', 'A sample of an alert')",
    # One lineage is a tree in which every item has ten children.
    """
    INSERT INTO queue.item (id, kind, stage, key, key_hash, data, priority, tracking_id, parent_id, ancestry,
        ancestor_keys, spawn_depth, max_spawn_depth, handed_over, max_retries, message, error_class, error_text,
        created_at, updated_at)
    WITH RECURSIVE tree AS (
        SELECT 1 AS k, '{}'::bigint[] AS ancestry
        UNION ALL
        SELECT child, tree.ancestry || (%(items)s / 2 + tree.k)::bigint
          FROM tree, generate_series(10 * tree.k - 8, 10 * tree.k + 1) AS child WHERE child <= %(lineage)s
    )
    SELECT n, phase.kind, phase.stage, 'k' || n, md5('k' || n)::uuid, jsonb_build_object('listing', n), 100,
           CASE WHEN k IS NULL THEN md5('l' || n / 3) ELSE %(big)s END::uuid,
           ancestry[cardinality(ancestry)], coalesce(ancestry, '{}'),
           ARRAY(SELECT md5('k' || one)::uuid FROM unnest(ancestry) AS one), coalesce(cardinality(ancestry), 0), 10,
           false, 3, 'made', CASE WHEN n %% 50 = 3 THEN 'OutsideError' END,
           CASE WHEN n %% 50 = 3 THEN 'the site did not answer' END,
           now() - (%(items)s - n) * interval '20 seconds', now() - (%(items)s - n) * interval '20 seconds'
      FROM generate_series(1, %(items)s) AS n
      LEFT JOIN tree ON k = n - %(items)s / 2
      JOIN (SELECT kind, stage, row_number() OVER (ORDER BY place) - 1 AS number, count(*) OVER () AS phases
              FROM queue.phase) AS phase ON number = n %% phases
    """,
    """
    INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts, finished_at)
    SELECT id, CASE WHEN id %% 50 = 3 THEN 'FAILED' WHEN id %% 10 = 1 THEN 'SKIPPED' WHEN id %% 10 = 2 THEN 'FILTERED'
                    ELSE 'SUCCESS' END::queue.status, stage, true, 'done', 0, 1, created_at + interval '5 seconds'
      FROM queue.item WHERE id <= %(items)s - %(live)s ORDER BY id
    """,
    """
    INSERT INTO queue.worker (name, lease) VALUES ('bench', '1 hour')
    """,
    """
    INSERT INTO queue.live (id, kind, stage, key_hash, status, priority, available_at, parked, worker, attempt,
        blocked_on, started_at)
    SELECT id, kind, stage, key_hash, status, 100, created_at, status = 'BLOCKED',
           CASE WHEN status = 'PROCESSING' THEN 1 END, 1, CASE WHEN status = 'BLOCKED' THEN 'budget' END,
           CASE WHEN status = 'PROCESSING' THEN now() END
      FROM (SELECT *, CASE WHEN id %% 20 = 0 THEN 'PROCESSING' WHEN id %% 4 = 1 THEN 'BLOCKED' ELSE 'PENDING' END
                      ::queue.status AS status
              FROM queue.item WHERE id > %(items)s - %(live)s) AS item
    """,
    """
    INSERT INTO queue.event (item_id, at, type, from_status, to_status, stage)
    SELECT id, created_at, 'submitted', NULL::queue.status, 'PENDING'::queue.status, stage FROM queue.item
    UNION ALL
    SELECT id, created_at + interval '1 second', 'started', 'PENDING', 'PROCESSING', stage FROM queue.item
     WHERE id <= %(items)s - %(live)s
    UNION ALL
    SELECT item_id, finished_at, lower(status::text), 'PROCESSING', status, stage FROM queue.ending
    """,
    """
    INSERT INTO queue.run_counter (kind, stage, outcome, runs, seconds, buckets)
    SELECT kind, stage, 'success', 1000, 10, array_fill(10, ARRAY[15]) FROM queue.phase
    """,
    "SELECT setval(pg_get_serial_sequence('queue.item', 'id'), %(items)s)",
)

ROTATION: tuple[LiteralString, ...] = (
    """
    INSERT INTO rotation.run (trigger, policy, started_at, chosen, skipped)
    SELECT 'schedule', 'yield', now() - (%(runs)s - n) * interval '90 days' / %(runs)s, 200, '{}'
      FROM generate_series(1, %(runs)s) AS n
    """,
    """
    INSERT INTO rotation.platform (name, per_hour, per_day, new_listings, observed_days)
    SELECT name, 5000, 50000, 100, 200 FROM unnest(%(platforms)s::text[]) AS name
    """,
    """
    INSERT INTO rotation.target (source_id, kind, platform, status, priority, page_cap, added_at, last_called_at,
        queued_at, run_id, min_interval, next_allowed_at, last_success_at, new_jobs_last, new_per_day, loss_rate, last_ok_at, due_at)
    SELECT id, CASE WHEN source_type IN ('remotive', 'adzuna') THEN 'slice' ELSE 'company' END::rotation.kind, source_type,
           CASE id %% 100 WHEN 0 THEN 'paused' WHEN 1 THEN 'bad' ELSE 'active' END::rotation.status, 100, NULL,
           created_at, now() - id %% 600 * interval '5 minutes',
           CASE WHEN id %% 1000 = 5 THEN now() END, %(runs)s, '6 hours', now() + id %% 700 * interval '1 minute',
           now() - id %% 600 * interval '5 minutes', id %% 5,
           CASE WHEN id %% 10 > 0 THEN 0.5 END, 0.02, now() - id %% 600 * interval '5 minutes',
           now() + (id %% 700 - 350) * interval '1 minute'
      FROM catalog.source WHERE status = 'active' OR id %% 50 IN (3, 4)
    """,
    """
    INSERT INTO rotation.call (source_id, platform, run_id, signature, key, called_at, answer, detail, requests,
        result_count, new, duplicates)
    SELECT source.id, source_type, 1 + n::bigint * (%(runs)s - 1) / %(calls)s, source_type || ':' || token,
           decode(md5(n::text) || md5(n::text), 'hex'),
           now() - (%(calls)s - n) * interval '90 days' / %(calls)s,
           CASE WHEN n %% 40 = 0 THEN 'error' WHEN n %% 5 = 0 THEN 'not_modified' ELSE 'ok' END::rotation.answer,
           CASE WHEN n %% 40 = 0 THEN 'no answer in 20 s' END, 1, n %% 30, CASE WHEN n %% 3 = 0 THEN n %% 7 ELSE 0 END, n %% 4
      FROM generate_series(1, %(calls)s) AS n
      JOIN catalog.source ON source.id = 1 + n::bigint * 7919 %% %(sources)s
     ORDER BY n
    """,
    # The trigger that sums up calls is off.
    """
    INSERT INTO rotation.hourly_calls
    SELECT date_trunc('hour', called_at, 'UTC'), platform, 0, count(*), sum(result_count), sum(new),
           sum(duplicates), count(*) FILTER (WHERE new = 0),
           count(*) FILTER (WHERE answer IN ('gone', 'error')), sum(requests)
      FROM rotation.call GROUP BY 1, 2
    """,
    """
    INSERT INTO rotation.call_page (call_id, number, signature, key, result_count)
    SELECT id, 1, signature, key, result_count FROM rotation.call WHERE id > %(calls)s - 20000
    """,
    """
    INSERT INTO rotation.search (platform, keywords, locations)
    SELECT 'adzuna', ARRAY['python ' || n], ARRAY['Berlin'] FROM generate_series(1, 30) AS n
    """,
)

HIRING: tuple[LiteralString, ...] = (
    """
    INSERT INTO hiring.applicant (name, email, email_key, created_at)
    SELECT 'Person ' || n, 'p' || n || '@example.org', 'p' || n || '@example.org', now() - interval '60 days'
      FROM generate_series(1, greatest(%(hot)s, %(applications)s - %(hot)s)) AS n
    """,
    """
    INSERT INTO hiring.opening (title, description, employer, location, status, capacity, require_acknowledgement,
        created_at, last_event_at)
    SELECT CASE n WHEN 1 THEN 'Everybody wants this' ELSE 'Opening ' || n END, repeat('A calm place to work. ', 20),
           'Mill', 'Berlin', CASE n %% 10 WHEN 0 THEN 'closed' WHEN 9 THEN 'paused' ELSE 'open' END::hiring.opening_status,
           CASE n WHEN 1 THEN 500 ELSE 20 END, n = 1, now() - interval '60 days', now()
      FROM generate_series(1, %(openings)s) AS n
    """,
    # The first of the many were offered a slot in turn: few took it, the others withdrew.
    """
    INSERT INTO hiring.application (opening_id, applicant_id, status, queue_key, applied_at, entered_at)
    SELECT 1, n, CASE WHEN n <= 400 THEN 'ACTIVE' WHEN n <= %(left)s THEN 'INACTIVE' ELSE 'WAITLIST' END::hiring.status,
           CASE WHEN n > %(left)s THEN n END, now() - (%(hot)s - n) * interval '1 minute',
           now() - (%(hot)s - n) * interval '1 minute'
      FROM generate_series(1, %(hot)s) AS n
    """,
    """
    INSERT INTO hiring.application (opening_id, applicant_id, status, queue_key, applied_at, entered_at)
    SELECT 2 + n %% (%(openings)s - 1), 1 + n, CASE WHEN place < 20 THEN 'ACTIVE' ELSE 'WAITLIST' END::hiring.status,
           CASE WHEN place >= 20 THEN place - 19 END, now() - (%(hot)s - n) * interval '1 minute',
           now() - (%(hot)s - n) * interval '1 minute'
      FROM (SELECT n, n / (%(openings)s - 1) AS place
              FROM generate_series(0, %(applications)s - %(hot)s - 1) AS n) AS made
    """,
    """
    INSERT INTO hiring.waitlist_block (opening_id, block, waiting)
    SELECT opening_id, queue_key >> 10, count(*) FROM hiring.application WHERE status = 'WAITLIST' GROUP BY 1, 2
    """,
    """
    INSERT INTO hiring.event (opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
        metadata, why, actor, created_at, hash)
    WITH turns AS (
        SELECT id, status, 3 * %(hot)s::bigint * applicant_id / (%(left)s + 1) + 4 AS turn
          FROM hiring.application WHERE opening_id = 1 AND applicant_id <= %(left)s
    )
    SELECT opening_id, row_number() OVER (PARTITION BY opening_id ORDER BY place, application_id, type), application_id,
           type, from_status, to_status, queue_key,
           CASE WHEN type = 'PROMOTED' THEN now() - (3 * %(hot)s - place) * interval '20 seconds' + interval '5 minutes' END,
           metadata,
           jsonb_build_object('rule', rule, 'capacity', CASE opening_id WHEN 1 THEN 500 ELSE 20 END, 'occupied', 20,
               -- As a rule sees it: without the one it is about.
               'waiting', coalesce(sum((to_status = 'WAITLIST')::int - coalesce(from_status = 'WAITLIST', false)::int) OVER (
                   PARTITION BY opening_id ORDER BY place, application_id, type
                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)),
           'applicant:1', now() - (3 * %(hot)s - place) * interval '20 seconds', sha256('')
      FROM (
        SELECT id AS opening_id, 0 AS place, NULL::bigint AS application_id, 'OPENED'::hiring.event_type AS type,
               NULL::hiring.status AS from_status, NULL::hiring.status AS to_status, NULL::bigint AS queue_key,
               jsonb_build_object('capacity', capacity) AS metadata, 'by the company' AS rule
          FROM hiring.opening
        UNION ALL
        SELECT opening_id, 3 * applicant_id, id, 'APPLIED', NULL,
               CASE WHEN opening_id = 1 THEN 'WAITLIST' ELSE status END,
               CASE WHEN opening_id = 1 THEN applicant_id ELSE queue_key END,
               jsonb_build_object('jobId', opening_id, 'applicantId', applicant_id), 'no slot is free'
          FROM hiring.application
        UNION ALL
        SELECT 1, turn, id, 'PROMOTED', 'WAITLIST', 'PENDING_ACKNOWLEDGMENT', NULL, '{}',
               'next in line' FROM turns
        UNION ALL
        SELECT 1, least(turn + 100, 3 * %(hot)s), id, CASE WHEN status = 'ACTIVE' THEN 'ACKNOWLEDGED' ELSE 'WITHDRAWN' END::hiring.event_type,
               'PENDING_ACKNOWLEDGMENT', status, NULL, '{}', 'confirmed in time'
          FROM turns) AS log
     ORDER BY 1, 2
    """,
    """
    UPDATE hiring.opening
       SET occupied = least(made.occupied, capacity), waiting = made.waiting, next_key = top + 1, max_key = top,
           last_seq = (SELECT max(seq) FROM hiring.event WHERE event.opening_id = opening.id)
      FROM (SELECT opening_id, count(*) FILTER (WHERE status = 'ACTIVE') AS occupied,
                   count(*) FILTER (WHERE status = 'WAITLIST') AS waiting, max(queue_key) AS top
              FROM hiring.application GROUP BY opening_id) AS made
     WHERE opening_id = opening.id
    """,
    """
    INSERT INTO hiring.notice (kind, opening_id, application_id, state, ended_at)
    SELECT 'applied', opening_id, id, 'sent', now() FROM hiring.application
    """,
    """
    INSERT INTO hiring.blocklist (email_key, reason) SELECT 'no' || n || '@example.org', 'spam' FROM generate_series(1, 50) AS n
    """,
)

OTHERS: tuple[LiteralString, ...] = (
    """
    INSERT INTO budget.call (at, ends_at, settled_at, model, tier, purpose, prompt_version, item, run, reserved,
        tokens_in, tokens_out, cost, outcome)
    SELECT at, at + interval '1 minute', at, 'model-' || n %% 3, CASE n %% 4 WHEN 0 THEN 'strong' ELSE 'cheap' END,
           (ARRAY['score', 'company', 'resume'])[1 + n %% 3], '1', n, md5('l' || n / 3), 0.01, 1000, 200, 0.002,
           CASE WHEN n %% 50 = 0 THEN 'failed' ELSE 'answered' END::budget.outcome
      FROM (SELECT n, now() - (%(budget)s - n) * interval '40 days' / %(budget)s AS at
              FROM generate_series(1, %(budget)s) AS n) AS made
    """,
    """
    INSERT INTO people.person (name, email, email_key, role, password)
    SELECT 'Colleague ' || n, 'c' || n || '@example.org', 'c' || n || '@example.org',
           (ARRAY['viewer', 'recruiter', 'admin'])[1 + n %% 3]::people.role, '-' FROM generate_series(1, %(people)s) AS n
    """,
    """
    INSERT INTO people.api_key (name, scope, digest)
    SELECT 'key ' || n, 'read', sha256(n::text::bytea) FROM generate_series(1, 20) AS n
    """,
    """
    INSERT INTO people.session (digest, person_id, expires_at)
    SELECT sha256(n::text::bytea), 1 + n %% 100, now() + interval '7 days' FROM generate_series(1, 300) AS n
    """,
)
