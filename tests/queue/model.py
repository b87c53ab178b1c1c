"""The rules of the queue in memory: one thread, no SQL, no locks. Shares only the move types."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from jobmill.queue import stages
from jobmill.queue.items import Claim, ItemId, NewItem
from jobmill.queue.stages import Fail, Filter, Finish, HandOver, Outcome, Skip

START = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
"""`WaitUntil(START + delay)` waits for `delay` from the time it is settled."""

LEASE = dt.timedelta(seconds=60)
MAX_RETRIES = 2
MAX_SPAWN_DEPTH = 1
CAPACITY = {"tea": 1_000_000, "cup": 2}
"""How many due items each stage accepts from submissions."""

ENDINGS = {Finish: "SUCCESS", Filter: "FILTERED", Skip: "SKIPPED", Fail: "FAILED"}

Time: TypeAlias = tuple[float, int]
"""The seconds that passed in the story, then the number of the transaction."""

Batch: TypeAlias = Sequence[tuple[Claim, Outcome]]

SettleAnswer: TypeAlias = str | list[ItemId | str]
""""lost" or "refused", or for each spawn the child's id or the rule that refused it."""


@dataclass
class ModelItem:
    id: ItemId
    kind: str
    key: str
    first_stage: str
    first_priority: int
    stage: str
    priority: int
    parent: ModelItem | None
    handed_over: bool = False
    status: str = "PENDING"
    due: Time = (0, 0)
    parked: bool = False
    worker: int | None = None
    attempt: int = 0
    retry_count: int = 0
    steps: int = 0
    waits_for: ItemId | None = None
    waited_for: ItemId | None = None
    blocked_on: str | None = None

    @property
    def live(self) -> bool:
        return self.status in ("PENDING", "PROCESSING", "BLOCKED")

    @property
    def ancestors(self) -> list[ModelItem]:
        return [*self.parent.ancestors, self.parent] if self.parent else []

    @property
    def lineage(self) -> ItemId:
        return self.ancestors[0].id if self.parent else self.id

    def end(self, status: str) -> None:
        self.status, self.priority, self.parked = status, self.first_priority, False
        self.worker = self.waits_for = self.waited_for = self.blocked_on = None
        self.steps = 0

    def row(self) -> dict[str, Any]:
        """The columns of `READ_ITEMS` in the test."""
        ancestry = [ancestor.id for ancestor in self.ancestors]
        parent = self.parent and self.parent.id
        row = vars(self) | {"parent": parent, "ancestry": ancestry, "depth": len(ancestry)}
        del row["due"]
        return row | {"lineage": self.lineage}


