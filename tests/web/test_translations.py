"""Texts of pages can be translated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.web import translations
from jobmill.web.dependencies import WEB_DIR, make_environment
from scripts.texts import FILE, gather
from tests.web.helpers import site_with

TEMPLATES = WEB_DIR / "templates"
SPEAKING = ("title", "aria-label", "placeholder", "alt")
WORD = re.compile(r"[^\W\d_]{2,}")
NAMES = {"Jobmill"}


def test_the_message_catalog_is_up_to_date() -> None:
    assert FILE.read_text() == gather(), "`make fmt` gathers the texts anew"


@pytest.mark.parametrize(
    "template", sorted(str(file.relative_to(TEMPLATES)) for file in TEMPLATES.rglob("*.html"))
)
def test_every_word_of_a_template_can_be_translated(template: str) -> None:
    page = Html("".join(_unmarked((TEMPLATES / template).read_text())))
    for code in page.css("code, kbd, pre, script"):
        code.decompose()
    texts = [page.root.text(separator=" ")] if page.root else []
    texts += [str(node.attributes[name]) for name in SPEAKING for node in page.css(f"[{name}]")]
    assert [word for text in texts for word in WORD.findall(text) if word not in NAMES] == []


def _unmarked(source: str) -> Iterator[str]:
    """The literal HTML of a template, without {% trans %} blocks."""
    inside, block = False, False
    for _, kind, value in make_environment().lex(source):
        if kind == "block_begin":
            block = True
        elif kind == "block_end":
            block = False
        elif block and kind == "name" and value in ("trans", "endtrans"):
            inside = value == "trans"
        elif kind == "data" and not inside:
            yield value


@pytest.mark.parametrize(
    ("header", "name"),
    [("", "en"), ("xx", "xx"), ("de-AT,de;q=0.9,xx;q=0.5,en;q=0.4", "xx"), ("en,xx;q=0.9", "en"),
     ("fr;q=x,*", "en"), ("XX-yy;q=0.1", "xx"), (";;,,=q", "en"), ("xx;q=1.2.3", "xx")],
)  # fmt: skip
def test_the_preferred_available_language_is_chosen(header: str, name: str) -> None:
    languages = {code: translations.Language(code) for code in ("en", "xx")}
    assert translations.choose_language(languages, header).name == name


async def test_a_language_is_added_by_a_folder(tmp_path: Path, database: Database) -> None:
    with FILE.open("rb") as lines:
        catalog = read_po(lines, locale="eo")
    for message in catalog:
        if message.id and isinstance(message.id, str):
            message.string = f"⟦{message.id}⟧"
    folder = tmp_path / "eo" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / "jobmill.mo").open("wb") as made:
        write_mo(made, catalog)
    async with site_with(database, locale=tmp_path, local=True) as site:
        page = await shown(site, "eo")
        assert page.css_first("html").attributes["lang"] == "eo"
        assert "⟦Matches⟧" in [link.text(strip=True) for link in page.css("nav a")]
        page = await shown(site, "en")
        assert "Matches" in [link.text(strip=True) for link in page.css("nav a")]


async def shown(site: httpx2.AsyncClient, language: str) -> Html:
    return Html((await site.get("/matches", headers={"Accept-Language": language})).text)


def test_numbers_in_plurals_are_formatted() -> None:
    assert translations.say_many("%(n)s item", "%(n)s items", 1_200) == "1,200 items"
    assert (
        translations.say_many("%(n)s item of %(whose)s", "%(n)s items", 1, whose="Ann")
        == "1 item of Ann"
    )
    assert translations.say("100%") == "100%"
