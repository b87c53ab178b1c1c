"""Where the work is done: remote, hybrid, on site, or not said."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.catalog.posting import Arrangement


def word(label: object) -> Arrangement | None:
    """A site's own word for it ("OnSite", "on-site", "Fully Remote"); None where it says nothing."""
    raise NotImplementedError


def decide(title: str, locations: Sequence[str], description: str | None) -> Arrangement | None:
    """What the words say where no field does: place first, then title, then text."""
    raise NotImplementedError
