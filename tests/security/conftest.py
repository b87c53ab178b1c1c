"""Sites are opened as in the tests of the pages."""

from __future__ import annotations

from tests.web.conftest import database  # noqa: F401 - A fixture.
