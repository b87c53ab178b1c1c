"""Pages built to break the reader."""

from __future__ import annotations

import random

import pytest

from jobmill.extract.page import page_reader

from .pages import CASES, named
from .test_json_ld import with_block, with_posting

URL = "https://jobs.example/view/1"

MANY = 100_000
LD = "<script type='application/ld+json'>"


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div>" * MANY + "x" + "</div>" * MANY, id="blocks within blocks"),
        pytest.param("".join(f"<font size={n}>" for n in range(MANY)), id="styles within styles"),
        pytest.param("<ul><li>x" * MANY, id="lists within lists"),
        pytest.param("<span class='title'>x" * MANY, id="words within words"),
        pytest.param("<svg><title>x</title>" * 20_000, id="pictures within pictures"),
        pytest.param("<b hidden>x" * 20_000, id="hidden within hidden"),
        pytest.param("<" * 2_000_000, id="nothing but brackets"),
        pytest.param("<div class='" + "job title " * MANY + "'>x</div>", id="a very long name"),
        pytest.param("\0" * 1_000 + "<h1>a\0b</h1>", id="zero bytes"),
        pytest.param("<h1>\ud800</h1>", id="half a character"),
        pytest.param(f"{LD}{{'JobPosting':{'[' * MANY}", id="JSON that never closes"),
        pytest.param(
            with_block('{"@type":"JobPosting","x":' + "[" * MANY + "]" * MANY + "}"), id="deep JSON"
        ),
        pytest.param(with_block('{"JobPosting":"' + '\\"' * MANY), id="a text that never ends"),
        pytest.param(with_block('"JobPosting"' + "/*" * MANY), id="comments that never end"),
        pytest.param(with_block('{"JobPosting":1' + "," * MANY + " " * MANY), id="commas"),
        pytest.param(
            '<script>a={"title":"' * MANY + 'description":"' + "x" * 200, id="data that never ends"
        ),
        pytest.param("<script>" + 'self.__next_f.push([1,"' * MANY, id="a stream that never ends"),
        pytest.param("<p>" + "Location: jobs at " * MANY, id="labels in a row"),
        pytest.param("<td>Location</td>" * MANY, id="labels without values"),
        pytest.param("<p>view " + " " * 1_000_000 + "jobs</p>", id="spaces"),
        pytest.param("<title>" + "A-" * MANY + "</title><h1>A</h1>", id="a very long title"),
        pytest.param(
            "<div itemscope itemtype='JobPosting'><b itemprop=title>x" * 900, id="items in items"
        ),
    ],
)
def test_a_hostile_page_is_read_to_the_end(html: str) -> None:
    page_reader.read_posting(html, URL)
    page_reader.read_postings(html, URL)


def test_a_randomly_truncated_page_is_read_to_the_end() -> None:
    chance = random.Random(7)
    for _ in range(150):
        body = bytearray(chance.choice([case.html for case in CASES] + [with_posting()]).encode())
        for _ in range(chance.randint(1, 60)):
            at = chance.randrange(len(body))
            body[at : at + chance.choice((0, 0, 1, 40))] = chance.choice(
                (
                    b"<",
                    b">",
                    b'"',
                    b"\xff",
                    b"\0",
                    b"</div>",
                    b"<table>",
                    b"<script>",
                    b"<!--",
                    b"&#x",
                )
            )
        page_reader.read_posting(bytes(body), URL)


@pytest.mark.parametrize("charset", ["utf-8", "cp1252", "iso-8859-15", "utf-16"])
def test_a_page_in_another_encoding_is_read(charset: str) -> None:
    html = named("German").html.replace("<head>", f"<head><meta charset='{charset}'>")

    posting = page_reader.read_posting(html.encode(charset), URL).posting

    assert posting is not None
    assert posting.location == "01768 Glashütte"


def test_a_page_that_names_the_wrong_encoding_is_read_by_what_its_bytes_say() -> None:
    html = named("German").html.replace("<head>", "<head><meta charset='iso-8859-1'>")

    posting = page_reader.read_posting(html.encode(), URL).posting

    assert posting is not None
    assert posting.location == "01768 Glashütte"


def test_structured_data_above_deep_nesting_is_read() -> None:
    html = with_posting().replace("<body>", "<body>" + "<div>" * MANY)

    posting = page_reader.read_posting(html, URL).posting

    assert posting is not None
    assert posting.title == "Lighthouse Keeper"
