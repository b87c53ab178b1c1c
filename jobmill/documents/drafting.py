"""Draft a document for a match: gather its material and write the first version."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.catalog import listings
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.matching import matches, profiles
from jobmill.matching.matches import Match
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileVersion
from jobmill.people.persons import LOCAL, Owner
from jobmill.reports import contents
from jobmill.sandbox import read_untrusted

from . import letter_draft, pdf_file, resume_draft
from .document import ApplicationDocument, DocumentKind
from .letter_draft import CompanyQuote

CPU_SECONDS = 10.0
QUOTED_FACTS = ("description", "values")


@dataclass(frozen=True, slots=True)
class WritingMaterial:
    match: Match
    version: ProfileVersion
    posting: Posting
    quotes: tuple[CompanyQuote, ...]
    today: dt.date


async def read_material(tx: Tx, match_id: int, *, owner: Owner = LOCAL) -> WritingMaterial:
    """The newest profile, the posting, and what the company's website says. NotFound if the match
    does not exist or belongs to another person."""
    match = await matches.get(tx, match_id, owner=owner)
    version = await profiles.get(tx, match.profile, owner=owner)
    listing = await listings.get(tx, match.listing_id)
    report = await contents.read_newest(tx, listing.company_id) if listing.company_id else None
    facts = report.findings.facts if report and report.findings else ()
    quotes = tuple(
        CompanyQuote(fact.evidence.quote, fact.evidence.url)
        for fact in facts
        if fact.name in QUOTED_FACTS
    )
    posting = listings.to_posting(listing)
    return WritingMaterial(match, version, posting, quotes, (await server_time(tx)).date())


async def draft_document(material: WritingMaterial, kind: DocumentKind) -> ApplicationDocument:
    """Draft in a child process: the author of a posting may have made it expensive to read."""
    version, today = material.version, material.today
    arguments = (version.profile(), version.version, material.posting, today)
    if kind == "letter":
        return await read_untrusted(
            letter_draft.draft_letter, *arguments, material.quotes, cpu_seconds=CPU_SECONDS
        )
    return await read_untrusted(draft_fitting_resume, *arguments, cpu_seconds=CPU_SECONDS)


def draft_fitting_resume(
    profile: Profile, profile_version: int, posting: Posting, today: dt.date
) -> ApplicationDocument:
    """A resume on at most as many pages as employers expect."""
    draft = resume_draft.draft_resume(profile, profile_version, posting, today)
    return resume_draft.fit_pages(draft, pdf_file.count_pages)
