"""Notifications to people with an account and to the local user; applicants get letters (hiring/messages)."""
