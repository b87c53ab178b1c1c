"""Guards of claims: the lease fence, settlements, saves and children."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

FENCE = "jobmill/queue/lease_fence.py"
STORE = "jobmill/queue/store.py"
SPAWN = "jobmill/queue/spawn_rules.py"
SETTLE = "jobmill/queue/settlement.py"
COMMITTER = "jobmill/queue/group_commit.py"
CLAIMER = "jobmill/queue/claimer.py"
SETTLER = "jobmill/queue/settler.py"

TEST = "tests/queue/test_lease_fence.py"
STALE = f"{TEST}::test_a_stale_claim_changes_nothing"
WAITS = f"{TEST}::test_a_claim_lost_while_its_statement_waits_changes_nothing"
TWO_ATTEMPTS = f"{TEST}::test_of_two_attempts_in_one_batch_only_the_newest_settles"
TWO_OUTCOMES = f"{TEST}::test_two_outcomes_of_one_claim_settle_once"
SAVES = f"{TEST}::test_a_stale_claim_saves_nothing"

GUARDS: list[Guard] = [
    guard("the fence compares attempts", FENCE, "AND live.attempt = claim.attempt ", "", STALE),
    guard(
        "the fence compares workers",
        FENCE,
        "AND live.attempt = claim.attempt AND live.worker = %(worker)s\n",
        "AND live.attempt = claim.attempt\n",
        STALE,
    ),
    guard("the fence checks the lease", FENCE, " AND heartbeat_at + lease > now()", "", STALE),
    guard("the fence refuses workers that are gone", FENCE, "AND ended_at IS NULL ", "", STALE),
    guard(
        "claim checks the lease",
        STORE,
        "               AND {LEASE_STANDS}\n        ), claimed AS (",
        "        ), claimed AS (",
        f"{TEST}::test_a_worker_without_a_lease_claims_nothing",
    ),
    guard(
        "claim locks what it picks",
        STORE,
        "LIMIT request.max_items\n                      FOR UPDATE SKIP LOCKED",
        "LIMIT request.max_items",
        "tests/queue/test_claim.py::test_concurrent_claims_never_share_an_item",
    ),
    guard(
        "claim waits for no other claim",
        STORE,
        "LIMIT request.max_items\n                      FOR UPDATE SKIP LOCKED",
        "LIMIT request.max_items\n                      FOR UPDATE",
        "tests/queue/test_claim.py::test_a_claim_never_waits_for_another",
    ),
    guard(
        "claim respects pauses",
        STORE,
        "WHERE pause.kind = request.kind\n                                  AND",
        "WHERE false AND",
        "tests/queue/test_claim.py::test_a_paused_phase_claims_nothing_and_a_resumed_one_continues",
    ),
    guard(
        "end checks the lease",
        STORE,
        "            {ONLY_HELD}\n        ), removed AS (",
        "        ), removed AS (",
        STALE,
    ),
    guard(
        "end compares attempts after it waited for the row",
        FENCE,
        "(live.id, live.attempt) IN (SELECT id, attempt FROM requested)",
        "live.id IN (SELECT id FROM requested)",
        WAITS,
    ),
    guard(
        "end compares workers after it waited for the row",
        FENCE,
        "IS TRUE AND live.worker = %(worker)s",
        "IS TRUE",
        WAITS,
    ),
    guard(
        "requeue checks the lease",
        STORE,
        "              {ONLY_HELD}\n             CROSS JOIN LATERAL (SELECT least(",
        "             CROSS JOIN LATERAL (SELECT least(",
        STALE,
    ),
    guard(
        "requeue compares the claim after it waited for the row",
        STORE,
        "AND {HOLDS_CLAIM}\n            RETURNING claim.*\n",
        "AND live.id = claim.id\n            RETURNING claim.*\n",
        WAITS,
    ),
    guard(
        "lock_claim checks the lease",
        STORE,
        "AND {LEASE_STANDS}\n           FOR UPDATE OF live",
        "\n           FOR UPDATE OF live",
        STALE,
    ),
    guard("lock_claim locks the row", STORE, "           FOR UPDATE OF live\n", "", WAITS),
    guard(
        "hand_over checks the lease",
        SPAWN,
        "{HOLDS_CLAIM} AND {LEASE_STANDS}",
        "{HOLDS_CLAIM}",
        STALE,
    ),
    guard(
        "hand_over locks the row",
        SPAWN,
        "LIMIT 1 FOR UPDATE) AS claimed",
        "LIMIT 1) AS claimed",
        WAITS,
    ),
    guard(
        "a hand-over to a stage that already ran is refused",
        SPAWN,
        "AND done.legacy_id = '') THEN",
        "AND false) THEN",
        "tests/queue/test_moves.py::test_a_hand_over_that_goes_in_circles_fails",
    ),
    guard(
        "settle keeps the newest attempt",
        SETTLE,
        "if settlement.work.attempt > other.work.attempt:",
        "if settlement.work.attempt < other.work.attempt:",
        TWO_ATTEMPTS,
    ),
    guard(
        "settle takes one settlement per item",
        SETTLE,
        "settlements = list(newest.values())",
        "settlements = list(batch)",
        TWO_ATTEMPTS,
        TWO_OUTCOMES,
    ),
    guard(
        "settle reports the settlement it took",
        SETTLE,
        " or newest[claim.id] is not settlement",
        "",
        TWO_OUTCOMES,
    ),
    guard(
        "only an item that moved spawns",
        SETTLE,
        "[settlement for settlement in settlements if settlement.work.claim in moved]",
        "settlements",
        STALE,
    ),
    guard(
        "an item whose hand-over was refused spawns nothing",
        SETTLE,
        "moved = settled - failed",
        "moved = settled",
        "tests/queue/test_moves.py::test_a_hand_over_that_goes_in_circles_fails",
    ),
    guard(
        "an item whose hand-over was refused saves nothing",
        SETTLE,
        "return not self.lost and not self.refused",
        "return not self.lost",
        "tests/queue/test_moves.py::test_a_hand_over_that_goes_in_circles_fails",
    ),
    guard(
        "an item that never ends fails",
        SETTLE,
        "and work.steps >= MAX_STEPS:",
        "and False:",
        "tests/queue/test_moves.py::test_an_item_that_never_ends_fails_after_its_maximum_of_steps",
    ),
    guard(
        "a wait until a time is measured by the server",
        SETTLE,
        "until=until.isoformat()",
        "delay=_seconds(until - dt.datetime.now(dt.UTC))",
        f"{TEST}::test_a_wait_until_a_time_is_measured_by_the_clock_of_the_server",
    ),
    guard(
        "no item waits for an ancestor that waits for it",
        SETTLE,
        "answer.live if does_the_work else None",
        "answer.live",
        "tests/queue/test_moves.py::test_no_item_waits_for_an_ancestor_that_waits_for_it",
    ),
    guard(
        "a stale claim saves nothing",
        COMMITTER,
        "if move.save and result.moved:",
        "if move.save:",
        SAVES,
    ),
    guard(
        "settle reports by claim, not by id",
        SETTLE,
        "if claim not in settled or newest[claim.id] is not settlement:",
        "if claim.id not in {settled_claim.id for settled_claim in settled}:",
        "tests/queue/test_state_machine.py::test_the_queue_and_the_model_agree",
    ),
    guard(
        "an operation of a lost lease is not an outage of the next one",
        "jobmill/queue/held_lease.py",
        "if is_connection_lost(error) and began >= self._cleared_at:",
        "if is_connection_lost(error):",
        "tests/queue/test_held_lease.py",
    ),
    guard(
        "a connection is closed although its rollback was cancelled",
        "jobmill/db/__init__.py",
        'if not getattr(self, "_pool", None):',
        "if False:",
        "tests/faults/test_silence.py::test_a_connection_is_closed_although_its_rollback_was_cancelled",
    ),
    guard(
        "a stale claim spawns no item to wait for",
        SETTLE,
        "if not await store.lock_claim(tx, work):",
        "if False:",
        SAVES,
    ),
    guard(
        "an outcome that arrives after its lease was lost is dropped",
        SETTLER,
        "if settlement.work.worker != self._lease.worker:",
        "if False:",
        "tests/queue/test_settler.py::test_an_outcome_that_arrives_after_its_lease_was_lost_is_dropped",
    ),
    guard(
        "losing the lease drops the outcomes that wait",
        SETTLER,
        "        self._unsettled.clear()\n",
        "",
        "tests/queue/test_settler.py::test_losing_the_lease_drops_the_outcomes_that_wait",
    ),
    guard(
        "an outcome of a lost lease is not settled again",
        SETTLER,
        "for settlement in batch if settlement.work.worker == self._lease.worker\n        ]",
        "for settlement in batch]",
        "tests/queue/test_settler.py::"
        "test_an_outcome_in_flight_when_its_lease_is_lost_is_not_settled_again",
    ),
    guard(
        "items claimed while the lease is lost are not run",
        CLAIMER,
        "        if worker != self._lease.worker:\n",
        "        if False:\n",
        "tests/queue/test_claimer.py::test_items_claimed_while_the_lease_is_lost_are_not_run",
    ),
    guard(
        "a locked item does not delay the settlement of others",
        SETTLER,
        'partial(self._connect, lock_timeout="500ms")',
        "self._connect",
        "tests/queue/test_worker.py::test_a_locked_item_does_not_delay_the_settlement_of_others",
    ),
    guard(
        "losing the lease ends a waiting save",
        COMMITTER,
        "if pending.settlement.work.worker != self._lease.worker:",
        "if False:",
        "tests/faults/test_silence.py::test_losing_the_lease_ends_a_waiting_save",
    ),
    guard(
        "a failing save does not affect the others of its group",
        COMMITTER,
        "elif len(group) > 1:",
        "elif False:",
        "tests/queue/test_worker.py::test_a_failing_save_does_not_affect_the_others_of_its_group",
    ),
    guard(
        "a claim lost midway takes back the item that it spawned to wait for",
        COMMITTER,
        "if result.lost and _spawns_awaited_item(move):",
        "if False:",
        "tests/queue/test_lease_fence.py"
        "::test_a_worker_buried_after_it_spawned_an_awaited_item_leaves_no_child",
    ),
    guard(
        "saves that deadlock are repeated",
        COMMITTER,
        "return isinstance(error, (*RACE_ERRORS, ClaimLostMidway)) or",
        "return isinstance(error, ClaimLostMidway) or",
        "tests/queue/test_worker.py::test_saves_that_deadlock_use_up_no_retry",
    ),
    guard(
        "an outcome that the database refuses fails only its item",
        SETTLER,
        "except (*UNSTORABLE_ERRORS, *TIMEOUT_ERRORS) as error:",
        "except TIMEOUT_ERRORS as error:",
        "tests/queue/test_worker.py::test_an_outcome_that_the_database_refuses_fails_only_its_item",
    ),
]
