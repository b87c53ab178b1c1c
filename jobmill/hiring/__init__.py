"""Openings with a limited number of slots, a fair waitlist, offers with deadlines, and an audit log."""
