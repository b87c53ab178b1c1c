"""The tables of openings, applicants, applications, blocked addresses and idempotent responses."""
