"""Runs readers of untrusted content in child processes that can be killed."""

from .limits import CPU_SECONDS
from .pool import ReaderStopped, Sandbox, read_untrusted, read_untrusted_now

__all__ = ["CPU_SECONDS", "ReaderStopped", "Sandbox", "read_untrusted", "read_untrusted_now"]
