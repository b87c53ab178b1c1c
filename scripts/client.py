"""Generates jobmill/client/models.py and operations.py from the OpenAPI description: python -m scripts.client"""

from __future__ import annotations

import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from jobmill.web.api import router

FOLDER = Path("jobmill/client")
SKIPPED = {"Problem", "ProblemText", "ProblemDetails", "WrongField"}
"""The transport reads these itself."""
JSON = "application/json"
IF_MATCH = "If-Match"
FORMATS = {"date-time": "dt.datetime", "date": "dt.date", "uuid": "UUID"}
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
NO_RETRY = {"signIn", "signOut"}

METHOD_NAMES = {
    "accept": "accept_application",
    "acknowledge": "accept_offer",
    "addNote": "add_review_note",
    "apply": "apply_for_job",
    "applyPublic": "apply_as_public",
    "block": "block_address",
    "book": "book_interview",
    "cancelBooking": "cancel_interview_booking",
    "changeMany": "change_applications",
    "decline": "decline_offer",
    "deleteNote": "delete_review_note",
    "draw": "draw_lottery",
    "editNote": "edit_review_note",
    "listEvents": "list_job_events",
    "markRead": "mark_mention_read",
    "promote": "promote_application",
    "rate": "rate_application",
    "reject": "reject_application",
    "remove": "remove_application",
    "score": "score_application",
    "showAnswers": "show_application_answers",
    "showChoice": "show_interview_choice",
    "showQueue": "show_waitlist",
    "showStatus": "show_applicant_status",
    "showSummary": "show_job_summary",
    "showTimeline": "show_applicant_timeline",
    "unblock": "unblock_address",
    "withdraw": "withdraw_application",
}
"""Names of methods with an operation id that is too general."""

MODELS_INTRO = '''\
"""Request and response bodies. `make fmt` generates this module from the API; do not edit it."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class ApiModel(BaseModel):
    """Fields that a newer server adds are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True
    )
'''

OPERATIONS_INTRO = '''\
"""One method per API operation. `make fmt` generates this module from the API; do not edit it."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal
from uuid import UUID

from jobmill.client import models
from jobmill.client.transport import Transport


class Operations:
    """The operations, by the names that the API gives them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
'''

Node = Mapping[str, Any]


def generate() -> dict[str, str]:
    """The source of each module, by its file name."""
    description: Any = router.description()
    schemas: Mapping[str, Node] = description["components"]["schemas"]
    models = [_model(name, schemas[name]) for name in sorted(schemas) if name not in SKIPPED]
    methods = [
        _method(path, verb, operation)
        for path, verbs in sorted(description["paths"].items())
        for verb, operation in verbs.items()
    ]
    return {
        "models.py": _format(MODELS_INTRO + "".join(models)),
        "operations.py": _format(OPERATIONS_INTRO + "".join(methods)),
    }


def _format(source: str) -> str:
    """As `make fmt` would, so that a test can compare; unused imports are removed."""
    for arguments in (
        ["check", "--select", "F401", "--fix", "--exit-zero", "-q"],
        ["format", "-q"],
    ):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", "client.py", "-"]
        source = subprocess.run(
            command, input=source, capture_output=True, text=True, check=True
        ).stdout
    return source


def to_python_type(schema: Node, prefix: str = "") -> str:
    """The annotation of a value; `prefix` stands before the names of models."""
    match schema:
        case {"$ref": ref}:
            return prefix + _class_name(str(ref).rpartition("/")[2])
        case {"anyOf": options}:
            return " | ".join(dict.fromkeys(to_python_type(option, prefix) for option in options))
        case {"const": value}:
            return f"Literal[{value!r}]"
        case {"enum": values}:
            return f"Literal[{', '.join(map(repr, values))}]"
        case {"type": "array"}:
            return f"list[{to_python_type(schema.get('items', {}), prefix)}]"
        case {"type": "object", "additionalProperties": dict() as inner}:
            return f"dict[str, {to_python_type(inner, prefix)}]"
        case {"type": "object"}:
            return "dict[str, Any]"
        case {"type": "string", "format": format} if format in FORMATS:
            return FORMATS[format]
        case _:
            return TYPES.get(str(schema.get("type")), "Any")


def to_python_name(name: str) -> str:
    """`match_id` for `matchId`."""
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower().replace("-", "_")
    return f"{snake}_" if keyword.iskeyword(snake) else snake


def _class_name(schema: str) -> str:
    """The server has classes of its own with the names of the schemas."""
    return f"Api{schema}"


