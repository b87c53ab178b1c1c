"""Runs the tutorial: every command in order, with the output it shows."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobmill.db.embedded import EmbeddedServer
from tests.acceptance.world import post
from tests.cli import forked
from tests.cli.forked import ForkedCommand
from tests.outside.site import LoopbackSite, open_site, reply

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\b(?:MATCH|JOB|REF|OPENING|ITEM|SOURCE|PID)\b")
START = "make run"
PATIENCE = 200.0
API = "boards-api.greenhouse.io"
WANTED = (
    "You will build the services behind our product.\n"
    "Requirements:\n- 5+ years of experience\n- Python\n- PostgreSQL\nNice to have:\n- Kubernetes\n"
    "This role is fully remote within the United States. The pay is $170,000 - $200,000 per year."
)
POSTS = [
    post(id, title, place, text) | {"company_name": "GitLab"}
    for id, title, place, text in (
        (7001, "Senior Software Engineer", "Remote, United States", WANTED),
        (7002, "Account Executive", "Oslo, Norway", "You sell, on site in Oslo."),
    )
]


@dataclass
class TutorialStep:
    """A command of the tutorial and the output shown below it."""

    line: str
    shown: str | None = None


def steps(text: str) -> list[TutorialStep]:
    """A block of output belongs to the last command before it."""
    commands: list[TutorialStep] = []
    for kind, block in BLOCK.findall(text):
        if kind == "sh":
            commands += [TutorialStep(line) for line in block.splitlines()]
        else:
            assert commands[-1].shown is None, f"shown twice: {block}"
            commands[-1].shown = block
    return commands


def pattern(shown: str, values: dict[str, str]) -> re.Pattern[str]:
    """`…` matches anything in a line, or alone any lines; a placeholder matches its value."""
    lines = [_line(" ".join(line.split()), values) for line in shown.splitlines()]
    return re.compile("".join(lines))


def _line(line: str, values: dict[str, str]) -> str:
    if line == "…":
        return r"(?:.*\n)*?"
    new = {name for name in NAME.findall(line) if name not in values}
    text = ".*?".join(re.escape(part) for part in line.split("…"))
    text = NAME.sub(lambda name: re.escape(values.get(name[0], name[0])), text)
    for name in new:
        text = text.replace(name, rf"(?P<{name}>[\w:]+)", 1)
    return rf"{text}\n"


def plain(output: str) -> str:
    lines = (" ".join(line.split()) for line in output.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


class Reader:
    """Runs the commands of the tutorial in order, as a reader with a terminal would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.placeholders: dict[str, str] = {}
        self.port = _free_port()
        self.environment = {
            "HOME": str(folder),
            "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}",
            "EDITOR": "true",
            "JOBMILL_DATA_DIR": str(folder / "data"),
            "JOBMILL_WEB_PORT": str(self.port),
            "JOBMILL_LOG_LEVEL": "error",
        }
        self.process: ForkedCommand | None = None
        (folder / ".venv").symlink_to(sys.prefix)

    def do(self, step: TutorialStep) -> None:
        line = NAME.sub(lambda name: self.placeholders[name[0]], step.line)
        deadline = time.monotonic() + PATIENCE
        while not self._shows(step, output := self._run(line)):
            assert time.monotonic() < deadline, f"{line}\n{output}\nnot as in:\n{step.shown}"
            # Repeated commands take CPU time from the work that they wait for.
            time.sleep(0.6)

    def _shows(self, step: TutorialStep, output: str) -> bool:
        if step.shown is None:
            return True
        shown = step.shown.replace(":8000/", f":{self.port}/")
        match = pattern(shown, self.placeholders).fullmatch(plain(output))
        self.placeholders |= match.groupdict() if match else {}
        return match is not None

    def _run(self, line: str) -> str:
        if line == START:
            return self.start()
        words = shlex.split(line)
        if words[0] == "jobmill" and not re.search(r"[>|$]", line):
            done = forked.jobmill(*words[1:], folder=self.folder, variables=self.environment)
        else:
            done = subprocess.run(
                line, shell=True, check=False, cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
            )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self) -> str:
        """`make run` without its set-up: this environment is set up already."""
        self._wait_for_end()
        errors = self.folder / "errors"
        self.process = ForkedCommand(("up",), self.folder, self.environment, errors)
        output = ""
        for line in self.process.stdout:
            output += line
            if line.endswith("Ctrl-C\n"):
                return output
        raise AssertionError(errors.read_text())

    def meet(self, board: LoopbackSite) -> None:
        """Start again with `board` in place of Greenhouse, which the demo answers itself."""
        self.stop()
        self.environment["JOBMILL_HOST_OVERRIDES"] = f"{API}={board.place}"
        self.start()

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
        self._wait_for_end()

    def _wait_for_end(self) -> None:
        if self.process:
            self.process.wait(20)
            self.process.stdout.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
async def board() -> AsyncIterator[LoopbackSite]:
    """The answer of Greenhouse."""
    async with open_site() as site:
        answer = json.dumps({"jobs": POSTS, "meta": {"total": len(POSTS)}}).encode()
        site.on("/v1/boards/gitlab/jobs", reply(answer, content_type="application/json"))
        yield site


@pytest.fixture
def reader(home: Path) -> Iterator[Reader]:
    person = Reader(home)
    yield person
    person.stop()
    # A killed process leaves its bundled server running.
    EmbeddedServer(home / "data" / "postgres").stop()


async def test_every_command_of_the_tutorial_prints_what_it_shows(
    reader: Reader, board: LoopbackSite
) -> None:
    for step in steps(TUTORIAL.read_text()):
        await asyncio.to_thread(reader.do, step)
        if step.line.startswith("jobmill demo clear"):
            await asyncio.to_thread(reader.meet, board)
    assert board.requests_to("/v1/boards/gitlab/jobs")
