"""One method per API operation. `make fmt` generates this module from the API; do not edit it."""

from __future__ import annotations

import datetime as dt
from typing import Literal
from uuid import UUID

from jobmill.client import models
from jobmill.client.transport import Transport


class Operations:
    """The operations, by the names that the API gives them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def accept_offer(self, body: models.ApiApplicationBody) -> models.ApiApplicationResult:
        """Accept an offer before its deadline."""
        return self._transport.send(
            "POST", "/api/acknowledge", body=body, returns=models.ApiApplicationResult
        )

    def list_applicants(
        self, *, email: str | None = None, after: int | None = None, limit: int | None = None
    ) -> list[models.ApiApplicantItem]:
        """Applicants, oldest first: all of them without `limit`, or the one with an address."""
        return self._transport.send(
            "GET",
            "/api/applicants",
            query={"email": email, "after": after, "limit": limit},
            returns=list[models.ApiApplicantItem],
        )

    def create_applicant(self, body: models.ApiNewApplicant) -> models.ApiApplicantItem:
        """Add an applicant; the address must be new, without regard to case."""
        return self._transport.send(
            "POST", "/api/applicants", body=body, returns=models.ApiApplicantItem
        )

    def show_applicant(self, applicant_id: int) -> models.ApiApplicantItem:
        """One applicant. Applicants may see themselves."""
        return self._transport.send(
            "GET",
            f"/api/applicants/{self._transport.quote(applicant_id)}",
            returns=models.ApiApplicantItem,
        )

    def erase_applicant(self, applicant_id: int) -> models.ApiErased:
        """Erase an applicant's data permanently. Their applications end; the audit log stays
        complete. Admins who signed in with a password must have entered it within 10 minutes."""
        return self._transport.send(
            "POST",
            f"/api/applicants/{self._transport.quote(applicant_id)}/erase",
            returns=models.ApiErased,
        )

    def export_applicant(self, applicant_id: int) -> models.ApiPersonData:
        """Everything stored about one applicant."""
        return self._transport.send(
            "GET",
            f"/api/applicants/{self._transport.quote(applicant_id)}/export",
            returns=models.ApiPersonData,
        )

    def give_link(
        self, applicant_id: int, body: models.ApiLinkBody | None
    ) -> models.ApiPersonalLink:
        """A personal link of the applicant. The audit log names the issuer of what is done with
        it; it cannot export or erase data."""
        return self._transport.send(
            "POST",
            f"/api/applicants/{self._transport.quote(applicant_id)}/link",
            body=body,
            returns=models.ApiPersonalLink,
        )

    def accept_application(
        self, application_id: int, body: models.ApiAcceptBody | None
    ) -> models.ApiDecidedApplication:
        """Accept an application in review: it joins the waitlist, and free slots are offered at
        once."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/accept",
            body=body,
            returns=models.ApiDecidedApplication,
        )

    def show_application_answers(self, application_id: int) -> models.ApiApplicationAnswers:
        """The answers of an application, with the questions as they were then."""
        return self._transport.send(
            "GET",
            f"/api/applications/{self._transport.quote(application_id)}/answers",
            returns=models.ApiApplicationAnswers,
        )

    def decline_offer(
        self, application_id: int, body: models.ApiDeclineBody | None
    ) -> models.ApiApplicationResult:
        """Decline an offer, which ends the application."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/decline",
            body=body,
            returns=models.ApiApplicationResult,
        )

    def download_file(self, application_id: int, file_id: UUID) -> bytes:
        """A file of an application."""
        return self._transport.send(
            "GET",
            f"/api/applications/{self._transport.quote(application_id)}/files/{self._transport.quote(file_id)}",
            returns=bytes,
        )

    def show_interview_choice(self, application_id: int) -> models.ApiInterviewChoiceAnswer:
        """The booked time of an application, and the times that it can book."""
        return self._transport.send(
            "GET",
            f"/api/applications/{self._transport.quote(application_id)}/interview",
            returns=models.ApiInterviewChoiceAnswer,
        )

    def book_interview(
        self, application_id: int, body: models.ApiBookBody
    ) -> models.ApiBookingResult:
        """Book a time, in exchange for the one booked before, or join the waitlist of a full time."""
        return self._transport.send(
            "PUT",
            f"/api/applications/{self._transport.quote(application_id)}/interview",
            body=body,
            returns=models.ApiBookingResult,
        )

    def cancel_interview_booking(self, application_id: int) -> None:
        """Cancel the booking; its place is offered to the next person."""
        return self._transport.send(
            "DELETE",
            f"/api/applications/{self._transport.quote(application_id)}/interview",
            returns=type(None),
        )

    def add_review_note(self, application_id: int, body: models.ApiNoteBody) -> models.ApiNoteItem:
        """Add a note. The same text again is the first note."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/notes",
            body=body,
            returns=models.ApiNoteItem,
        )

    def promote_application(
        self, application_id: int, body: models.ApiPromoteBody
    ) -> models.ApiApplicationResult:
        """Offer a slot out of turn; the log keeps the reason."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/promote",
            body=body,
            returns=models.ApiApplicationResult,
        )

    def rate_application(
        self, application_id: int, body: models.ApiRatingBody
    ) -> models.ApiReviewAnswer:
        """Set, replace or remove your rating, overall or for a criterion."""
        return self._transport.send(
            "PUT",
            f"/api/applications/{self._transport.quote(application_id)}/rating",
            body=body,
            returns=models.ApiReviewAnswer,
        )

    def reject_application(
        self, application_id: int, body: models.ApiRejectBody | None
    ) -> models.ApiDecidedApplication:
        """Reject an application in review, which ends it."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/reject",
            body=body,
            returns=models.ApiDecidedApplication,
        )

    def remove_application(
        self, application_id: int, body: models.ApiReasonBody
    ) -> models.ApiApplicationResult:
        """End an application; the log keeps the reason."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/remove",
            body=body,
            returns=models.ApiApplicationResult,
        )

    def show_review(self, application_id: int) -> models.ApiReviewAnswer:
        """Ratings, tags and notes of an application."""
        return self._transport.send(
            "GET",
            f"/api/applications/{self._transport.quote(application_id)}/review",
            returns=models.ApiReviewAnswer,
        )

    def score_application(
        self, application_id: int, body: models.ApiScoreBody
    ) -> models.ApiDecidedApplication:
        """Score an application in review."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/score",
            body=body,
            returns=models.ApiDecidedApplication,
        )

    def move_stage(
        self, application_id: int, body: models.ApiStageMoveBody
    ) -> models.ApiDecidedApplication:
        """Move an active application to another stage; one of the kind `rejected` ends it."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/stage",
            body=body,
            returns=models.ApiDecidedApplication,
        )

    def add_tag(self, application_id: int, body: models.ApiTagBody) -> models.ApiReviewAnswer:
        """Add a tag."""
        return self._transport.send(
            "POST",
            f"/api/applications/{self._transport.quote(application_id)}/tags",
            body=body,
            returns=models.ApiReviewAnswer,
        )

    def remove_tag(self, application_id: int, tag: str) -> None:
        """Remove a tag."""
        return self._transport.send(
            "DELETE",
            f"/api/applications/{self._transport.quote(application_id)}/tags/{self._transport.quote(tag)}",
            returns=type(None),
        )

    def apply_for_job(
        self, body: models.ApiApplyBody
    ) -> models.ApiApplicationResult | models.ApiUnconfirmedApplication:
        """Take a free slot if the waitlist is empty, otherwise join it."""
        return self._transport.send(
            "POST",
            "/api/apply",
            body=body,
            returns=models.ApiApplicationResult | models.ApiUnconfirmedApplication,
        )

    def apply_as_public(
        self, body: models.ApiPublicApplyBody
    ) -> models.ApiApplicationResult | models.ApiUnconfirmedApplication:
        """Apply with a name and an address. A new applicant is added unless the application is
        refused. If the site confirms addresses, anonymous clients get 202 for every address,
        and its owner an email."""
        return self._transport.send(
            "POST",
            "/api/apply-public",
            body=body,
            returns=models.ApiApplicationResult | models.ApiUnconfirmedApplication,
        )

    def list_approvals(
        self, *, after: str | None = None, limit: int | None = None
    ) -> models.ApiApprovalList:
        """What waits for a decision."""
        return self._transport.send(
            "GET",
            "/api/approvals",
            query={"after": after, "limit": limit},
            returns=models.ApiApprovalList,
        )

    def show_approval(self, ref: str) -> models.ApiApprovalItem:
        """A board or a source, and whether it was approved."""
        return self._transport.send(
            "GET", f"/api/approvals/{self._transport.quote(ref)}", returns=models.ApiApprovalItem
        )

    def approve_board(self, ref: str) -> models.ApiApprovalAnswer:
        """Approve it, and queue its first run."""
        return self._transport.send(
            "POST",
            f"/api/approvals/{self._transport.quote(ref)}/approve",
            returns=models.ApiApprovalAnswer,
        )

    def reject_board(self, ref: str, body: models.ApiSourceReasonBody) -> models.ApiApprovalAnswer:
        """Reject it; it is not suggested again."""
        return self._transport.send(
            "POST",
            f"/api/approvals/{self._transport.quote(ref)}/reject",
            body=body,
            returns=models.ApiApprovalAnswer,
        )

    def list_blocked(self) -> list[models.ApiBlocklistEntry]:
        """Blocked addresses and domains, in alphabetical order."""
        return self._transport.send("GET", "/api/blocklist", returns=list[models.ApiBlocklistEntry])

    def block_address(self, body: models.ApiNewBlocklistEntry) -> models.ApiAddedBlocklistEntry:
        """Refuse new applications from an address or a domain; current applications stay."""
        return self._transport.send(
            "POST", "/api/blocklist", body=body, returns=models.ApiAddedBlocklistEntry
        )

    def unblock_address(self, address: str) -> None:
        """Accept applications from there again."""
        return self._transport.send(
            "DELETE", f"/api/blocklist/{self._transport.quote(address)}", returns=type(None)
        )

    def show_budget(self, *, days: int | None = None) -> models.ApiBudgetRecord:
        """What language models have cost, and what they may cost."""
        return self._transport.send(
            "GET", "/api/budget", query={"days": days}, returns=models.ApiBudgetRecord
        )

    def list_companies(
        self,
        *,
        q: str | None = None,
        tier: Literal["S", "A", "B", "C", "D"] | None = None,
        completeness: Literal["good", "minimal", "sparse"] | None = None,
        needs_approval: bool | None = None,
        order: Literal["best", "newest"] | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiCompanyList:
        """Companies, the best or the newest first."""
        return self._transport.send(
            "GET",
            "/api/companies",
            query={
                "q": q,
                "tier": tier,
                "completeness": completeness,
                "needsApproval": needs_approval,
                "order": order,
                "after": after,
                "limit": limit,
            },
            returns=models.ApiCompanyList,
        )

    def create_company(self, body: models.ApiNewCompany) -> models.ApiAnalysisAnswer:
        """Add a company; a worker reads its website and finds its job board."""
        return self._transport.send(
            "POST", "/api/companies", body=body, returns=models.ApiAnalysisAnswer
        )

    def track_boards(self, body: models.ApiBoardsBody) -> models.ApiTrackedBoards:
        """Read job boards from now on; nothing is added if one of them is not recognized."""
        return self._transport.send(
            "POST", "/api/companies/track", body=body, returns=models.ApiTrackedBoards
        )

    def show_company_facts(self, company_id: int) -> models.ApiCompanyRecord:
        """What is known about a company, its boards and its newest jobs."""
        return self._transport.send(
            "GET",
            f"/api/companies/{self._transport.quote(company_id)}",
            returns=models.ApiCompanyRecord,
        )

    def analyze_company(self, company_id: int) -> models.ApiAnalysisAnswer:
        """Read its website again, even if what is known is recent."""
        return self._transport.send(
            "POST",
            f"/api/companies/{self._transport.quote(company_id)}/analyze",
            returns=models.ApiAnalysisAnswer,
        )

    def show_company(self) -> models.ApiCompany:
        """The company's name, website, logo and color."""
        return self._transport.send("GET", "/api/company", returns=models.ApiCompany)

    def save_company(self, body: models.ApiCompanyBody) -> models.ApiCompany:
        """Replace name, website and color; the logo stays."""
        return self._transport.send("PUT", "/api/company", body=body, returns=models.ApiCompany)

    def save_logo(self) -> models.ApiCompany:
        """Replace the logo by the body of the request: a PNG or JPEG file of up to 1 MB."""
        return self._transport.send("PUT", "/api/company/logo", returns=models.ApiCompany)

    def remove_logo(self) -> None:
        """Remove the logo."""
        return self._transport.send("DELETE", "/api/company/logo", returns=type(None))

    def list_documents(
        self, *, match_id: int | None = None, after: int | None = None, limit: int | None = None
    ) -> models.ApiDocumentItems:
        """Resumes and letters, the newest first."""
        return self._transport.send(
            "GET",
            "/api/documents",
            query={"matchId": match_id, "after": after, "limit": limit},
            returns=models.ApiDocumentItems,
        )

    def write_document(self, body: models.ApiNewDocument) -> models.ApiDocumentRecord:
        """Write a document from the profile. A match that has one keeps it."""
        return self._transport.send(
            "POST", "/api/documents", body=body, returns=models.ApiDocumentRecord
        )

    def write_best_documents(self, *, profile: str | None = None) -> models.ApiQueuedDocuments:
        """Write the documents of the best matches, as tasks."""
        return self._transport.send(
            "POST",
            "/api/documents/best",
            query={"profile": profile},
            returns=models.ApiQueuedDocuments,
        )

    def show_document(self, document_id: int) -> models.ApiDocumentRecord:
        """The newest version. Its ETag goes into the If-Match header of a change."""
        return self._transport.send(
            "GET",
            f"/api/documents/{self._transport.quote(document_id)}",
            returns=models.ApiDocumentRecord,
        )

    def edit_document(
        self, document_id: int, body: models.ApiDocumentChange, *, if_match: int | str | None = None
    ) -> models.ApiDocumentRecord:
        """Switch lines on and off, edit them, or change the layout, as a new version."""
        return self._transport.send(
            "PATCH",
            f"/api/documents/{self._transport.quote(document_id)}",
            body=body,
            if_match=if_match,
            returns=models.ApiDocumentRecord,
        )

    def download_document(
        self, document_id: int, version: int, format: Literal["pdf", "docx", "txt"]
    ) -> bytes:
        """The file of a version as it prints now."""
        return self._transport.send(
            "GET",
            f"/api/documents/{self._transport.quote(document_id)}/files/{self._transport.quote(version)}/{self._transport.quote(format)}",
            returns=bytes,
        )

    def rebuild_document(
        self, document_id: int, *, if_match: int | str | None = None
    ) -> models.ApiDocumentRecord:
        """Write the document again from the newest profile, as a new version."""
        return self._transport.send(
            "POST",
            f"/api/documents/{self._transport.quote(document_id)}/rebuild",
            if_match=if_match,
            returns=models.ApiDocumentRecord,
        )

    def restore_document(
        self, document_id: int, version: int, *, if_match: int | str | None = None
    ) -> models.ApiDocumentRecord:
        """Save an older version again as the newest."""
        return self._transport.send(
            "POST",
            f"/api/documents/{self._transport.quote(document_id)}/restore/{self._transport.quote(version)}",
            if_match=if_match,
            returns=models.ApiDocumentRecord,
        )

    def reword_document(self, document_id: int) -> models.ApiQueuedDocuments:
        """Let a task ask the model for other words, within the budget."""
        return self._transport.send(
            "POST",
            f"/api/documents/{self._transport.quote(document_id)}/reword",
            returns=models.ApiQueuedDocuments,
        )

    def mark_document_sent(
        self, document_id: int, body: models.ApiSentBody
    ) -> models.ApiDocumentHistory:
        """Freeze the file that was sent."""
        return self._transport.send(
            "POST",
            f"/api/documents/{self._transport.quote(document_id)}/sent",
            body=body,
            returns=models.ApiDocumentHistory,
        )

    def download_sent_document(
        self, document_id: int, version: int, format: Literal["pdf", "docx", "txt"]
    ) -> bytes:
        """The frozen file, byte for byte as it was sent."""
        return self._transport.send(
            "GET",
            f"/api/documents/{self._transport.quote(document_id)}/sent/{self._transport.quote(version)}/{self._transport.quote(format)}",
            returns=bytes,
        )

    def list_document_versions(self, document_id: int) -> models.ApiDocumentHistory:
        """All versions, and the files that were sent."""
        return self._transport.send(
            "GET",
            f"/api/documents/{self._transport.quote(document_id)}/versions",
            returns=models.ApiDocumentHistory,
        )

    def show_system_health(self) -> models.ApiHealthRecord:
        """Every condition of the installation that needs attention."""
        return self._transport.send("GET", "/api/health", returns=models.ApiHealthRecord)

    def show_health(self) -> models.ApiHealth:
        """The process responds; checks nothing else."""
        return self._transport.send("GET", "/api/healthz", returns=models.ApiHealth)

    def cancel_interview(
        self, interview_id: int, body: models.ApiCancelBody
    ) -> models.ApiInterviewItem:
        """Cancel a time; booked people get a letter and can book another."""
        return self._transport.send(
            "POST",
            f"/api/interviews/{self._transport.quote(interview_id)}/cancel",
            body=body,
            returns=models.ApiInterviewItem,
        )

    def move_interview(
        self, interview_id: int, body: models.ApiMoveBody
    ) -> models.ApiInterviewItem:
        """Change the start or the place of a time; booked people get a letter."""
        return self._transport.send(
            "POST",
            f"/api/interviews/{self._transport.quote(interview_id)}/move",
            body=body,
            returns=models.ApiInterviewItem,
        )

    def list_jobs(
        self, *, after: int | None = None, limit: int | None = None
    ) -> list[models.ApiJob]:
        """Openings, oldest first. The public sees only open ones."""
        return self._transport.send(
            "GET", "/api/jobs", query={"after": after, "limit": limit}, returns=list[models.ApiJob]
        )

    def create_job(self, body: models.ApiNewJob) -> models.ApiJob:
        """Create an opening; it takes applications at once."""
        return self._transport.send("POST", "/api/jobs", body=body, returns=models.ApiJob)

    def show_job(
        self, job_id: int, *, after: str | None = None, limit: int | None = None
    ) -> models.ApiJobDetail:
        """An opening with its active applicants and its waitlist."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}",
            query={"after": after, "limit": limit},
            returns=models.ApiJobDetail,
        )

    def list_applications(
        self,
        job_id: int,
        *,
        status: Literal["ACTIVE", "WAITLIST", "PENDING_ACKNOWLEDGMENT", "INACTIVE", "IN_REVIEW"]
        | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiApplicationPage:
        """All applications, including ended ones, oldest first."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/applications",
            query={"status": status, "after": after, "limit": limit},
            returns=models.ApiApplicationPage,
        )

    def export_applications(self, job_id: int) -> bytes:
        """All applications as CSV: active, then waiting by position, then ended."""
        return self._transport.send(
            "GET", f"/api/jobs/{self._transport.quote(job_id)}/applications.csv", returns=bytes
        )

    def change_applications(self, job_id: int, body: models.ApiBulkBody) -> models.ApiBulkAnswer:
        """Withdraw, promote, message, accept or reject many applications at once. A refused one
        does not stop the others."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/bulk",
            body=body,
            returns=models.ApiBulkAnswer,
        )

    def change_capacity(self, job_id: int, body: models.ApiCapacityBody) -> models.ApiJobSettings:
        """Change the number of slots. New ones are offered at once; all applicants keep theirs."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/capacity",
            body=body,
            returns=models.ApiJobSettings,
        )

    def close_job(self, job_id: int) -> models.ApiJobSettings:
        """Like pause, and unpublish the opening; current applications stay."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/close",
            returns=models.ApiJobSettings,
        )

    def close_and_tell(self, job_id: int, body: models.ApiCloseAndTell) -> models.ApiClosing:
        """Close an opening, end all applications without a place, and send each a letter once.
        Also ends the applications of an opening that is closed already."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/close-and-tell",
            body=body,
            returns=models.ApiClosing,
        )

    def draw_lottery(self, job_id: int) -> models.ApiLotteryItem:
        """Draw the order of all entries, once; free slots are offered at once."""
        return self._transport.send(
            "POST", f"/api/jobs/{self._transport.quote(job_id)}/draw", returns=models.ApiLotteryItem
        )

    def list_job_events(
        self, job_id: int, *, after: int | None = None, limit: int | None = None
    ) -> models.ApiLogPage:
        """All events, in order."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/events",
            query={"after": after, "limit": limit},
            returns=models.ApiLogPage,
        )

    def explain_event(self, job_id: int, seq: int) -> models.ApiExplanation:
        """Why an event happened: which slot, which rule, and which applications were ahead."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/events/{self._transport.quote(seq)}/why",
            returns=models.ApiExplanation,
        )

    def show_fairness_proof(self, job_id: int) -> models.ApiFairnessProof:
        """The end of the public log, if the company publishes it; needs no role."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/fairness",
            returns=models.ApiFairnessProof,
        )

    def download_fairness_log(self, job_id: int) -> bytes:
        """The public log as JSON lines, for `verify_fairness.py`; needs no role."""
        return self._transport.send(
            "GET", f"/api/jobs/{self._transport.quote(job_id)}/fairness/log", returns=bytes
        )

    def upload_file(
        self, job_id: int, content: bytes, *, field: str, name: str
    ) -> models.ApiUploadedFileItem:
        """Upload a PDF or DOCX for a question, and send its id as the answer within two hours."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/files",
            content=content,
            content_type="application/octet-stream",
            query={"field": field, "name": name},
            returns=models.ApiUploadedFileItem,
        )

    def show_job_form(self, job_id: int) -> models.ApiJobForm:
        """What the opening asks besides the name and the address. The public does not see knockout
        answers."""
        return self._transport.send(
            "GET", f"/api/jobs/{self._transport.quote(job_id)}/form", returns=models.ApiJobForm
        )

    def change_job_form(self, job_id: int, body: models.ApiJobFormBody) -> models.ApiJobForm:
        """Save a new version of the form. Earlier applications keep the questions that they
        answered."""
        return self._transport.send(
            "PUT",
            f"/api/jobs/{self._transport.quote(job_id)}/form",
            body=body,
            returns=models.ApiJobForm,
        )

    def import_applications(
        self, job_id: int, content: bytes, *, dry_run: bool | None = None
    ) -> models.ApiImportAnswer:
        """Apply for the people of a CSV file with the columns `name` and `email`, in order."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/import",
            content=content,
            content_type="text/csv",
            query={"dryRun": dry_run},
            returns=models.ApiImportAnswer,
        )

    def add_interviews(self, job_id: int, body: models.ApiSeriesBody) -> models.ApiInterviewList:
        """Add a series of interview times; times that exist already are not added again."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/interviews",
            body=body,
            returns=models.ApiInterviewList,
        )

    def list_interviews(self, job_id: int) -> models.ApiInterviewList:
        """The interview times of an opening, and their bookings."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/interviews",
            returns=models.ApiInterviewList,
        )

    def show_lottery(self, job_id: int) -> models.ApiLotteryItem:
        """The commitment of a lottery and, after the draw, everything needed to recompute it."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/lottery",
            returns=models.ApiLotteryItem,
        )

    def pause_job(self, job_id: int) -> models.ApiJobSettings:
        """Close applications and stop offering slots automatically; open offers stay valid."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/pause",
            returns=models.ApiJobSettings,
        )

    def show_posting(self, job_id: int) -> models.ApiPostingItem:
        """Pay, employment type and countries of an opening."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/posting",
            returns=models.ApiPostingItem,
        )

    def save_posting(self, job_id: int, body: models.ApiPostingBody) -> models.ApiPostingItem:
        """Replace pay, employment type and countries of an opening."""
        return self._transport.send(
            "PUT",
            f"/api/jobs/{self._transport.quote(job_id)}/posting",
            body=body,
            returns=models.ApiPostingItem,
        )

    def reopen_job(self, job_id: int) -> models.ApiJobSettings:
        """Open a closed opening again."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/reopen",
            returns=models.ApiJobSettings,
        )

    def resume_job(self, job_id: int) -> models.ApiJobSettings:
        """Open applications again and offer free slots at once."""
        return self._transport.send(
            "POST",
            f"/api/jobs/{self._transport.quote(job_id)}/resume",
            returns=models.ApiJobSettings,
        )

    def list_in_review(
        self, job_id: int, *, after: str | None = None, limit: int | None = None
    ) -> models.ApiReviewItems:
        """Applications in review, in the order in which they would be accepted."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/review",
            query={"after": after, "limit": limit},
            returns=models.ApiReviewItems,
        )

    def show_job_settings(self, job_id: int) -> models.ApiJobSettings:
        """All settings of an opening."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/settings",
            returns=models.ApiJobSettings,
        )

    def edit_job(self, job_id: int, body: models.ApiJobChange) -> models.ApiJobSettings:
        """Change the given settings; open offers keep their deadline."""
        return self._transport.send(
            "PATCH",
            f"/api/jobs/{self._transport.quote(job_id)}/settings",
            body=body,
            returns=models.ApiJobSettings,
        )

    def show_stages(self, job_id: int, *, limit: int | None = None) -> models.ApiStageBoard:
        """The stages with at most `limit` people each."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/stages",
            query={"limit": limit},
            returns=models.ApiStageBoard,
        )

    def verify_log(self, job_id: int) -> models.ApiVerification:
        """Whether the log is unchanged and agrees with the tables."""
        return self._transport.send(
            "GET",
            f"/api/jobs/{self._transport.quote(job_id)}/verify",
            returns=models.ApiVerification,
        )

    def list_keys(self) -> models.ApiKeyList:
        """All API keys, including revoked and expired ones."""
        return self._transport.send("GET", "/api/keys", returns=models.ApiKeyList)

    def create_key(self, body: models.ApiNewKey) -> models.ApiCreatedKey:
        """Create an API key. The response shows it once."""
        return self._transport.send("POST", "/api/keys", body=body, returns=models.ApiCreatedKey)

    def revoke_key(self, key_id: int) -> None:
        """Revoke an API key for good."""
        return self._transport.send(
            "DELETE", f"/api/keys/{self._transport.quote(key_id)}", returns=type(None)
        )

    def list_letters(self, *, job_id: int | None = None) -> list[models.ApiLetterItem]:
        """All letters with their texts, in general or for one opening."""
        return self._transport.send(
            "GET", "/api/letters", query={"jobId": job_id}, returns=list[models.ApiLetterItem]
        )

    def save_letter(
        self, letter: str, body: models.ApiLetterBody, *, job_id: int | None = None
    ) -> None:
        """Save a new version of a letter, in general or for one opening."""
        return self._transport.send(
            "PUT",
            f"/api/letters/{self._transport.quote(letter)}",
            body=body,
            query={"jobId": job_id},
            returns=type(None),
        )

    def reset_letter(self, letter: str, *, job_id: int | None = None) -> None:
        """Return to the default text of a letter; its versions are kept."""
        return self._transport.send(
            "DELETE",
            f"/api/letters/{self._transport.quote(letter)}",
            query={"jobId": job_id},
            returns=type(None),
        )

    def show_lineage(self, tracking_id: UUID) -> models.ApiTaskLineage:
        """All tasks that came from one submission."""
        return self._transport.send(
            "GET",
            f"/api/lineages/{self._transport.quote(tracking_id)}",
            returns=models.ApiTaskLineage,
        )

    def list_listings(
        self,
        *,
        q: str | None = None,
        company: str | None = None,
        location: str | None = None,
        arrangement: Literal["remote", "hybrid", "onsite"] | None = None,
        seniority: Literal[
            "intern",
            "entry",
            "junior",
            "mid",
            "senior",
            "lead",
            "staff",
            "principal",
            "manager",
            "director",
            "executive",
        ]
        | None = None,
        platform: str | None = None,
        company_id: int | None = None,
        source_id: int | None = None,
        days: int | None = None,
        state: Literal["open", "closed", "all"] | None = None,
        sort: Literal["newest", "best"] | None = None,
        profile: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> models.ApiListingList:
        """Jobs of the catalog, with their decision for the profile. `sort=best` needs `q`."""
        return self._transport.send(
            "GET",
            "/api/listings",
            query={
                "q": q,
                "company": company,
                "location": location,
                "arrangement": arrangement,
                "seniority": seniority,
                "platform": platform,
                "companyId": company_id,
                "sourceId": source_id,
                "days": days,
                "state": state,
                "sort": sort,
                "profile": profile,
                "after": after,
                "limit": limit,
            },
            returns=models.ApiListingList,
        )

    def show_listing(
        self, listing_id: int, *, profile: str | None = None
    ) -> models.ApiListingRecord:
        """A job, and how it was decided for the profile."""
        return self._transport.send(
            "GET",
            f"/api/listings/{self._transport.quote(listing_id)}",
            query={"profile": profile},
            returns=models.ApiListingRecord,
        )

    def list_listing_history(self, listing_id: int) -> models.ApiListingHistory:
        """What changed on the job, oldest first."""
        return self._transport.send(
            "GET",
            f"/api/listings/{self._transport.quote(listing_id)}/history",
            returns=models.ApiListingHistory,
        )

    def try_what_if(
        self,
        listing_id: int,
        *,
        profile: str | None = None,
        having: list[str] | None = None,
        without: list[str] | None = None,
        place: list[str] | None = None,
        arrangement: list[Literal["remote", "hybrid", "onsite"]] | None = None,
    ) -> models.ApiWhatIfAnswer:
        """How a job would be decided if the profile had other skills, places or arrangements;
        changes nothing. Repeat a parameter to give several values; `having` takes a skill, or
        `skill=rank`."""
        return self._transport.send(
            "GET",
            f"/api/listings/{self._transport.quote(listing_id)}/what-if",
            query={
                "profile": profile,
                "having": having,
                "without": without,
                "place": place,
                "arrangement": arrangement,
            },
            returns=models.ApiWhatIfAnswer,
        )

    def list_matches(
        self,
        *,
        profile: str | None = None,
        status: Literal["new", "saved", "applied", "interviewing", "offer", "rejected", "dismissed"]
        | None = None,
        min_score: int | None = None,
        arrangement: Literal["remote", "hybrid", "onsite"] | None = None,
        q: str | None = None,
        order: Literal["best", "newest"] | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiMatchList:
        """The matches that wait for a decision, or those with a status."""
        return self._transport.send(
            "GET",
            "/api/matches",
            query={
                "profile": profile,
                "status": status,
                "minScore": min_score,
                "arrangement": arrangement,
                "q": q,
                "order": order,
                "after": after,
                "limit": limit,
            },
            returns=models.ApiMatchList,
        )

    def count_matches(self, *, profile: str | None = None) -> models.ApiMatchCounts:
        """How many matches have each status, counted up to 10,000."""
        return self._transport.send(
            "GET", "/api/matches/counts", query={"profile": profile}, returns=models.ApiMatchCounts
        )

    def show_match(self, match_id: int) -> models.ApiMatchRecord:
        """A match with the parts of its score, and what is noticeable about the posting."""
        return self._transport.send(
            "GET", f"/api/matches/{self._transport.quote(match_id)}", returns=models.ApiMatchRecord
        )

    def set_dismiss_reason(
        self, match_id: int, body: models.ApiDismissReasonBody
    ) -> models.ApiMatchItem:
        """Say why a match was dismissed; rules are proposed from these reasons."""
        return self._transport.send(
            "POST",
            f"/api/matches/{self._transport.quote(match_id)}/dismiss-reason",
            body=body,
            returns=models.ApiMatchItem,
        )

    def list_match_history(self, match_id: int) -> models.ApiMatchHistory:
        """What happened to the match, oldest first."""
        return self._transport.send(
            "GET",
            f"/api/matches/{self._transport.quote(match_id)}/history",
            returns=models.ApiMatchHistory,
        )

    def set_match_status(self, match_id: int, body: models.ApiStatusBody) -> models.ApiMatchItem:
        """Save, dismiss or otherwise triage a match."""
        return self._transport.send(
            "POST",
            f"/api/matches/{self._transport.quote(match_id)}/status",
            body=body,
            returns=models.ApiMatchItem,
        )

    def undo_match_status(self, match_id: int) -> models.ApiMatchItem:
        """Restore the previous status."""
        return self._transport.send(
            "POST",
            f"/api/matches/{self._transport.quote(match_id)}/undo",
            returns=models.ApiMatchItem,
        )

    def list_mentions(self) -> list[models.ApiMentionItem]:
        """Notes that mention you and that you have not read, oldest first."""
        return self._transport.send("GET", "/api/mentions", returns=list[models.ApiMentionItem])

    def mark_mention_read(self, note_id: int) -> None:
        """Mark a note that mentions you as read."""
        return self._transport.send(
            "POST", f"/api/mentions/{self._transport.quote(note_id)}/read", returns=type(None)
        )

    def list_messages(
        self,
        *,
        state: Literal["unsent", "sent", "failed", "dropped"] | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiMessageList:
        """Letters to applicants, newest first."""
        return self._transport.send(
            "GET",
            "/api/messages",
            query={"state": state, "after": after, "limit": limit},
            returns=models.ApiMessageList,
        )

    def retry_message(self, notice_id: int) -> None:
        """Send a failed letter again."""
        return self._transport.send(
            "POST", f"/api/messages/{self._transport.quote(notice_id)}/retry", returns=type(None)
        )

    def edit_review_note(self, note_id: int, body: models.ApiNoteBody) -> models.ApiNoteItem:
        """Change your own note."""
        return self._transport.send(
            "PATCH",
            f"/api/notes/{self._transport.quote(note_id)}",
            body=body,
            returns=models.ApiNoteItem,
        )

    def delete_review_note(self, note_id: int) -> None:
        """Delete your own note; the history of changes keeps that it existed, without its text."""
        return self._transport.send(
            "DELETE", f"/api/notes/{self._transport.quote(note_id)}", returns=type(None)
        )

    def list_notification_channels(self) -> models.ApiChannelRecords:
        """Where the person receives notifications."""
        return self._transport.send(
            "GET", "/api/notifications/channels", returns=models.ApiChannelRecords
        )

    def add_notification_channel(self, body: models.ApiNewChannelBody) -> models.ApiChannelRecord:
        """Add a channel. Adding the same one again switches it on."""
        return self._transport.send(
            "POST", "/api/notifications/channels", body=body, returns=models.ApiChannelRecord
        )

    def change_notification_channel(
        self, channel_id: int, body: models.ApiChannelStateBody
    ) -> models.ApiChannelRecord:
        """Switch a channel on or off."""
        return self._transport.send(
            "PATCH",
            f"/api/notifications/channels/{self._transport.quote(channel_id)}",
            body=body,
            returns=models.ApiChannelRecord,
        )

    def remove_notification_channel(self, channel_id: int) -> None:
        """Remove a channel with its part of the delivery log."""
        return self._transport.send(
            "DELETE",
            f"/api/notifications/channels/{self._transport.quote(channel_id)}",
            returns=type(None),
        )

    def test_notification_channel(self, channel_id: int) -> None:
        """Send a test message."""
        return self._transport.send(
            "POST",
            f"/api/notifications/channels/{self._transport.quote(channel_id)}/test",
            returns=type(None),
        )

    def list_notification_deliveries(
        self, *, after: int | None = None, limit: int | None = None
    ) -> models.ApiDeliveryRecords:
        """What was sent, the newest first."""
        return self._transport.send(
            "GET",
            "/api/notifications/deliveries",
            query={"after": after, "limit": limit},
            returns=models.ApiDeliveryRecords,
        )

    def show_notification_settings(self) -> models.ApiNotificationSettings:
        """How often each kind of notification comes, and when digests do."""
        return self._transport.send(
            "GET", "/api/notifications/settings", returns=models.ApiNotificationSettings
        )

    def save_notification_settings(
        self, body: models.ApiNotificationSettingsBody
    ) -> models.ApiNotificationSettings:
        """Change them. Only kinds of the person's role can be chosen."""
        return self._transport.send(
            "PUT", "/api/notifications/settings", body=body, returns=models.ApiNotificationSettings
        )

    def answer_offer(
        self, token: str, body: models.ApiOfferAnswerBody
    ) -> models.ApiApplicationResult:
        """Answer an offer once, by the link in its letter."""
        return self._transport.send(
            "POST",
            f"/api/offers/{self._transport.quote(token)}",
            body=body,
            returns=models.ApiApplicationResult,
        )

    def list_people(self) -> models.ApiPersonList:
        """All people with access, and those that had it."""
        return self._transport.send("GET", "/api/people", returns=models.ApiPersonList)

    def create_person(self, body: models.ApiNewPerson) -> models.ApiPersonRecord:
        """Give a person access."""
        return self._transport.send(
            "POST", "/api/people", body=body, returns=models.ApiPersonRecord
        )

    def remove_person_access(self, person_id: int) -> None:
        """Remove a person's access and revoke their keys; what they did stays in the history."""
        return self._transport.send(
            "DELETE", f"/api/people/{self._transport.quote(person_id)}", returns=type(None)
        )

    def set_person_budget(
        self, person_id: int, body: models.ApiBudgetShareBody
    ) -> models.ApiBudgetShareRecord:
        """Limit what the job search of a person may spend on models each day."""
        return self._transport.send(
            "PUT",
            f"/api/people/{self._transport.quote(person_id)}/budget",
            body=body,
            returns=models.ApiBudgetShareRecord,
        )

    def set_person_role(self, person_id: int, body: models.ApiRoleBody) -> models.ApiPersonRecord:
        """Change what a person may do. The last admin stays one."""
        return self._transport.send(
            "PUT",
            f"/api/people/{self._transport.quote(person_id)}/role",
            body=body,
            returns=models.ApiPersonRecord,
        )

    def replay_job(
        self,
        job_id: int,
        *,
        as_of: dt.datetime | None = None,
        seq: int | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiJobReplay:
        """The opening at a time or right after an event. Each list has at most `limit` rows; the
        Link header leads to further events."""
        return self._transport.send(
            "GET",
            f"/api/pipeline/{self._transport.quote(job_id)}/replay",
            query={"asOf": as_of, "seq": seq, "after": after, "limit": limit},
            returns=models.ApiJobReplay,
        )

    def show_job_summary(self, job_id: int) -> models.ApiJobSummary:
        """Key figures, from the audit log."""
        return self._transport.send(
            "GET",
            f"/api/pipeline/{self._transport.quote(job_id)}/summary",
            returns=models.ApiJobSummary,
        )

    def list_profiles(self) -> models.ApiProfileList:
        """Your profiles."""
        return self._transport.send("GET", "/api/profiles", returns=models.ApiProfileList)

    def draft_profile(self, content: bytes) -> models.ApiResumeDraftRecord:
        """Read a profile from a resume (PDF, Word, Markdown or text) in the body; nothing is
        saved."""
        return self._transport.send(
            "POST",
            "/api/profiles/draft",
            content=content,
            content_type="application/octet-stream",
            returns=models.ApiResumeDraftRecord,
        )

    def show_profile(self, name: str) -> models.ApiProfileRecord:
        """The newest version of a profile."""
        return self._transport.send(
            "GET", f"/api/profiles/{self._transport.quote(name)}", returns=models.ApiProfileRecord
        )

    def save_profile(
        self, name: str, body: models.ApiProfileBody, *, if_match: int | str | None = None
    ) -> models.ApiProfileRecord:
        """Save a profile as a new version, or create it. All open jobs are scored for a new
        profile."""
        return self._transport.send(
            "PUT",
            f"/api/profiles/{self._transport.quote(name)}",
            body=body,
            if_match=if_match,
            returns=models.ApiProfileRecord,
        )

    def make_default_profile(self, name: str) -> models.ApiProfileRecord:
        """Make a profile the default one."""
        return self._transport.send(
            "POST",
            f"/api/profiles/{self._transport.quote(name)}/default",
            returns=models.ApiProfileRecord,
        )

    def pause_profile(self, name: str) -> models.ApiProfileRecord:
        """Score no jobs for a profile until it is resumed."""
        return self._transport.send(
            "POST",
            f"/api/profiles/{self._transport.quote(name)}/pause",
            returns=models.ApiProfileRecord,
        )

    def preview_profile(self, name: str, body: models.ApiPreviewBody) -> models.ApiPreviewResult:
        """What a changed profile would decide differently about the newest jobs; nothing is saved."""
        return self._transport.send(
            "POST",
            f"/api/profiles/{self._transport.quote(name)}/preview",
            body=body,
            returns=models.ApiPreviewResult,
        )

    def list_proposed_rules(self, name: str) -> models.ApiProposedRuleList:
        """Rules that your dismissals suggest, and what each would have hidden."""
        return self._transport.send(
            "GET",
            f"/api/profiles/{self._transport.quote(name)}/proposed-rules",
            returns=models.ApiProposedRuleList,
        )

    def decide_proposed_rule(
        self, name: str, key: str, body: models.ApiRuleDecisionBody
    ) -> models.ApiProfileRecord:
        """Accept a rule, which saves a new version of the profile, or decline it."""
        return self._transport.send(
            "POST",
            f"/api/profiles/{self._transport.quote(name)}/proposed-rules/{self._transport.quote(key)}",
            body=body,
            returns=models.ApiProfileRecord,
        )

    def resume_profile(self, name: str) -> models.ApiProfileRecord:
        """Score jobs for a profile again, also those that it missed."""
        return self._transport.send(
            "POST",
            f"/api/profiles/{self._transport.quote(name)}/resume",
            returns=models.ApiProfileRecord,
        )

    def list_profile_versions(self, name: str) -> models.ApiProfileVersionList:
        """All versions, newest first."""
        return self._transport.send(
            "GET",
            f"/api/profiles/{self._transport.quote(name)}/versions",
            returns=models.ApiProfileVersionList,
        )

    def show_profile_version(self, name: str, version: int) -> models.ApiProfileVersionRecord:
        """One version of a profile."""
        return self._transport.send(
            "GET",
            f"/api/profiles/{self._transport.quote(name)}/versions/{self._transport.quote(version)}",
            returns=models.ApiProfileVersionRecord,
        )

    def show_waitlist(
        self, job_id: int, *, after: int | None = None, limit: int | None = None
    ) -> models.ApiJobQueue:
        """The waitlist, by position."""
        return self._transport.send(
            "GET",
            f"/api/queue/{self._transport.quote(job_id)}",
            query={"after": after, "limit": limit},
            returns=models.ApiJobQueue,
        )

    def list_reports(
        self, *, after: int | None = None, limit: int | None = None
    ) -> list[models.ApiReportRecord]:
        """Reports, newest first; `after` is the id of the last report of the previous page."""
        return self._transport.send(
            "GET",
            "/api/reports",
            query={"after": after, "limit": limit},
            returns=list[models.ApiReportRecord],
        )

    def create_report(self, body: models.ApiNewReport) -> models.ApiReportRecord:
        """Create a report. The record is there at once; a worker writes the report."""
        return self._transport.send(
            "POST", "/api/reports", body=body, returns=models.ApiReportRecord
        )

    def show_report(self, report_id: int) -> models.ApiReportDetail:
        """A report with its findings, questions, answers, scores and recommendations."""
        return self._transport.send(
            "GET",
            f"/api/reports/{self._transport.quote(report_id)}",
            returns=models.ApiReportDetail,
        )

    def delete_report(self, report_id: int) -> None:
        """Delete a report with its questions and answers."""
        return self._transport.send(
            "DELETE", f"/api/reports/{self._transport.quote(report_id)}", returns=type(None)
        )

    def approve_report(self, report_id: int) -> models.ApiReportRecord:
        """Let the questions run of a report that was created with `review`."""
        return self._transport.send(
            "POST",
            f"/api/reports/{self._transport.quote(report_id)}/approve",
            returns=models.ApiReportRecord,
        )

    def compare_report(self, report_id: int, *, with_: int) -> models.ApiComparisonRecord:
        """Compare a report with an earlier one, or with that of a competitor."""
        return self._transport.send(
            "GET",
            f"/api/reports/{self._transport.quote(report_id)}/compare",
            query={"with": with_},
            returns=models.ApiComparisonRecord,
        )

    def add_competitors(
        self, report_id: int, body: models.ApiCompetitorSites
    ) -> models.ApiCompetitorReports:
        """Create a report about the site of each competitor; returns all reports of competitors."""
        return self._transport.send(
            "POST",
            f"/api/reports/{self._transport.quote(report_id)}/competitors",
            body=body,
            returns=models.ApiCompetitorReports,
        )

    def edit_report_prompt(
        self, report_id: int, key: str, body: models.ApiPromptText
    ) -> models.ApiReportDetail:
        """Change the text of a question that has not run."""
        return self._transport.send(
            "POST",
            f"/api/reports/{self._transport.quote(report_id)}/prompts/{self._transport.quote(key)}",
            body=body,
            returns=models.ApiReportDetail,
        )

    def rerun_report(self, report_id: int, body: models.ApiRerunBody) -> models.ApiReportRecord:
        """Run one phase again and keep what the others stored."""
        return self._transport.send(
            "POST",
            f"/api/reports/{self._transport.quote(report_id)}/rerun",
            body=body,
            returns=models.ApiReportRecord,
        )

    def schedule_report(
        self, report_id: int, body: models.ApiReportSchedule
    ) -> models.ApiReportRecord:
        """Write a report again after this many days, and every time after that."""
        return self._transport.send(
            "POST",
            f"/api/reports/{self._transport.quote(report_id)}/schedule",
            body=body,
            returns=models.ApiReportRecord,
        )

    def list_due_targets(
        self,
        *,
        platform: str | None = None,
        ahead: Literal["now", "day", "week"] | None = None,
        limit: int | None = None,
    ) -> models.ApiDueTargets:
        """The reads that a run would start, most valuable first."""
        return self._transport.send(
            "GET",
            "/api/rotation/due",
            query={"platform": platform, "ahead": ahead, "limit": limit},
            returns=models.ApiDueTargets,
        )

    def list_platforms(self) -> models.ApiPlatformList:
        """The read limits of each platform, and what is left of them."""
        return self._transport.send(
            "GET", "/api/rotation/platforms", returns=models.ApiPlatformList
        )

    def set_platform_limits(
        self, name: str, body: models.ApiPlatformLimits
    ) -> models.ApiPlatformList:
        """Set how often a platform may be read per hour and per day."""
        return self._transport.send(
            "PUT",
            f"/api/rotation/platforms/{self._transport.quote(name)}",
            body=body,
            returns=models.ApiPlatformList,
        )

    def show_rotation_report(self, *, run: int | None = None) -> models.ApiRunReportRecord:
        """What a run did; default: the last run. 409 before the first run."""
        return self._transport.send(
            "GET", "/api/rotation/report", query={"run": run}, returns=models.ApiRunReportRecord
        )

    def run_rotation(self) -> models.ApiTaskAnswer:
        """Start a run, or return the one that is live already."""
        return self._transport.send("POST", "/api/rotation/run", returns=models.ApiTaskAnswer)

    def list_targets(
        self,
        *,
        status: Literal["active", "paused", "bad"] | None = None,
        platform: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiTargetList:
        """All scheduled reads, by source."""
        return self._transport.send(
            "GET",
            "/api/rotation/targets",
            query={"status": status, "platform": platform, "after": after, "limit": limit},
            returns=models.ApiTargetList,
        )

    def show_target(self, source_id: int) -> models.ApiTargetRecord:
        """A scheduled read with its history."""
        return self._transport.send(
            "GET",
            f"/api/rotation/targets/{self._transport.quote(source_id)}",
            returns=models.ApiTargetRecord,
        )

    def set_target_schedule(
        self, source_id: int, body: models.ApiScheduleBody
    ) -> models.ApiTargetRecord:
        """Set the priority, the least interval and the call window."""
        return self._transport.send(
            "PUT",
            f"/api/rotation/targets/{self._transport.quote(source_id)}",
            body=body,
            returns=models.ApiTargetRecord,
        )

    def change_target(
        self, source_id: int, change: Literal["pause", "resume", "revive"]
    ) -> models.ApiTargetRecord:
        """Pause or resume a scheduled read, or reset its failures (`revive`)."""
        return self._transport.send(
            "POST",
            f"/api/rotation/targets/{self._transport.quote(source_id)}/{self._transport.quote(change)}",
            returns=models.ApiTargetRecord,
        )

    def show_yield(
        self, *, of: Literal["day", "week", "month"] | None = None
    ) -> models.ApiYieldReport:
        """New jobs per read by platform, in the last day, week or month."""
        return self._transport.send(
            "GET", "/api/rotation/yield", query={"of": of}, returns=models.ApiYieldReport
        )

    def list_saved_views(self, *, profile: str | None = None) -> models.ApiSavedViewList:
        """The saved views of a profile."""
        return self._transport.send(
            "GET", "/api/saved-views", query={"profile": profile}, returns=models.ApiSavedViewList
        )

    def create_saved_view(
        self, body: models.ApiNewSavedView, *, profile: str | None = None
    ) -> models.ApiSavedViewRecord:
        """Save filters of the matches under a name."""
        return self._transport.send(
            "POST",
            "/api/saved-views",
            body=body,
            query={"profile": profile},
            returns=models.ApiSavedViewRecord,
        )

    def remove_saved_view(self, view_id: int, *, profile: str | None = None) -> None:
        """Remove a view; it can be restored for 7 days."""
        return self._transport.send(
            "DELETE",
            f"/api/saved-views/{self._transport.quote(view_id)}",
            query={"profile": profile},
            returns=type(None),
        )

    def restore_saved_view(
        self, view_id: int, *, profile: str | None = None
    ) -> models.ApiSavedViewRecord:
        """Undo the removal of a view."""
        return self._transport.send(
            "POST",
            f"/api/saved-views/{self._transport.quote(view_id)}/restore",
            query={"profile": profile},
            returns=models.ApiSavedViewRecord,
        )

    def list_searches(self) -> models.ApiSearchList:
        """All searches."""
        return self._transport.send("GET", "/api/searches", returns=models.ApiSearchList)

    def create_search(self, body: models.ApiSearchBody) -> models.ApiSearchRecord:
        """Add a search; each combination of keywords and location is read in turn."""
        return self._transport.send(
            "POST", "/api/searches", body=body, returns=models.ApiSearchRecord
        )

    def show_search(self, search_id: int) -> models.ApiSearchRecord:
        """One search."""
        return self._transport.send(
            "GET",
            f"/api/searches/{self._transport.quote(search_id)}",
            returns=models.ApiSearchRecord,
        )

    def replace_search(self, search_id: int, body: models.ApiSearchBody) -> models.ApiSearchRecord:
        """Change what a search looks for, and when."""
        return self._transport.send(
            "PUT",
            f"/api/searches/{self._transport.quote(search_id)}",
            body=body,
            returns=models.ApiSearchRecord,
        )

    def remove_search(self, search_id: int) -> None:
        """Remove a search; the jobs that it found stay."""
        return self._transport.send(
            "DELETE", f"/api/searches/{self._transport.quote(search_id)}", returns=type(None)
        )

    def disable_search(self, search_id: int) -> models.ApiSearchRecord:
        """Stop a search for a while."""
        return self._transport.send(
            "POST",
            f"/api/searches/{self._transport.quote(search_id)}/disable",
            returns=models.ApiSearchRecord,
        )

    def enable_search(self, search_id: int) -> models.ApiSearchRecord:
        """Continue a search."""
        return self._transport.send(
            "POST",
            f"/api/searches/{self._transport.quote(search_id)}/enable",
            returns=models.ApiSearchRecord,
        )

    def show_session(self) -> models.ApiCurrentUser:
        """The current user and role."""
        return self._transport.send("GET", "/api/session", returns=models.ApiCurrentUser)

    def sign_in(self, body: models.ApiCredentials) -> models.ApiCurrentUser:
        """Sign in; the response sets the session cookie. The error `SECOND_FACTOR_NEEDED` asks for
        `code`."""
        return self._transport.send(
            "POST", "/api/session", body=body, returns=models.ApiCurrentUser, once=False
        )

    def sign_out(self) -> None:
        """Sign out; the session cookie becomes invalid everywhere."""
        return self._transport.send("DELETE", "/api/session", returns=type(None), once=False)

    def confirm_password(self, body: models.ApiPasswordBody) -> None:
        """Enter the password again, before what needs it: `PASSWORD_NEEDED` errors name it."""
        return self._transport.send("POST", "/api/session/confirm", body=body, returns=type(None))

    def list_sources(
        self,
        *,
        show: Literal["all", "troubled", "disabled", "rejected"] | None = None,
        platform: str | None = None,
        q: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiSourceList:
        """Sources, newest first. `show=troubled`: only those with a failed last run."""
        return self._transport.send(
            "GET",
            "/api/sources",
            query={"show": show, "platform": platform, "q": q, "after": after, "limit": limit},
            returns=models.ApiSourceList,
        )

    def create_source(self, body: models.ApiNewSourceBody) -> models.ApiTaskAnswer:
        """Have a URL recognized, tested and added as a source by a worker."""
        return self._transport.send("POST", "/api/sources", body=body, returns=models.ApiTaskAnswer)

    def show_source(self, source_id: int) -> models.ApiSourceRecord:
        """A source with its configuration and its newest runs."""
        return self._transport.send(
            "GET",
            f"/api/sources/{self._transport.quote(source_id)}",
            returns=models.ApiSourceRecord,
        )

    def disable_source(
        self, source_id: int, body: models.ApiSourceReasonBody
    ) -> models.ApiSourceRecord:
        """Do not read a source until it is enabled; its jobs stay."""
        return self._transport.send(
            "POST",
            f"/api/sources/{self._transport.quote(source_id)}/disable",
            body=body,
            returns=models.ApiSourceRecord,
        )

    def enable_source(self, source_id: int) -> models.ApiSourceRecord:
        """Read a source regularly."""
        return self._transport.send(
            "POST",
            f"/api/sources/{self._transport.quote(source_id)}/enable",
            returns=models.ApiSourceRecord,
        )

    def list_source_history(self, source_id: int) -> models.ApiSourceHistory:
        """What people and Jobmill did with a source, oldest first."""
        return self._transport.send(
            "GET",
            f"/api/sources/{self._transport.quote(source_id)}/history",
            returns=models.ApiSourceHistory,
        )

    def reject_source(
        self, source_id: int, body: models.ApiSourceReasonBody
    ) -> models.ApiSourceRecord:
        """Disable a source and do not suggest it again."""
        return self._transport.send(
            "POST",
            f"/api/sources/{self._transport.quote(source_id)}/reject",
            body=body,
            returns=models.ApiSourceRecord,
        )

    def run_source(self, source_id: int) -> models.ApiTaskAnswer:
        """Read a source now."""
        return self._transport.send(
            "POST",
            f"/api/sources/{self._transport.quote(source_id)}/run",
            returns=models.ApiTaskAnswer,
        )

    def test_source(self, source_id: int) -> models.ApiTaskAnswer:
        """Read the first page of a source without storing its jobs."""
        return self._transport.send(
            "POST",
            f"/api/sources/{self._transport.quote(source_id)}/test",
            returns=models.ApiTaskAnswer,
        )

    def show_applicant_status(
        self, applicant_id: int, *, after: int | None = None, limit: int | None = None
    ) -> models.ApiApplicantStatus:
        """The status of each of the applicant's applications."""
        return self._transport.send(
            "GET",
            f"/api/status/{self._transport.quote(applicant_id)}",
            query={"after": after, "limit": limit},
            returns=models.ApiApplicantStatus,
        )

    def list_submissions(
        self, *, state: Literal["waiting", "done", "unknown"] | None = None
    ) -> models.ApiSubmissionList:
        """What you added, newest first; at most 100."""
        return self._transport.send(
            "GET", "/api/submissions", query={"state": state}, returns=models.ApiSubmissionList
        )

    def create_submission(self, body: models.ApiNewSubmission) -> models.ApiSubmissionRecord:
        """Add any URL or the text of a job. The record is there at once; a worker reads the rest."""
        return self._transport.send(
            "POST", "/api/submissions", body=body, returns=models.ApiSubmissionRecord
        )

    def show_submission(self, submission_id: int) -> models.ApiSubmissionRecord:
        """What became of a submission."""
        return self._transport.send(
            "GET",
            f"/api/submissions/{self._transport.quote(submission_id)}",
            returns=models.ApiSubmissionRecord,
        )

    def retry_submission(self, submission_id: int) -> models.ApiSubmissionRecord:
        """Read it again."""
        return self._transport.send(
            "POST",
            f"/api/submissions/{self._transport.quote(submission_id)}/retry",
            returns=models.ApiSubmissionRecord,
        )

    def list_tasks(
        self,
        *,
        status: Literal[
            "PENDING", "PROCESSING", "BLOCKED", "SUCCESS", "FILTERED", "SKIPPED", "FAILED"
        ]
        | None = None,
        kind: str | None = None,
        about: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiTaskList:
        """Tasks, newest first. A page may be short or empty although `next` leads to further ones."""
        return self._transport.send(
            "GET",
            "/api/tasks",
            query={"status": status, "kind": kind, "about": about, "after": after, "limit": limit},
            returns=models.ApiTaskList,
        )

    def show_task(self, item_id: int) -> models.ApiTaskRecord:
        """A task with its data and its timeline."""
        return self._transport.send(
            "GET", f"/api/tasks/{self._transport.quote(item_id)}", returns=models.ApiTaskRecord
        )

    def cancel_task(self, item_id: int, body: models.ApiCancelTaskBody) -> models.ApiTaskRecord:
        """End a waiting task as skipped."""
        return self._transport.send(
            "POST",
            f"/api/tasks/{self._transport.quote(item_id)}/cancel",
            body=body,
            returns=models.ApiTaskRecord,
        )

    def retry_task(self, item_id: int) -> models.ApiTaskRecord:
        """Run a finished task again from the step where it stopped."""
        return self._transport.send(
            "POST",
            f"/api/tasks/{self._transport.quote(item_id)}/retry",
            returns=models.ApiTaskRecord,
        )

    def show_applicant_timeline(
        self, applicant_id: int, *, after: str | None = None, limit: int | None = None
    ) -> list[models.ApiApplicationEvent]:
        """The events of the applicant's applications, in order. Applicants do not see scores and
        stages."""
        return self._transport.send(
            "GET",
            f"/api/timeline/{self._transport.quote(applicant_id)}",
            query={"after": after, "limit": limit},
            returns=list[models.ApiApplicationEvent],
        )

    def show_application_board(self, *, profile: str | None = None) -> models.ApiApplicationBoard:
        """The columns of the board with their applications, and the next steps that are due."""
        return self._transport.send(
            "GET",
            "/api/tracked-applications",
            query={"profile": profile},
            returns=models.ApiApplicationBoard,
        )

    def export_tracked_applications(self, *, profile: str | None = None) -> bytes:
        """All applications as CSV, which can be imported again."""
        return self._transport.send(
            "GET", "/api/tracked-applications/export.csv", query={"profile": profile}, returns=bytes
        )

    def import_tracked_applications(
        self, content: bytes, *, profile: str | None = None, dry_run: bool | None = None
    ) -> models.ApiApplicationImport:
        """Add the applications of a CSV file; known ones stay as they are."""
        return self._transport.send(
            "POST",
            "/api/tracked-applications/import",
            content=content,
            content_type="text/csv",
            query={"profile": profile, "dryRun": dry_run},
            returns=models.ApiApplicationImport,
        )

    def show_application_statistics(
        self, *, profile: str | None = None
    ) -> models.ApiApplicationFigures:
        """Applications per week, replies, and how long applications keep a status."""
        return self._transport.send(
            "GET",
            "/api/tracked-applications/statistics",
            query={"profile": profile},
            returns=models.ApiApplicationFigures,
        )

    def create_custom_status(
        self, body: models.ApiCustomStatusBody
    ) -> models.ApiCustomStatusRecord:
        """Add a column with a status of your own."""
        return self._transport.send(
            "POST",
            "/api/tracked-applications/statuses",
            body=body,
            returns=models.ApiCustomStatusRecord,
        )

    def remove_custom_status(self, custom_status_id: int, *, profile: str | None = None) -> None:
        """Remove a column; its applications keep the status that it counted as."""
        return self._transport.send(
            "DELETE",
            f"/api/tracked-applications/statuses/{self._transport.quote(custom_status_id)}",
            query={"profile": profile},
            returns=type(None),
        )

    def show_tracked_application(self, match_id: int) -> models.ApiTrackedApplication:
        """An application with its dates, notes, contacts and files."""
        return self._transport.send(
            "GET",
            f"/api/tracked-applications/{self._transport.quote(match_id)}",
            returns=models.ApiTrackedApplication,
        )

    def save_application_dates(
        self, match_id: int, body: models.ApiApplicationDates, *, if_match: int | str | None = None
    ) -> models.ApiTrackedApplication:
        """Replace the dates and the next step."""
        return self._transport.send(
            "PUT",
            f"/api/tracked-applications/{self._transport.quote(match_id)}",
            body=body,
            if_match=if_match,
            returns=models.ApiTrackedApplication,
        )

    def save_application_contact(
        self, match_id: int, body: models.ApiContactBody
    ) -> models.ApiTrackedApplication:
        """Add a contact, or replace the one of the same name."""
        return self._transport.send(
            "POST",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/contacts",
            body=body,
            returns=models.ApiTrackedApplication,
        )

    def add_application_file(
        self, match_id: int, content: bytes, *, name: str
    ) -> models.ApiTrackedApplication:
        """Store a file: the body is its content, and the end of its name says what it is."""
        return self._transport.send(
            "POST",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/files",
            content=content,
            content_type="application/octet-stream",
            query={"name": name},
            returns=models.ApiTrackedApplication,
        )

    def download_application_file(self, match_id: int, file_id: int) -> bytes:
        """A stored file, always as a download."""
        return self._transport.send(
            "GET",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/files/{self._transport.quote(file_id)}",
            returns=bytes,
        )

    def move_application(
        self, match_id: int, body: models.ApiApplicationMove
    ) -> models.ApiTrackedApplication:
        """Move an application to another column."""
        return self._transport.send(
            "POST",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/move",
            body=body,
            returns=models.ApiTrackedApplication,
        )

    def add_application_note(
        self, match_id: int, body: models.ApiApplicationNoteBody
    ) -> models.ApiTrackedApplication:
        """Add a note. The same text again changes nothing."""
        return self._transport.send(
            "POST",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/notes",
            body=body,
            returns=models.ApiTrackedApplication,
        )

    def edit_application_note(
        self,
        match_id: int,
        note_id: int,
        body: models.ApiApplicationNoteBody,
        *,
        if_match: int | str | None = None,
    ) -> models.ApiTrackedApplication:
        """Replace the text of a note."""
        return self._transport.send(
            "PUT",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/notes/{self._transport.quote(note_id)}",
            body=body,
            if_match=if_match,
            returns=models.ApiTrackedApplication,
        )

    def finish_application_step(self, match_id: int) -> models.ApiTrackedApplication:
        """Mark the next step as done."""
        return self._transport.send(
            "POST",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/step-done",
            returns=models.ApiTrackedApplication,
        )

    def undo_application_move(
        self, match_id: int, body: models.ApiUndoApplicationMove
    ) -> models.ApiTrackedApplication:
        """Move an application back to where it was."""
        return self._transport.send(
            "POST",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/undo",
            body=body,
            returns=models.ApiTrackedApplication,
        )

    def remove_application_entry(
        self, match_id: int, entry_path: Literal["notes", "contacts", "files"], entry_id: int
    ) -> None:
        """Remove a note, a contact or a file; it can be restored for a day."""
        return self._transport.send(
            "DELETE",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/{self._transport.quote(entry_path)}/{self._transport.quote(entry_id)}",
            returns=type(None),
        )

    def restore_application_entry(
        self, match_id: int, entry_path: Literal["notes", "contacts", "files"], entry_id: int
    ) -> models.ApiTrackedApplication:
        """Undo the removal of a note, a contact or a file."""
        return self._transport.send(
            "POST",
            f"/api/tracked-applications/{self._transport.quote(match_id)}/{self._transport.quote(entry_path)}/{self._transport.quote(entry_id)}/restore",
            returns=models.ApiTrackedApplication,
        )

    def list_webhooks(self) -> list[models.ApiWebhookItem]:
        """All webhooks, oldest first."""
        return self._transport.send("GET", "/api/webhooks", returns=list[models.ApiWebhookItem])

    def add_webhook(self, body: models.ApiNewWebhook) -> models.ApiAddedWebhook:
        """Subscribe a server to new events."""
        return self._transport.send(
            "POST", "/api/webhooks", body=body, returns=models.ApiAddedWebhook
        )

    def replay_delivery(self, delivery_id: int) -> models.ApiNewDelivery:
        """Send a delivery again, as a new one."""
        return self._transport.send(
            "POST",
            f"/api/webhooks/deliveries/{self._transport.quote(delivery_id)}/replay",
            returns=models.ApiNewDelivery,
        )

    def show_webhook(self, webhook_id: int) -> models.ApiWebhookItem:
        """One webhook."""
        return self._transport.send(
            "GET",
            f"/api/webhooks/{self._transport.quote(webhook_id)}",
            returns=models.ApiWebhookItem,
        )

    def change_webhook(
        self, webhook_id: int, body: models.ApiWebhookChange
    ) -> models.ApiWebhookItem:
        """Disable or enable a webhook."""
        return self._transport.send(
            "PATCH",
            f"/api/webhooks/{self._transport.quote(webhook_id)}",
            body=body,
            returns=models.ApiWebhookItem,
        )

    def remove_webhook(self, webhook_id: int) -> None:
        """Delete a webhook and its deliveries."""
        return self._transport.send(
            "DELETE", f"/api/webhooks/{self._transport.quote(webhook_id)}", returns=type(None)
        )

    def list_deliveries(
        self,
        webhook_id: int,
        *,
        state: Literal["waiting", "queued", "sent", "dropped", "failed"] | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> models.ApiDeliveryPage:
        """Deliveries of a webhook, newest first."""
        return self._transport.send(
            "GET",
            f"/api/webhooks/{self._transport.quote(webhook_id)}/deliveries",
            query={"state": state, "after": after, "limit": limit},
            returns=models.ApiDeliveryPage,
        )

    def withdraw_application(self, body: models.ApiApplicationBody) -> models.ApiApplicationResult:
        """End an application; its slot is offered to the next. Applicants withdraw, and so does
        the local user, for them. A session or an API key of the company removes the applicant,
        unless it sends `forApplicant`."""
        return self._transport.send(
            "POST", "/api/withdraw", body=body, returns=models.ApiApplicationResult
        )

    def show_work_queue(self) -> models.ApiWorkQueue:
        """How much work waits at each step, the workers, alerts, pauses and what tasks wait for."""
        return self._transport.send("GET", "/api/work-queue", returns=models.ApiWorkQueue)

    def clear_queue_alert(self, alert_id: int) -> None:
        """Clear an alert; it comes back if the problem does."""
        return self._transport.send(
            "DELETE",
            f"/api/work-queue/alerts/{self._transport.quote(alert_id)}",
            returns=type(None),
        )

    def pause_step(self, body: models.ApiPauseBody) -> models.ApiWorkQueue:
        """Start no new tasks of a step; running ones finish."""
        return self._transport.send(
            "POST", "/api/work-queue/pause", body=body, returns=models.ApiWorkQueue
        )

    def resume_step(self, body: models.ApiResumeBody) -> models.ApiWorkQueue:
        """End the pause of a step."""
        return self._transport.send(
            "POST", "/api/work-queue/resume", body=body, returns=models.ApiWorkQueue
        )

    def unblock_tasks(self, body: models.ApiUnblockBody) -> models.ApiUnblocked:
        """Let the tasks continue that wait for a resource."""
        return self._transport.send(
            "POST", "/api/work-queue/unblock", body=body, returns=models.ApiUnblocked
        )
