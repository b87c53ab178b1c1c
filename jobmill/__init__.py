"""Jobmill: the listings that fit a person, openings filled fairly, one durable work queue."""
