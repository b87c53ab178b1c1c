"""Guards of hiring: slots, the waitlist, deadlines, the audit log, privacy, idempotency keys."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

APPLICATIONS = "jobmill/hiring/records/applications.py"
CHAIN = "jobmill/hiring/audit_log/hash_chain.py"
DEADLINES = "jobmill/hiring/waitlist/deadlines.py"
LOCKED_OPENING = "jobmill/hiring/locked_opening.py"
OFFERS = "jobmill/hiring/applications/offers.py"
OPENINGS = "jobmill/hiring/records/openings.py"
PRIVACY = "jobmill/hiring/privacy.py"
SUBMISSIONS = "jobmill/hiring/applications/submissions.py"
SCHEMA = "jobmill/db/migrations/0010_hiring.sql"

RACES = "tests/hiring/test_races.py"
RULES = "tests/hiring/test_waitlist.py"
ERASING = "tests/hiring/test_privacy.py"
ONCE = "tests/web/test_idempotency.py"

GUARDS: list[Guard] = [
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
        "if applicant_id in self._live_applicants:",
        "if False:",
        f"{RULES}::test_an_applicant_with_a_live_application_cannot_apply_again",
    ),
    guard(
        "the head of the waitlist is promoted first",
        APPLICATIONS,
        "ORDER BY queue_key\n         LIMIT %s",
        "ORDER BY queue_key DESC\n         LIMIT %s",
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
        "if penalties >= max_missed:",
        "if penalties > max_missed:",
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
        "           AND acknowledge_deadline <= %(at)s\n",
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
        "    if cursor.rowcount:\n        return None",
        "    if True:\n        return None",
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
]
