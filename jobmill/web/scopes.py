"""What API keys may do: the only place that knows their scopes."""

from __future__ import annotations

from jobmill.errors import Forbidden
from jobmill.people.keys import KeyHolder, Scope
from jobmill.people.persons import Role

ROLES: dict[Scope, Role] = {
    "metrics": "admin",
    "read": "viewer",
    "hiring": "recruiter",
    "admin": "admin",
}
"""The role that a key has on the routes of its scope."""

RANKS: dict[Role | None, int] = {None: 0, "viewer": 1, "recruiter": 2, "admin": 3}

METRICS_PATH = "/metrics"
PEOPLE_PATH = "/people"


def grant_role(key: KeyHolder, path: str) -> Role:
    """The role of this key on a route, at most its owner's; Forbidden outside of its scope."""
    if key.scope == "metrics" and path != METRICS_PATH:
        raise Forbidden(f"This API key may only read {METRICS_PATH}.")
    if path == PEOPLE_PATH or path.startswith(f"{PEOPLE_PATH}/"):
        # Creating keys and people asks for a password, which a key does not have.
        raise Forbidden(
            "API keys cannot manage people and keys. Sign in, or use `jobmill person` and "
            "`jobmill key`."
        )
    role = ROLES[key.scope]
    return min(role, key.owner_role or role, key=RANKS.__getitem__)
