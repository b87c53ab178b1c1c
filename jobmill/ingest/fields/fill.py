"""What the words of a posting say where its fields are silent."""

from __future__ import annotations

from jobmill.catalog.posting import Posting


def fill(posting: Posting) -> Posting:
    """The posting with locations, arrangement, seniority, salary and requirements read from its words,
    each only where no field gave it."""
    raise NotImplementedError
