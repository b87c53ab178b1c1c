"""Guards of documents: what a rewording may say, versions, and what was sent."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

REWORDING = "jobmill/documents/rewording.py"
STORE = "jobmill/documents/store.py"
REFUSED = "tests/documents/test_rewording.py::test_a_rewording_that_says_more_is_refused"
STORED = "tests/documents/test_document_store.py"

GUARDS: list[Guard] = [
    guard(
        "a rewording has no words beyond its fact",
        REWORDING,
        "        and _words_within(text, fact)\n",
        "",
        REFUSED,
    ),
    guard(
        "a number stays beside what it counts",
        REWORDING,
        "        and _numbers_in_place(text, fact)\n",
        "",
        REFUSED,
    ),
    guard(
        "a rewording makes no claim larger",
        REWORDING,
        "        and _limits(fact) <= _limits(text)\n",
        "",
        REFUSED,
    ),
    guard(
        "a rewording uses each number once",
        REWORDING,
        "        and not Counter(_numbers(text)) - Counter(_numbers(fact))\n",
        "",
        REFUSED,
    ),
    guard(
        "the person's edit is newer than the rewording",
        REWORDING,
        'if text is None or line.wording == "own" or not is_supported',
        "if text is None or not is_supported",
        "tests/documents/test_rewording.py::test_dropped_rewordings_are_counted_and_the_persons_words_stay",
    ),
    guard(
        "a document is saved on top of the version that the page showed",
        STORE,
        "    if stored.version != based_on:\n",
        "    if stored.version < based_on:\n",
        f"{STORED}::test_of_two_tabs_that_save_at_once_one_is_refused_and_nothing_is_lost",
    ),
    guard(
        "a match has one document of each kind",
        STORE,
        "    if existing is not None:\n        return existing\n",
        "",
        f"{STORED}::test_the_same_document_asked_for_twice_at_once_is_one_document",
    ),
    guard(
        "what was sent is never changed",
        "jobmill/db/migrations/0052_documents.sql",
        "CREATE TRIGGER sent_document_kept BEFORE UPDATE OR DELETE",
        "CREATE TRIGGER sent_document_kept BEFORE INSERT",
        f"{STORED}::test_what_was_sent_cannot_be_changed_or_deleted",
    ),
]
