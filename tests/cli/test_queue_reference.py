from __future__ import annotations

from jobmill.cli import EXIT_CODES
from jobmill.cli.servers.supervisor import STOPPED_AT_ONCE
from scripts import commands


def test_the_command_reference_is_up_to_date() -> None:
    """To update it: python -m scripts.commands"""
    assert commands.COMMANDS.read_text("utf-8") == commands.commands_page()


def test_the_command_reference_explains_every_exit_code() -> None:
    for code in (0, STOPPED_AT_ONCE, *EXIT_CODES.values()):
        assert f"\n| {code} | " in commands.INTRO
