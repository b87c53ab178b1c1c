"""What is read from pages that state nothing for machines."""

from __future__ import annotations

import pytest

from jobmill.ingest import page
from tests.ingest.page.pages import CASES, MORE, PROSE, Case

URL = "https://jobs.example/view/1"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_page_is_read_as_a_reader_would(case: Case) -> None:
    reading = page.read(case.html, URL)

    assert reading.method == "text"
    posting = reading.posting
    assert posting is not None
    day = posting.posted_at.date().isoformat() if posting.posted_at else None
    assert (posting.title, posting.company, posting.location) == (
        case.title,
        case.company,
        case.location,
    )
    assert day == case.day or case.day is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_description_is_the_whole_text_and_nothing_around_it(case: Case) -> None:
    posting = page.read(case.html, URL).posting

    assert posting is not None
    assert posting.description is not None
    assert PROSE in posting.description
    assert MORE in posting.description
    for other in ("Similar jobs", "Roof Tiler", "Post Resume", "Copyright", "Life here"):
        assert other not in posting.description
