"""Guards of application forms: required answers, versions, uploaded files and access to them."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

CHECK = "jobmill/hiring/forms/document_check.py"
DOCX_CHECK = "jobmill/hiring/forms/docx_check.py"
SUBMISSIONS = "jobmill/hiring/applications/submissions.py"
UPLOADS = "jobmill/hiring/forms/uploads.py"
VERSIONS = "jobmill/hiring/forms/form_versions.py"

FORMS = "tests/hiring/forms/test_forms.py"
DOCUMENTS = "tests/hiring/forms/test_document_check.py"
PAGES = "tests/web/test_application_forms.py"

HOSTILE = f"{DOCUMENTS}::test_hostile_files_are_refused_with_what_to_do"

GUARDS: list[Guard] = [
    guard(
        "a required question needs an answer",
        SUBMISSIONS,
        "if opening.form_required and request.submission is None and needs_answers:",
        "if False:",
        f"{FORMS}::test_a_required_form_needs_answers_except_from_the_company",
    ),
    guard(
        "a file belongs to one application",
        UPLOADS,
        'locking = "FOR UPDATE" if lock else ""',
        'locking = ""',
        f"{FORMS}::test_two_applications_at_once_cannot_have_the_same_file",
    ),
    guard(
        "unused files are deleted, files of applications are not",
        UPLOADS,
        "WHERE application_id IS NULL AND apply_request_id IS NULL\n"
        "                                  AND uploaded_at",
        "WHERE uploaded_at",
        f"{FORMS}::test_files_that_no_application_takes_over_are_deleted_after_two_hours",
    ),
    guard(
        "unused files have a limit, also if they are stored at once",
        UPLOADS,
        """        await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.uploads'))")\n""",
        "",
        f"{FORMS}::test_unused_files_of_one_network_have_a_limit_also_at_once",
    ),
    guard(
        "a stale editor does not overwrite a newer form",
        VERSIONS,
        "if based_on is not None and based_on != current:",
        "if False:",
        f"{FORMS}::test_a_change_is_a_new_version_and_old_applications_keep_their_questions",
    ),
    guard(
        "answers are erased with the person",
        "jobmill/hiring/privacy.py",
        "    await _erase_application_data(tx, applicant_id)\n",
        "",
        f"{FORMS}::test_answers_wait_for_the_confirmation_and_are_erased_with_the_person",
    ),
    guard(
        "a file is read with its own application only",
        UPLOADS,
        "WHERE id = %s AND application_id = %s",
        "WHERE id = %s AND %s > 0",
        f"{PAGES}::test_an_applicant_corrects_the_form_and_the_company_reads_answers_and_file",
    ),
    guard(
        "an applicant reads their own files only",
        "jobmill/web/pages/public/my_applications_page.py",
        "if application.applicant_id != visitor.applicant_id:",
        "if False:",
        f"{PAGES}::test_an_applicant_sees_what_they_sent_and_nobody_elses_file",
    ),
    guard(
        "actions in a PDF are refused",
        CHECK,
        '("/S" in value and value["/S"] in ACTIONS)',
        "False",
        HOSTILE,
    ),
    guard("an archive in a PDF is refused", CHECK, "or _is_archive(data)", "", HOSTILE),
    guard(
        "a PDF is parsed, also its packed objects",
        CHECK,
        "| {(number, 0) for number in reader.xref_objStm}",
        "",
        HOSTILE,
    ),
    guard(
        "macros are refused",
        DOCX_CHECK,
        "if MACRO_PART.search(name):",
        "if False:",
        HOSTILE,
    ),
    guard(
        "a DOCX loads nothing from elsewhere",
        DOCX_CHECK,
        'if (is_external or has_address) and type != "hyperlink":',
        "if False:",
        HOSTILE,
    ),
    guard(
        "a DOCX has only parts that are known",
        DOCX_CHECK,
        "if type not in RELATIONSHIPS:",
        "if False:",
        HOSTILE,
    ),
    guard(
        "the XML of a DOCX is UTF-8",
        DOCX_CHECK,
        'if not is_declared or b"\\0" in content or',
        "if",
        HOSTILE,
    ),
    guard(
        "an applicant does not read scores and stages",
        "jobmill/web/api/applicants.py",
        'for_applicant=not caller.visitor.may("viewer"),',
        "",
        "tests/web/api/test_access.py::test_an_applicant_does_not_read_scores_and_stages",
    ),
    guard(
        "only the company sees knockout marks",
        "jobmill/web/templates/_answers.html",
        "if for_company and answer.needs_review",
        "if answer.needs_review",
        f"{PAGES}::test_only_the_company_sees_that_an_answer_is_to_be_reviewed",
    ),
    guard(
        "zip bombs are refused",
        DOCX_CHECK,
        "or unpacked > MAX_UNPACKED_SIZE or is_dense",
        "",
        HOSTILE,
    ),
    guard(
        "a consent is given for the text that was shown",
        "jobmill/web/application_forms.py",
        "if not state.is_current:",
        "if False:",
        f"{PAGES}::test_a_form_that_changed_meanwhile_is_shown_again",
    ),
]
