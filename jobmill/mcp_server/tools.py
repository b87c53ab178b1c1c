"""The tools of the MCP server: what each does, and whether it changes something.

A tool calls the HTTP API, which checks the rights of the key. Tools that change something are offered
only if they are allowed by name when the server starts.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from jobmill.client import Jobmill, models
from jobmill.mcp_server.untrusted_text import clean_line, mark_untrusted

Arrangement = Literal["remote", "hybrid", "onsite"]
MatchStatus = Literal["new", "saved", "applied", "interviewing", "offer", "rejected", "dismissed"]
DismissReason = Literal["pay", "location", "arrangement", "seniority", "skills", "company", "work"]
Limit = Annotated[int, Field(ge=1, le=50)]
Result = dict[str, Any]
MAX_TEXT_LENGTH = 12_000
"""Of a description, and of each text about a company."""
MAX_REPORT_LENGTH = 60_000
MAX_REASON_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    run: Callable[..., Result]
    """Takes the client first; its other parameters are those of the tool."""
    title: str
    changes: bool = False
    destructive: bool = False
    """Whether it replaces what was there."""
    idempotent: bool = True
    """Whether the same call again has no further effect."""

    @property
    def name(self) -> str:
        return self.run.__name__


def search_jobs(
    client: Jobmill,
    words: str | None = None,
    company: str | None = None,
    location: str | None = None,
    arrangement: Arrangement | None = None,
    days: Annotated[int, Field(ge=1, le=3650)] | None = None,
    limit: Limit = 20,
) -> Result:
    """Search all open jobs by words, company, place, arrangement and age in days. Each has the decision
    of your default profile: matched, skipped or filtered, with a score."""
    page = client.list_listings(
        q=words,
        company=company,
        location=location,
        arrangement=arrangement,
        days=days,
        sort="best" if words else None,
        limit=limit,
    )
    return {"jobs": [_facts(item) | {"verdict": _reasons(item.verdict)} for item in page.items]}


def show_job(client: Jobmill, job_id: int) -> Result:
    """One job with its full text and the decision of your default profile."""
    listing = client.show_listing(job_id)
    return _facts(listing) | {
        "employment_type": listing.employment_type,
        "seniority": listing.seniority,
        "match_id": listing.match_id,
        "company_id": listing.company_id,
        "decision": _reasons(listing.decision),
        "text": mark_untrusted(listing.description, limit=MAX_TEXT_LENGTH),
    }


def try_profile_change(
    client: Jobmill,
    job_id: int,
    having: list[str] | None = None,
    without: list[str] | None = None,
    places: list[str] | None = None,
    arrangements: list[Arrangement] | None = None,
) -> Result:
    """How a job would be decided if your profile had other skills (`having`, `without`), places or
    arrangements. Changes nothing."""
    result = client.try_what_if(
        job_id, having=having, without=without, place=places, arrangement=arrangements
    )
    return _reasons(result)


def list_matches(
    client: Jobmill,
    status: MatchStatus | None = None,
    min_score: Annotated[int, Field(ge=0, le=100)] | None = None,
    words: str | None = None,
    after: int | None = None,
    limit: Limit = 20,
) -> Result:
    """Jobs that fit your default profile, best first: those that wait for a decision, or those with a
    status. `after` continues from `next` of the previous call."""
    page = client.list_matches(
        status=status, min_score=min_score, q=words, after=after, limit=limit
    )
    return {"matches": [_match(item) for item in page.items], "next": page.next}


def explain_match(client: Jobmill, match_id: int) -> Result:
    """Why a job fits: every part of its score, skill gaps, what is noticeable about the posting, what to
    stress in a resume, and its text."""
    match = client.show_match(match_id)
    return _match(match) | {
        "threshold": match.threshold,
        "threshold_why": match.threshold_why,
        "parts": [_reasons(part) for part in match.items],
        "matched_skills": _clean(match.matched_skills),
        "skill_gaps": _clean(match.skill_gaps),
        "checks": [_reasons(check) for check in match.checks or ()],
        "resume_intake": _clean(match.resume_intake),
        "text": mark_untrusted(match.description, limit=MAX_TEXT_LENGTH),
    }


def triage_match(
    client: Jobmill,
    match_id: int,
    status: MatchStatus,
    reason: DismissReason | None = None,
    note: Annotated[str, Field(max_length=2_000)] | None = None,
) -> Result:
    """Save, dismiss or otherwise triage a match. `reason` says why it was dismissed."""
    match = client.set_match_status(match_id, models.ApiStatusBody(status=status, note=note))
    if reason and status == "dismissed":
        match = client.set_dismiss_reason(match_id, models.ApiDismissReasonBody(reason=reason))
    return _match(match)


def undo_triage(client: Jobmill, match_id: int) -> Result:
    """Restore the previous status of a match."""
    return _match(client.undo_match_status(match_id))


def submit_job(
    client: Jobmill, url_or_text: Annotated[str, Field(min_length=1, max_length=100_000)]
) -> Result:
    """Add a job, a job board, a careers page or a company by its URL, or a job by its text. A worker
    reads and scores it: ask `submission_status` for the result."""
    return _submission(client.create_submission(models.ApiNewSubmission(input=url_or_text)))


def submission_status(client: Jobmill, submission_id: int) -> Result:
    """What became of something that was submitted."""
    return _submission(client.show_submission(submission_id))


def list_applications(client: Jobmill) -> Result:
    """Jobs that you saved or applied to, by status, and next steps that are due."""
    board = client.show_application_board()
    return {
        "columns": [
            {
                "column": column.key,
                "name": column.name,
                "count": column.count,
                "applications": [
                    {"match_id": card.match_id, "title": _clean_name(card.title),
                     "company": _clean_name(card.company),
                     "next_step": card.next_step, "applied_on": _day(card.applied_on)}
                    for card in column.applications
                ],
            }
            for column in board.columns
        ],
        "due": [_clean(_dump(step)) for step in board.due],
    }  # fmt: skip


def show_application(client: Jobmill, match_id: int) -> Result:
    """One application: status, dates, next step, notes and contacts."""
    return _application(client.show_tracked_application(match_id))


def add_application_note(
    client: Jobmill, match_id: int, text: Annotated[str, Field(min_length=1, max_length=10_000)]
) -> Result:
    """Add a note to an application. The same text again changes nothing."""
    body = models.ApiApplicationNoteBody(body=text)
    return _application(client.add_application_note(match_id, body))


def move_application(client: Jobmill, match_id: int, column: str) -> Result:
    """Move an application to another status: saved, applied, interviewing, offer, rejected, dismissed, or
    the key of a column of your own."""
    body = models.ApiApplicationMove(column=column)
    return _application(client.move_application(match_id, body))


def set_next_step(
    client: Jobmill,
    match_id: int,
    step: Annotated[str, Field(max_length=200)],
    on: dt.date | None = None,
) -> Result:
    """Set what to do next for an application, and the day to be reminded. Other dates stay."""
    current = client.show_tracked_application(match_id)
    body = models.ApiApplicationDates(
        applied_on=current.applied_on,
        interview_at=current.interview_at,
        offer_deadline=current.offer_deadline,
        next_step=step or None,
        next_step_on=on,
    )
    return _application(client.save_application_dates(match_id, body, if_match=current.version))


def company_facts(
    client: Jobmill, name: str | None = None, company_id: int | None = None
) -> Result:
    """What is known about a company: business, culture, size, technology, boards and newest jobs. By
    its id, or the best hits for a name."""
    if company_id is None:
        page = client.list_companies(q=name, limit=10)
        if len(page.items) != 1:
            return {"companies": [_clean(_dump(item)) for item in page.items]}
        company_id = page.items[0].id
    company = client.show_company_facts(company_id)
    facts = _dump(company)
    return _clean(facts) | {
        field: mark_untrusted(facts[field], limit=MAX_TEXT_LENGTH)
        for field in ("about", "culture", "mission")
    }


def list_reports(client: Jobmill, limit: Limit = 10) -> Result:
    """Reports about what a company's website tells candidates, newest first."""
    return {"reports": [_dump(report) for report in client.list_reports(limit=limit)]}


