"""What becomes of tests that need a Chromium where there is none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NoReturn

import pytest

REQUIRED = "REQUIRE_BROWSER"
"""Without the prefix of our settings: the programs that tests start refuse unknown ones."""


def skip_or_fail(reason: str, environ: Mapping[str, str] = os.environ) -> NoReturn:
    """Skip the test; fail it where REQUIRE_BROWSER is set, as `.ci/run` does."""
    if environ.get(REQUIRED):
        pytest.fail(
            f"{REQUIRED} is set, so browser tests must not be skipped. {reason}", pytrace=False
        )
    pytest.skip(reason)
