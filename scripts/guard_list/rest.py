"""Guards of people, web pages, the catalog and the rotation of sources."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

KEYS = "jobmill/people/keys.py"
PERSONS = "jobmill/people/persons.py"
SESSIONS = "jobmill/people/sessions.py"
WEB = "jobmill/web/middleware.py"
PLAN = "jobmill/rotation/planner.py"
PLATFORMS = "jobmill/rotation/platform_state.py"

PEOPLE = "tests/people/test_persons.py"
GATE = "tests/web/test_middleware.py"
RIGHTS = "tests/web/test_auth.py"
ROTATION = "tests/rotation/test_planner.py"

GUARDS: list[Guard] = [
    guard(
        "a session expires",
        SESSIONS,
        "AND session.expires_at > now() AND",
        "AND",
        f"{PEOPLE}::test_an_expired_session_is_deleted",
    ),
    guard(
        "a session begins only with the current password",
        SESSIONS,
        "AND password = %s AND ended_at IS NULL\n           FOR SHARE",
        "AND %s <> '' AND ended_at IS NULL\n           FOR SHARE",
        f"{PEOPLE}::test_a_new_password_or_closing_the_account_ends_all_sessions",
    ),
    guard(
        "a new password ends every session",
        PERSONS,
        '"DELETE FROM people.session WHERE person_id = %s"',
        '"DELETE FROM people.session WHERE person_id = -%s"',
        f"{PEOPLE}::test_a_new_password_or_closing_the_account_ends_all_sessions",
    ),
    guard(
        "secrets are kept as digests",
        "jobmill/people/secrets.py",
        'return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()',
        'return secret.encode("utf-8", "surrogatepass")',
        "tests/people/test_keys.py::test_the_table_does_not_hold_the_key",
        f"{PEOPLE}::test_the_table_holds_neither_password_nor_session",
    ),
    guard(
        "an API key that was ended opens nothing",
        KEYS,
        "WHERE digest = %s AND api_key.ended_at IS NULL AND coalesce",
        "WHERE digest = %s AND coalesce",
        "tests/people/test_keys.py::test_a_key_works_until_it_is_revoked",
    ),
    guard(
        "an API key expires",
        KEYS,
        "AND api_key.ended_at IS NULL AND coalesce(expires_at > now(), true)\n           AND owner.ended_at IS NULL",
        "AND api_key.ended_at IS NULL AND owner.ended_at IS NULL",
        "tests/people/test_keys.py::test_an_expired_key_opens_nothing",
    ),
    guard(
        "keys end with the access of their owner",
        PERSONS,
        "WHERE owner_id = %s AND ended_at IS NULL",
        "WHERE owner_id = -%s AND ended_at IS NULL",
        "tests/web/test_account_security.py::test_a_key_has_no_more_rights_than_its_owner",
    ),
    guard(
        "a change commits only while its key or session is valid",
        "jobmill/web/dependencies.py",
        "                    await self.lock_credential(tx)\n",
        "                    pass\n",
        "tests/web/test_account_security.py::test_revoking_waits_for_a_running_change_and_stops_the_next",
    ),
    guard(
        "an idle session ends",
        SESSIONS,
        "           AND session.used_at > now() - %(idle)s\n",
        "",
        "tests/web/test_account_security.py::test_an_idle_session_ends",
    ),
    guard(
        "a code of an authenticator app is accepted once",
        "jobmill/people/second_factors.py",
        "if step is None or step <= app.last_step:",
        "if step is None:",
        "tests/people/test_second_factors.py::test_a_code_is_accepted_once_and_no_older_code_after_it",
    ),
    guard(
        "a recovery code is accepted once",
        "jobmill/people/second_factors.py",
        "WHERE digest = %s AND person_id = %s AND used_at IS NULL",
        "WHERE digest = %s AND person_id = %s",
        "tests/people/test_second_factors.py::test_of_two_uses_of_one_code_at_once_one_is_accepted",
    ),
    guard(
        "the password alone does not sign in with a second factor",
        "jobmill/web/sign_in.py",
        "    if factor.is_on and not code:\n",
        "    if False:\n",
        "tests/web/test_two_factor.py::test_the_password_alone_opens_nothing",
    ),
    guard(
        "two admins cannot both leave at once",
        PERSONS,
        "         ORDER BY id FOR UPDATE\n",
        "         ORDER BY id\n",
        "tests/web/test_people_pages.py::test_of_two_admins_removed_concurrently_one_stays",
    ),
    guard(
        "the last admin stays",
        PERSONS,
        "    if await cursor.fetchall() == [(id,)]:\n",
        "    if False:\n",
        "tests/web/test_people_pages.py::test_the_last_admin_cannot_be_removed",
    ),
    guard(
        "a role opens its own gates and lower ones",
        "jobmill/web/auth.py",
        "return is_applicant or include_role(self.rights, role)",
        "return is_applicant or bool(self.rights)",
        f"{RIGHTS}::test_every_role_reaches_its_own_routes_and_no_others",
    ),
    guard(
        "an applicant reaches only their own",
        "jobmill/web/auth.py",
        "applicant_id is not None and applicant_id == self.applicant_id",
        "applicant_id is not None and self.applicant_id is not None",
        f"{RIGHTS}::test_applicants_reach_only_their_own_data",
    ),
    guard(
        "a request through a proxy is not local",
        "jobmill/web/client_address.py",
        "            and not any(name in request.headers for name in PROXY_HEADERS)\n",
        "",
        f"{RIGHTS}::test_a_request_through_a_proxy_is_not_local",
    ),
    guard(
        "a request from this machine alone is not the user who runs the server",
        "jobmill/web/auth.py",
        "    return access is not None and access.accepts_cookie(\n"
        '        request.cookies.get(local_cookie_name(request), "")\n'
        "    )",
        "    return access is not None",
        "tests/security/test_local_access.py"
        "::test_another_user_of_the_machine_is_refused_on_every_route",
    ),
    guard(
        "a link from the terminal works once",
        "jobmill/web/local_access.py",
        "expires_at <= now or token in self._redeemed",
        "expires_at <= now",
        "tests/security/test_local_access.py::test_a_link_admits_one_browser_once",
    ),
    guard(
        "a change from a page of another site is refused",
        WEB,
        "    if not same_site:\n",
        "    if False:\n",
        f"{GATE}::test_requests_from_pages_of_other_sites_are_refused",
    ),
    guard(
        "every change is checked for where it comes from",
        WEB,
        "                check_origin(request.headers)\n",
        "                pass\n",
        f"{GATE}::test_other_sites_may_link_to_pages_but_not_submit_forms",
    ),
    guard(
        "requests for other host names are refused",
        WEB,
        "            self._check_host(request.headers)\n",
        "",
        f"{GATE}::test_requests_for_other_host_names_are_refused",
    ),
    guard(
        "a request body is limited",
        WEB,
        "        if received > max_bytes:\n",
        "        if False:\n",
        f"{GATE}::test_a_body_over_the_limit_is_refused_with_or_without_content_length",
    ),
    guard(
        "tries to sign in are limited for each account",
        "jobmill/web/rate_limits.py",
        '_per_minute(f"of {account}", SIGN_INS_PER_MINUTE_OF_ACCOUNT),',
        "",
        "tests/web/test_session.py::test_sign_in_attempts_are_limited_by_network_and_account",
    ),
    guard(
        "test letters are limited for each person",
        "jobmill/web/rate_limits.py",
        "    _rate_limits(request).test_letters.take(visitor.actor.name)\n",
        "    pass\n",
        "tests/web/test_mail_setup.py::test_a_test_letter_shows_what_the_mail_server_says",
    ),
    guard(
        "one failed application costs the others of its batch nothing",
        "jobmill/web/apply_batch.py",
        "            await self._apply_one_by_one(opening_id, batch)\n",
        "            for pending in batch:\n                pending.resolve(results)\n",
        "tests/web/test_apply_batch.py::test_a_failing_request_does_not_fail_the_batch",
    ),
    guard(
        "a database that does not answer is not asked for each application",
        "jobmill/web/apply_batch.py",
        "if database_errors == MAX_CONSECUTIVE_DATABASE_ERRORS:",
        "if False:",
        "tests/web/test_apply_batch.py::test_an_unreachable_database_is_tried_only_a_few_times_per_batch",
    ),
    guard(
        "runs of the rotation plan one after the other",
        PLAN,
        "FROM rotation.call_allowance FOR UPDATE",
        "FROM rotation.call_allowance",
        f"{ROTATION}::test_runs_at_once_do_not_overdraw_the_limit_of_a_platform",
    ),
    guard(
        "a source that was turned off is not claimed",
        PLAN,
        "AND (source.status = 'active'\n"
        "                    OR target.status = 'bad' AND source.status = 'disabled')",
        "",
        f"{ROTATION}::test_a_source_that_was_turned_off_meanwhile_is_not_claimed",
    ),
    guard(
        "queued calls count against the limit of a day",
        PLATFORMS,
        "left = state.per_day - use.day - use.queued",
        "left = state.per_day - use.day",
        f"{ROTATION}::test_queued_calls_count_against_the_limit_of_a_platform",
    ),
    guard(
        "queued calls count against the limit of an hour",
        PLATFORMS,
        "left = state.per_hour - use.hour - use.queued",
        "left = state.per_hour - use.hour",
        f"{ROTATION}::test_queued_calls_count_against_the_limit_of_a_platform",
    ),
    guard(
        "the same question is asked once within its window",
        "jobmill/rotation/calls.py",
        "         WHERE existing.called_at <= %(before)s OR existing.called_at > %(ahead)s\n"
        "            OR existing.item = excluded.item\n",
        "",
        "tests/rotation/test_calls.py::test_of_many_who_ask_at_once_one_may",
    ),
    guard(
        "a listing that two runs show is kept once",
        "jobmill/catalog/listings.py",
        "        ON CONFLICT ON CONSTRAINT listing_once DO NOTHING\n",
        "",
        "tests/catalog/test_crawl_results.py::test_concurrent_runs_store_each_listing_once",
    ),
    guard(
        "a URL does not lead to what another person typed",
        "jobmill/catalog/listings.py",
        "WHERE url_hash = %s AND (%s OR NOT private)",
        "WHERE url_hash = %s AND (%s OR true)",
        "tests/pipelines/test_listing.py::test_what_one_person_typed_about_a_page_is_not_judged_for_another",
    ),
    guard(
        "a run that was overtaken counts for nothing",
        "jobmill/catalog/crawl_results.py",
        "return newest is not None and result.started_at <= newest",
        "return False",
        "tests/catalog/test_crawl_results.py::test_a_run_overtaken_by_a_newer_one_is_ignored",
    ),
    guard(
        "one admin at a time saves settings",
        "jobmill/people/stored_settings.py",
        "await tx.execute(\"SELECT pg_advisory_xact_lock(hashtext('jobmill.settings'))\")",
        "pass",
        "tests/people/test_stored_settings.py::"
        "test_of_two_admins_who_edit_one_setting_the_second_is_told",
    ),
    guard(
        "an imported job is private",
        "jobmill/catalog/listing_search.py",
        '(True, "NOT private")',
        '(False, "NOT private")',
        "tests/matching/test_job_applications.py::"
        "test_an_imported_job_stays_private_until_a_source_lists_it",
    ),
    guard(
        "a company found twice at once is made once",
        "jobmill/catalog/companies.py",
        "await tx.execute(\"SELECT pg_advisory_xact_lock(hashtext('jobmill.company'),"
        ' hashtext(%s))", [key])',
        "pass",
        "tests/catalog/test_companies.py::"
        "test_a_company_found_concurrently_with_and_without_website_is_one",
    ),
    guard(
        "a change of the master resume alone scores nothing again",
        "jobmill/web/profile_changes.py",
        "if current is None or scores_alike(current.profile(), profile):",
        "if current is None:",
        "tests/web/test_master_resume_pages.py::"
        "test_a_change_of_the_resume_alone_scores_nothing_again",
    ),
    guard(
        "a model is told no contact details",
        "jobmill/matching/llm_review/__init__.py",
        "text = PHONE.sub(_hide_phone, EMAIL.sub(CONTACT, text))",
        "pass",
        "tests/web/test_master_resume_pages.py::"
        "test_the_profile_page_shows_exactly_what_a_model_is_told",
    ),
]
