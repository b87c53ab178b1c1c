"""Reading any text neither fails nor hangs."""

import datetime as dt
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobmill.catalog.posting import Posting
from jobmill.extract.fields import (
    dates,
    employment,
    html_text,
    requirements,
    salary,
    seniority,
    work_arrangement,
)
from jobmill.extract.fields.missing_fields import fill_missing_fields
from jobmill.places import location_text

NOW = dt.datetime(2026, 9, 1, tzinfo=dt.UTC)

READERS: dict[str, Callable[[str], object]] = {
    "from_html": html_text.from_html,
    "from_escaped": html_text.from_escaped_html,
    "clean": html_text.clean_text,
    "line": html_text.single_line,
    "dates": lambda text: (
        dates.parse_date(text, now=NOW, day_first=True),
        dates.parse_deadline(text),
    ),
    "salary": salary.from_text,
    "structured": lambda text: salary.from_fields(text, text, text, text),
    "arrangement": lambda text: work_arrangement.infer_arrangement(text, [text], text),
    "arrangement of text": lambda text: work_arrangement.infer_arrangement("", [], text),
    "word": work_arrangement.from_label,
    "seniority": lambda text: (seniority.from_label(text), seniority.from_title(text)),
    "employment": employment.parse_employment_type,
    "places": lambda text: (
        location_text.split_locations(text),
        location_text.format_address(text, text, text),
    ),
    "requirements": requirements.find_requirements,
    "fill": lambda text: fill_missing_fields(Posting(title=text, location=text, description=text)),
}

# Pieces that the patterns look for, in any order, reach deeper than arbitrary letters do.
PIECES = [
    "$", "€", "1", "100,000", "120.000", "12k", " - ", " to ", "bis", "USD", "LPA", "m\u0131l",
    "million\u017f", "/hr",
    "per year", "salary", "bonus", "remote", "hybrid", "3 days", "office", "#LI-",
    "this role is ", "Requirements",
    ":", "\n", "- ", "•", "Senior", "Staff ", "Engineer", "III", "/", "I", "2", "or", "and", "(", ")", ";", "|", ",",
    "<", ">", "<p>", "</li>", "<li>", "<td>", "<script>", "<!--", "&lt;", "&amp;", "&#x", "'",
    '"', "=", "Aug",
    "17", "2026", "-", "T", "Z", "+02", "ago", "Days", "\x00", "\ud800", "\u00a0", "\ue000", "²",
    "٣", "İ", " ",
]  # fmt: skip
ANY = st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@pytest.mark.parametrize("reader", READERS)
@given(text=ANY)
@settings(max_examples=150, deadline=None)
def test_any_text_can_be_read(reader: str, text: str) -> None:
    READERS[reader](text)


@given(html=ANY)
@settings(max_examples=200, deadline=None)
def test_converted_html_can_be_encoded(html: str) -> None:
    for converted in (
        html_text.from_html(html),
        html_text.from_escaped_html(html),
        html_text.single_line(html),
    ):
        (converted or "").encode()


@given(
    value=st.none() | st.booleans() | st.integers() | st.floats() | ANY | st.lists(ANY, max_size=3)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_value_of_a_field_can_be_read(value: object) -> None:
    dates.parse_date(value, now=NOW)
    dates.parse_deadline(value)
    salary.from_fields(value, value, value, value)
    work_arrangement.from_label(value)
    seniority.from_label(value)
    employment.parse_employment_type(value)
    location_text.split_locations(value)
    location_text.unique_locations(value, [value])
    location_text.format_address(value, value, value)
    html_text.single_line(value)


LONG = [
    "$1" * 50_000, " " * 1_000_000, "1," * 100_000, "1 " * 100_000, "$100,000 - " * 20_000, "$1 (" * 50_000,
    "salary $1,000 to " * 20_000, "bonus $100,000 " * 20_000, "remote " * 50_000,
    "3 days " * 50_000,
    "this role is fully " * 20_000, "hybrid a b " * 30_000,
    f"this role is {'fully ' * 20}office " * 2_000, "\n" * 500_000, "-\n" * 100_000,
    "Requirements\n" * 20_000, "if you have " * 20_000, "staff a b c " * 20_000, "a/sr " * 50_000,
    "a or b " * 50_000, "(" * 200_000, "abc/" * 50_000, "1" * 200_000, "<" * 300_000, "<a '\">" * 50_000,
    "<p title=\"" * 50_000, "&amp;lt;p" * 50_000, "<td> " * 50_000, "é " * 200_000, "1:" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("long", LONG, ids=lambda long: repr(long[:12]))
@pytest.mark.timeout(60)
def test_no_text_takes_long(long: str) -> None:
    for read in READERS.values():
        read(long)
