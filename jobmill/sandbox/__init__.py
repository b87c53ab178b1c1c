"""Runs readers of untrusted content in child processes that can be killed."""

from .pool import ReaderStopped, Sandbox

__all__ = ["ReaderStopped", "Sandbox"]
