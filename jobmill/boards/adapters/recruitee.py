"""Recruitee."""

from __future__ import annotations

import re
from urllib.parse import quote

from jobmill.catalog.platform_rules import SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary, seniority
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, base_url, board_url, html_marker

HOSTED = re.compile(r"(?://|@)([\w-]+)\.recruitee\.com\b")


class _Place(ExternalRecord):
    name: Maybe[Line] = None
    city: Maybe[Line] = None
    state: Maybe[Line] = None
    country: Maybe[Line] = None

    def line(self) -> str | None:
        return location_text.format_address(self.city or self.name, self.state, self.country)


class _Pay(ExternalRecord):
    min: Maybe[str] = None
    max: Maybe[str] = None
    currency: Maybe[str] = None
    period: Maybe[str] = None


class _Words(ExternalRecord):
    title: Maybe[Line] = None
    highlight: Maybe[str] = None
    description: Maybe[str] = None
    requirements: Maybe[str] = None


class _Offer(_Words):
    id: Line
    translations: Maybe[dict[str, Maybe[_Words]]] = None
    status: Maybe[str] = None
    careers_url: Link = None
    careers_apply_url: Link = None
    mailbox_email: Maybe[str] = None
    company_name: Maybe[Line] = None
    department: Maybe[Line] = None
    location: Maybe[Line] = None
    locations: Many[_Place] = ()
    city: Maybe[Line] = None
    state_name: Maybe[Line] = None
    country: Maybe[Line] = None
    country_code: Maybe[Line] = None
    remote: Maybe[bool] = None
    hybrid: Maybe[bool] = None
    on_site: Maybe[bool] = None
    employment_type_code: Maybe[str] = None
    experience_code: Maybe[str] = None
    published_at: Maybe[str] = None
    created_at: Maybe[str] = None
    updated_at: Maybe[str] = None
    close_at: Maybe[str] = None
    salary: Maybe[_Pay] = None
    tags: Many[Line] = ()

    def line(self) -> str | None:
        return location_text.format_address(
            self.city, self.state_name, self.country or self.country_code
        )

    def arrangement(self) -> Arrangement | None:
        """If several are set, the work is hybrid."""
        if self.hybrid or (self.remote and self.on_site):
            return "hybrid"
        return "remote" if self.remote else "onsite" if self.on_site else None

    def words(self) -> tuple[str | None, _Words | None]:
        """The language of the offer and its texts; None if it has no texts."""
        titled = {
            code: translation
            for code, translation in (self.translations or {}).items()
            if translation and translation.title
        }
        if self.title:
            same_title = [
                code for code, translation in titled.items() if translation.title == self.title
            ]
            return (same_title[0] if len(same_title) == 1 else None), self
        return next(iter(titled.items()), (None, None))


class _Board(ExternalRecord):
    offers: list[object]


class _Single(ExternalRecord):
    offer: _Offer


def first_request(config: BoardConfig) -> Request:
    return Request(f"{base_url(config, 'recruitee.com')}/api/offers/")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """All published offers, or a single one; drafts and closed offers are left out."""
    answer = lenient_models.parse_json(body)
    if single := lenient_models.parse_record(_Single, answer):
        return BoardPage(tuple(filter(None, [_posting(single.offer, config)])))
    offers, stubs = lenient_models.parse_records(_Offer, _Board.model_validate(answer).offers)
    published = [offer for offer in offers if offer.status in (None, "published")]
    postings = tuple(posting for offer in published if (posting := _posting(offer, config)))
    return BoardPage(postings, stubs=stubs + len(published) - len(postings))


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    id = quote(posting.vendor_id or "", safe="")
    return Request(f"{base_url(config, 'recruitee.com')}/api/offers/{id}")


def read_detail(body: bytes, posting: Posting, config: BoardConfig) -> Posting:
    offer = _Single.model_validate(lenient_models.parse_json(body)).offer
    return _posting(offer, config) or posting


def _posting(offer: _Offer, config: BoardConfig) -> Posting | None:
    language, content = offer.words()
    if not content or not content.title:
        return None
    pay, requirements = offer.salary, texts.from_html(content.requirements)
    full_text = texts.join_sections(texts.from_html(content.description), requirements)
    highlight = texts.from_html(content.highlight)
    # The highlight usually repeats a part of the text.
    description = (
        full_text
        if highlight and highlight in (full_text or "")
        else texts.join_sections(highlight, full_text)
    )
    hosted = HOSTED.search(f"{offer.careers_url} {offer.mailbox_email}")
    return Posting(
        title=content.title,
        url=offer.careers_url or "",
        company=offer.company_name,
        location=offer.location or offer.line(),
        locations=location_text.unique_locations(
            [place.line() for place in offer.locations] or offer.line()
        ),
        arrangement=offer.arrangement(),
        department=offer.department,
        employment_type=_employment(offer.employment_type_code),
        seniority=seniority.from_label(offer.experience_code),
        posted_at=dates.parse_date(offer.published_at) or dates.parse_date(offer.created_at),
        updated_at=dates.parse_date(offer.updated_at),
        valid_through=dates.parse_deadline(offer.close_at),
        salary=salary.from_fields(pay.min, pay.max, pay.currency, pay.period) if pay else None,
        description=description,
        requirements=requirements,
        apply_url=offer.careers_apply_url,
        board=config.board_token or (hosted[1] if hosted else None),
        vendor_id=offer.id,
        language=language,
        tags=offer.tags,
        partial=description is None,
    )


def _employment(code: str | None) -> str | None:
    """Codes start with the hours: "fulltime_fixed_term" is full time."""
    return employment.parse_employment_type((code or "").removesuffix("_fixed_term"))


PLATFORM = Platform(
    name="recruitee",
    title="Recruitee",
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.recruitee\.com",
            r"(?:/l)?(?:/[a-z]{2})?/o/(?P<id>[^/]+)(?:/.*)?",
            "https://{board}.recruitee.com/o/{id}",
        ),
    ),
    guessable=True,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
    board_urls=(board_url("recruitee.com", r"(?P<token>[a-z0-9-]+)"),),
    html_markers=(
        html_marker(
            r'redirectToCustomDomain":(?:true|false),"subdomain":"(?P<token>[\w-]{1,80})"',
            "the name in Recruitee's page state",
        ),
        html_marker(r"careers-analytics\.recruitee\.com", "Recruitee's scripts", hosted=True),
        html_marker(r"window\.recruitee\b", "Recruitee's scripts", hosted=True),
        html_marker(r"recruiteecdn\.com/", "Recruitee's files"),
        html_marker(r"RTWidget\(", "Recruitee's widget"),
    ),
)
