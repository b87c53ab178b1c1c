"""A plain model of the hiring rules: lists in memory, without keys, locks or a database."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from typing import TypeAlias

GAP = None
"""An empty place that later applications fill."""


class Refused(Exception):
    """The step is refused; the text is the name of the error."""


@dataclass
class Offer:
    ends: bool
    """Whether the offer expires before the next step."""
    rank: tuple[object, int]
    """Sorts expired offers: the lowest is taken back first."""


@dataclass
class Model:
    capacity: int
    max_missed: int
    asks: bool = False
    limit: int | None = None
    status: str = "open"
    offers_end: bool = False
    active: list[int] = field(default_factory=list[int])
    pending: dict[int, Offer] = field(default_factory=dict[int, Offer])
    places: list[int | None] = field(default_factory=list[int | None])
    ended: set[int] = field(default_factory=set[int])
    misses: dict[int, int] = field(default_factory=dict[int, int])
    just_missed: set[int] = field(default_factory=set[int])
    owners: dict[int, int] = field(default_factory=dict[int, int])
    admission: str = "first_come"
    by_score: bool = False
    drawn: bool = False
    in_review: list[int] = field(default_factory=list[int])
    scores: dict[int, int] = field(default_factory=dict[int, int])
    stages: dict[int, str] = field(default_factory=dict[int, str])
    unconfirmed: dict[int, bool] = field(default_factory=dict[int, bool])
    """Applications with an address that is not confirmed, and whether their time is over before the next step."""
    step: int = 0

    def copy(self) -> Model:
        return copy.deepcopy(self)

    @property
    def waiting(self) -> list[int]:
        return [id for id in self.places if id is not None]

    @property
    def free(self) -> int:
        return max(self.capacity - len(self.active) - len(self.pending), 0)

    def position(self, id: int) -> int | None:
        return self.waiting.index(id) + 1 if id in self.places else None

    def state(self, id: int) -> str:
        if id in self.active:
            return "ACTIVE"
        if id in self.pending:
            return "PENDING_ACKNOWLEDGMENT"
        if id in self.in_review:
            return "IN_REVIEW"
        return "WAITLIST" if id in self.places else "INACTIVE"

    @property
    def collects(self) -> bool:
        return self.admission == "review" or (self.admission == "lottery" and not self.drawn)

    def settle(self) -> None:
        self.step += 1
        late = [id for id, ends in self.unconfirmed.items() if ends]
        for id in late:
            self.leave(id)
        over = sorted((offer.rank, id) for id, offer in self.pending.items() if offer.ends)
        for _, id in over:
            del self.pending[id]
            self.misses[id] = self.misses.get(id, 0) + 1
            self.just_missed.add(id)
            if self.misses[id] >= self.max_missed:
                self.ended.add(id)
                self.unconfirmed.pop(id, None)
            else:
                self.places += [GAP] * self.misses[id] + [id]
        if over or late:
            self.fill()

    def tick(self) -> None:
        """What the deadline worker does: nothing unless something is overdue."""
        if any(offer.ends for offer in self.pending.values()) or any(self.unconfirmed.values()):
            self.settle()

    def fill(self) -> None:
        while self.status == "open" and self.free and self.waiting:
            self.offer(self.waiting[0])

    def offer(self, id: int) -> None:
        self.leave_places(id)
        self.just_missed.discard(id)
        self.pending[id] = Offer(self.offers_end, (self.step, id))

    def leave_places(self, id: int) -> None:
        self.places.remove(id)
        while self.places and self.places[-1] is GAP:
            self.places.pop()

    def apply(self, id: int, applicant: int, *, ends: bool | None = None) -> None:
        """`ends`: whether the time to confirm the address ends at once; None: it need not be confirmed."""
        self.settle()
        if any(
            self.owners[application] == applicant and application not in self.ended
            for application in self.owners
        ):
            raise Refused("DuplicateApplication")
        if self.status != "open":
            raise Refused("Conflict")
        must_wait = bool(self.waiting) or not self.free
        undecided = len(self.waiting) + len(self.in_review)
        if self.limit is not None and undecided >= self.limit and (undecided or not self.free):
            raise Refused("Conflict")
        self.owners[id] = applicant
        if ends is not None:
            self.unconfirmed[id] = ends
        if self.collects:
            self.in_review.append(id)
        elif must_wait:
            self.join(id)
        elif self.asks:
            self.pending[id] = Offer(self.offers_end, (self.step, id))
        else:
            self.active.append(id)

    def join(self, id: int) -> None:
        if GAP in self.places:
            self.places[self.places.index(GAP)] = id
        else:
            self.places.append(id)

    def accept(self, ids: list[int]) -> None:
        """Accept applications together; those that are not in review are left alone."""
        self.settle()
        self.refuse_before_draw()
        self.accept_in_order([id for id in ids if id in self.in_review])

    def refuse_before_draw(self) -> None:
        if self.admission == "lottery" and not self.drawn:
            raise Refused("EntryAwaitsDraw")

    def accept_in_order(self, ids: list[int]) -> None:
        chosen = sorted(ids)
        if self.by_score:
            chosen.sort(key=lambda id: -self.scores.get(id, -1))
        self.enter_waitlist(chosen)

    def enter_waitlist(self, ids: list[int]) -> None:
        for id in ids:
            self.in_review.remove(id)
            self.join(id)
        if ids:
            self.fill()

    def accept_one(self, id: int) -> None:
        self.settle()
        self.refuse_before_draw()
        if id not in self.in_review:
            raise Refused("NotInReview")
        self.accept_in_order([id])

    def reject(self, id: int) -> None:
        self.settle()
        if id not in self.in_review:
            raise Refused("NotInReview")
        self.leave(id)

    def score(self, id: int, points: int) -> None:
        self.settle()
        self.refuse_before_draw()
        if id not in self.in_review:
            raise Refused("NotInReview")
        self.scores[id] = points

    def draw(self, seed: bytes, numbers: dict[int, int]) -> None:
        self.settle()
        if self.admission != "lottery" or self.drawn or not self.in_review:
            raise Refused("Conflict")
        self.drawn = True
        lots = {id: hashlib.sha256(seed + b"%d" % numbers[id]).digest() for id in self.in_review}
        self.enter_waitlist(sorted(self.in_review, key=lambda id: lots[id]))

    def change_admission(self, admission: str, *, by_score: bool, rest: str | None) -> None:
        self.settle()
        stays = admission == self.admission
        if not stays and admission == "first_come" and self.in_review and rest is None:
            raise Refused("Conflict")
        if not stays and admission == "lottery" and self.in_review:
            raise Refused("Conflict")
        self.admission, self.by_score = admission, by_score
        if stays:
            return
        if admission == "lottery":
            self.drawn = False
        elif admission == "first_come" and rest == "accept":
            # The test saves the usual window with the admission, and offers have the new terms.
            ends, self.offers_end = self.offers_end, False
            self.accept_in_order(list(self.in_review))
            self.offers_end = ends
        elif admission == "first_come":
            for id in list(self.in_review):
                self.leave(id)

    def move(self, id: int, seen: str, to: str) -> None:
        self.settle()
        if id not in self.active:
            raise Refused("Conflict")
        if seen != self.stage(id) or to == self.stage(id):
            raise Refused("StageMoved")
        self.stages[id] = to
        if to == "rejected":
            self.end(id)

    def stage(self, id: int) -> str:
        return self.stages.get(id, "screen")

    def withdraw(self, id: int) -> None:
        self.settle()
        if id in self.ended:
            raise Refused("Conflict")
        self.end(id)

    def confirm(self, id: int) -> None:
        self.settle()
        if id in self.ended:
            raise Refused("Gone")
        self.unconfirmed.pop(id, None)

    def end(self, id: int) -> None:
        self.leave(id)
        self.fill()

    def leave(self, id: int) -> None:
        if id in self.places:
            self.leave_places(id)
        elif id in self.active:
            self.active.remove(id)
        elif id in self.in_review:
            self.in_review.remove(id)
        else:
            del self.pending[id]
        self.just_missed.discard(id)
        self.unconfirmed.pop(id, None)
        self.ended.add(id)

    def answer(self, id: int, *, yes: bool) -> str:
        self.settle()
        # An offer without any time to answer has ended as soon as it is made.
        if id in self.just_missed or (id in self.pending and self.pending[id].ends):
            return "MissedOffer"
        if id not in self.pending:
            raise Refused("Conflict")
        if yes:
            del self.pending[id]
            self.active.append(id)
        else:
            self.end(id)
        return "Placement"

    def promote(self, id: int, *, add_slot: bool) -> None:
        self.settle()
        if id not in self.places:
            raise Refused("InvalidTransition")
        if not self.free:
            if not add_slot:
                raise Refused("Conflict")
            self.capacity = len(self.active) + len(self.pending) + 1
        self.offer(id)

    def resize(self, capacity: int) -> None:
        self.settle()
        if capacity != self.capacity:
            self.capacity = capacity
            self.fill()

    def turn(self, before: set[str], after: str) -> None:
        self.settle()
        if self.status not in before:
            raise Refused("Conflict")
        self.status = after
        self.fill()


States: TypeAlias = dict[int, tuple[str, int | None]]


def list_replayed_states(model: Model) -> States:
    """What a replay shows: the clock has ended unconfirmed applications, though no event has yet."""
    late = [id for id, ends in model.unconfirmed.items() if ends]
    waiting = [id for id in model.waiting if id not in late]
    return {
        id: (model.state(id), waiting.index(id) + 1 if id in waiting else None)
        for id in model.owners
        if id not in late and model.state(id) != "INACTIVE"
    }


def list_states(model: Model) -> States:
    """The state and position of every application."""
    return {id: (model.state(id), model.position(id)) for id in model.owners}
