"""Guards of reading what strangers wrote: limits, and child processes."""

from __future__ import annotations

from scripts.guard_list.guard import Guard, guard

TEXTS = "tests/security/test_expensive_texts.py"
LENGTHS = f"{TEXTS}::test_a_reader_returns_no_long_facts_and_texts"

GUARDS: list[Guard] = [
    guard(
        "postings of a board are cut where they are read",
        "jobmill/boards/platform.py",
        "limit_lengths(fill_missing_fields(replace(posting, platform=self.name)))",
        "fill_missing_fields(replace(posting, platform=self.name))",
        f"{LENGTHS}[read_board]",
    ),
    guard(
        "the details of a posting are cut where they are read",
        "jobmill/boards/platform.py",
        "return limit_lengths(fill_missing_fields(complete))",
        "return fill_missing_fields(complete)",
        f"{LENGTHS}[read_detail]",
    ),
    guard(
        "the posting of a page is cut where it is read",
        "jobmill/extract/page/page_reader.py",
        "posting = limit_lengths(fill_missing_fields(posting))",
        "posting = fill_missing_fields(posting)",
        f"{LENGTHS}[read_page]",
    ),
]
