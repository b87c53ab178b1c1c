"""A command group that imports the module of a command only when that command is used."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup


class LazyCommand(TyperCommand):
    """A command or group that the help page lists without importing its module."""

    def __init__(self, name: str, target: str, summary: str) -> None:
        """`target` is `module:attribute` below `jobmill.cli`: a `Typer`, or a function."""
        super().__init__(name, help=summary)
        self.command_name = name
        self.module, _, self.attribute = f"jobmill.cli.{target}".partition(":")

    def load(self) -> Any:
        """Import the module and build the command that Typer would have built."""
        # Modules stay for as long as the process: searching them for garbage again and again takes a
        # sixth of the time to load them.
        gc.disable()
        try:
            target = getattr(import_module(self.module), self.attribute)
        finally:
            gc.freeze()
            gc.enable()
        parent = typer.Typer()
        if isinstance(target, typer.Typer):
            parent.add_typer(target, name=self.command_name, help=self.help)
        else:
            parent.command(self.command_name)(target)
        return typer.main.get_group(parent).commands[self.command_name]

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse with the real command; the group then invokes the command of this context."""
        return self.load().make_context(info_name, args, parent, **extra)


class LazyGroup(TyperGroup):
    """The root group, with the commands of `lazy_commands` in their order."""

    lazy_commands: tuple[LazyCommand, ...] = ()

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for command in self.lazy_commands:
            self.add_command(command)

    def load_all(self) -> None:
        """Replace every lazy command by the real one, to walk the whole tree."""
        for command in self.lazy_commands:
            self.add_command(command.load(), command.command_name)
