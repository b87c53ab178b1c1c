"""The settings that web handlers use, resolved once when the process starts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal, Self, cast

from fastapi import Depends, Request

from jobmill.db import Tx
from jobmill.hiring.records.apply_limits import NO_LIMITS, PublicApplyLimits
from jobmill.outside import model_tiers
from jobmill.outside.budget_ledger import BudgetCaps, read_caps
from jobmill.outside.mail import missing_setting
from jobmill.outside.model_tiers import TierStatus
from jobmill.outside.public_addresses import PrivateHosts
from jobmill.outside.webhook import allowed_private_hosts
from jobmill.people.sessions import IDLE_LIFETIME
from jobmill.pipelines.model_configuration import read_configuration
from jobmill.settings import Settings


@dataclass(frozen=True, slots=True)
class SiteSettings:
    fold_aliases: bool = False
    """Whether email aliases of one mailbox count as one person."""
    applications_per_day: int | None = None
    """Limit per person; None: no limit."""
    session_idle: dt.timedelta = IDLE_LIFETIME
    """How long a session lasts without use."""
    public_apply_limits: PublicApplyLimits = NO_LIMITS
    confirm_address: Literal["before", "within", "off"] = "off"
    """`off` without a mail server."""
    confirm_window: dt.timedelta = dt.timedelta(days=1)
    proof_of_work_bits: int = 0
    private_webhook_hosts: PrivateHosts = frozenset()
    """Private addresses that webhooks may call."""
    sends_mail: bool = False
    bundled_data_dir: Path | None = None
    """The folder of the bundled database; None if the database is elsewhere."""
    public_url: str = ""
    """The start of links in letters; empty: the host of the request."""
    caps: BudgetCaps = field(default_factory=lambda: read_caps(Settings()))
    """Budget limits of language models."""
    tiers: Sequence[TierStatus] = field(
        default_factory=lambda: model_tiers.find_tiers(Settings(), {})
    )
    """The language models, and what each still needs."""
    settings: Settings = field(default_factory=Settings, repr=False)
    """All settings of this process."""
    at_start: Settings | None = field(default=None, repr=False)
    """What the environment and the file said when the process started; the command line and a demo
    may have replaced some of it. None: the same as `settings`."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The environment, which holds the API keys of language models."""

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        environ: Mapping[str, str] | None = None,
        at_start: Settings | None = None,
    ) -> Self:
        environ = environ or {}
        sends_mail = missing_setting(settings) is None
        return cls(
            fold_aliases=settings.fold_email_aliases,
            applications_per_day=settings.applications_per_person_per_day or None,
            session_idle=dt.timedelta(hours=settings.session_idle_hours),
            public_apply_limits=PublicApplyLimits(
                settings.applications_per_opening_per_hour,
                settings.applications_per_network_per_hour,
                settings.applications_per_domain_per_hour,
            ),
            confirm_address=settings.confirm_address if sends_mail else "off",
            confirm_window=dt.timedelta(hours=settings.confirm_hours),
            proof_of_work_bits=settings.proof_of_work_bits,
            private_webhook_hosts=allowed_private_hosts(settings),
            sends_mail=sends_mail,
            bundled_data_dir=None if settings.database_url else settings.data_dir,
            public_url=settings.public_url,
            caps=read_caps(settings),
            tiers=model_tiers.find_tiers(settings, environ),
            settings=settings,
            at_start=at_start,
            environ=environ,
        )

    async def with_stored(self, tx: Tx) -> Self:
        """The same with the models, budgets and keys that were saved since the process started."""
        current = await read_configuration(tx, self.settings, self.environ)
        if (current.settings, current.environ) == (self.settings, self.environ):
            return self
        return replace(
            self,
            caps=read_caps(current.settings),
            tiers=model_tiers.find_tiers(current.settings, current.environ),
            settings=current.settings,
            environ=current.environ,
        )

    def link(self, request: Request, path: str) -> str:
        return (self.public_url or str(request.base_url).rstrip("/")) + path


def get_site_settings(request: Request) -> SiteSettings:
    return cast(SiteSettings, request.app.state.site_settings)


# Not `def`: FastAPI would run it in a thread.
async def _site_settings(request: Request) -> SiteSettings:
    return get_site_settings(request)


CurrentSiteSettings = Annotated[SiteSettings, Depends(_site_settings)]
