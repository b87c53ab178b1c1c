"""Compiles each template once for all processes of the tests: most tests create a site of their own."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from types import CodeType

import jinja2
from jinja2.bccache import Bucket

from jobmill.web import dependencies

FOLDER = "COMPILED_TEMPLATES"
"""The environment variable with the folder that the processes share."""


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Keeps what the folder has in memory, too."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._code: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get(bucket.key)
        if bucket.code is None:
            super().load_bytecode(bucket)
            self._keep(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        super().dump_bytecode(bucket)
        self._keep(bucket)

    def _keep(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._code[bucket.key] = bucket.code


def use_shared_folder() -> tempfile.TemporaryDirectory[str]:
    """Use a new folder here and in the processes that this one starts; the caller deletes it."""
    folder = tempfile.TemporaryDirectory(prefix="templates")
    os.environ[FOLDER] = folder.name
    use_folder()
    return folder


def use_folder() -> None:
    dependencies.Environment = partial(  # pyright: ignore
        jinja2.Environment, bytecode_cache=CompiledTemplates(os.environ[FOLDER])
    )


def compile_all() -> None:
    templates = dependencies.make_environment()
    for name in templates.list_templates():
        templates.get_template(name)
