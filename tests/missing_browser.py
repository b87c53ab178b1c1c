"""Skips or fails tests that need Chromium if it is missing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NoReturn

import pytest

REQUIRED = "REQUIRE_BROWSER"
"""Without the prefix of settings, because Jobmill refuses unknown settings."""


def skip_or_fail(reason: str, environ: Mapping[str, str] = os.environ) -> NoReturn:
    """Skip the test, or fail it if REQUIRE_BROWSER is set, as `.ci/run` does."""
    if environ.get(REQUIRED):
        pytest.fail(
            f"{REQUIRED} is set, so browser tests must not be skipped. {reason}", pytrace=False
        )
    pytest.skip(reason)
