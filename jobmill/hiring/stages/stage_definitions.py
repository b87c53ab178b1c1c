"""The stages that an opening defines for applications with a slot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from jobmill.errors import Invalid, NotFound
from jobmill.hiring.records.openings import OpeningTerms

StageKind = Literal["open", "hired", "rejected"]
"""`hired` keeps the slot like `open`; `rejected` ends the application and frees its slot."""

KINDS: Mapping[str, StageKind] = {kind: kind for kind in get_args(StageKind)}
KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MAX_STAGES = 20
MAX_NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class OpeningStage:
    key: str
    """Stays the same when the stage is renamed."""
    name: str
    kind: StageKind


DEFAULT_STAGES: Sequence[OpeningStage] = (
    OpeningStage("screen", "Screen", "open"),
    OpeningStage("interview", "Interview", "open"),
    OpeningStage("offer", "Offer", "open"),
    OpeningStage("hired", "Hired", "hired"),
    OpeningStage("rejected", "Rejected", "rejected"),
)


class StageNotFound(NotFound):
    def __init__(self, key: str) -> None:
        Exception.__init__(self, f"This opening has no stage {key}")


def list_stages(terms: OpeningTerms) -> Sequence[OpeningStage]:
    if terms.stages is None:
        return DEFAULT_STAGES
    return [_parse(stage) for stage in terms.stages]


def get_stage(terms: OpeningTerms, key: str | None) -> OpeningStage:
    """The stage with this key, or the first one; raises StageNotFound."""
    stages = list_stages(terms)
    if key is None:
        return stages[0]
    for stage in stages:
        if stage.key == key:
            return stage
    raise StageNotFound(key)


def validate_stages(stages: Sequence[Mapping[str, str]] | None) -> list[dict[str, str]] | None:
    """Normalize the definitions; None if they are the default. Raises Invalid."""
    if stages is None:
        return None
    parsed = [_parse(stage) for stage in stages]
    if not 1 <= len(parsed) <= MAX_STAGES:
        raise Invalid(f"An opening has 1 to {MAX_STAGES} stages.")
    if parsed[0].kind == "rejected":
        raise Invalid("The first stage cannot be one that ends applications.")
    for what, values in (
        ("key", [stage.key for stage in parsed]),
        ("name", [stage.name.casefold() for stage in parsed]),
    ):
        if len(set(values)) < len(values):
            raise Invalid(f"Two stages have the same {what}.")
    return None if parsed == list(DEFAULT_STAGES) else [asdict(stage) for stage in parsed]


def _parse(stage: Mapping[str, str]) -> OpeningStage:
    key, name = stage.get("key", ""), " ".join(stage.get("name", "").split())
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise Invalid(f"The name of a stage has 1 to {MAX_NAME_LENGTH} characters.")
    if not KEY.fullmatch(key):
        raise Invalid(f"The key of the stage {name} should be such as first-interview.")
    kind = KINDS.get(stage.get("kind", ""))
    if kind is None:
        raise Invalid(f"The kind of the stage {name} should be open, hired or rejected.")
    return OpeningStage(key, name, kind)


def make_key(name: str, taken: Sequence[str]) -> str:
    """A new key for a stage of this name."""
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30] or "stage"
    candidates = [base, *(f"{base}-{number}" for number in range(2, MAX_STAGES + 2))]
    return next(key for key in candidates if key not in taken)
