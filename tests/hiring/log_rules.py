"""Check an opening's log event by event: no slot is given twice and no application jumps the queue."""

from __future__ import annotations

from dataclasses import dataclass, field

from jobmill.db import Database, Tx, fetch_all
from jobmill.hiring.records import openings


@dataclass(frozen=True, slots=True)
class LogEvent:
    seq: int
    application_id: int | None
    type: str
    from_status: str | None
    to_status: str | None
    queue_key: int | None
    metadata: dict[str, int]
    why: dict[str, object]
    note: str | None


@dataclass
class LogChecker:
    """Follows the log and fails at the first event that breaks a rule."""

    capacity: int = 0
    status: str = "open"
    occupied: set[int] = field(default_factory=set[int])
    waiting: dict[int, int] = field(default_factory=dict[int, int])
    in_review: set[int] = field(default_factory=set[int])
    ended: set[int] = field(default_factory=set[int])
    promotions: int = 0
    misses: int = 0

    def follow(self, line: LogEvent) -> None:
        match line.type:
            case "OPENED":
                self.capacity = line.metadata["capacity"]
            case "CAPACITY_CHANGED":
                self.capacity = line.metadata["to"]
            case "PAUSED" | "CLOSED" | "RESUMED" | "REOPENED":
                self.status = {"PAUSED": "paused", "CLOSED": "closed"}.get(line.type, "open")
            case "EDITED" | "FORM_CHANGED" | "LOTTERY_OPENED" | "LOTTERY_DRAWN":
                pass
            case _:
                assert line.application_id is not None
                self._move(line, line.application_id)

    def _move(self, line: LogEvent, id: int) -> None:
        assert id not in self.ended, f"{line}: it had ended"
        before = {
            "occupied": id in self.occupied,
            "waiting": id in self.waiting,
            "in review": id in self.in_review,
        }
        if line.type == "APPLIED":
            assert not any(before.values()), f"{line}: it was there"
        if line.type in ("ACCEPTED", "REJECTED", "SCORED"):
            assert before["in review"], f"{line}: it was not in review"
        if line.type == "APPLIED" and line.to_status not in ("WAITLIST", "IN_REVIEW"):
            assert not self.waiting, f"{line}: a newcomer passed {self.waiting}"
        if line.type == "PROMOTED":
            self.promotions += 1
            assert before["waiting"], f"{line}: it did not wait"
            if line.why["rule"] == "next in line":
                assert self.status == "open", f"{line}: {self.status}"
                assert self.waiting[id] == min(self.waiting.values()), f"{line}: jumped the queue"
        if line.type in ("DECAY_TRIGGERED", "LAPSED"):
            self.misses += 1
            assert before["occupied"], f"{line}: it had no offer"
        self.occupied.discard(id)
        self.waiting.pop(id, None)
        self.in_review.discard(id)
        self._enter(line, id)

    def _enter(self, line: LogEvent, id: int) -> None:
        match line.to_status:
            case "WAITLIST":
                assert line.queue_key is not None
                assert line.queue_key not in self.waiting.values(), f"{line}: its place is taken"
                self.waiting[id] = line.queue_key
            case "IN_REVIEW":
                self.in_review.add(id)
            case "INACTIVE":
                self.ended.add(id)
            case _:
                added = line.from_status not in ("ACTIVE", "PENDING_ACKNOWLEDGMENT")
                assert not added or len(self.occupied) < self.capacity, f"{line}: overbooked"
                self.occupied.add(id)


async def read_log(tx: Tx, opening_id: int) -> list[LogEvent]:
    return await fetch_all(
        tx,
        LogEvent,
        """
        SELECT seq, application_id, type, from_status, to_status, queue_key, metadata, why, note
          FROM hiring.event WHERE opening_id = %s ORDER BY seq
        """,
        [opening_id],
    )


async def check_log(tx: Tx, opening_id: int) -> LogChecker:
    """Follow the log to its end and compare the result with the tables."""
    checker = LogChecker()
    for line in await read_log(tx, opening_id):
        checker.follow(line)
    after = await openings.get(tx, opening_id)
    assert (after.occupied, after.waiting) == (len(checker.occupied), len(checker.waiting))
    cursor = await tx.execute(
        "SELECT id, status, queue_key FROM hiring.application WHERE opening_id = %s", [opening_id]
    )
    for id, status, key in await cursor.fetchall():
        assert checker.waiting.get(id) == key
        assert (id in checker.occupied) == (status in ("ACTIVE", "PENDING_ACKNOWLEDGMENT"))
        assert (id in checker.ended) == (status == "INACTIVE")
        assert (id in checker.in_review) == (status == "IN_REVIEW")
    if checker.status == "open":
        assert not checker.waiting or len(checker.occupied) >= checker.capacity, "a slot lies idle"
    return checker


async def check_log_in(database: Database, opening_id: int) -> LogChecker:
    async with database.transaction() as tx:
        return await check_log(tx, opening_id)
