"""Runs readers of untrusted content in child processes that can be killed."""

from .pool import ReaderStopped, Sandbox, read_untrusted, read_untrusted_now

__all__ = ["ReaderStopped", "Sandbox", "read_untrusted", "read_untrusted_now"]
