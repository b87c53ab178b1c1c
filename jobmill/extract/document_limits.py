"""Limits within which PDF and DOCX files of strangers are read."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import Any

MAX_UNPACKED_SIZE = 60_000_000
"""Bytes of a DOCX, unpacked."""
MAX_PARTS = 2_000
MAX_PAGES = 60
PDF_LIMITS: dict[str, Any] = {
    "stream_parsing_work_maximum_count": 150_000,
    "zlib_maximum_output_length": 10_000_000,
    "lzw_maximum_output_length": 10_000_000,
    "run_length_maximum_output_length": 10_000_000,
    "array_based_stream_maximum_output_length": 10_000_000,
    "page_tree_maximum_entries": 1_000,
    "xform_maximum_invocations_per_extraction": 50,
    # Do not start an external program to decode images.
    "jbig2dec_binary": None,
}
"""A full page takes about 5,000 steps and 50 kB."""

PARSE_ERRORS = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError, SyntaxError,
    AssertionError, OSError, EOFError, MemoryError, zlib.error, struct.error, zipfile.BadZipFile,
)  # fmt: skip
"""Exceptions that the parsing libraries raise on malformed or malicious files."""

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
