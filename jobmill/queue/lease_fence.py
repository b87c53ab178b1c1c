"""The lease fence: SQL that lets a worker change an item only while it holds the claim.

A claim is (item id, attempt, worker). Every claim increments the attempt, and a worker that loses its lease
registers again under a new id, so a stale claim matches no row. Each statement that ends or moves an item
is built from these fragments, and `tests/queue/test_lease_fence.py` runs each of them with stale claims.
"""

from __future__ import annotations

from typing import LiteralString

LEASE_STANDS: LiteralString = """
    EXISTS (SELECT FROM queue.worker
             WHERE worker.id = %(worker)s AND ended_at IS NULL AND heartbeat_at + lease > now())
"""
"""True while the lease of the worker has not lapsed; PostgreSQL evaluates it once per statement."""

HOLDS_CLAIM: LiteralString = """
    live.id = claim.id AND live.attempt = claim.attempt AND live.worker = %(worker)s
"""
"""True for the row of `queue.live` that the worker claimed as `claim`.

An UPDATE or DELETE that waited for a row lock evaluates it again on the new version of the row, so it does
not touch an item that another worker claimed meanwhile.
"""

HOLDS_REQUESTED: LiteralString = """
    ((live.id, live.attempt) IN (SELECT id, attempt FROM requested)) IS TRUE AND live.worker = %(worker)s
"""
"""HOLDS_CLAIM for a statement that changes many rows of `requested` at once. IS TRUE makes the
planner hash the look-up: the cost of a join would grow with the square of the batch."""

ONLY_HELD: LiteralString = f"""
    CROSS JOIN LATERAL (SELECT FROM queue.live WHERE {HOLDS_CLAIM} AND {LEASE_STANDS} LIMIT 1) AS claimed
"""
"""Keeps only the rows of `claim` that the worker holds. It is a LATERAL join because a plan made while the
table was small would otherwise scan the whole table when it has grown."""
