"""Guards of workers: leases, rescues, run limits and schema versions."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

LEASES = "jobmill/queue/leases.py"
CLAIMER = "jobmill/queue/claimer.py"
SETTLER = "jobmill/queue/settler.py"
LEASE = "jobmill/queue/held_lease.py"
WORKER = "jobmill/queue/worker.py"
RETRY = "jobmill/queue/retry.py"

TEST = "tests/queue/test_worker.py"
FENCE = "tests/queue/test_lease_fence.py"
SILENCE = "tests/faults/test_silence.py"
RESCUE = f"{TEST}::test_a_rescue_waits_for_no_row_that_another_transaction_holds"

GUARDS: list[Guard] = [
    guard(
        "a lapsed lease cannot be renewed",
        LEASES,
        " AND heartbeat_at + lease > clock_timestamp()",
        "",
        f"{FENCE}::test_a_worker_without_a_lease_cannot_renew_it",
    ),
    guard(
        "a worker that is gone cannot renew its lease",
        LEASES,
        "AND ended_at IS NULL AND heartbeat_at + lease > clock_timestamp()",
        "AND heartbeat_at + lease > clock_timestamp()",
        f"{FENCE}::test_a_worker_without_a_lease_cannot_renew_it",
    ),
    guard(
        "rescue marks only workers with a lapsed lease as gone",
        LEASES,
        "WHERE ended_at IS NULL AND heartbeat_at + lease < clock_timestamp()",
        "WHERE ended_at IS NULL",
        f"{TEST}::test_a_live_worker_keeps_its_items_however_long_they_run",
    ),
    guard(
        "rescue takes nothing from a live worker",
        LEASES,
        "WHERE alive.id = live.worker AND alive.ended_at IS NULL)",
        "WHERE false)",
        f"{TEST}::test_a_rescue_of_a_silent_workers_items_leaves_those_of_a_live_one",
    ),
    guard(
        "rescue does not wait for a locked worker",
        LEASES,
        "                   FOR UPDATE SKIP LOCKED) AS silent",
        "                   FOR UPDATE) AS silent",
        RESCUE,
    ),
    guard(
        "rescue does not wait for a locked item",
        LEASES,
        "LIMIT 500\n               FOR UPDATE OF live SKIP LOCKED",
        "LIMIT 500\n               FOR UPDATE OF live",
        RESCUE,
    ),
    guard(
        "rescue fails an item that kills its workers",
        LEASES,
        "live.retry_count >= item.max_retries AS hopeless",
        "item.max_retries < 0 AS hopeless",
        f"{TEST}::test_an_item_that_kills_its_workers_fails_in_the_end",
    ),
    guard(
        "rescue scans again after a worker is marked as gone",
        LEASES,
        "            OR EXISTS (SELECT FROM queue.worker\n"
        "                        WHERE ended_at > clock_timestamp() - interval '2 minutes')\n",
        "",
        f"{TEST}::test_a_claim_that_commits_after_its_worker_is_marked_gone_is_rescued",
    ),
    guard(
        "releasing unknown claims keeps claims, not ids",
        LEASES,
        " AND claim.attempt = live.attempt",
        "",
        f"{FENCE}::test_a_claim_whose_answer_was_lost_is_released_although_an_older_attempt_is_known",
    ),
    guard(
        "releasing unknown claims takes nothing from other workers",
        LEASES,
        "WHERE status = 'PROCESSING' AND worker = %(worker)s\n",
        "WHERE status = 'PROCESSING'\n",
        f"{FENCE}::test_a_worker_releases_no_claims_of_another_worker",
    ),
    guard(
        "a worker that reconnects releases claims it does not know",
        CLAIMER,
        "            await leases.release_unknown_claims(connection, self._lease.worker, self.claims())\n",
        "",
        f"{TEST}::test_a_claim_whose_answer_was_lost_is_released",
    ),
    guard(
        "a worker that stops releases claims it does not know",
        SETTLER,
        "            await leases.release_unknown_claims(connection, self._lease.worker)\n",
        "",
        f"{TEST}::test_a_stopping_worker_releases_even_claims_it_does_not_know",
    ),
    guard(
        "a worker that becomes idle looks once more",
        CLAIMER,
        "self._asked_for_notify = self._may_have_work = True",
        "self._asked_for_notify = True",
        "tests/queue/test_waits.py::test_a_worker_that_becomes_idle_looks_once_more_before_it_waits",
    ),
    guard(
        "workers look for stranded waiters",
        WORKER,
        "            PeriodicTask(5.0, store.wake_stranded_waiters),\n",
        "",
        "tests/queue/test_waits.py::test_every_worker_looks_for_stranded_waiters",
    ),
    guard(
        "an outdated worker claims nothing",
        CLAIMER,
        "return self.claiming and not self.outdated and",
        "return self.claiming and",
        "tests/queue/test_versions.py::"
        "test_a_worker_claims_nothing_from_a_schema_newer_than_it_knows",
    ),
    guard(
        "a worker compares its version at every heartbeat",
        WORKER,
        "claimer.outdated, newest > self._newest_migration",
        "claimer.outdated, False",
        "tests/queue/test_versions.py::"
        "test_a_worker_claims_nothing_from_a_schema_newer_than_it_knows",
    ),
    guard(
        "a schema mismatch blocks an item",
        RETRY,
        "    if is_schema_mismatch(error):\n        # The worker",
        "    if False:\n        # The worker",
        "tests/queue/test_versions.py::test_a_renamed_column_uses_up_no_retry",
    ),
    guard(
        "retries are bounded",
        RETRY,
        "if work.retry_count >= work.max_retries:",
        "if work.retry_count > work.max_retries:",
        "tests/queue/test_retry.py::test_an_item_that_is_not_retried_fails_with_the_reason_and_a_next_step",
        "tests/queue/test_spawn.py::"
        "test_scenario_4_a_failing_item_is_tried_a_bounded_number_of_times",
    ),
    guard(
        "an error that the lineage failed of is not retried",
        RETRY,
        "    if failed_before:\n",
        "    if False:\n",
        "tests/pipelines/test_legacy_items.py"
        "::test_work_that_failed_with_the_same_error_in_its_lineage_is_not_retried",
    ),
    guard(
        "an item that was put back is not retried after the same error",
        RETRY,
        "    if failed_before == work.id:\n",
        "    if False:\n",
        "tests/queue/test_retry.py"
        "::test_an_item_that_was_put_back_is_retried_only_if_its_error_changed",
    ),
    guard(
        "a run that takes too long is cancelled",
        WORKER,
        "if processor.busy_seconds() <= limit:",
        "if True:",
        "tests/queue/test_retry.py::test_a_stage_that_runs_too_long_is_cancelled_and_counted",
    ),
    guard(
        "a run that ignores its cancellation is failed",
        WORKER,
        "        self._put(work, outcome)\n        self._count(pool",
        "        self._count(pool",
        f"{TEST}::test_a_processor_whose_run_ignores_its_cancellation_is_replaced",
    ),
    guard(
        "a worker notices by itself that its lease lapsed",
        LEASE,
        "if time.monotonic() > self._ends_at:",
        "if False:",
        f"{SILENCE}::test_a_worker_without_heartbeats_cancels_its_runs",
    ),
    guard(
        "a lost lease cancels the runs under it",
        WORKER,
        '                    processor.cancel("lease lost")\n',
        "                    pass\n",
        f"{SILENCE}::test_a_worker_without_heartbeats_cancels_its_runs",
    ),
    guard(
        "a worker whose settlements get no answer gives up its lease",
        LEASE,
        "if self.outages.longest() > self.duration.total_seconds():",
        "if False:",
        f"{SILENCE}::test_a_worker_whose_settlements_get_no_answer_loses_its_lease",
    ),
    guard(
        "heartbeats have a dedicated connection",
        WORKER,
        "heartbeat = await leases.send_heartbeat(connection, worker, processors)",
        "async with self._db.transaction() as tx:\n"
        "                heartbeat = await leases.send_heartbeat(tx, worker, processors)",
        f"{TEST}::test_heartbeats_continue_while_stages_use_every_connection",
    ),
]