def show_report(client: Jobmill, report_id: int) -> Result:
    """A website report: scores, and as JSON its findings and recommendations, which quote the website;
    without the single answers."""
    detail = client.show_report(report_id)
    return {
        "report": _dump(detail.report),
        "scores": detail.scores,
        "findings": _mark_json(detail.findings),
        "recommendations": _mark_json(detail.recommendations),
    }


def opening_status(client: Jobmill, opening_id: int | None = None) -> Result:
    """The openings that your company offers, or one of them with its waitlist and key figures."""
    if opening_id is None:
        return {"openings": [_dump(job) for job in client.list_jobs(limit=100)]}
    return _dump(client.show_job_summary(opening_id))


def _mark_json(value: Any) -> str | None:
    text = json.dumps(value, ensure_ascii=False) if value else None
    return mark_untrusted(text, limit=MAX_REPORT_LENGTH)


def _dump(model: Any) -> Any:
    return None if model is None else model.model_dump(mode="json")


def _reasons(model: Any) -> Any:
    """What was decided about a job and why; its texts quote the posting."""
    return _clean(_dump(model))


def _clean(value: Any) -> Any:
    """Texts as short lines, and the quoted words of a posting marked."""
    if isinstance(value, str):
        return clean_line(value, limit=MAX_REASON_LENGTH)
    if isinstance(value, list):
        return [_clean(part) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("Result", value)
        return {
            name: _mark_quotes(part) if name == "words" else _clean(part)
            for name, part in fields.items()
        }
    return value


def _clean_name(text: str | None) -> str | None:
    return clean_line(text) if text else None


def _mark_quotes(words: str | Sequence[str] | None) -> str | None:
    text = words if isinstance(words, str) else "\n".join(words or ())
    return mark_untrusted(text, limit=MAX_TEXT_LENGTH)


def _day(day: dt.date | None) -> str | None:
    return day.isoformat() if day else None


def _facts(
    job: models.ApiListingItem
    | models.ApiListingRecord
    | models.ApiMatchItem
    | models.ApiMatchRecord,
) -> Result:
    salary = [job.salary_min, job.salary_max, job.salary_currency, job.salary_period]
    return {
        "id": job.id,
        "title": _clean_name(job.title),
        "company": _clean_name(job.company),
        "location": _clean_name(job.location),
        "arrangement": job.arrangement,
        "salary": salary if job.salary_min or job.salary_max else None,
        "first_seen_at": job.first_seen_at.isoformat(),
        "is_open": job.closed_at is None,
        "url": job.url,
    }


def _match(match: models.ApiMatchItem | models.ApiMatchRecord) -> Result:
    facts = _facts(match)
    return (
        {"match_id": facts.pop("id"), "job_id": match.listing_id}
        | facts
        | {
            "score": match.score,
            "priority": match.priority,
            "status": match.status,
            "reason_for": _clean(match.reason_for),
            "reason_against": _clean(match.reason_against),
            "dealbreakers": _clean(match.dealbreakers),
        }
    )


def _submission(submission: models.ApiSubmissionRecord) -> Result:
    return {
        "submission_id": submission.id,
        "kind": submission.kind,
        "state": submission.state,
        "reason": _clean(submission.reason),
        "job_id": submission.listing_id,
        "company_id": submission.company_id,
    }


def _application(application: models.ApiTrackedApplication) -> Result:
    names = {"title": _clean_name(application.title), "company": _clean_name(application.company)}
    return _dump(application) | names


TOOLS: Sequence[ToolDefinition] = (
    ToolDefinition(search_jobs, "Search jobs"),
    ToolDefinition(show_job, "Show a job"),
    ToolDefinition(try_profile_change, "Try a change of the profile"),
    ToolDefinition(list_matches, "List matches"),
    ToolDefinition(explain_match, "Explain a match"),
    ToolDefinition(submission_status, "Follow a submission"),
    ToolDefinition(list_applications, "List applications"),
    ToolDefinition(show_application, "Show an application"),
    ToolDefinition(company_facts, "Look up a company"),
    ToolDefinition(list_reports, "List website reports"),
    ToolDefinition(show_report, "Show a website report"),
    ToolDefinition(opening_status, "Show openings"),
    ToolDefinition(triage_match, "Triage a match", changes=True, destructive=True),
    ToolDefinition(undo_triage, "Undo a triage", changes=True, idempotent=False),
    ToolDefinition(submit_job, "Submit a job", changes=True),
    ToolDefinition(add_application_note, "Add a note to an application", changes=True),
    ToolDefinition(move_application, "Move an application", changes=True, destructive=True),
    ToolDefinition(set_next_step, "Set the next step", changes=True, destructive=True),
)
"""Those that only read come first."""

CHANGING = tuple(tool.name for tool in TOOLS if tool.changes)
