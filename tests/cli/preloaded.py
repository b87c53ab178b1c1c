"""Loads all commands, and the routes and templates of the web pages, for the fork server of `forked`."""

from __future__ import annotations

import gc
import os
from importlib import import_module

from jobmill import cli
from jobmill.web import site
from tests import compiled_templates
from tests.parallel import NICENESS

for command in cli.COMMANDS:
    import_module(command.module)
site.prepare_routes()
compiled_templates.use_folder()
compiled_templates.compile_all()
os.nice(NICENESS)
# A collection would copy the pages of memory that all forks share.
gc.disable()
gc.freeze()
