"""RSS and Atom feeds, with the element names of the feed."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from jobmill.boards.adapters import rss
from jobmill.boards.platform import BoardPage
from jobmill.catalog.posting import Salary
from jobmill.errors import Invalid, OutsideError
from jobmill.outside.request import Request

from . import answer, lines, read

URL = "https://guild.example/openings.rss"


def feed(body: bytes, **config: Any) -> BoardPage:
    return read("rss", body, {"url": URL, **config}, Request(URL))


def item(inner: str, spaces: str = "") -> bytes:
    return (
        f'<rss version="2.0" {spaces}><channel><item><link>https://a.example/1</link>{inner}</item>'
        "</channel></rss>"
    ).encode()


def test_entries_become_postings_and_those_without_a_title_are_counted() -> None:
    page = feed(answer("rss/feed.xml"))
    assert [posting.title for posting in page.postings] == ["Wheelwright & Smith", "Cooper"]
    assert (page.stubs, page.truncated) == (1, False)


def test_the_full_text_is_preferred_to_the_summary() -> None:
    posting, other = feed(answer("rss/feed.xml")).postings
    assert (posting.description, other.description) == ("Make wheels.", "Make barrels.")


def test_links_are_relative_to_the_feed() -> None:
    assert feed(answer("rss/feed.xml")).postings[0].url == "https://guild.example/openings/1"


def test_fields_are_found_under_their_usual_names() -> None:
    posting = feed(answer("rss/feed.xml")).postings[0]
    assert (posting.company, posting.employment_type) == ("The Guild", "full_time")
    assert posting.posted_at == dt.datetime(2024, 8, 11, 7, 30, 41, tzinfo=dt.UTC)
    assert posting.valid_through == dt.datetime(2024, 9, 10, 7, 30, 41, tzinfo=dt.UTC)
    assert (posting.vendor_id, posting.tags) == ("guild-1", ("Wood", "Iron"))
    assert posting.location == "Leiden"


@pytest.mark.parametrize(
    ("field", "element"),
    [
        ("company", "company"),
        ("dc:creator", "dc:creator"),
        ("author", "dc:creator"),
        ("Firm", "Firm"),
        ("jobs:firmName", "jobs:firmName"),
        ("company", "jobs:company"),
    ],
)
def test_an_element_is_found_by_its_name_in_the_feed(field: str, element: str) -> None:
    spaces = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:jobs="https://example.org/jobs"'
    body = item(f"<title>Cooper</title><{element}>Oak &amp; Co</{element}>", spaces)
    assert feed(body, company_field=field).postings[0].company == "Oak & Co"


@pytest.mark.parametrize(
    ("how", "title", "expected"),
    [
        ("standard", "Oak: Cooper", ("Oak: Cooper", None)),
        ("title_company", "Oak: Cooper: Nights", ("Cooper: Nights", "Oak")),
        ("title_company", "Oak : Cooper", ("Cooper", "Oak")),
        ("title_company", "Cooper", ("Cooper", None)),
        ("title_at_company", "Cooper at Oak", ("Cooper", "Oak")),
        ("title_at_company", "Look at barrels at Oak", ("Look at barrels", "Oak")),
        ("title_at_company", "Cooper", ("Cooper", None)),
    ],
)
def test_titles_are_split_by_the_configured_format(
    how: str, title: str, expected: tuple[str, str | None]
) -> None:
    assert rss.split_title(title, how) == expected


def test_atom_is_read_too() -> None:
    (posting,) = feed(answer("rss/atom.xml"), company="The Guild").postings
    assert (posting.title, posting.description, posting.company) == (
        "Turner",
        "Turn bowls.",
        "The Guild",
    )
    assert posting.posted_at == dt.datetime(2024, 8, 10, 7, tzinfo=dt.UTC)
    assert posting.vendor_id == "urn:guild:9"


def test_a_feed_that_is_broken_in_the_middle_is_read_up_to_there() -> None:
    body = answer("rss/feed.xml").replace(b"</channel>", b"<item><title>& oh</item>")
    assert len(feed(body).postings) == 2


def test_an_empty_feed_is_empty() -> None:
    assert feed(b'<rss version="2.0"><channel><title>x</title></channel></rss>').postings == ()


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Sign in</body></html>",
        b'{"error": "gone"}',
        b"",
        b"https://guild.example/feed",
        b"/etc/hostname",
        b'<rss version="2.0"><channel><item></item></channel></rss>',
        b'<rss version="2.0"><channel><broken',
    ],
)
def test_a_response_that_is_not_a_feed_is_an_error_and_opens_nothing(body: bytes) -> None:
    with pytest.raises(OutsideError):
        feed(body)


@pytest.mark.parametrize(
    "entity", [b'<!ENTITY a "ha"><!ENTITY b "&a;&a;">', b'<!ENTITY a SYSTEM "file:///etc/passwd">']
)
def test_a_feed_that_declares_entities_is_refused(entity: bytes) -> None:
    with pytest.raises(OutsideError, match="entities"):
        feed(b"<!DOCTYPE rss [" + entity + b"]>" + item("<title>&a;</title>"))


def test_an_invalid_url_is_not_a_link() -> None:
    body = item("<title>Cooper</title>").replace(b"https://a.example/1", b"javascript:alert(1)")
    with pytest.raises(OutsideError):
        feed(body)


@pytest.mark.parametrize("end", [b"</channel></rss>", b""])
def test_only_the_beginning_of_a_long_feed_is_read(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rss, "MAX_ENTRIES", 50)
    entry = b"<item><title>Cooper</title><link>https://a.example/%d</link></item>"
    body = (
        b'<rss version="2.0"><channel>'
        + b"".join(entry % n for n in range(2 * rss.MAX_ENTRIES))
        + end
    )
    page = feed(body)
    assert (len(page.postings), page.truncated) == (rss.MAX_ENTRIES, True)


def test_an_invalid_config_names_its_errors() -> None:
    with pytest.raises(Invalid, match="parse_format"):
        rss.PLATFORM.parse_config({"url": URL, "parse_format": "odd"})


def test_a_salary_is_read_from_its_element() -> None:
    posting = feed(
        item("<title>Cooper</title><pay>€40k - €48k</pay>"), salary_field="pay"
    ).postings[0]
    assert posting.salary
    assert (posting.salary.min, posting.salary.currency) == (40000, "EUR")


def test_a_location_is_found_in_any_namespace_by_its_synonyms() -> None:
    body = b"""<rss version="2.0" xmlns:x="https://x.example/ns"><channel><item>
      <title>Rigger</title><link>https://x.example/1</link>
      <x:sites><x:site><x:city>Perth</x:city></x:site></x:sites></item></channel></rss>"""
    (posting,) = read("rss", body, {"url": "https://x.example"}).postings
    assert posting.location == "Perth"


SPLIT = b"""<rss version="2.0" xmlns:x="https://x.example/ns"><channel><item>
  <title>Rigger</title><link>https://x.example/1</link><description>&lt;p&gt;Rig.&lt;/p&gt;</description>
  <x:companyName>Ropes</x:companyName><x:jobType>Full time</x:jobType>
  <x:examplesofduties>Climb &amp;amp; tie.</x:examplesofduties>
  <x:qualifications>No fear.</x:qualifications><x:benefits>Rig.</x:benefits>
  <x:minimumSalary>65</x:minimumSalary><x:maximumSalary>85</x:maximumSalary>
  <x:salaryCurrency>USD</x:salaryCurrency><x:salaryInterval>Hour</x:salaryInterval>
  <x:advertiseToDateTimeUTC>Fri, 20 Sep 2024 04:59:00:0</x:advertiseToDateTimeUTC>
</item></channel></rss>"""


def test_a_text_in_several_sections_is_joined() -> None:
    (posting,) = read("rss", SPLIT, {"url": "https://x.example"}).postings
    assert lines(posting.description) == ["Rig.", "Climb & tie.", "No fear."]
    assert posting.requirements == "No fear."


def test_a_salary_may_be_in_separate_fields() -> None:
    (posting,) = read("rss", SPLIT, {"url": "https://x.example"}).postings
    assert posting.salary == Salary(65, 85, "USD", "hour", "structured")
    assert (posting.company, posting.employment_type) == ("Ropes", "full_time")
    assert posting.valid_through == dt.datetime(2024, 9, 20, 4, 59, tzinfo=dt.UTC)
