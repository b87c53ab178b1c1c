"""Profiles, and how listings are judged for them."""
