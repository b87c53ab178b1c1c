"""What a stage may use besides its work."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Database


@dataclass(frozen=True, slots=True)
class Tools:
    db: Database
