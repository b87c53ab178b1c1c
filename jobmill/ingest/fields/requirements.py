"""The part of a posting that says what is asked for."""

from __future__ import annotations


def find(description: str | None) -> str | None:
    """The sections under headings such as "Requirements", "What you bring", "Ihr Profil"; None without one."""
    raise NotImplementedError
