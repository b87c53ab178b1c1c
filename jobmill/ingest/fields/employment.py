"""Kinds of employment."""

from __future__ import annotations


def read(label: object) -> str | None:
    """full_time, part_time, contract, temporary, internship, apprenticeship, volunteer, per_diem;
    the site's own words where none fits; None where it says nothing. A list: the first that says something."""
    raise NotImplementedError
