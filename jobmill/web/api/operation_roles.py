"""The role that each operation of the API needs, for its description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

from jobmill.people.persons import Role
from jobmill.web import auth

RequiredRole: TypeAlias = Role | Literal["any", "none"]
"""`any`: every account or API key; `none`: no sign-in."""

REQUIRED = "x-required-role"
FOR_APPLICANTS = "x-applicant-allowed"
GUARDS: Mapping[object, RequiredRole] = {
    auth.seeker: "seeker",
    auth.viewer: "viewer",
    auth.recruiter: "recruiter",
    auth.admin: "admin",
    auth.search_admin: "admin",
    auth.signed_in: "any",
}
"""Dependencies that check a role."""


def or_applicant(role: RequiredRole) -> dict[str, Any]:
    """`openapi_extra` of an operation that checks in its code: this role, or the applicant concerned."""
    return {REQUIRED: role, FOR_APPLICANTS: True}


def find_roles(routes: Sequence[BaseRoute]) -> dict[tuple[str, str], RequiredRole]:
    """The role that the dependencies of each operation check, by path and method."""
    roles: dict[tuple[str, str], RequiredRole] = {}
    for route in iter_route_contexts(routes):
        role = _find_role(cast(Dependant, route.dependant))
        roles |= {(str(route.path), method.lower()): role for method in route.methods or ()}
    return roles


def _find_role(dependant: Dependant) -> RequiredRole:
    for call in _find_calls(dependant):
        if call in GUARDS:
            return GUARDS[call]
    return "none"


def _find_calls(dependant: Dependant) -> Iterator[object]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from _find_calls(inner)


def describe_role(operation: Mapping[str, Any]) -> str:
    """Such as `recruiter, or the applicant`."""
    role = operation[REQUIRED]
    return f"{role}, or the applicant" if operation.get(FOR_APPLICANTS) else role
