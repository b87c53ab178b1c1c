"""Postings in microdata and RDFa."""

from __future__ import annotations

import datetime as dt

from jobmill.extract.page import page_reader

URL = "https://jobs.example/1"

MICRODATA = """<div itemscope itemtype="http://schema.org/JobPosting">
<h1 itemprop="title">Ferry Master</h1>
<span itemprop="hiringOrganization" itemscope itemtype="http://schema.org/Organization">
  <a itemprop="name" href="/co">Strait Lines</a></span>
<div itemprop="jobLocation" itemscope itemtype="http://schema.org/Place">
  <div itemprop="address" itemscope itemtype="http://schema.org/PostalAddress">
    <span itemprop="addressLocality">Oban</span><meta itemprop="addressCountry"
        content="GB"></div></div>
<time itemprop="datePosted" datetime="2025-11-04">4 Nov</time>
<meta itemprop="employmentType" content="PART_TIME">
<div itemprop="description"><p>Steer.</p><ul><li>Moor</li></ul></div></div>
<div itemscope itemtype="http://schema.org/Product"><span itemprop="name">Ticket</span></div>"""


def test_properties_are_read_with_the_items_within() -> None:
    reading = page_reader.read_posting(MICRODATA, URL)

    assert reading.method == "microdata"
    posting = reading.posting
    assert posting is not None
    assert (posting.title, posting.company, posting.location) == (
        "Ferry Master",
        "Strait Lines",
        "Oban, GB",
    )
    assert posting.posted_at == dt.datetime(2025, 11, 4, tzinfo=dt.UTC)
    assert posting.employment_type == "part_time"
    assert posting.description == "Steer.\n- Moor"


def test_an_item_with_only_text_is_named_by_it() -> None:
    html = """<div itemscope itemtype="https://schema.org/JobPosting"><b itemprop="title">Diver</b>
    <span itemprop="hiringOrganization" itemscope itemtype="https://schema.org/Organization">Deep
        Blue</span>
    <span itemprop="jobLocation">Key West</span></div>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.company, posting.location) == ("Deep Blue", "Key West")


def test_the_attributes_of_rdfa_are_understood_too() -> None:
    html = """<div vocab="http://schema.org/" typeof="JobPosting"><h1 property="title">Cooper</h1>
    <div property="hiringOrganization" typeof="Organization"><span property="name">Stave
        Ltd</span></div>
    </div>"""

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert (posting.title, posting.company) == ("Cooper", "Stave Ltd")
