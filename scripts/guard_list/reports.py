"""Guards of website reports: locks of rows, phases, paid answers and their budget."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

STORE = "jobmill/reports/store.py"
ANSWERS = "jobmill/pipelines/report_answers.py"
PIPELINE = "jobmill/pipelines/report.py"
LEDGER = "jobmill/outside/budget_ledger.py"

TEST = "tests/pipelines/test_report.py"
STUCK = f"{TEST}::test_a_stuck_report_without_an_item_is_released_after_five_minutes"
LONG = f"{TEST}::test_a_long_run_with_a_live_item_is_not_released"

GUARDS: list[Guard] = [
    guard(
        "a scan takes each report once",
        STORE,
        "             ORDER BY due_at, id LIMIT %(limit)s\n               FOR UPDATE SKIP LOCKED\n",
        "             ORDER BY due_at, id LIMIT %(limit)s\n",
        "tests/reports/test_scheduling.py::test_a_scan_neither_takes_nor_awaits_what_another_one_takes",
    ),
    guard(
        "a phase of a report ends only in its own status",
        STORE,
        "         WHERE id = %(id)s AND in_progress AND status = %(was)s\n",
        "         WHERE id = %(id)s\n",
        f"{TEST}::test_a_phase_ends_only_once_and_only_in_its_status",
    ),
    guard(
        "a stale attempt of a report starts nothing",
        PIPELINE,
        "        if not await lock_claim(tx, work):\n",
        "        if False:\n",
        f"{TEST}::test_a_stale_attempt_saves_nothing",
    ),
    guard(
        "a stale attempt of a report stores no answer",
        ANSWERS,
        "            if await lock_claim(tx, self.work):\n",
        "            if True:\n",
        f"{TEST}::test_an_attempt_that_lost_its_claim_stores_no_answer",
    ),
    guard(
        "the budget of a report caps its calls",
        LEDGER,
        "    if question.run_cap is not None and question.run_cap < caps.run:\n",
        "    if False:\n",
        "tests/outside/test_budget_ledger.py::test_running_calls_of_a_run_do_not_count_as_spent",
    ),
    guard(
        "a stuck report is released after five minutes only",
        STORE,
        " AND in_progress_since < now() - interval '5 minutes'",
        "",
        STUCK,
    ),
    guard(
        "a report with a task is not released",
        PIPELINE,
        '        if await find_live_item(tx, new_item(report.id, "website-analysis")) is not None:\n'
        "            continue\n",
        "",
        LONG,
    ),
    guard(
        "a report knows its task before it starts",
        PIPELINE,
        "partial(_claim_due, phase), _requeue_refused, _record_items)",
        "partial(_claim_due, phase), _requeue_refused)",
        f"{TEST}::test_an_item_that_is_cancelled_before_it_starts_fails_the_report",
    ),
    guard(
        "a rerun of a report keeps the paid answers",
        STORE,
        '        return report.status == "completed"\n',
        "        return False\n",
        f"{TEST}::test_a_new_round_takes_the_place_of_the_old_one_which_is_kept",
    ),
    guard(
        "a report in progress is not deleted",
        STORE,
        '    if report.in_progress:\n        raise Conflict(f"report {id} is in progress: delete it',
        '    if False:\n        raise Conflict(f"report {id} is in progress: delete it',
        "tests/web/test_reports_pages.py::test_a_report_is_deleted_after_confirmation_and_its_events_stay",
    ),
]
