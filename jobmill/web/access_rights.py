"""What each role and each scope of an API key may do: the only place that knows.

Everything but public pages and a person's own account belongs to one workspace. A role may read a
workspace, change it, or neither. The job search is private as well: the right to it is the right to
one's own profiles and matches, whatever the role (matching/profiles.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from jobmill.errors import Forbidden
from jobmill.people.keys import KeyHolder, Scope
from jobmill.people.persons import Role

Workspace = Literal["search", "hiring", "system"]
Access = Literal["read", "change"]
Rights: TypeAlias = Mapping[Workspace, Access]

NO_RIGHTS: Rights = {}
ALL_RIGHTS: Rights = {"search": "change", "hiring": "change", "system": "change"}
ROLE_RIGHTS: Mapping[Role, Rights] = {
    "seeker": {"search": "change"},
    "viewer": {"hiring": "read"},
    "recruiter": {"hiring": "change"},
    "admin": ALL_RIGHTS,
}
"""From the fewest rights to the most."""
SCOPE_RIGHTS: Mapping[Scope, Rights] = {
    "metrics": {"hiring": "read", "system": "read"},
    "read": {"search": "read", "hiring": "read"},
    "search": {"search": "change"},
    "hiring": {"hiring": "change"},
    "admin": ALL_RIGHTS,
}

METRICS_PATH = "/metrics"
PEOPLE_PATHS = ("/people", "/api/people", "/api/keys")


def may(rights: Rights, workspace: Workspace, access: Access = "read") -> bool:
    """Whether these rights include reading or changing a workspace."""
    return rights.get(workspace) in (access, "change")


def include_role(rights: Rights, role: Role) -> bool:
    """Whether these rights include everything that a role may do."""
    return all(may(rights, workspace, access) for workspace, access in ROLE_RIGHTS[role].items())


def find_least_role(workspace: Workspace, access: Access) -> Role:
    """The role with the fewest rights that may do this."""
    for role, rights in ROLE_RIGHTS.items():
        if may(rights, workspace, access):
            return role
    return "admin"


def grant_rights(key: KeyHolder, path: str) -> Rights:
    """The rights of this key on a route, at most its owner's; Forbidden outside of its scope."""
    if key.scope == "metrics" and path != METRICS_PATH:
        raise Forbidden(f"This API key may only read {METRICS_PATH}.")
    if any(path == top or path.startswith(f"{top}/") for top in PEOPLE_PATHS):
        # Creating keys and people asks for a password, which a key does not have.
        raise Forbidden(
            "API keys cannot manage people and keys. Sign in, or use `jobmill person` and "
            "`jobmill key`."
        )
    limit = ROLE_RIGHTS[key.owner_role] if key.owner_role else ALL_RIGHTS
    return _intersect(SCOPE_RIGHTS[key.scope], limit)


def _intersect(rights: Rights, limit: Rights) -> Rights:
    return {
        workspace: "change" if access == limit[workspace] == "change" else "read"
        for workspace, access in rights.items()
        if workspace in limit
    }


def name_role(rights: Rights, owner_role: Role | None) -> Role:
    """The role that describes the rights of a key best."""
    roles: tuple[Role, ...] = ("admin", "recruiter", "viewer")
    for role in roles:
        if include_role(rights, role):
            return role
    return owner_role or "viewer"
