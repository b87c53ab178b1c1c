"""Follow a task that a person started on a page while a worker runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from jobmill import queue
from jobmill.catalog import sources
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable
from jobmill.pipelines import company, discovery, documents, judging, preview, source, submission
from jobmill.queue import AcceptedItem, ItemId, NewItem, NotAdmitted, inspect, lineage
from jobmill.queue.inspect import Item
from jobmill.web.translations import say

TaskState = Literal["waiting", "running", "later", "blocked", "done", "passed over", "failed"]
STATES: Mapping[str, TaskState] = {
    "PENDING": "waiting",
    "PROCESSING": "running",
    "BLOCKED": "blocked",
    "SUCCESS": "done",
    "FAILED": "failed",
}
FINISHED: frozenset[TaskState] = frozenset({"done", "passed over", "failed"})


class ProgressStep(NamedTuple):
    name: str
    state: Literal["done", "now", "stopped", "to come"]


class TaskProgress(NamedTuple):
    item: Item
    """The item that runs now, or ran last."""
    state: TaskState
    steps: Sequence[ProgressStep]
    has_worker: bool
    """Whether a running worker can process it."""

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def summary(self) -> str:
        return {
            "waiting": say("Waiting for a worker"),
            "running": say("Running"),
            "later": say("Failed, will be retried"),
            "blocked": say("Blocked: a resource is missing"),
            "done": say("Done"),
            "passed over": say("Skipped"),
            "failed": say("Failed"),
        }[self.state]

    @property
    def detail(self) -> str | None:
        return self.item.error_text or self.item.message


def _steps() -> Mapping[str, Sequence[tuple[str, str]]]:
    return {
        company.KIND: (
            ("fetch", say("Read its website")),
            ("extract", say("Extract the facts")),
            ("analyze", say("Find its technologies, job board and tier")),
            ("save", say("Save the company")),
        ),
        discovery.KIND: (
            ("discover", say("Recognize the job board")),
            ("validate", say("Check that it responds")),
            ("configure", say("Save it as a source")),
            ("test", say("Read its first page")),
        ),
        source.KIND: (("scrape", say("Read all jobs")),),
        submission.KIND: (("detect", say("Recognize the page")),),
        judging.KIND: (
            ("scrape", say("Read the job")),
            ("filter", say("Check your rules")),
            ("analyze", say("Score it")),
            ("ask", say("Model review")),
            ("save", say("Save the match")),
        ),
        documents.KIND: (("write", say("Write the documents")),),
        preview.KIND: (("try", say("Read the first page")),),
    }


async def submit_or_join(tx: Tx, new: NewItem) -> ItemId:
    """Submit the item, or return the live item with the same key; NotAdmitted if neither works."""
    try:
        [answer] = await queue.submit_all(tx, [new])
    except Invalid as error:
        raise Unavailable(
            say("No worker for this task has run yet. Start Jobmill or a worker, then try again.")
        ) from error
    if isinstance(answer, AcceptedItem):
        return answer.id
    if answer.live is None:
        raise NotAdmitted(answer)
    return answer.live


async def submit_for_source(tx: Tx, id: int, new: NewItem) -> ItemId:
    """Submit a run or a test of a source; Conflict for a run of a rejected one."""
    stored = await sources.get(tx, id)
    if stored.status == "rejected" and new.kind == source.KIND:
        raise Conflict(say("This source is rejected. Enable it first."))
    return await submit_or_join(tx, new)


async def read_progress(tx: Tx, id: int, matches: Callable[[Item], bool]) -> TaskProgress | None:
    """The progress of an item; None if it does not exist or does not match."""
    try:
        first = await inspect.get_item(tx, ItemId(id))
    except NotFound:
        return None
    if not matches(first):
        return None
    item = await _current_item(tx, first)
    return TaskProgress(item, _state(item), _walk(item), await _has_worker(tx, item))


async def _current_item(tx: Tx, first: Item) -> Item:
    """The latest successor of an item that hands over to new items, or that detects what to do."""
    if first.kind not in (company.KIND, submission.KIND):
        return first
    relatives = await lineage.read_lineage(tx, first.tracking_id, with_data=False)
    if first.kind == submission.KIND:
        return next((item for item in relatives if item.parent_id == first.id), first)
    successors = [item for item in relatives if item.kind == first.kind and item.handed_over]
    return next((item for item in reversed(successors) if first.id in item.ancestry), first)


def _state(item: Item) -> TaskState:
    if item.status == "PENDING" and item.retry_count:
        return "later"
    return STATES.get(item.status, "passed over")


def _walk(item: Item) -> list[ProgressStep]:
    steps = _steps().get(item.kind, ())
    stages = [stage for stage, _ in steps]
    current = stages.index(item.stage) if item.stage in stages else 0
    succeeded = item.status == "SUCCESS"
    now = "stopped" if _state(item) in FINISHED else "now"
    return [
        ProgressStep(
            name, "done" if n < current or succeeded else now if n == current else "to come"
        )
        for n, (_, name) in enumerate(steps)
    ]


async def _has_worker(tx: Tx, item: Item) -> bool:
    alive = {worker.id for worker in await inspect.list_workers(tx) if worker.alive}
    return any(
        processor.worker in alive and (processor.kind, processor.stage) == (item.kind, item.stage)
        for processor in await inspect.list_processors(tx)
    )
