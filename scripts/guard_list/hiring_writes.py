"""Guards of writes of hiring that are repeated, or made twice at once."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

WRITES = "tests/hiring/test_killed_writes.py"
AT_ONCE = f"{WRITES}::test_of_two_writes_at_once_one_takes_effect"
KILLED = f"{WRITES}::test_a_write_happens_once_wherever_its_connection_is_killed"

GUARDS: list[Guard] = [
    guard(
        "reviewers of one applicant write one after the other",
        "jobmill/hiring/reviews/reviewed_applications.py",
        "FOR NO KEY UPDATE OF applicant",
        "FOR SHARE OF applicant",
        f"{WRITES}::test_two_tags_at_once_keep_the_limit",
    ),
    guard(
        "changes of the interview times of an opening come one after the other",
        "jobmill/hiring/interviews/interview_times.py",
        "        lock_opening(tx, interview.parent_id, by),\n",
        "",
        "tests/hiring/test_interviews.py::"
        "test_two_times_moved_at_once_do_not_take_the_same_time_and_place",
    ),
    guard(
        "two requests at once mail one personal link",
        "jobmill/hiring/messages/personal_links.py",
        "    await lock_existing(tx, [], [email_key])\n",
        "",
        f"{AT_ONCE}[remind_an_applicant]",
    ),
    guard(
        "a form that was saved already is not refused as changed",
        "jobmill/hiring/forms/form_versions.py",
        "        if form == before:\n",
        "        if False:\n",
        f"{KILLED}[save_form]",
    ),
    guard(
        "a repeated request to apply finds its own files",
        "jobmill/hiring/applications/apply_requests.py",
        "lock=True, apply_request_id=request_id",
        "lock=True",
        f"{KILLED}[ask_to_confirm_with_a_file]",
    ),
    guard(
        "a repeated request to apply keeps its own files",
        "jobmill/hiring/forms/uploads.py",
        ' AND id <> ALL (%s::uuid[])\n        """,\n        [apply_request_id, list(ids)],',
        '\n        """,\n        [apply_request_id],',
        f"{KILLED}[ask_to_confirm_with_a_file]",
    ),
    guard(
        "a keyed application with a file gets its stored response",
        "jobmill/web/application_forms.py",
        "uploads.find_by_ids(tx, opening_id, ids)",
        "uploads.find_unused(tx, opening_id, ids)",
        "tests/web/test_application_forms.py::"
        "test_the_api_takes_answers_and_keeps_its_contract_without_a_required_form",
    ),
    guard(
        "a double click saves a letter once",
        "jobmill/hiring/messages/letter_templates.py",
        "            ON CONFLICT DO NOTHING\n",
        "",
        f"{AT_ONCE}[save_letter]",
    ),
]
