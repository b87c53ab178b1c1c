"""Places as sites write them."""

from __future__ import annotations


def split(text: object) -> tuple[str, ...]:
    """The places in one text ("Berlin; Paris", "Berlin | Paris", "NYC or SF"); () for "N/A" and "2 Locations"."""
    raise NotImplementedError


def unique(*places: object) -> tuple[str, ...]:
    """Texts, and lists of texts, as places without doubles, in order."""
    raise NotImplementedError


def address(city: object = None, region: object = None, country: object = None) -> str | None:
    """One line from the parts that are there, none said twice."""
    raise NotImplementedError


def is_place(text: str) -> bool:
    """False for what stands where a place should: "N/A", "Multiple Locations", "3 Locations"."""
    raise NotImplementedError
