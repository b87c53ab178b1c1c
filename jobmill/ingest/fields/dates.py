"""Dates as sites write them."""

from __future__ import annotations

import datetime as dt


def read(
    value: object, *, now: dt.datetime | None = None, day_first: bool = False
) -> dt.datetime | None:
    """ISO, epoch in seconds or milliseconds, RFC 822, dd/mm/yyyy, or words ("Posted 3 Days Ago");
    aware, its own offset kept. None where it is no date, lies before 2000 or over two days ahead."""
    raise NotImplementedError


def deadline(value: object, *, now: dt.datetime | None = None) -> dt.datetime | None:
    """The same for a day to come: it may lie ahead."""
    raise NotImplementedError
