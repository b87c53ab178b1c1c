"""Words for the states and events of reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from jobmill.catalog.history import CatalogEvent
from jobmill.reports.report import STATUS_OF_PHASE, Report, ReportPhase
from jobmill.web import job_view
from jobmill.web.translations import say

StepState: TypeAlias = Literal["done", "now", "stopped", "to come"]


class ReportStep(NamedTuple):
    name: str
    state: StepState


def phase_names() -> dict[ReportPhase, str]:
    return {
        "website-analysis": say("Website analysis"),
        "prompt-forming": say("Questions"),
        "model-analysis": say("Answers from AI assistants"),
    }


def describe_status(report: Report) -> str:
    if report.awaits_approval:
        return say("Questions need your approval")
    if report.status in ("completed", "failed"):
        return say("Completed") if report.status == "completed" else say("Failed")
    if report.note:
        return say("Waiting")
    return say("In progress") if report.in_progress else say("Queued")


def list_steps(report: Report) -> Sequence[ReportStep]:
    """The phases, and how far the report is."""
    statuses = list(STATUS_OF_PHASE.values())
    current = report.failed_status if report.status == "failed" else report.status
    reached = statuses.index(current) if current in statuses else len(statuses)
    phases = phase_names()
    names = [phases["website-analysis"]] if report.site_only else list(phases.values())
    return [
        ReportStep(name, _step_state(number, reached, report)) for number, name in enumerate(names)
    ]


def _step_state(number: int, reached: int, report: Report) -> StepState:
    if number != reached:
        return "done" if number < reached else "to come"
    return "stopped" if report.status == "failed" else "now"


def describe_event(event: CatalogEvent) -> str:
    detail = event.data.get("reason") or event.data.get("phase") or event.data.get("key")
    return job_view.join_parts(
        [event.what, str(detail) if detail else None, job_view.by(event.actor)]
    )
