"""Check the public log of an opening: python3 verify_fairness.py log.jsonl

Needs Python 3.9 or later and nothing else. It checks that no line was changed, removed, inserted or moved, and
that every event follows the rules of the waitlist. A company could still publish a completely new log: compare
it with a head that was written down earlier (--head). Times are cut to minutes, so deadlines are checked to the
minute. A draw is computed again from its seed. Whom the company accepts in a review, what an INTERNAL line (a
score or a move between stages) says, and whether people are real, is not checked.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import sys
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

FORMAT = "jobmill-fairness/1"
OCCUPYING = ("ACTIVE", "PENDING_ACKNOWLEDGMENT")
LIVE = (*OCCUPYING, "WAITLIST", "IN_REVIEW")
EXPIRY = ("DECAY_TRIGGERED", "LAPSED", "ADDRESS_UNCONFIRMED")
INTERNAL = "INTERNAL"
STEPS: dict[str, set[tuple[str | None, str]]] = {
    "APPLIED": {(None, status) for status in LIVE},
    "ACCEPTED": {("IN_REVIEW", "WAITLIST")},
    "REJECTED": {("IN_REVIEW", "INACTIVE")},
    "PROMOTED": {("WAITLIST", "PENDING_ACKNOWLEDGMENT")},
    "ACKNOWLEDGED": {("PENDING_ACKNOWLEDGMENT", "ACTIVE")},
    "DECAY_TRIGGERED": {("PENDING_ACKNOWLEDGMENT", "WAITLIST")},
    "LAPSED": {("PENDING_ACKNOWLEDGMENT", "INACTIVE")},
    "STAGE_CHANGED": {("ACTIVE", "INACTIVE")},
    "ADDRESS_CONFIRMED": {(status, status) for status in LIVE},
    "ADDRESS_UNCONFIRMED": {(status, "INACTIVE") for status in LIVE},
    "WITHDRAWN": {(status, "INACTIVE") for status in LIVE},
}
"""What a person's event may change; every other step is a fault."""
STATUS_CHANGES: dict[str, tuple[tuple[str, ...], str]] = {
    "OPENED": (("",), "open"),
    "PAUSED": (("open",), "paused"),
    "RESUMED": (("paused",), "open"),
    "CLOSED": (("open", "paused"), "closed"),
    "REOPENED": (("closed",), "open"),
}
OTHER_EVENTS = ("EDITED", "FORM_CHANGED", "CAPACITY_CHANGED", "LOTTERY_OPENED", "LOTTERY_DRAWN")
EXPIRED_AT_ONCE = 2_000
MINUTE = dt.timedelta(minutes=1)
CHECKS = {
    "chain": "No line was changed, removed, inserted or moved",
    "places": "Nobody got a place while all places were taken",
    "order": "Places and offers went to the next person in line, unless marked as out of turn",
    "deadlines": "Offers stayed open until their deadline, and ended there",
    "states": "Every step is one that the rules know, and started where the step before had ended",
    "draws": "Draws followed a seed that was fixed before the first entry",
}


def canonical(line: Any) -> str:
    return json.dumps(line, sort_keys=True, separators=(",", ":"))


def chain_hash(before: str, line: dict[str, Any]) -> str:
    """The hash of a line that follows the line with the hash `before`."""
    content = {name: value for name, value in line.items() if name != "hash"}
    return hashlib.sha256((before + canonical(content)).encode()).hexdigest()


def remove(items: list[Any], item: Any) -> None:
    """Remove an item from a sorted list, if it is there."""
    index = bisect_left(items, item)
    if items[index : index + 1] == [item]:
        items.pop(index)


def draw_order(seed: bytes, entries: Iterable[int]) -> list[int]:
    """The entries sorted by SHA-256 of the seed followed by the entry's number in decimal."""
    return sorted(entries, key=lambda entry: hashlib.sha256(seed + str(entry).encode()).digest())


def parse_minute(text: str | None) -> dt.datetime | None:
    return dt.datetime.strptime(text, "%Y-%m-%dT%H:%M%z") if text else None


@dataclass
class PersonState:
    """An applicant with a live application."""

    status: str | None = None
    entry: int = 0  # The number of the event with which the person applied.
    place: int | None = None
    missed: int = 0
    deadline: dt.datetime | None = None
    confirm_by: dt.datetime | None = None


