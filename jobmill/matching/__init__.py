"""Whom we look for listings for, and how a listing is judged."""
