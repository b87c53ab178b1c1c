"""Profiles as people write them: YAML or JSON, with all problems told at once and by line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from jobmill.errors import Invalid
from jobmill.matching.profile import Profile

Path: TypeAlias = tuple[str | int, ...]

LONGEST = 1_000_000
DEEPEST = 12
MOST = 50_000
"""Values in one file: an alias of an alias of an alias makes millions out of a line."""

PLAIN = {
    "tuple_type": "should be a list",
    "string_type": "should be a text, in quotes where it looks like something else",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "missing": "is missing",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong where; the line is None where the file gives none."""

    line: int | None
    field: str
    message: str


class BadProfile(Invalid):
    """A text that is no profile, with all that is wrong."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(say(file, problem) for problem in problems))


def say(file: str, problem: Problem) -> str:
    """A problem in one line: `me.yaml:3: skills.1.rank should be …`."""
    place = file if problem.line is None else f"{file}:{problem.line}"
    return f"{place}: {problem.field} {problem.message}".replace("  ", " ")


def read(text: str, file: str) -> Profile:
    """The profile that a text holds; BadProfile names everything that is wrong."""
    data, lines = parse(text, file)
    return check(data, file, lines)


def check(data: object, file: str, lines: Mapping[Path, int] | None = None) -> Profile:
    """The profile that values make; BadProfile names everything that is wrong."""
    try:
        return Profile.model_validate(data)
    except ValidationError as error:
        problems = [_problem(one, lines or {}) for one in error.errors()]
        raise BadProfile(file, sorted(problems, key=lambda one: one.line or 0)) from None


def write(profile: Profile) -> str:
    """The profile as YAML, without what is at its default."""
    import yaml

    data = profile.model_dump(mode="json", exclude_defaults=True)
    if not data:
        return "{}\n"
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)


def parse(text: str, file: str) -> tuple[dict[str, Any], dict[Path, int]]:
    """What a text says, and the line of each part."""
    if len(text) > LONGEST:
        raise _bad(file, None, f"it is longer than {LONGEST:,} characters")
    lines: dict[Path, int] = {}
    tree = _compose(text, file)
    data: object = _Walk(file, lines).plain(tree, ()) if tree is not None else {}
    # JSON is YAML, but for the way in which it writes emoji.
    return _mapping(_as_json(text) or data, file), lines


def parse_value(text: str, file: str) -> object:
    """What a text says that stands alone: a word, a number, a list or a group."""
    tree = _compose(text, file)
    return _Walk(file, {}).plain(tree, ()) if tree is not None else None


def _as_json(text: str) -> object:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _mapping(data: object, file: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _bad(file, 1, "not a profile: it should be lines of `name: value`")
    return cast(dict[str, Any], data)


def _compose(text: str, file: str) -> Any:
    import yaml

    try:
        return cast(Any, yaml).compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _bad(file, line, f"not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise _bad(file, None, f"not YAML: {' '.join(str(error).split())}") from error
    except RecursionError:
        raise _bad(file, None, "not a profile: too deeply nested") from None


def _bad(file: str, line: int | None, message: str) -> BadProfile:
    return BadProfile(file, [Problem(line, "", message)])


class _Walk:
    """Turns the nodes of YAML into values, and notes the line of each."""

    def __init__(self, file: str, lines: dict[Path, int]) -> None:
        import yaml

        self._loader = yaml.SafeLoader("")
        self._file = file
        self._lines = lines
        self._count = 0

    def plain(self, node: Any, path: Path) -> object:
        line = node.start_mark.line + 1
        self._lines.setdefault(path, line)
        self._count += 1
        if len(path) > DEEPEST or self._count > MOST:
            raise _bad(self._file, line, "not a profile: too deeply nested, or too long")
        if node.id == "mapping":
            return self._group(node, path)
        if node.id == "sequence":
            return [self.plain(one, (*path, number)) for number, one in enumerate(node.value)]
        return self._scalar(node, line)

    def _group(self, node: Any, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = str(key.value)
            if key.id != "scalar":
                raise _bad(self._file, line, "not a profile: a name should be a word")
            if name in found:
                first = self._lines[*path, name]
                raise _bad(self._file, line, f"{name} stands there twice (first in line {first})")
            self._lines[*path, name] = line
            found[name] = self.plain(value, (*path, name))
        return found

    def _scalar(self, node: Any, line: int) -> object:
        import yaml

        try:
            return cast(Any, self._loader).construct_object(node)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise _bad(self._file, line, f"not YAML: {node.value!r} means nothing") from error


def _problem(error: ErrorDetails, lines: Mapping[Path, int]) -> Problem:
    path = tuple(error["loc"])
    known = next((lines[path[:upto]] for upto in range(len(path), -1, -1) if path[:upto] in lines), None)  # fmt: skip
    field = ".".join(str(part + 1) if isinstance(part, int) else part for part in path)
    return Problem(known, field, _message(error, path))


def _message(error: ErrorDetails, path: Path) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"is no field of a profile{_close(path)}"
    if kind in ("value_error", "missing"):
        return PLAIN.get(kind) or error["msg"].removeprefix("Value error, ")
    if kind in ("model_type", "model_attributes_type"):
        return "should be a group of `name: value`"
    if kind == "string_pattern_mismatch":
        return f"should be three capital letters such as USD, not {_short(error['input'])}"
    message = PLAIN.get(kind) or error["msg"].removeprefix("Input ")
    return f"{message}, not {_short(error['input'])}"


def _short(given: object) -> str:
    if isinstance(given, list | dict | tuple):
        return "a list" if not isinstance(given, dict) else "a group"
    text = ascii(given)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _close(path: Path) -> str:
    """The field that was probably meant, among those that stand beside it."""
    model: Any = Profile
    for part in path[:-1]:
        if isinstance(part, str):
            model = model_of(model.model_fields[part].annotation)
    known = list(model.model_fields)
    close = difflib.get_close_matches(str(path[-1]), known, n=1)
    return f": did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"


def model_of(annotation: Any) -> type[BaseModel] | None:
    """The part of a profile that a field holds, alone or in a list; None where it is a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_of, get_args(annotation))), None)
