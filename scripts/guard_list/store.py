"""Guards of waits, spawns, admission, feeds, schedules, operator actions and the database connection."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

STORE = "jobmill/queue/store.py"
SPAWN = "jobmill/queue/spawn_rules.py"
INSERT = "jobmill/queue/insert_sql.py"
ADMISSION = "jobmill/queue/admission.py"
SCHEDULE = "jobmill/queue/schedule.py"
ACTIONS = "jobmill/queue/operator_actions.py"
FEED = "jobmill/queue/feed.py"
DB = "jobmill/db/__init__.py"
MIGRATE = "jobmill/db/migrate.py"

WAITS = "tests/queue/test_waits.py"
RULES = "tests/queue/test_spawn.py"
CAP = "tests/queue/test_admission.py"
MIGRATIONS = "tests/db/test_migrate.py"

GUARDS: list[Guard] = [
    guard(
        "an item does not wait for one that has already ended",
        STORE,
        "AND (claim.waits_for IS NULL OR awaited.id IS NOT NULL) AS parked",
        "AS parked",
        "tests/queue/test_moves.py::test_an_item_does_not_wait_for_one_that_has_already_ended",
    ),
    guard(
        "a parked item becomes due only at its time",
        STORE,
        "WHERE parked AND available_at <= now() AND",
        "WHERE parked AND",
        "tests/queue/test_claim.py::test_a_delayed_item_is_not_claimed_before_its_time",
    ),
    guard(
        "an item wakes if it missed the end of its awaited item",
        STORE,
        "SET parked = false, available_at = now()\n"
        "         WHERE waiting.parked AND waiting.waits_for IS NOT NULL\n"
        "           AND NOT EXISTS",
        "SET parked = true, available_at = now()\n"
        "         WHERE waiting.parked AND waiting.waits_for IS NOT NULL\n"
        "           AND NOT EXISTS",
        f"{WAITS}::test_an_item_wakes_if_it_missed_the_end_of_its_awaited_item",
    ),
    guard(
        "an item follows its awaited item if it missed the hand-over",
        STORE,
        "SET waits_for = successor.id",
        "SET waits_for = waiting.waits_for",
        f"{WAITS}::test_an_item_follows_its_awaited_item_if_it_missed_the_hand_over",
    ),
    guard(
        "an item keeps waiting for a live item",
        STORE,
        "AND NOT EXISTS (SELECT FROM queue.live AS awaited WHERE awaited.id = waiting.waits_for)",
        "",
        f"{WAITS}::test_an_item_keeps_waiting_for_a_live_item",
    ),
    guard(
        "spawn limits the depth",
        SPAWN,
        "parent.spawn_depth >= parent.max_spawn_depth",
        "parent.spawn_depth > parent.max_spawn_depth",
        f"{RULES}::test_prevents_excessive_depth",
    ),
    guard(
        "spawn refuses cycles",
        SPAWN,
        "WHEN requested.key_hash = ANY (parent.ancestor_keys || parent.key_hash)",
        "WHEN false",
        f"{RULES}::test_prevents_circular_dependency",
    ),
    guard(
        "spawn refuses duplicates in a lineage",
        SPAWN,
        "WHEN twin.tracking_id = parent.tracking_id THEN",
        "WHEN false THEN",
        f"{RULES}::test_prevents_duplicate_work",
    ),
    guard(
        "spawn refuses work that ended in the lineage",
        SPAWN,
        "AND done.kind = requested.kind) THEN",
        "AND false) THEN",
        f"{RULES}::test_work_that_ended_in_a_lineage_is_not_repeated_in_it",
    ),
    guard(
        "concurrent spawns insert the same work once",
        INSERT,
        "        ON CONFLICT (kind, key_hash) DO NOTHING\n",
        "",
        f"{RULES}::test_eight_connections_racing_for_500_keys_leave_500_live_items",
    ),
    guard(
        "one of many concurrent submissions of the same work is accepted",
        ADMISSION,
        "              FROM phase\n            ON CONFLICT (kind, key_hash) DO NOTHING",
        "              FROM phase",
        f"{CAP}::test_one_of_many_concurrent_submissions_of_the_same_work_is_accepted",
    ),
    guard(
        "a batch with live work is submitted without it",
        INSERT,
        "ORDER BY kind, key_hash, n\n        ON CONFLICT (kind, key_hash) DO NOTHING",
        "ORDER BY kind, key_hash, n",
        f"{CAP}::test_an_item_queued_in_the_same_phase_is_refused",
    ),
    guard(
        "the capacity of a phase is counted under a lock",
        ADMISSION,
        "    await _lock_phase(tx, kind, stage)\n",
        "",
        f"{CAP}::test_concurrent_submissions_never_exceed_the_capacity",
    ),
    guard(
        "a full phase refuses",
        ADMISSION,
        "if capacity[new.kind, new.stage] > 0:",
        "if True:",
        f"{CAP}::test_a_full_phase_refuses_new_items",
    ),
    guard(
        "a single item takes the fast path only far from the capacity",
        ADMISSION,
        "AND capacity > %(uncommitted)s + pg_relation_size('queue.live') / 8192 * %(per_page)s",
        "",
        f"{CAP}::test_a_full_phase_refuses_new_items",
    ),
    guard(
        "a feed takes only as many rows as the phase has capacity for",
        FEED,
        "    return min(BATCH_SIZE, await remaining_capacity(tx, source.kind, source.stage))",
        "    return BATCH_SIZE",
        f"{CAP}::test_a_feed_submits_what_fits_and_a_full_queue_loses_nothing",
    ),
    guard(
        "a feed puts back rows that were refused for now",
        FEED,
        "if postponed:",
        "if False:",
        f"{CAP}::test_rows_refused_because_their_work_is_alive_are_put_back",
    ),
    guard(
        "a schedule submits only when it is due",
        SCHEDULE,
        "WHERE next_at <= now() AND name",
        "WHERE name",
        "tests/queue/test_schedule.py::test_concurrent_checks_of_a_schedule_submit_one_item",
    ),
    guard(
        "cancel refuses running items",
        ACTIONS,
        'if status not in ("PENDING", "BLOCKED"):',
        "if False:",
        "tests/queue/test_operator_actions.py::test_running_and_ended_items_cannot_be_cancelled",
    ),
    guard(
        "cancel waits for a concurrent claim",
        ACTIONS,
        '"SELECT FROM queue.live WHERE id = %s FOR UPDATE"',
        '"SELECT FROM queue.live WHERE id = %s"',
        "tests/queue/test_operator_actions.py::test_an_item_that_is_being_claimed_cannot_be_cancelled",
    ),
    guard(
        "retry refuses items that succeeded",
        ACTIONS,
        'if status not in ("FAILED", "SKIPPED", "FILTERED"):',
        "if False:",
        "tests/queue/test_operator_actions.py::test_a_failed_item_can_be_retried",
    ),
    guard(
        "retry refuses an item while the same work is alive",
        ACTIONS,
        "            ON CONFLICT (kind, key_hash) DO NOTHING\n",
        "",
        "tests/queue/test_operator_actions.py::test_an_item_cannot_be_retried_while_the_same_work_is_alive",
    ),
    guard(
        "retention keeps recent items",
        "jobmill/queue/retention.py",
        "WHERE finished_at < now() - %(age)s",
        "WHERE %(age)s IS NOT NULL",
        "tests/queue/test_operator_actions.py::test_old_items_are_deleted_with_their_events_and_recent_ones_stay",
    ),
    guard(
        "a start rate counts started items",
        "jobmill/queue/start_rate.py",
        "max(0, rate.starts - started)",
        "rate.starts",
        "tests/queue/test_claim.py::test_a_start_rate_holds_over_all_workers",
    ),
    guard(
        "starts are counted in the transaction of their claim",
        "jobmill/queue/claimer.py",
        "        async with connection.transaction():\n            allowed =",
        "        async with asyncio.timeout(None):\n            allowed =",
        "tests/queue/test_claimer.py::test_two_concurrent_claims_share_a_start_rate",
    ),
    guard(
        "a wait for an answer of the server times out",
        DB,
        ".call_later(limit, self.abort)",
        ".call_later(limit, int)",
        "tests/faults/test_silence.py::test_a_wait_for_an_answer_times_out",
    ),
    guard(
        "the pool checks a connection before a caller gets it",
        DB,
        "        check=_check,\n",
        "",
        "tests/faults/test_silence.py::test_a_pool_returns_no_dead_connection",
    ),
    guard(
        "the check of the pool has its own time limit",
        DB,
        "limit, connection.answer_limit = connection.answer_limit, CHECK_LIMIT",
        "limit = connection.answer_limit",
        "tests/faults/test_silence.py::test_a_pool_returns_no_dead_connection",
    ),
    guard(
        "a transaction with an ignored error raises",
        DB,
        "if connection.info.transaction_status == TransactionStatus.INERROR:",
        "if False:",
        "tests/queue/test_worker.py::"
        "test_a_save_that_ignores_a_database_error_does_not_count_as_committed",
    ),
    guard(
        "a database of a newer version is refused",
        MIGRATE,
        "    if unknown:\n",
        "    if False:\n",
        f"{MIGRATIONS}::test_a_database_of_a_newer_version_is_refused",
    ),
    guard(
        "an edited migration is refused",
        MIGRATE,
        "    if edited:\n",
        "    if False:\n",
        f"{MIGRATIONS}::test_an_edited_migration_is_refused",
    ),
    guard(
        "a database is backed up before it is migrated",
        MIGRATE,
        "        await back_up(todo[0])\n",
        "        pass\n",
        "tests/db/test_migration_backup.py::test_several_processes_that_upgrade_at_once_write_one_backup",
    ),
    guard(
        "concurrent migrations are serialized",
        MIGRATE,
        "    await tx.execute(\"SELECT pg_advisory_xact_lock(hashtext('jobmill.migrate'))\")\n",
        "",
        f"{MIGRATIONS}::test_concurrent_migrations_apply_each_migration_once",
    ),
]
