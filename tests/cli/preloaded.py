"""Loads all commands, and the routes and templates of the web pages, for the fork server of `forked`."""

from __future__ import annotations

import errno
import gc
import os
import socket
from importlib import import_module
from multiprocessing import reduction

from jobmill import cli
from jobmill.web import site
from tests import compiled_templates
from tests.parallel import NICENESS

_receive_files = reduction.recvfds


def receive_files(client: socket.socket, size: int) -> list[int]:
    """Tests kill processes, also while these ask for a fork. Only this error does not end the fork server."""
    try:
        return _receive_files(client, size)
    except EOFError as error:
        raise OSError(errno.ECONNABORTED, "the client has ended") from error


reduction.recvfds = receive_files

for command in cli.COMMANDS:
    import_module(command.module)
site.prepare_routes()
compiled_templates.use_folder()
compiled_templates.compile_all()
os.nice(NICENESS)
# A collection would copy the pages of memory that all forks share.
gc.disable()
gc.freeze()