def _model(name: str, schema: Node) -> str:
    lines = [f"\n\nclass {_class_name(name)}(ApiModel):"]
    if text := schema.get("description"):
        lines.append(_docstring(text))
    required = set(schema.get("required", ()))
    # Fields without a default come first.
    fields = sorted(
        schema.get("properties", {}).items(), key=lambda field: field[0] not in required
    )
    for field, value in fields:
        lines.append(_field(field, value, field in required))
        if text := value.get("description"):
            lines.append(_docstring(text))
    if not fields and not schema.get("description"):
        lines.append("    pass")
    return "\n".join(lines) + "\n"


def _field(name: str, schema: Node, required: bool) -> str:
    python_name, kind = to_python_name(name), to_python_type(schema)
    alias = "" if to_camel(python_name) == name else f"alias={name!r}"
    default = schema.get("default")
    if required:
        value = f" = Field({alias})" if alias else ""
        return f"    {python_name}: {kind}{value}"
    if isinstance(default, list | dict):
        default = None
    if default is None and "None" not in kind.split(" | "):
        kind += " | None"
    value = f"Field({default!r}, {alias})" if alias else repr(default)
    return f"    {python_name}: {kind} = {value}"


def _docstring(text: str, indent: str = "    ") -> str:
    words = " ".join(text.split()).replace("\\", "\\\\")
    lines = textwrap.wrap(words, 96 - len(indent))
    body = f"\n{indent}".join(lines)
    return f'{indent}"""{body}"""' if not body.endswith('"') else f'{indent}"""{body} """'


def _parameters(operation: Node, place: str) -> Iterator[Node]:
    return (part for part in operation.get("parameters", ()) if part["in"] == place)


def _method(path: str, verb: str, operation: Node) -> str:
    id = operation["operationId"]
    name = METHOD_NAMES.get(id, to_python_name(id))
    arguments, call = ["self"], [repr(verb.upper()), _path(path)]
    arguments += [
        f"{to_python_name(part['name'])}: {to_python_type(part['schema'])}"
        for part in _parameters(operation, "path")
    ]
    if body := _body(operation):
        arguments.append(body[0])
        call.append(body[1])
    keywords, query = _query(operation)
    call += query
    if any(part["name"] == IF_MATCH for part in _parameters(operation, "header")):
        keywords.append("if_match: int | str | None = None")
        call.append("if_match=if_match")
    if keywords:
        arguments += ["*", *keywords]
    returned = _returned(operation)
    call.append(f"returns={returned}" if returned != "None" else "returns=type(None)")
    if id in NO_RETRY:
        call.append("once=False")
    lines = [
        f"\n    def {name}({', '.join(arguments)}) -> {returned}:",
        _docstring(operation["description"], "        "),
        f"        return self._transport.send({', '.join(call)})",
    ]
    return "\n".join(lines) + "\n"


def _path(path: str) -> str:
    filled = re.sub(
        r"\{(\w+)\}",
        lambda match: "{self._transport.quote(" + to_python_name(match[1]) + ")}",
        path,
    )
    return f"f{filled!r}" if "{" in path else repr(path)


def _body(operation: Node) -> tuple[str, str] | None:
    """The argument for the body, and how it is passed on."""
    content = operation.get("requestBody", {}).get("content", {})
    if JSON in content:
        return f"body: {to_python_type(content[JSON]['schema'], 'models.')}", "body=body"
    if content:
        [media_type] = content
        return "content: bytes", f"content=content, content_type={media_type!r}"
    return None


def _query(operation: Node) -> tuple[list[str], list[str]]:
    """The arguments for query parameters, and how they are passed on."""
    keywords: list[str] = []
    pairs: list[str] = []
    for part in _parameters(operation, "query"):
        name, kind = to_python_name(part["name"]), to_python_type(part["schema"])
        if part.get("required"):
            keywords.append(f"{name}: {kind}")
        else:
            optional = kind if "None" in kind.split(" | ") else f"{kind} | None"
            keywords.append(f"{name}: {optional} = None")
        pairs.append(f"{part['name']!r}: {name}")
    return keywords, [f"query={{{', '.join(pairs)}}}"] if pairs else []


def _returned(operation: Node) -> str:
    kinds = [
        to_python_type(reply["content"][JSON]["schema"], "models.")
        if JSON in reply.get("content", {})
        else ("bytes" if reply.get("content") else "None")
        for status, reply in operation["responses"].items()
        if status.startswith("2")
    ]
    return " | ".join(dict.fromkeys(kinds))


if __name__ == "__main__":
    for file, source in generate().items():
        (FOLDER / file).write_text(source, encoding="utf-8")
