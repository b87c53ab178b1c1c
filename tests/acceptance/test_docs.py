"""Checks what the documents name: files, headings, commands with their options, and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from jobmill.cli import app
from jobmill.db import Database
from tests.web.test_every_route import routes

ROOT = Path(__file__).parents[2]
ROOT_COMMAND: Any = typer.main.get_command(app)
ROOT_COMMAND.load_all()
DOCS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", *(ROOT / "docs/how-to").glob("*.md")]

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`|^(?: {4}|\$ )(.+)$|^(jobmill .+)$", re.MULTILINE)
QUOTED = re.compile(r""" "[^"]*"? | '[^']*'? """, re.VERBOSE)
PAGE = re.compile(r"`(/[a-z][^`?#]*)[^`]*`")
NOT_LITERAL = re.compile(r"[^a-z-]")
"""Placeholders: `ID`, `…`, `a|b`, `[URL]`."""
OTHERS = ["/about", "/about-us", "/company", "/careers", "/static", "/(?:etc|var)/.*"]
"""Paths of company sites, of our static files and of the operating system."""


def _name(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", DOCS, ids=_name)
def test_every_link_leads_to_an_existing_target(file: Path) -> None:
    text = FENCED.sub("", file.read_text())
    links = [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]
    assert [link for link in links if not _leads(file, link)] == []


def _leads(file: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (file.parent / path) if path else file
    return target.exists() and (not anchor or anchor in _anchors(target))


def _anchors(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", file.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("file", [file for file in DOCS if file.name != "commands.md"], ids=_name)
def test_every_command_in_the_docs_exists_with_its_options(file: Path) -> None:
    assert [line for line in _commands(file.read_text()) if not _is_known(line)] == []


def _commands(text: str) -> Iterator[str]:
    for match in CODE.finditer(text):
        code = next(part for part in match.groups() if part)
        if call := re.search(r"(?:^|[\s(])jobmill ([a-z][^#|>&)]*)", code):
            yield call[1].strip()


def _is_known(line: str) -> bool:
    command = ROOT_COMMAND
    words = QUOTED.sub("", line).split()
    while words and (inner := getattr(command, "commands", None)):
        word = words.pop(0)
        # An option of a group stands before the command: `profile --person EMAIL list`.
        if word in _options(command) and words:
            words.pop(0)
            continue
        if word not in inner:
            return bool(NOT_LITERAL.search(word))
        command = inner[word]
    if command.context_settings.get("ignore_unknown_options"):  # It passes them on.
        return True
    options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return options <= {"--help", "-h", *_options(command)}


def _options(command: Any) -> set[str]:
    return {
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


async def test_every_page_in_a_guide_exists(database: Database) -> None:
    patterns = [re.sub(r"\{[^}]+\}", "[^/]+", route.path) for route in routes()]
    missing = [
        (file.name, path)
        for file in GUIDES
        for path in PAGE.findall(file.read_text())
        if not any(re.fullmatch(route, path) for route in [*patterns, *OTHERS])
    ]
    assert missing == []
