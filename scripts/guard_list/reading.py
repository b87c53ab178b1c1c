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
    guard(
        "the board of a named platform is searched in a child process",
        "jobmill/boards/add_source.py",
        "await read_untrusted(_find_hinted, page.url, page.text, hint, company)",
        "_find_hinted(page.url, page.text, hint, company)",
        "tests/boards/test_add_source.py::test_the_board_of_a_named_platform_is_searched_in_a_child_process",
    ),
    guard(
        "a crawl keeps a limited amount of text in memory",
        "jobmill/boards/board_crawler.py",
        "crawled.pages >= max_pages or crawled.characters >= MAX_CHARACTERS",
        "crawled.pages >= max_pages",
        "tests/boards/test_board_crawler.py::test_a_board_with_too_much_text_is_truncated",
    ),
    guard(
        "fingerprints of a crawl are computed in a thread",
        "jobmill/catalog/crawl_results.py",
        "await asyncio.to_thread(lambda: [to_row(key, posting) for key, posting in postings])",
        "[to_row(key, posting) for key, posting in postings]",
        "tests/catalog/test_crawl_results.py::test_texts_are_compared_in_a_thread",
    ),
    guard(
        "duplicates of listings are searched in a thread",
        "jobmill/catalog/duplicate_links.py",
        "await asyncio.to_thread(duplicates.find_groups, postings, platforms)",
        "duplicates.find_groups(postings, platforms)",
        "tests/catalog/test_crawl_results.py::test_texts_are_compared_in_a_thread",
    ),
    guard(
        "a malformed link is no URL of a posting",
        "jobmill/extract/lenient_models.py",
        "return url if is_web and not is_malformed(url) else None",
        "return url if is_web else None",
        "tests/boards/adapters/test_malformed_responses.py::test_a_malformed_link_costs_at_most_its_own_posting[remotive/answer.json]",
    ),
    guard(
        "a page that cannot be read leaves other places to look",
        "jobmill/boards/detection.py",
        "    with suppress(ReaderStopped):\n",
        "    with suppress():\n",
        "tests/boards/test_detection.py::test_a_page_that_cannot_be_read_leaves_other_places_to_look",
    ),
    guard(
        "the charset of a large body is judged by a part of it",
        "jobmill/outside/charset.py",
        "body[first.start() : first.start() + _SAMPLE]",
        "body",
        "tests/outside/test_charset.py::test_a_large_body_is_judged_by_its_first_letters",
    ),
]
