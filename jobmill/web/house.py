"""How strangers apply, and where they find us: what the operator set, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from jobmill.outside import model_tiers
from jobmill.outside.budget_ledger import BudgetCaps, read_caps
from jobmill.outside.mail import missing_setting
from jobmill.outside.model_tiers import TierStatus
from jobmill.outside.public_addresses import PrivateHosts
from jobmill.outside.webhook import allowed_private_hosts
from jobmill.settings import Settings


@dataclass(frozen=True, slots=True)
class House:
    fold_aliases: bool = False
    """Whether aliases of one mailbox are one person."""
    most_a_day: int | None = None
    """Applications of one person a day; None: as many as they like."""
    private: PrivateHosts = frozenset()
    """Where webhooks may lead although it is not public."""
    writes: bool = False
    """Whether letters can be sent."""
    base: str = ""
    """What links that we give out begin with; empty: as the request calls us."""
    caps: BudgetCaps = field(default_factory=lambda: read_caps(Settings()))
    """What models may cost."""
    seats: Sequence[TierStatus] = field(
        default_factory=lambda: model_tiers.find_tiers(Settings(), {})
    )
    """Which models are asked, and what is missing for others."""
    settings: Settings = field(default_factory=Settings, repr=False)
    """All that this process was started with."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Where the keys of models are, and the only place where they are."""

    def link(self, request: Request, path: str) -> str:
        return (self.base or str(request.base_url).rstrip("/")) + path


def of(settings: Settings, environ: Mapping[str, str] | None = None) -> House:
    """`environ` holds the keys of models."""
    return House(
        fold_aliases=settings.fold_email_aliases,
        most_a_day=settings.applications_per_person_per_day or None,
        private=allowed_private_hosts(settings),
        writes=missing_setting(settings) is None,
        base=settings.public_url,
        caps=read_caps(settings),
        seats=model_tiers.find_tiers(settings, environ or {}),
        settings=settings,
        environ=environ or {},
    )


async def _house(request: Request) -> House:
    return cast(House, request.app.state.house)


HouseRules = Annotated[House, Depends(_house)]