@dataclass
class QueueModel:
    items: dict[ItemId, ModelItem] = field(default_factory=dict[ItemId, ModelItem])
    heartbeats: dict[int, float] = field(default_factory=dict[int, float])
    deaths: dict[int, float] = field(default_factory=dict[int, float])
    """By worker, the seconds when another worker noticed that its lease had lapsed."""
    paused: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    saved: list[Claim] = field(default_factory=list[Claim])
    now: Time = (0, 0)
    rescued_at: float = -1e9
    new_ids: dict[tuple[Any, ...], ItemId] = field(default_factory=dict[tuple[Any, ...], ItemId])
    """Ids that PostgreSQL gave to new items, by parent, kind, key and stage."""

    def find(self, **fields: Any) -> list[ModelItem]:
        """Items with these attribute values, in the order in which they are claimed."""
        items = sorted(self.items.values(), key=lambda item: (item.priority, item.due, item.id))
        expected = fields.items()
        return [item for item in items if all(getattr(item, name) == v for name, v in expected)]

    def lease_stands(self, worker: int) -> bool:
        lapses = self.heartbeats[worker] + LEASE.total_seconds()
        return worker not in self.deaths and lapses > self.now[0]

    def holds(self, worker: int, claim: Claim) -> bool:
        item = self.items[claim.id]
        return (item.worker, item.attempt) == (worker, claim.attempt) and self.lease_stands(worker)

    def make_due(self, item: ModelItem, delay: dt.timedelta = dt.timedelta()) -> None:
        item.parked, item.due = bool(delay), (self.now[0] + delay.total_seconds(), self.now[1])

    def submit(self, new: NewItem) -> str | None:
        """The reason for the refusal, if any."""
        for live in self.find(kind=new.kind, key=new.key, live=True):
            if live.status == "PROCESSING":
                return "processing"
            return "queued" if live.stage == new.stage else "other phase"
        due = self.find(kind=new.kind, stage=new.stage, status="PENDING", parked=False)
        if len(due) >= CAPACITY[new.kind]:
            return "full"
        self.add(new, None)
        return None

    def add(self, new: NewItem, parent: ModelItem | None) -> ModelItem:
        # If PostgreSQL created no such item, the states differ.
        about = parent and parent.id, new.kind, new.key, new.stage
        id = self.new_ids.get(about, ItemId(-len(self.items)))
        first = new.stage, new.priority
        self.items[id] = item = ModelItem(id, new.kind, new.key, *first, *first, parent)
        self.make_due(item, new.delay)
        return item

    def claim(self, worker: int, limit: int) -> list[ModelItem]:
        """Up to `limit` items of each phase."""
        taken: dict[tuple[str, str], int] = {}
        claimed: list[ModelItem] = []
        for item in self.find(status="PENDING", parked=False):
            phase = item.kind, item.stage
            paused = self.paused & {phase, (item.kind, "")}
            if self.lease_stands(worker) and not paused and taken.get(phase, 0) < limit:
                taken[phase] = taken.get(phase, 0) + 1
                item.status, item.worker, item.attempt = "PROCESSING", worker, item.attempt + 1
                claimed.append(item)
        return claimed

    def settle(self, worker: int, batch: Batch) -> list[SettleAnswer]:
        """Settle each item once: hand-overs, then endings, then moves, then all spawns."""
        answers: list[SettleAnswer] = ["lost"] * len(batch)
        claims_held: dict[int, tuple[ModelItem, Outcome]] = {}
        for id in dict.fromkeys(claim.id for claim, _ in batch):
            places = [n for n, (claim, _) in enumerate(batch) if claim.id == id]
            for n in [n for n in places if self.holds(worker, batch[n][0])][:1]:
                claims_held[n] = self.items[id], batch[n][1]
        refused = [
            n for n, (item, outcome) in claims_held.items() if not self.hand_over(item, outcome)
        ]
        for n, (item, outcome) in claims_held.items():
            if n in refused or type(outcome) in ENDINGS:
                self.end(item, ENDINGS.get(type(outcome), "FAILED"))
        for item, outcome in claims_held.values():
            if item.live:
                self.requeue(item, outcome)
        for n, (item, outcome) in claims_held.items():
            spawns = [] if n in refused else [self.spawn(item, new) for new in outcome.spawn]
            answers[n] = "refused" if n in refused else spawns
        return answers

    def settle_and_save(self, worker: int, batch: Batch) -> None:
        """Spawn what the items wait for, settle, and save what moved."""
        ready: dict[Claim, Outcome] = {}
        for claim, outcome in batch:
            if claim not in ready and self.holds(worker, claim):
                ready[claim] = self.spawn_awaited(self.items[claim.id], outcome)
        for claim, answer in zip(ready, self.settle(worker, [*ready.items()]), strict=True):
            if ready[claim].save and answer not in ("lost", "refused"):
                self.saved.append(claim)

    def hand_over(self, item: ModelItem, outcome: Outcome) -> bool:
        """False if that stage already ran in the lineage."""
        if not isinstance(outcome, HandOver):
            return True
        lineage = self.find(lineage=item.lineage, kind=item.kind, key=item.key)
        if outcome.stage in [other.first_stage for other in lineage]:
            return False
        child = self.add(NewItem(item.kind, outcome.stage, item.key), item)
        child.first_priority, child.priority = item.first_priority, item.priority
        child.handed_over = True
        item.end("SUCCESS")
        for waiting in self.find(waits_for=item.id, parked=True):
            waiting.waits_for = child.id
        return True

    def end(self, item: ModelItem, status: str) -> None:
        item.end(status)
        for waiting in self.find(waits_for=item.id, parked=True):
            self.make_due(waiting)

    def requeue(self, item: ModelItem, outcome: Outcome) -> None:
        delay = dt.timedelta()
        item.status, item.worker = "PENDING", None
        item.waits_for, item.waited_for = None, item.waits_for or item.waited_for
        match outcome:
            case stages.Advance():
                item.stage, item.retry_count, item.waited_for = outcome.stage, 0, None
                item.priority = outcome.priority or item.priority
            case stages.WaitUntil():
                delay = outcome.until - START
            case stages.WaitFor():
                item.waits_for = awaited = ItemId(outcome.item)
                delay = outcome.at_most if self.items[awaited].live else delay
            case stages.Block():
                item.status, item.blocked_on, delay = "BLOCKED", outcome.on, outcome.recheck
            case stages.Retry():
                delay, item.retry_count = outcome.delay, item.retry_count + 1
        item.steps += isinstance(outcome, stages.Advance | stages.WaitUntil | stages.WaitFor)
        self.make_due(item, delay)

    def spawn_awaited(self, item: ModelItem, outcome: Outcome) -> Outcome:
        """Wait for the child or the item that does its work; if there is neither, continue."""
        if not isinstance(outcome, stages.WaitFor) or not isinstance(outcome.item, NewItem):
            return outcome
        if self.spawn(item, outcome.item) in ("depth", "circular", "finished"):
            return replace(outcome, item=item.id, at_most=dt.timedelta())
        [live] = self.find(kind=outcome.item.kind, key=outcome.item.key, live=True)
        return replace(outcome, item=live.id)

    def spawn(self, parent: ModelItem, new: NewItem) -> ItemId | str:
        """The child's id, or which of the five rules refused it."""
        same = self.find(kind=new.kind, key=new.key)
        lineage = [item for item in same if item.lineage == parent.lineage]
        if len(parent.ancestors) >= MAX_SPAWN_DEPTH:
            return "depth"
        if new.key in [ancestor.key for ancestor in (*parent.ancestors, parent)]:
            return "circular"
        if lineage:
            return "duplicate" if any(item.live for item in lineage) else "finished"
        return "live elsewhere" if any(item.live for item in same) else self.add(new, parent).id

    def put_back(self, id: ItemId) -> str | None:
        item = self.items[id]
        unfit = item.live or item.status == "SUCCESS"
        if unfit or self.find(kind=item.kind, key=item.key, live=True):
            return "Conflict"
        item.status, item.retry_count = "PENDING", 0
        self.make_due(item)
        return None

    def cancel(self, id: ItemId) -> str | None:
        if self.items[id].status not in ("PENDING", "BLOCKED"):
            return "Conflict"
        self.end(self.items[id], "SKIPPED")
        return None

    def resume(self, phase: tuple[str, str]) -> str | None:
        if phase not in self.paused:
            return "Conflict"
        self.paused.remove(phase)
        return None

    def unblock(self, on: str) -> None:
        for item in self.find(status="BLOCKED", blocked_on=on):
            item.status, item.blocked_on = "PENDING", None
            self.make_due(item)

    def unpark(self) -> None:
        for item in self.find(parked=True):
            if item.due <= self.now:
                item.status, item.blocked_on, item.parked = "PENDING", None, False

    def wake_orphans(self) -> None:
        for item in self.find(parked=True):
            if item.waits_for and not self.items[item.waits_for].live:
                self.make_due(item)

    def disown(self, worker: int, keep: Sequence[Claim]) -> None:
        for item in self.find(worker=worker):
            if Claim(item.id, item.attempt) not in keep:
                item.status, item.worker = "PENDING", None

    def let_lease_lapse(self, worker: int) -> None:
        self.heartbeats[worker] -= LEASE.total_seconds()

    def pass_time(self, time: dt.timedelta) -> None:
        """Workers that hold a lease renew it."""
        for worker in filter(self.lease_stands, self.heartbeats):
            self.heartbeats[worker] += time.total_seconds()
        self.now = (self.now[0] + time.total_seconds(), self.now[1])

    def rescue(self) -> None:
        """Requeue the items of dead workers: after each death, and otherwise once a minute."""
        now = self.now[0]
        for worker in self.heartbeats:
            if not self.lease_stands(worker):
                self.deaths.setdefault(worker, now)
        if now - self.rescued_at < 60 and all(now - death > 120 for death in self.deaths.values()):
            return
        self.rescued_at = now
        for item in self.find(status="PROCESSING"):
            if item.worker in self.deaths and item.retry_count >= MAX_RETRIES:
                item.end("FAILED")  # `wake_stranded_waiters` wakes the items that wait for it.
            elif item.worker in self.deaths:
                item.status, item.worker = "PENDING", None
                item.retry_count += 1
