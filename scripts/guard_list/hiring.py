"""Guards of hiring: slots, the waitlist, deadlines, the audit log, privacy, idempotency keys."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

APPLICATIONS = "jobmill/hiring/records/applications.py"
CHAIN = "jobmill/hiring/audit_log/hash_chain.py"
DECISIONS = "jobmill/hiring/admission/decisions.py"
LOTTERY = "jobmill/hiring/admission/lottery.py"
STAGE_MOVES = "jobmill/hiring/stages/stage_moves.py"
DEADLINES = "jobmill/hiring/waitlist/deadlines.py"
LOCKED_OPENING = "jobmill/hiring/locked_opening.py"
OFFERS = "jobmill/hiring/applications/offers.py"
OPENINGS = "jobmill/hiring/records/openings.py"
PRIVACY = "jobmill/hiring/privacy.py"
SUBMISSIONS = "jobmill/hiring/applications/submissions.py"
SCHEMA = "jobmill/db/migrations/0010_hiring.sql"

ADMISSION = "tests/hiring/test_admission.py"
STAGES = "tests/hiring/test_stages.py"
RACES = "tests/hiring/test_races.py"
RULES = "tests/hiring/test_waitlist.py"
ERASING = "tests/hiring/test_privacy.py"
ONCE = "tests/web/test_idempotency.py"
FAIRNESS = "tests/hiring/test_fairness_proof.py"
BATCH = "tests/web/test_apply_batch.py"
BATCHES = "jobmill/web/apply_batch.py"
DUE = "tests/hiring/test_due_offers.py"
REVIEWS = "tests/hiring/test_reviews.py"
INTERVIEWS = "tests/hiring/test_interviews.py"

CLOSING = "tests/hiring/test_closing.py"
COMPANY = "tests/hiring/test_company.py"

GUARDS: list[Guard] = [
    guard(
        "only people with a place book an interview",
        "jobmill/hiring/interviews/bookings.py",
        'if application.opening_id != parent.id or application.status != "ACTIVE":',
        "if False:",
        f"{INTERVIEWS}::test_people_with_a_place_book_one_time_and_exchange_it",
    ),
    guard(
        "the end of an application ends its interview",
        DEADLINES,
        "if locked.ended_applicants and locked.opening.has_interviews:",
        "if False:",
        f"{INTERVIEWS}::test_a_booking_ends_with_the_application_and_the_next_gets_the_time",
    ),
    guard(
        "an interview that has started offers no places",
        "jobmill/hiring/locked_opening.py",
        "return self.opening.starts_at is not None and self.opening.starts_at <= self.at",
        "return False",
        f"{INTERVIEWS}::test_an_offer_ends_when_the_interview_starts_at_the_latest",
    ),
    guard(
        "an interview time is no opening to apply for",
        SUBMISSIONS,
        "openings.refuse_interview_time(locked.opening)",
        "pass",
        f"{INTERVIEWS}::test_interview_times_are_no_openings_for_anybody_else",
    ),
    guard(
        "an offer ends when the interview starts",
        LOCKED_OPENING,
        "return min(deadline, self.opening.starts_at or deadline)",
        "return deadline",
        f"{INTERVIEWS}::test_an_offer_ends_when_the_interview_starts_at_the_latest",
    ),
    guard(
        "an opening is locked before it is closed, so that a second click tells nobody again",
        "jobmill/hiring/applications/closing.py",
        '    if locked.status == "closed" and not live:\n',
        "    if False:\n",
        f"{CLOSING}::test_a_double_click_tells_everyone_once",
    ),
    guard(
        "an unconfirmed address gets no letter about a closed opening",
        DECISIONS,
        "return application.confirm_by is None",
        "return True",
        f"{CLOSING}::test_an_unconfirmed_address_gets_no_letter",
    ),
    guard(
        "a logo is not larger than its header says",
        "jobmill/hiring/logo_images.py",
        "    if len(pixels) != size:\n",
        "    if False:\n",
        f"{COMPANY}::test_a_hostile_logo_is_refused_with_a_clear_message",
    ),
    guard(
        "the second of two people who edit a letter is told",
        "jobmill/db/migrations/0042_company.sql",
        "UNIQUE NULLS NOT DISTINCT (letter, opening_id, version)",
        "CHECK (true)",
        f"{COMPANY}::test_the_second_of_two_who_edit_the_same_version_is_told",
    ),
    guard(
        "nothing is written about an applicant while they are erased",
        "jobmill/hiring/reviews/reviewed_applications.py",
        "         WHERE application.id = %s\n           FOR NO KEY UPDATE OF applicant\n",
        "         WHERE application.id = %s\n",
        f"{REVIEWS}::test_nothing_is_written_about_an_applicant_while_they_are_erased",
    ),
    guard(
        "only its author changes a note",
        "jobmill/hiring/reviews/notes.py",
        "if note.author != by.name:",
        "if False:",
        f"{REVIEWS}::test_notes_belong_to_their_authors_and_deleting_leaves_a_trace",
    ),
    guard(
        "an opening is locked before its slots are counted",
        OPENINGS,
        "             WHERE id = %(id)s\n               FOR NO KEY UPDATE\n",
        "             WHERE id = %(id)s\n",
        f"{RACES}::test_sixty_four_concurrent_applications_never_get_more_slots_than_exist",
    ),
    guard(
        "an application takes a slot only while one is free",
        LOCKED_OPENING,
        "return max(self.capacity - self.occupied, 0)",
        "return self.capacity",
        f"{RULES}::test_applicants_get_slots_until_none_is_left_and_then_wait",
    ),
    guard(
        "a second live application is a duplicate",
        LOCKED_OPENING,
        "if live is not None:",
        "if False:",
        f"{RULES}::test_an_applicant_with_a_live_application_cannot_apply_again",
    ),
    guard(
        "the head of the waitlist is promoted first",
        APPLICATIONS,
        "ORDER BY queue_key LIMIT %s",
        "ORDER BY queue_key DESC LIMIT %s",
        f"{RULES}::test_a_freed_slot_goes_to_the_head_of_the_waitlist",
    ),
    guard(
        "a full waitlist refuses",
        SUBMISSIONS,
        "waiting >= limit and",
        "waiting > limit and",
        f"{RULES}::test_a_waitlist_has_a_limit",
    ),
    guard(
        "no application is taken after apply_until",
        SUBMISSIONS,
        "if opening.apply_until and at > opening.apply_until:",
        "if False:",
        f"{RULES}::test_no_application_is_taken_after_apply_until",
    ),
    guard(
        "a paused opening takes no application",
        SUBMISSIONS,
        'if opening.status != "open":',
        "if False:",
        f"{RULES}::test_a_paused_opening_takes_no_application_and_promotes_no_applicant",
    ),
    guard(
        "a paused opening promotes no applicant",
        "jobmill/hiring/waitlist/promotions.py",
        'if locked.status != "open" or not locked.free_slots',
        "if not locked.free_slots",
        f"{RULES}::test_a_paused_opening_takes_no_application_and_promotes_no_applicant",
    ),
    guard(
        "a decided application is not decided again",
        DECISIONS,
        'if application.status != "IN_REVIEW":\n        raise NotInReview',
        "if False:\n        raise NotInReview",
        f"{ADMISSION}::test_reviewed_applications_take_slots_only_after_a_decision",
    ),
    guard(
        "an application in review takes no slot",
        SUBMISSIONS,
        "if locked.opening.collects:",
        "if False:",
        f"{ADMISSION}::test_reviewed_applications_take_slots_only_after_a_decision",
    ),
    guard(
        "a lottery is drawn once",
        LOTTERY,
        "if locked.drawn:",
        "if False:",
        f"{ADMISSION}::test_a_draw_follows_the_seed_that_was_committed_before",
    ),
    guard(
        "nobody is accepted or scored before the draw",
        "jobmill/hiring/admission/decisions.py",
        'if locked.opening.admission == "lottery" and not locked.drawn:',
        "if False:",
        f"{ADMISSION}::test_nobody_is_preferred_before_the_draw",
    ),
    guard(
        "a lottery starts without entries",
        "jobmill/hiring/admission/admission_changes.py",
        "        if locked.in_review:\n",
        "        if False:\n",
        f"{ADMISSION}::test_the_seed_is_fixed_before_the_first_entry_and_only_once",
    ),
    guard(
        "an undrawn seed is used again",
        LOTTERY,
        "if await _has_undrawn_seed(locked):",
        "if False:",
        f"{ADMISSION}::test_the_seed_is_fixed_before_the_first_entry_and_only_once",
    ),
    guard(
        "requests for the head of one public log wait for each other",
        "jobmill/web/fairness_exports.py",
        "async with self.heads.lock(opening_id):",
        "if True:",
        "tests/web/test_fairness_pages.py::test_requests_for_one_head_wait_without_a_connection",
    ),
    guard(
        "verification compares the seed of a draw with the commitment",
        "jobmill/hiring/audit_log/draws.py",
        "if commit_to(seed) != draw.commitment:",
        "if False:",
        f"{ADMISSION}::test_verification_finds_an_unfair_draw",
    ),
    guard(
        "a reviewer moves an application only from the stage that they saw",
        STAGE_MOVES,
        "if seen is not None and seen != current.key:",
        "if False:",
        f"{STAGES}::test_an_application_moves_through_stages_and_a_rejection_frees_the_slot",
    ),
    guard(
        "people are not left in a stage that was removed",
        STAGE_MOVES,
        "if kept is None:",
        "if False:",
        f"{STAGES}::test_stages_can_be_renamed_but_not_taken_from_people",
    ),
    guard(
        "an answer after the deadline is too late",
        OFFERS,
        "coalesce(acknowledge_deadline <= clock_timestamp(), false) AS expired",
        "false AS expired",
        "tests/hiring/test_offers.py::test_an_old_answer_does_not_accept_a_new_offer",
    ),
    guard(
        "a link answers the offer that it was made for",
        OFFERS,
        "    if offer.deadline != link.deadline:\n",
        "    if False:\n",
        "tests/hiring/test_offers.py::test_an_old_answer_does_not_accept_a_new_offer",
    ),
    guard(
        "an answer that waited for the lock is for no later offer",
        OFFERS,
        "return is_later or application.missed_at is not None",
        "return application.missed_at is not None",
        "tests/hiring/test_lock_conflicts.py::"
        "test_an_answer_that_waits_past_its_deadline_does_not_count_for_a_later_offer",
    ),
    guard(
        "an application lapses at the last missed offer",
        DEADLINES,
        "if _is_last(locked, application):",
        "if penalties > locked.opening.max_missed:",
        f"{RULES}::test_an_application_lapses_after_the_maximum_of_missed_offers",
    ),
    guard(
        "a missed offer costs places",
        DEADLINES,
        "await positions.put_back(locked, penalties)",
        "await positions.put_back(locked, 0)",
        f"{RULES}::test_a_missed_offer_puts_later_applicants_ahead_within_the_penalty",
    ),
    guard(
        "an offer counts as missed only after its deadline",
        APPLICATIONS,
        " AND acknowledge_deadline <= %(at)s",
        "",
        f"{RULES}::test_an_expired_offer_does_not_end_another_one",
    ),
    guard(
        "an event's hash holds the one before",
        CHAIN,
        "hashlib.sha256(before + text.encode())",
        "hashlib.sha256(text.encode())",
        "tests/hiring/test_verification.py::test_tampering_is_reported_at_the_changed_event",
        "tests/hiring/test_verification.py::test_a_rewritten_chain_is_found_by_an_earlier_head",
    ),
    guard(
        "an event's hash holds its actor",
        CHAIN,
        "        event.actor,\n",
        "",
        "tests/hiring/test_verification.py::test_tampering_is_reported_at_the_changed_event",
    ),
    guard(
        "the audit log refuses to be changed",
        SCHEMA,
        "CREATE TRIGGER event_only_grows BEFORE UPDATE OR DELETE ON hiring.event",
        "CREATE TRIGGER event_only_grows BEFORE DELETE ON hiring.event",
        "tests/hiring/test_verification.py::test_the_log_refuses_changes",
    ),
    guard(
        "an applicant who was erased cannot apply",
        "jobmill/hiring/records/applicants.py",
        "email_key = ANY (%(keys)s)) AND erased_at IS NULL",
        "email_key = ANY (%(keys)s))",
        f"{ERASING}::test_an_erased_person_cannot_apply",
    ),
    guard(
        "an erasure does not block a foreign key check",
        PRIVACY,
        "WHERE id = %s FOR NO KEY UPDATE",
        "WHERE id = %s FOR UPDATE",
        "tests/hiring/test_lock_conflicts.py::test_a_row_changed_twice_does_not_wait_for_an_erasure",
    ),
    guard(
        "erasing ends live applications first",
        PRIVACY,
        'if application.status != "INACTIVE":',
        "if False:",
        f"{ERASING}::test_erasing_ends_the_application_and_offers_its_slot_to_the_next",
    ),
    guard(
        "retention keeps applicants with a live application",
        PRIVACY,
        "AND (application.status <> 'INACTIVE' OR keep_days IS NULL",
        "AND (keep_days IS NULL",
        f"{ERASING}::test_a_person_with_a_live_application_is_kept",
    ),
    guard(
        "retention keeps applicants of openings without keep_days",
        PRIVACY,
        " OR keep_days IS NULL\n",
        "\n",
        f"{ERASING}::test_data_are_kept_as_long_as_every_opening_requires",
    ),
    guard(
        "a personal link that was replaced opens nothing",
        "jobmill/hiring/messages/personal_links.py",
        "WHERE id = %(id)s AND link_version = %(version)s",
        "WHERE id = %(id)s",
        "tests/hiring/test_links.py::test_only_the_newest_version_of_a_link_is_valid",
    ),
    guard(
        "one kind of link does not pass for another",
        "jobmill/hiring/messages/signed_links.py",
        '_serializer(secret, "jobmill offer link")',
        '_serializer(secret, "jobmill personal link")',
        "tests/hiring/test_links.py::test_one_kind_of_link_is_never_valid_as_the_other",
    ),
    guard(
        "an idempotency key is claimed once",
        "jobmill/hiring/records/idempotent_responses.py",
        "    claimed = {key async for (key,) in cursor}\n",
        "    claimed = set(by_key)\n",
        f"{ONCE}::test_a_repeated_request_gets_the_same_response_and_changes_nothing",
    ),
    guard(
        "an idempotency key is good for one request",
        "jobmill/hiring/records/idempotent_responses.py",
        "if response.fingerprint != fingerprint:",
        "if False:",
        f"{ONCE}::test_a_key_is_valid_for_one_request",
    ),
    guard(
        "strangers with the same idempotency key are told apart",
        "jobmill/web/idempotency.py",
        'client = name if visitor.role or visitor.applicant_id else f"{name} {client_key(request)}"',
        "client = name",
        f"{ONCE}::test_anonymous_clients_are_told_apart_by_address",
    ),
    guard(
        "the history of an opening is published only while the company wants it",
        "jobmill/hiring/records/fairness_keys.py",
        "         WHERE opening_id = %s AND fairness_proof\n",
        "         WHERE opening_id = %s\n",
        f"{FAIRNESS}::test_the_proof_is_off_until_the_company_switches_it_on",
    ),
    guard(
        "an opening keeps its first fairness key",
        "jobmill/hiring/records/fairness_keys.py",
        "ON CONFLICT DO NOTHING",
        "ON CONFLICT (opening_id) DO UPDATE SET key = excluded.key",
        f"{FAIRNESS}::test_two_members_who_switch_it_on_at_once_get_one_key",
    ),
    guard(
        "the public log hides internal hashes",
        "jobmill/hiring/audit_log/fairness_proof.py",
        'hmac.digest(key, b"event " + event.hash, "sha256").hex()',
        "event.hash.hex()",
        f"{FAIRNESS}::test_published_hashes_never_change",
    ),
    guard(
        "an older snapshot does not extend a newer head",
        "jobmill/hiring/audit_log/fairness_proof.py",
        "if head is None or head.seq > await _find_last_seq(tx, opening_id):",
        "if head is None:",
        f"{FAIRNESS}::test_the_head_in_memory_is_the_end_of_the_log",
    ),
    guard(
        "public logs are written one at a time",
        "jobmill/web/fairness_exports.py",
        "async with self.lock:",
        "if True:",
        "tests/web/test_fairness_pages.py::test_downloads_of_public_logs_wait_for_each_other",
    ),
    guard(
        "a refused application gives up its idempotency key",
        BATCHES,
        "        await idempotent_responses.release_keys(tx, refused)\n",
        "        pass\n",
        f"{BATCH}::test_a_key_applies_once_in_many_processes_and_a_refused_one_can_be_repeated",
    ),
    guard(
        "a repeated key waits for the batch after the first",
        BATCHES,
        "or pending.key in keys",
        "",
        f"{BATCH}::test_a_key_applies_once_in_many_processes_and_a_refused_one_can_be_repeated",
    ),
    guard(
        "a request after an unknown COMMIT gets the first result",
        BATCHES,
        "results = await self._find_unanswered(tx, opening_id, requests, results)",
        "pass",
        f"{BATCH}::test_an_application_that_may_be_committed_is_not_called_a_duplicate",
    ),
    guard(
        "a request recognises its earlier attempt in the log",
        SUBMISSIONS,
        "if received.get(id) == request_id",
        "if False",
        f"{BATCH}::test_an_attempt_recognises_an_earlier_one_of_the_same_request_in_the_log",
    ),
    guard(
        "an expired offer is not accepted before it is taken back",
        OFFERS,
        " or (ends_at and ends_at <= locked.at)",
        "",
        f"{DUE}::test_very_many_offers_expire_in_parts_and_none_is_accepted_meanwhile",
    ),
    guard(
        "an opening that fails does not stop the deadlines of others",
        DEADLINES,
        "    if failure and not expired:\n",
        "    if failure:\n",
        f"{DUE}::test_an_opening_that_fails_does_not_keep_others_from_their_deadlines",
    ),
    guard(
        "applications of a person are counted under the lock of the person",
        "jobmill/hiring/records/applicants.py",
        "           FOR NO KEY UPDATE\n",
        "",
        f"{BATCH}::test_the_daily_limit_holds_for_parallel_applications_of_a_person",
    ),
    guard(
        "unknown query parameters are refused",
        "jobmill/web/api/query_parameters.py",
        "    if unknown:\n",
        "    if False:\n",
        "tests/web/api/test_errors.py::test_unknown_query_parameters_are_refused",
    ),
]
