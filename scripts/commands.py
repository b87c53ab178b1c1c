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

Every command has `--help`. Commands that print data have `--json`: one JSON value on standard output,
or one per line for lists and for commands that take several inputs. Hints and the log go to standard
error. [Compatibility](compatibility.md) names the output that programs may rely on. `make fmt` generates
this page from the commands.

| exit code | means |
|---|---|
| 0 | success |
| 1 | a check failed, or a part of the process crashed |
| 2 | invalid usage, input or settings |
| 3 | not found |
| 4 | conflict: the current state does not allow it, or it is already being done |
| 5 | unavailable: the database or another required service does not respond |
| 130 | stopped immediately by a second Ctrl-C |
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
        name = param.metavar or param.name.upper()
        return f"{name if param.required else f'[{name}]'}{' …' if param.nargs == -1 else ''}"
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
