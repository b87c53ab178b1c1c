"""A company's website: its pages about itself, its careers page, and a page per position."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from jobmill.demo.companies import DemoCompany
from jobmill.demo.state import DemoListing, DemoMoment

from ..http_messages import NOT_FOUND, DemoReply, DemoRequest, html_reply
from . import feed, text, workday

WITHOUT_DATA = "ironquillpress"
"""Companies without structured data on their pages."""

_WORDS = {
    "en": ("About us", "Our culture", "Our stack", "Careers", "Open positions"),
    "de": ("Über uns", "Unsere Kultur", "Unser Stack", "Karriere", "Offene Stellen"),
    "fr": ("À propos", "Notre culture", "Notre stack", "Carrières", "Postes ouverts"),
    "es": ("Quiénes somos", "Nuestra cultura", "Nuestro stack", "Empleo", "Vacantes"),
}


def answer(now: DemoMoment, company: DemoCompany, ask: DemoRequest) -> DemoReply:
    match ask.parts:
        case []:
            return _home(company)
        case ["about"]:
            return _about(company)
        case ["careers"]:
            return _careers(now, company)
        case ["jobs.rss"] if company.platform == "rss":
            return feed.rss(now, company)
        case ["jobs", name]:
            return _position(now, company, name)
        case _:
            return NOT_FOUND


def _frame(company: DemoCompany, title: str, body: str, head: str = "") -> DemoReply:
    careers = _WORDS[company.language][3]
    nav = f'<nav><a href="/about">{_WORDS[company.language][0]}</a> <a href="/careers">{careers}</a></nav>'
    return html_reply(
        f'<!doctype html><html lang="{company.language}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>{head}</head><body>{nav}<main>{body}</main></body></html>"
    )


def _home(company: DemoCompany) -> DemoReply:
    intro = f"{company.name} {company.activity}."
    head = f'<meta name="description" content="{escape(intro)}">'
    body = f"<h1>{escape(company.name)}</h1><p>{escape(intro)}</p>"
    return _frame(company, company.name, body, head)


def _about(company: DemoCompany) -> DemoReply:
    about, culture, stack, *_ = _WORDS[company.language]
    first = "We are a remote-first team. " if company.remote_first else ""
    intro = (
        f"{company.name} {company.activity}. Founded in {company.founded}, we are {company.employees:,} "
        f"people, headquartered in {company.town}."
    )
    body = (
        f"<h1>{about}</h1><p>{escape(intro)}</p><h2>{culture}</h2><p>{first}We value calm work, honest "
        "reviews and long weekends, and nobody is on call alone.</p>"
        f"<h2>{stack}</h2><p>Our stack: {escape(', '.join(company.stack))}.</p>"
    )
    return _frame(company, f"{about} - {company.name}", body)


def _careers(now: DemoMoment, company: DemoCompany) -> DemoReply:
    *_, careers, open = _WORDS[company.language]
    board = {
        "greenhouse": f"https://boards.greenhouse.io/{company.slug}",
        "lever": f"https://jobs.lever.co/{company.slug}",
        "ashby": f"https://jobs.ashbyhq.com/{company.slug}",
        "workday": f"https://{company.workday_host}/{workday.SITE}",
    }.get(company.platform)
    if board:
        return _frame(company, careers, f'<h1>{careers}</h1><p><a href="{board}">{open}</a></p>')
    if company.platform == "rss":
        kind = 'type="application/rss+xml" title="Jobs"'
        link = f'<link rel="alternate" {kind} href="{feed.PATH}">'
        body = f'<h1>{careers}</h1><p><a href="{feed.PATH}">{open} (RSS)</a></p>'
        return _frame(company, careers, body, link)
    show = _relaunched if now.failure(company) == "redesigned" else _cards
    return _frame(company, careers, show(now, company))


def _cards(now: DemoMoment, company: DemoCompany) -> str:
    cards = "".join(
        f'<li class="opening"><h3 class="opening-title"><a href="{listing.path}">{escape(listing.title)}</a></h3>'
        f'<span class="opening-place">{escape(listing.place)}</span> '
        f'<time class="opening-date" datetime="{now.posted_at(listing).date()}">'
        f"{now.posted_at(listing).date()}</time></li>"
        for listing in now.open_listings(company)
    )
    return f'<h1>{_WORDS[company.language][4]}</h1><ul class="openings">{cards}</ul>'


def _relaunched(now: DemoMoment, company: DemoCompany) -> str:
    """The same cards after a redesign: all class names have changed."""
    cards = "".join(
        f'<li class="opening"><b class="v2-name">{escape(listing.title)}</b><br>{escape(listing.place)}'
        f'<button data-open="{listing.path}">More</button></li>'
        for listing in now.open_listings(company)
    )
    return f'<h1>{_WORDS[company.language][4]}</h1><ul class="openings">{cards}</ul>'


def _position(now: DemoMoment, company: DemoCompany, name: str) -> DemoReply:
    number = name.rpartition("-")[2]
    listing = now.find_listing(company, int(number)) if number.isdigit() else None
    if listing is None:
        return NOT_FOUND
    data = json.dumps(posting(now, listing), ensure_ascii=False).replace("<", "\\u003c")
    head = f'<script type="application/ld+json">{data}</script>'
    body = f"<article><h1>{escape(listing.title)}</h1><p>{escape(listing.place)}</p>{text.html(listing)}</article>"
    silent = company.slug == WITHOUT_DATA
    return _frame(company, f"{listing.title} - {company.name}", body, "" if silent else head)


def posting(now: DemoMoment, listing: DemoListing) -> dict[str, Any]:
    """A schema.org JobPosting."""
    record: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": listing.title,
        "description": text.html(listing),
        "datePosted": now.posted_at(listing).date().isoformat(),
        "employmentType": "FULL_TIME",
        "identifier": {"@type": "PropertyValue", "value": str(listing.number)},
        "hiringOrganization": {
            "@type": "Organization",
            "name": listing.company.name,
            "sameAs": listing.company.website,
        },
    }
    if listing.arrangement == "remote":
        area = listing.place.partition(", ")[2]
        record["jobLocationType"] = "TELECOMMUTE"
        record["applicantLocationRequirements"] = {"@type": "Country", "name": area}
    else:
        address = {"@type": "PostalAddress", "addressLocality": listing.place}
        record["jobLocation"] = {"@type": "Place", "address": address}
    if listing.pay:
        value = {"minValue": listing.pay[0], "maxValue": listing.pay[1], "unitText": "YEAR"}
        record["baseSalary"] = {
            "@type": "MonetaryAmount",
            "currency": listing.currency,
            "value": {"@type": "QuantitativeValue", **value},
        }
    return record
