"""How senior a posting is."""

from __future__ import annotations

from jobmill.catalog.posting import Seniority


def word(label: object) -> Seniority | None:
    """A site's own label ("Mid-Senior Level", "entry_level")."""
    raise NotImplementedError


def from_title(title: str) -> Seniority | None:
    """What the title says ("Senior Manager" is management; numerals; E5, IC4)."""
    raise NotImplementedError
