"""Generates docs/reference/commands.md from the commands: python -m scripts.commands"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import typer

from jobmill.cli import app
from jobmill.cli.support.lazy_commands import LazyGroup

COMMANDS = Path("docs/reference/commands.md")

INTRO = """\
# Commands

Made from the commands themselves by `python -m scripts.commands`.

Every command has `--help`. Those that show something have `--json`: one JSON value on standard
output, for programs. What is said to people besides (hints, the log) goes to standard error.

| exit code | means |
|---|---|
| 0 | done |
| 1 | a check found something wrong, or a part of a process crashed |
| 2 | wrong usage, input or settings |
| 3 | what was named is not there |
| 4 | it is in a state that forbids this, or somebody else does it already |
| 5 | the database, or something else that is needed, does not answer |
| 130 | ended at once, by a second Ctrl-C |
"""


def commands_page() -> str:
    root = cast(LazyGroup, typer.main.get_command(app))
    root.load_all()
    return INTRO + "".join(_sections(root, "jobmill"))


def _sections(command: Any, path: str) -> Iterator[str]:
    context = command.make_context(path, [], resilient_parsing=True)
    params = [param for param in command.get_params(context) if param.name != "help"]
    inner = getattr(command, "commands", {})
    arguments = [_name(param, context) for param in params if _is_argument(param)]
    yield f"\n{'##' if inner else '###'} `{' '.join([path, *arguments])}`\n\n{command.help}\n"
    if params:
        yield "\n| | |\n|---|---|\n"
        yield from (_line(param, context) for param in params)
    # The commands of a group come before its subgroups, or they would seem to belong to one.
    for name, subcommand in sorted(inner.items(), key=lambda pair: hasattr(pair[1], "commands")):
        yield from _sections(subcommand, f"{path} {name}")


def _is_argument(param: Any) -> bool:
    return param.param_type_name == "argument"


def _name(param: Any, context: Any) -> str:
    if _is_argument(param):
        return f"{param.metavar or param.name.upper()}{' …' if param.nargs == -1 else ''}"
    return param.get_help_record(context)[0]


def _line(param: Any, context: Any) -> str:
    _, meaning = param.get_help_record(context)
    for noise in ("  [required]", "  [x>=1]", "  [x>=1; required]"):
        meaning = meaning.removesuffix(noise)
    return f"| `{_cell(_name(param, context))}` | {_cell(meaning)} |\n"


def _cell(text: str) -> str:
    """Escape bars, which end a cell of a Markdown table even inside code."""
    return text.replace("|", "\\|").replace("  [", " [")


if __name__ == "__main__":
    COMMANDS.parent.mkdir(parents=True, exist_ok=True)
    COMMANDS.write_text(commands_page(), encoding="utf-8")
