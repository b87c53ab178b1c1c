"""The children of these tests are new interpreters."""

from __future__ import annotations

import subprocess

import pytest

from jobmill.sandbox import pool


@pytest.fixture(autouse=True)
def new_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start children as the product does, also where other tests fork them."""
    monkeypatch.setattr(pool, "subprocess", subprocess)
