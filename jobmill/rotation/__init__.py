"""Chooses which sources are read next and learns from every read."""
