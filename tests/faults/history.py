"""The history of test clients: each call is recorded before it is made and after its result is known.

A client that dies or loses its connection during COMMIT leaves an invocation without a result: the
operation may or may not have happened. Nothing else may be uncertain.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Result = Literal["ok", "fail", "unknown"]


@dataclass(frozen=True)
class Operation:
    client: str
    key: str
    result: Result


class HistoryWriter:
    """Appends lines to a file of this client's own; a line is complete or it does not count."""

    def __init__(self, folder: Path, client: str) -> None:
        self._client = client
        self._file = (folder / f"{client}.jsonl").open("a", encoding="utf-8", buffering=1)

    def invoke(self, key: str) -> None:
        self._write(key, "invoke")

    def complete(self, key: str, result: Result) -> None:
        self._write(key, result)

    def close(self) -> None:
        self._file.close()

    def _write(self, key: str, what: str) -> None:
        self._file.write(json.dumps({"client": self._client, "key": key, "what": what}) + "\n")


def read_history(folder: Path) -> list[Operation]:
    """Every invocation with its result; `unknown` if none was written."""
    results: dict[tuple[str, str], Result] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for line in _complete_lines(file):
            call = (line["client"], line["key"])
            results[call] = "unknown" if line["what"] == "invoke" else line["what"]
    return [Operation(client, key, result) for (client, key), result in results.items()]


def _complete_lines(file: Path) -> Iterable[dict[str, str]]:
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def as_rows(history: Iterable[Operation]) -> str:
    """The history as JSON for `json_to_recordset`."""
    return json.dumps([asdict(operation) for operation in history])
