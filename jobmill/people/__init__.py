"""Accounts, API keys, sessions, and the key that signs links."""
