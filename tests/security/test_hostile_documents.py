"""Documents that would stop a process stop a child process, or are refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from jobmill.errors import AppError
from jobmill.sandbox import Sandbox

from . import readers
from .corpus import DOCUMENTS


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(size=1)
    yield sandbox
    sandbox.close()


def test_the_corpus_is_large() -> None:
    assert len(DOCUMENTS) >= 60
    assert {document.kind for document in DOCUMENTS.values()} == {
        "page", "board", "feed", "resume", "table"
    }  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_hostile_document_ends_within_its_limits(sandbox: Sandbox, name: str) -> None:
    """The kernel enforces two seconds of CPU time and 256 MB; nothing but an AppError gets out."""
    document = DOCUMENTS[name]
    file = f"resume{document.suffix}"
    with contextlib.suppress(AppError):
        sandbox.call_now(readers.read, document.kind, document.build(), file, cpu_seconds=2)
    assert sandbox.call_now(str.upper, "still here") == "STILL HERE"
