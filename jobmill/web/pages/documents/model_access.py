"""Whether a model can reword documents, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.outside import budget_ledger, model_endpoint
from jobmill.outside.model_question import ModelBlocked
from jobmill.pipelines.model_configuration import read_configuration
from jobmill.web.site_settings import SiteSettings


@dataclass(frozen=True, slots=True)
class ModelAccess:
    model: str
    """Empty if none can be asked."""
    reason: str
    """Why not."""
    day_budget: float
    left_today: float


async def find_model_access(tx: Tx, site_settings: SiteSettings) -> ModelAccess:
    current = await read_configuration(tx, site_settings.settings, site_settings.environ)
    endpoint = model_endpoint.find_endpoint("strong", current.settings, current.environ)
    day_budget = float(budget_ledger.read_caps(current.settings).day)
    spending = await budget_ledger.read_spending(tx, "day")
    left = max(0.0, day_budget - spending.spent - spending.reserved)
    if isinstance(endpoint, ModelBlocked):
        return ModelAccess("", endpoint.detail, day_budget, left)
    return ModelAccess(endpoint.name, "", day_budget, left)
