"""Helpers that commands share: output, input, files, sessions and lookups."""
