"""Times as the public API, the audit log and exports write them."""

from __future__ import annotations

import datetime as dt


def format_timestamp(at: dt.datetime) -> str:
    """UTC to the millisecond: 2026-11-15T09:30:00.000Z."""
    text = at.astimezone(dt.UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
