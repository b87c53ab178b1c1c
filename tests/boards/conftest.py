from __future__ import annotations

import pytest

from jobmill.boards.platform import BoardPage
from jobmill.boards.readable_board import ReadableBoard
from jobmill.catalog.posting import Posting
from jobmill.outside.request import Request


@pytest.fixture
def read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read boards without a child process, which would not know the platforms of a test."""
    monkeypatch.setattr(ReadableBoard, "read", _read)
    monkeypatch.setattr(ReadableBoard, "read_detail", _read_detail)


async def _read(board: ReadableBoard, body: bytes, request: Request) -> BoardPage:
    return board.platform.read_response(body, request, board.config)


async def _read_detail(board: ReadableBoard, body: bytes, posting: Posting) -> Posting:
    return board.platform.read_detail_response(body, posting, board.config)
