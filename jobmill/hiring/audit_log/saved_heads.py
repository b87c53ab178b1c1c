"""The saved ends of audit logs: kept outside of the database, they reveal a log that was rewritten."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from jobmill.errors import Invalid
from jobmill.hiring.audit_log.verification import ChainHead, VerificationReport


@dataclass(frozen=True)
class _SavedHead:
    jobId: int
    seq: Annotated[int, Field(ge=0, le=2**62)]
    hash: str


def parse_heads(text: str, error_text: str) -> dict[int, ChainHead]:
    """The saved end of each log, by opening; raises Invalid with `error_text`, whose `{line}` is the
    number of the first line that is wrong."""
    adapter = TypeAdapter(_SavedHead)
    heads: dict[int, ChainHead] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            head = adapter.validate_json(line)
        except ValidationError:
            raise Invalid(error_text.replace("{line}", str(line_number))) from None
        heads[head.jobId] = ChainHead(head.seq, head.hash)
    return heads


def head_fields(report: VerificationReport) -> Mapping[str, object]:
    return {"jobId": report.opening_id, "seq": report.head.seq, "hash": report.head.hash}


def format_heads(reports: Iterable[VerificationReport]) -> str:
    """One line of JSON for each log, which `parse_heads` reads back."""
    return "".join(f"{json.dumps(head_fields(report))}\n" for report in reports)
