from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Iterator
from typing import Literal

import pytest

from jobmill import log

logger = logging.getLogger("jobmill.test")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    yield
    logging.captureWarnings(False)
    root.level, root.handlers[:] = before


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_a_text_line_has_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup()
    logger.warning("stage %s", "failed", extra={"item": 7, "host": "a b", "why": ["x"]})
    (line,) = lines(capsys)
    assert line.endswith('WARNING jobmill.test stage failed item=7 host="a b" why=["x"]')


def test_a_json_line_has_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup(format="json")
    logger.error("stage failed", extra={"item": 7})
    (line,) = lines(capsys)
    fields = json.loads(line)
    assert fields.pop("at").endswith("Z")
    assert fields == {
        "level": "error",
        "logger": "jobmill.test",
        "message": "stage failed",
        "item": 7,
    }


async def test_bound_fields_reach_tasks_and_end_with_the_block(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.setup()

    async def work(item: int) -> None:
        with log.bound(item=item):
            await asyncio.sleep(0)
            logger.info("done")

    with log.bound(worker=3):
        await asyncio.gather(work(1), work(2))
    logger.info("after")
    assert [line.split("jobmill.test ")[1] for line in lines(capsys)] == [
        "done worker=3 item=1",
        "done worker=3 item=2",
        "after",
    ]


def test_the_level_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup("warning")
    logger.info("quiet")
    assert lines(capsys) == []


SHORT = "x\nINFO:forged"
FORGERY = "x\n2026-01-01T00:00:00.000Z INFO    jobmill all is well\x1b[2J\r\u2028"


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("forgery", [FORGERY, SHORT])
@pytest.mark.parametrize("where", ["message", "field", "nested", "error"])
def test_no_value_can_forge_a_log_line(
    format: Literal["text", "json"], forgery: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log.setup(format=format)
    if where == "message":
        logger.info(forgery)
    elif where == "error":
        try:
            raise ValueError(forgery)
        except ValueError:
            logger.exception("failed")
    else:
        logger.info("got", extra={"title": forgery if where == "field" else {"a": [forgery]}})
    written = capsys.readouterr().err
    first, *rest = written.splitlines()
    assert first.startswith("{" if format == "json" else "20")
    assert all(line.startswith("    ") for line in rest)
    assert not rest or where == "error"
    assert "\x1b" not in written
    sys.stderr.flush()


def test_warnings_are_logged_too(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup()
    logging.getLogger("py.warnings").warning("careful")
    assert "careful" in lines(capsys)[0]