class Verifier:
    def __init__(self) -> None:
        self.faults: list[tuple[str, int, str]] = []
        self.hashes: list[str] = []
        self.counts: Counter[str] = Counter()
        self.everyone: set[str] = set()
        self.marked: dict[str, list[int]] = {}
        self.ended = False
        # Python 3.9 has no `datetime.UTC`.
        self.at = dt.datetime.min.replace(tzinfo=dt.timezone.utc)  # noqa: UP017
        self.status, self.capacity, self.occupied, self.in_review = "", 0, 0, 0
        self.terms: dict[str, Any] = {}
        self.people: dict[str, PersonState] = {}
        self.waiting: list[int] = []  # The places on the waitlist that are taken, in order.
        self.next_place = 1
        self.left_empty: set[int] = set()
        self.expired = 0
        self.open_offers: list[tuple[dt.datetime, str]] = []
        self.fixed_seed: tuple[int, str] | None = None  # The event and the digest of the next seed.
        self.is_drawn = False
        self.drawn: list[
            str
        ] = []  # Applications still to be accepted after a draw, the first one last.

    @property
    def awaits_draw(self) -> bool:
        return self.terms.get("admission") == "lottery" and not self.is_drawn

    @property
    def head(self) -> str:
        return f"{len(self.hashes) - 1}:{self.hashes[-1]}" if self.hashes else "none"

    def expect(self, check: str, holds: object, what: str) -> None:
        if not holds:
            self.faults.append((check, len(self.hashes) - 1, what))

    def read(self, text: str) -> None:
        """Check the next line of the file."""
        try:
            line = json.loads(text)
            self.expect("chain", canonical(line) == text, "it is not written as it was published")
            self.expect("chain", not self.ended, "the log continues after its end")
            if "end" in line:
                end = {"end": len(self.hashes) - 1, "hash": self.hashes[-1]}
                self.expect("chain", line == end, "the end does not belong to this log")
                self.ended = True
                return
            expected = chain_hash(self.hashes[-1] if self.hashes else "", line)
            self.hashes.append(line["hash"])
            self.expect("chain", line["hash"] == expected, "this line or one before was changed")
            self.expect("chain", line["seq"] == len(self.hashes) - 1, "a line is missing or moved")
            if line["seq"] == 0:
                self.expect("chain", line["format"] == FORMAT, f"the format is not {FORMAT}")
            else:
                self.check_event(line)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            self.expect("chain", False, f"the line cannot be read: {error!r}")

    def mark(self, what: str, event: dict[str, Any]) -> None:
        """Remember a step that the company may take but that everybody should see."""
        self.marked.setdefault(what, []).append(event["seq"])

    def check_event(self, event: dict[str, Any]) -> None:
        type, who = event["type"], event.get("who")
        self.counts[type] += 1
        if self.drawn:
            is_next = (type, who) == ("ACCEPTED", self.drawn.pop())
            self.expect("draws", is_next, "the drawn order was not followed")
        elif type == "ACCEPTED":
            self.expect("draws", not self.awaits_draw, f"{who} was accepted before the draw")
        if type == INTERNAL:
            return
        at = parse_minute(event["at"])
        self.expect("deadlines", at and at >= self.at, "its time is before the previous event")
        self.at = at or self.at
        self.check_overdue(event)
        if who is None:
            self.check_opening(event)
            return
        self.everyone.add(who)
        person = self.people.setdefault(who, PersonState())
        self.check_step(event, who, person)
        self.check_place(event, person)
        self.check_waitlist(event, person)
        self.check_times(event, person)
        self.move(event, who, person)

    def check_opening(self, event: dict[str, Any]) -> None:
        """An event of the opening itself."""
        type, terms = event["type"], event.get("terms", {})
        if type in STATUS_CHANGES:
            before, after = STATUS_CHANGES[type]
            self.expect("states", self.status in before, f"the opening was {self.status or 'new'}")
            self.status = after
        else:
            self.expect("states", type in OTHER_EVENTS, f"{type} is not a step of an opening")
        self.capacity = event.get("capacity", self.capacity)
        if type == "EDITED" and "admission" in terms:
            self.mark("The company changed how people are admitted", event)
        self.terms.update(terms)
        if type == "LOTTERY_OPENED":
            self.expect("draws", self.fixed_seed is None, "a fixed seed was replaced")
            self.fixed_seed, self.is_drawn = (event["seq"], event["seedDigest"]), False
        elif type == "LOTTERY_DRAWN":
            self.draw(event)

    def draw(self, event: dict[str, Any]) -> None:
        """Compute the order of the entries, which the next events must follow."""
        fixed, digest = self.fixed_seed or (event["seq"], "")
        seed = bytes.fromhex(event["seed"])
        is_fixed = hashlib.sha256(seed).hexdigest() == digest
        self.expect("draws", self.awaits_draw and is_fixed, "the seed is not the one fixed before")
        entries = {
            person.entry: who for who, person in self.people.items() if person.status == "IN_REVIEW"
        }
        self.expect("draws", min(entries, default=fixed) > fixed, "entries were known before")
        self.drawn = [entries[entry] for entry in reversed(draw_order(seed, entries))]
        self.fixed_seed, self.is_drawn = None, True

    def check_overdue(self, event: dict[str, Any]) -> None:
        """Expired offers end before anything else happens, at most EXPIRED_AT_ONCE at a time."""
        if event["type"] in EXPIRY:
            self.expired += 1
        elif event["type"] != "PROMOTED" or event.get("outOfTurn"):
            overdue = bisect_left(self.open_offers, (self.at, ""))
            for deadline, who in self.open_offers[:overdue]:
                in_parts = self.expired >= EXPIRED_AT_ONCE
                self.expect("deadlines", in_parts, f"the offer of {who} ended at {deadline}")
            if not overdue:
                self.expired = 0

    def check_step(self, event: dict[str, Any], who: str, person: PersonState) -> None:
        """Whether the rules know the step, and what it keeps has stayed."""
        type, before, after = event["type"], event.get("from"), event["to"]
        self.expect("states", person.status == before, f"{who} was {person.status}")
        is_known = (before, after) in STEPS.get(type, ())
        self.expect("states", is_known, f"{type} does not lead from {before} to {after}")
        place, deadline = event.get("place"), parse_minute(event.get("deadline"))
        if before == after:
            stayed = (place, deadline) == (person.place, person.deadline)
            self.expect("states", stayed, f"{who} kept the status but not the place or deadline")
        has_place, has_deadline = after == "WAITLIST", after == "PENDING_ACKNOWLEDGMENT"
        fits = (place is not None, deadline is not None) == (has_place, has_deadline)
        self.expect("states", fits, f"a place or deadline does not belong to {after}")
        if type != "APPLIED":
            confirm_by = parse_minute(event.get("confirmBy"))
            is_same = confirm_by in (None, person.confirm_by)
            self.expect("deadlines", is_same, "the time to confirm the address was changed")
        if before == "IN_REVIEW" and self.awaits_draw and event["by"] == "company":
            self.mark("Removed by the company before the draw", event)

    def check_place(self, event: dict[str, Any], person: PersonState) -> None:
        """Whether the person could take a place or had to wait."""
        free, waiting = self.capacity - self.occupied, len(self.waiting)
        counts = f"{max(free, 0)} of {self.capacity} places were free, {waiting} people waited"
        if event["to"] in OCCUPYING and person.status not in OCCUPYING:
            self.expect("places", free > 0, counts)
        if event["type"] == "APPLIED":
            person.entry = event["seq"]
            self.check_application(event, free, counts)
        elif event["type"] == "PROMOTED" and event.get("outOfTurn"):
            self.mark("Offered out of turn by the company", event)
        elif event["type"] == "PROMOTED":
            self.expect("order", self.status == "open", f"the opening was {self.status}")
            is_next = self.waiting[:1] == [person.place]
            self.expect("order", is_next, f"place {self.waiting[:1]} was next, not {person.place}")

    def check_application(self, event: dict[str, Any], free: int, counts: str) -> None:
        """Whether the opening took applications, and the person got what was due."""
        waiting, limit = len(self.waiting), self.terms.get("waitlistLimit")
        until = parse_minute(self.terms.get("applyUntil"))
        if self.awaits_draw or self.terms.get("admission") == "review":
            due = "IN_REVIEW"
        elif free <= 0 or waiting:
            due = "WAITLIST"
        else:
            due = OCCUPYING[bool(self.terms.get("requireAcknowledgement"))]
        self.expect("order", event["to"] == due, f"{due} was due: {counts}")
        self.expect("order", self.status == "open", f"the opening was {self.status}")
        waiting += self.in_review
        is_full = limit is not None and waiting >= limit and (waiting or free <= 0)
        self.expect("order", not is_full, "the list was full")
        self.expect("deadlines", until is None or self.at <= until, "applications were closed")

    def check_waitlist(self, event: dict[str, Any], person: PersonState) -> None:
        """Newcomers take the next place; a missed offer costs one place per offer missed so far."""
        if event["to"] != "WAITLIST" or person.status == "WAITLIST":
            return
        if event["type"] in ("APPLIED", "ACCEPTED"):
            place = self.next_place
            # An applicant with a missed offer has this place, or had it: the next one cannot be taken as well.
            is_taken = bisect_left(self.waiting, place) < bisect_right(self.waiting, place)
            place += is_taken or place in self.left_empty
            self.next_place = place + 1
        else:
            last = max(self.next_place - 1, *self.waiting[-1:], 0)
            self.left_empty = {left for left in self.left_empty if left <= last}
            place = last + 1 + person.missed + 1
        self.expect("order", event["place"] == place, f"place {place} was next on the waitlist")

    def check_times(self, event: dict[str, Any], person: PersonState) -> None:
        type, most = event["type"], self.terms.get("maxMissed", 0)
        if type in EXPIRY:
            due = person.confirm_by if type == "ADDRESS_UNCONFIRMED" else person.deadline
            self.expect("deadlines", due and self.at >= due, "the deadline had not passed")
        if type in ("DECAY_TRIGGERED", "LAPSED"):
            missed = person.missed + 1
            self.expect("states", event["missed"] == missed, f"this was missed offer {missed}")
            self.expect("states", (type == "LAPSED") == (missed >= most), f"the limit is {most}")
        if type == "ACKNOWLEDGED":
            in_time = person.deadline and self.at <= person.deadline
            self.expect("deadlines", in_time, "the offer was accepted after its deadline")
        if event["to"] == "PENDING_ACKNOWLEDGMENT" and person.status != event["to"]:
            window = dt.timedelta(seconds=self.terms.get("acknowledgeWindowSeconds", 0))
            deadline = parse_minute(event["deadline"])
            is_long = deadline and deadline - self.at > window - MINUTE
            self.expect("deadlines", is_long, f"the offer was open for less than {window}")

    def move(self, event: dict[str, Any], who: str, person: PersonState) -> None:
        to, place = event["to"], event.get("place")
        self.occupied += (to in OCCUPYING) - (person.status in OCCUPYING)
        self.in_review += (to == "IN_REVIEW") - (person.status == "IN_REVIEW")
        if person.place is not None and place != person.place:
            remove(self.waiting, person.place)
            if person.place >= self.next_place:
                self.left_empty.add(person.place)
        if place is not None and place != person.place:
            insort(self.waiting, place)
        if person.deadline:
            remove(self.open_offers, (person.deadline, who))
        person.status, person.place = to, place
        if event["type"] in ("DECAY_TRIGGERED", "LAPSED"):
            person.missed = event["missed"]
        person.deadline = parse_minute(event.get("deadline"))
        person.confirm_by = parse_minute(event.get("confirmBy"))
        if person.deadline:
            insort(self.open_offers, (person.deadline, who))
        if to == "INACTIVE":
            del self.people[who]

    def finish(self, heads: list[str]) -> None:
        self.expect("chain", self.ended, "the end of the log is missing")
        self.expect("draws", not self.drawn, "not everybody who was drawn was accepted")
        heads_of_log = {f"{seq}:{hash}" for seq, hash in enumerate(self.hashes)}
        for head in heads:
            self.expect("chain", head in heads_of_log, f"the head {head} is not part of this log")

    def report(self) -> list[str]:
        counts = ", ".join(f"{count} {type}" for type, count in sorted(self.counts.items()))
        lines = [f"{sum(self.counts.values())} events, {len(self.everyone)} people: {counts}"]
        failed = {check for check, _, _ in self.faults}
        lines += [f"{'FAILED' if key in failed else 'ok':>6}  {CHECKS[key]}" for key in CHECKS]
        lines += [f"        event {seq} ({check}): {what}" for check, seq, what in self.faults[:50]]
        for what, events in self.marked.items():
            lines += [f"        {what}: events {events[:50]}"]
        return [
            *lines,
            f"Head: {self.head}",
            "Keep the head: a later log must contain it (--head).",
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the public log of an opening.")
    parser.add_argument("log", help="the downloaded file")
    parser.add_argument("--head", action="append", default=[], help="a head kept from earlier")
    parser.add_argument("--who", help="also show the lines of this person")
    options = parser.parse_args()
    verifier = Verifier()
    with open(options.log, encoding="utf-8", errors="replace", newline="\n") as log:
        for line in log:
            verifier.read(line.rstrip("\n"))
            if options.who and canonical({"who": options.who})[1:-1] in line:
                sys.stdout.write(line)
    verifier.finish(options.head)
    sys.stdout.write("\n".join(verifier.report()) + "\n")
    return 1 if verifier.faults else 0


if __name__ == "__main__":
    sys.exit(main())
