"""Messages between a process and its reader children: length-prefixed pickles over pipes.

The parent trusts no child: a reader may have been taken over by the content it read. The parent
therefore loads plain values and the product's own data classes only, never functions.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import io
import pickle
import struct
from typing import Any

PROGRAMS = ("__main__", "cli", "sandbox")
"""Packages that are not imported for an answer."""
HEADER = struct.Struct(">I")
MAX_MESSAGE = 64 * 2**20
PLAIN = {
    ("builtins", name) for name in ("set", "frozenset")
} | {
    ("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")
} | {
    ("decimal", "Decimal"), ("uuid", "UUID"), ("collections", "OrderedDict"),
}  # fmt: skip


def encode(message: object) -> bytes:
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    if len(body) > MAX_MESSAGE:
        raise ValueError(f"a message of {len(body)} bytes is larger than {MAX_MESSAGE}")
    return HEADER.pack(len(body)) + body


def decode_untrusted(body: bytes) -> Any:
    return _DataUnpickler(io.BytesIO(body)).load()


class _DataUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        if (module_name, global_name) in PLAIN:
            return super().find_class(module_name, global_name)
        if module_name.startswith("jobmill.") and module_name.split(".")[1] not in PROGRAMS:
            named = vars(importlib.import_module(module_name)).get(global_name)
            is_here = getattr(named, "__module__", None) == module_name
            if is_here and isinstance(named, type) and _holds_data_only(named):
                return named
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not allowed in an answer")


def _holds_data_only(cls: type) -> bool:
    from pydantic import BaseModel  # Imported here, because most children never decode.

    return dataclasses.is_dataclass(cls) or issubclass(cls, enum.Enum | tuple | BaseModel)
