"""Rotation on the database: targets, which of them are called next, and what calls have taught."""
