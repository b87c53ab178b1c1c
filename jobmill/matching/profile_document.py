"""Read and write profiles as YAML or JSON, and report all problems at once with their line numbers."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, TypeAlias, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from jobmill.errors import Invalid
from jobmill.matching.profile import Profile

Path: TypeAlias = tuple[str | int, ...]

MAX_LENGTH = 1_000_000
MAX_DEPTH = 12
MAX_VALUES = 50_000
"""Values in one file. Without a limit, nested YAML aliases expand one line to millions of values."""

MESSAGES = {
    "tuple_type": "should be a list",
    "string_type": 'should be text (put values such as "5" and "no" in quotes)',
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "missing": "is missing",
}
_MONTH = "a month such as 2021-03 or a year such as 2021"


def read_example() -> str:
    """A profile with every field, as YAML, for people to start from."""
    return (resources.files("jobmill.matching") / "example_profile.yaml").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class ProfileProblem:
    """A problem in a field. The line is None if the input has no lines."""

    line: int | None
    field: str
    message: str


class InvalidProfile(Invalid):
    """A text that is not a valid profile, with everything that is wrong."""

    def __init__(self, file: str, problems: list[ProfileProblem]) -> None:
        self.problems = problems
        super().__init__("; ".join(format_problem(file, problem) for problem in problems))


def format_problem(file: str, problem: ProfileProblem) -> str:
    """Format a problem as one line: `me.yaml:3: skills.1.rank should be …`."""
    place = file if problem.line is None else f"{file}:{problem.line}"
    return f"{place}: {problem.field} {problem.message}".replace("  ", " ")


def read_profile(text: str, file: str) -> Profile:
    """Read a profile from text. InvalidProfile lists everything that is wrong."""
    data, lines = parse_yaml(text, file)
    return validate(data, file, lines)


def try_read(text: str, file: str) -> Profile | list[ProfileProblem]:
    """The profile, or everything that is wrong: child processes cannot raise InvalidProfile."""
    try:
        return read_profile(text, file)
    except InvalidProfile as error:
        return error.problems


def try_parse(text: str, file: str) -> dict[str, Any] | list[ProfileProblem]:
    """The values of a document, or everything that is wrong."""
    try:
        return parse_yaml(text, file)[0]
    except InvalidProfile as error:
        return error.problems


def validate(data: object, file: str, lines: Mapping[Path, int] | None = None) -> Profile:
    """Build a profile from parsed values. InvalidProfile lists everything that is wrong."""
    try:
        return Profile.model_validate(data)
    except ValidationError as error:
        raise InvalidProfile(file, list_problems(error, lines)) from None


def list_problems(
    error: ValidationError, lines: Mapping[Path, int] | None = None
) -> list[ProfileProblem]:
    """The problems by line; entries of lists are counted from 1."""
    problems = [_problem(details, lines or {}) for details in error.errors()]
    return sorted(problems, key=lambda problem: problem.line or 0)


def to_yaml(profile: Profile) -> str:
    """Write a profile as YAML, without default values."""
    import yaml

    data = profile.model_dump(mode="json", exclude_defaults=True)
    if not data:
        return "{}\n"
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)


def parse_yaml(text: str, file: str) -> tuple[dict[str, Any], dict[Path, int]]:
    """Parse a document into values and the line number of each."""
    if len(text) > MAX_LENGTH:
        raise _invalid(file, None, f"the text is longer than {MAX_LENGTH:,} characters")
    lines: dict[Path, int] = {}
    tree = _compose(text, file)
    data: object = _YamlReader(file, lines).to_value(tree, ()) if tree is not None else {}
    # JSON is YAML, except for its surrogate escapes (emoji).
    return _mapping(_as_json(text) or data, file), lines


def parse_value(text: str, file: str) -> object:
    """Parse a single YAML value: a word, a number, a list or a mapping."""
    tree = _compose(text, file)
    return _YamlReader(file, {}).to_value(tree, ()) if tree is not None else None


def _as_json(text: str) -> object:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _mapping(data: object, file: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _invalid(file, 1, "not a profile: expected lines such as `name: value`")
    return cast(dict[str, Any], data)


def _compose(text: str, file: str) -> Any:
    import yaml

    try:
        return cast(Any, yaml).compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _invalid(file, line, f"invalid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise _invalid(file, None, f"invalid YAML: {' '.join(str(error).split())}") from error
    except RecursionError:
        raise _invalid(file, None, "not a profile: nested too deeply") from None


def _invalid(file: str, line: int | None, message: str) -> InvalidProfile:
    return InvalidProfile(file, [ProfileProblem(line, "", message)])


class _YamlReader:
    """Converts YAML nodes to values and records the line of each."""

    def __init__(self, file: str, lines: dict[Path, int]) -> None:
        import yaml

        self._loader = yaml.SafeLoader("")
        self._file = file
        self._lines = lines
        self._count = 0

    def to_value(self, node: Any, path: Path) -> object:
        line = node.start_mark.line + 1
        self._lines.setdefault(path, line)
        self._count += 1
        if len(path) > MAX_DEPTH or self._count > MAX_VALUES:
            raise _invalid(self._file, line, "not a profile: nested too deeply, or too long")
        if node.id == "mapping":
            return self._mapping_value(node, path)
        if node.id == "sequence":
            return [self.to_value(child, (*path, index)) for index, child in enumerate(node.value)]
        return self._scalar_value(node, line)

    def _mapping_value(self, node: Any, path: Path) -> dict[str, object]:
        values: dict[str, object] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = str(key.value)
            if key.id != "scalar":
                raise _invalid(
                    self._file, line, "not a profile: a field name should be a plain word"
                )
            if name in values:
                first = self._lines[*path, name]
                raise _invalid(self._file, line, f"{name} appears twice (first on line {first})")
            self._lines[*path, name] = line
            values[name] = self.to_value(value, (*path, name))
        return values

    def _scalar_value(self, node: Any, line: int) -> object:
        import yaml

        try:
            return cast(Any, self._loader).construct_object(node)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise _invalid(self._file, line, f"invalid value: {node.value!r}") from error


def _problem(error: ErrorDetails, lines: Mapping[Path, int]) -> ProfileProblem:
    path = tuple(error["loc"])
    line = next((lines[path[:upto]] for upto in range(len(path), -1, -1) if path[:upto] in lines), None)  # fmt: skip
    field = ".".join(str(part + 1) if isinstance(part, int) else part for part in path)
    return ProfileProblem(line, field, _message(error, path))


def _message(error: ErrorDetails, path: Path) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"is not a profile field{_suggest_field(path)}"
    if kind in ("value_error", "missing"):
        return MESSAGES.get(kind) or error["msg"].removeprefix("Value error, ")
    if kind in ("model_type", "model_attributes_type"):
        return "should be a group of fields (`name: value`)"
    if kind == "string_pattern_mismatch":
        expected = "three capital letters such as USD" if path[-1] == "currency" else _MONTH
        return f"should be {expected}, not {_short(error['input'])}"
    message = MESSAGES.get(kind) or error["msg"].removeprefix("Input ")
    return f"{message}, not {_short(error['input'])}"


def _short(value: object) -> str:
    if isinstance(value, list | dict | tuple):
        return "a list" if not isinstance(value, dict) else "a group of fields"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _suggest_field(path: Path) -> str:
    """Suggest the field that was probably meant, among its neighbours."""
    model: Any = Profile
    for part in path[:-1]:
        if isinstance(part, str):
            model = model_of(model.model_fields[part].annotation)
    names = list(model.model_fields)
    close = difflib.get_close_matches(str(path[-1]), names, n=1)
    return f": did you mean {close[0]}?" if close else f"; the fields are {', '.join(names)}"


def model_of(annotation: Any) -> type[BaseModel] | None:
    """The model of a field that holds one or a list of them; None for plain values."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_of, get_args(annotation))), None)
