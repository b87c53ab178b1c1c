"""The saved ends of audit logs: kept outside of the database, they reveal a log that was rewritten."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from jobmill.errors import Invalid
from jobmill.hiring.audit_log.verification import ChainHead, VerificationReport


@dataclass(frozen=True)
class _SavedHead:
    jobId: int
    seq: int
    hash: str


class InvalidSavedHead(Invalid):
    """A line of a file that `format_heads` did not write."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__(f"{file}:{line} was not written by `verify --save`")
        self.line = line


def parse_heads(text: str, file: str = "the file") -> dict[int, ChainHead]:
    """The saved end of each log, by opening; raises InvalidSavedHead for the first line that is wrong."""
    adapter = TypeAdapter(_SavedHead)
    heads: dict[int, ChainHead] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            head = adapter.validate_json(line)
        except ValidationError:
            raise InvalidSavedHead(file, line_number) from None
        heads[head.jobId] = ChainHead(head.seq, head.hash)
    return heads


def head_fields(report: VerificationReport) -> Mapping[str, object]:
    return {"jobId": report.opening_id, "seq": report.head.seq, "hash": report.head.hash}


def format_heads(reports: Iterable[VerificationReport]) -> str:
    """One line of JSON for each log, which `parse_heads` reads back."""
    return "".join(f"{json.dumps(head_fields(report))}\n" for report in reports)
