"""A company's own site: what it says of itself, its careers page, and the pages of its positions."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from jobmill.demo.companies import Company
from jobmill.demo.exchange import MISSING, Ask, Reply, page
from jobmill.demo.vendors import feed, text, workday
from jobmill.demo.world import Listing, Now

WITHOUT_DATA = "ironquillpress"
"""Whose pages say nothing to machines."""

_WORDS = {
    "en": ("About us", "Our culture", "Our stack", "Careers", "Open positions"),
    "de": ("Über uns", "Unsere Kultur", "Unser Stack", "Karriere", "Offene Stellen"),
    "fr": ("À propos", "Notre culture", "Notre stack", "Carrières", "Postes ouverts"),
    "es": ("Quiénes somos", "Nuestra cultura", "Nuestro stack", "Empleo", "Vacantes"),
}


def answer(now: Now, company: Company, ask: Ask) -> Reply:
    match ask.parts:
        case []:
            return _home(company)
        case ["about"]:
            return _about(company)
        case ["careers"]:
            return _careers(now, company)
        case ["jobs.rss"] if company.vendor == "rss":
            return feed.rss(now, company)
        case ["jobs", name]:
            return _position(now, company, name)
        case _:
            return MISSING


def _frame(company: Company, title: str, body: str, head: str = "") -> Reply:
    careers = _WORDS[company.language][3]
    nav = f'<nav><a href="/about">{_WORDS[company.language][0]}</a> <a href="/careers">{careers}</a></nav>'
    return page(
        f'<!doctype html><html lang="{company.language}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>{head}</head><body>{nav}<main>{body}</main></body></html>"
    )


def _home(company: Company) -> Reply:
    told = f"{company.name} {company.trade}."
    head = f'<meta name="description" content="{escape(told)}">'
    body = f"<h1>{escape(company.name)}</h1><p>{escape(told)}</p>"
    return _frame(company, company.name, body, head)


def _about(company: Company) -> Reply:
    about, culture, stack, *_ = _WORDS[company.language]
    first = "We are a remote-first team. " if company.remote_first else ""
    told = (
        f"{company.name} {company.trade}. Founded in {company.founded}, we are {company.people:,} "
        f"people, headquartered in {company.town}."
    )
    body = (
        f"<h1>{about}</h1><p>{escape(told)}</p><h2>{culture}</h2><p>{first}We value calm work, honest "
        "reviews and long weekends, and nobody is on call alone.</p>"
        f"<h2>{stack}</h2><p>Our stack: {escape(', '.join(company.stack))}.</p>"
    )
    return _frame(company, f"{about} - {company.name}", body)


def _careers(now: Now, company: Company) -> Reply:
    *_, careers, open = _WORDS[company.language]
    board = {
        "greenhouse": f"https://boards.greenhouse.io/{company.slug}",
        "lever": f"https://jobs.lever.co/{company.slug}",
        "ashby": f"https://jobs.ashbyhq.com/{company.slug}",
        "workday": f"https://{company.tenant}/{workday.SITE}",
    }.get(company.vendor)
    if board:
        return _frame(company, careers, f'<h1>{careers}</h1><p><a href="{board}">{open}</a></p>')
    if company.vendor == "rss":
        kind = 'type="application/rss+xml" title="Jobs"'
        link = f'<link rel="alternate" {kind} href="{feed.PATH}">'
        body = f'<h1>{careers}</h1><p><a href="{feed.PATH}">{open} (RSS)</a></p>'
        return _frame(company, careers, body, link)
    show = _relaunched if now.trouble(company) == "reformed" else _cards
    return _frame(company, careers, show(now, company))


def _cards(now: Now, company: Company) -> str:
    cards = "".join(
        f'<li class="opening"><h3 class="opening-title"><a href="{one.path}">{escape(one.title)}</a></h3>'
        f'<span class="opening-place">{escape(one.place)}</span> '
        f'<time class="opening-date" datetime="{now.posted_at(one).date()}">'
        f"{now.posted_at(one).date()}</time></li>"
        for one in now.open(company)
    )
    return f'<h1>{_WORDS[company.language][4]}</h1><ul class="openings">{cards}</ul>'


def _relaunched(now: Now, company: Company) -> str:
    """The same cards after a relaunch: nothing in them has the name that it had."""
    cards = "".join(
        f'<li class="opening"><b class="v2-name">{escape(one.title)}</b><br>{escape(one.place)}'
        f'<button data-open="{one.path}">More</button></li>'
        for one in now.open(company)
    )
    return f'<h1>{_WORDS[company.language][4]}</h1><ul class="openings">{cards}</ul>'


def _position(now: Now, company: Company, name: str) -> Reply:
    number = name.rpartition("-")[2]
    found = now.find(company, int(number)) if number.isdigit() else None
    if found is None:
        return MISSING
    data = json.dumps(posting(now, found), ensure_ascii=False).replace("<", "\\u003c")
    head = f'<script type="application/ld+json">{data}</script>'
    body = f"<article><h1>{escape(found.title)}</h1><p>{escape(found.place)}</p>{text.html(found)}</article>"
    silent = company.slug == WITHOUT_DATA
    return _frame(company, f"{found.title} - {company.name}", body, "" if silent else head)


def posting(now: Now, one: Listing) -> dict[str, Any]:
    """As schema.org has it."""
    found: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": one.title,
        "description": text.html(one),
        "datePosted": now.posted_at(one).date().isoformat(),
        "employmentType": "FULL_TIME",
        "identifier": {"@type": "PropertyValue", "value": str(one.number)},
        "hiringOrganization": {
            "@type": "Organization",
            "name": one.company.name,
            "sameAs": one.company.site,
        },
    }
    if one.arrangement == "remote":
        area = one.place.partition(", ")[2]
        found["jobLocationType"] = "TELECOMMUTE"
        found["applicantLocationRequirements"] = {"@type": "Country", "name": area}
    else:
        address = {"@type": "PostalAddress", "addressLocality": one.place}
        found["jobLocation"] = {"@type": "Place", "address": address}
    if one.pay:
        value = {"minValue": one.pay[0], "maxValue": one.pay[1], "unitText": "YEAR"}
        found["baseSalary"] = {
            "@type": "MonetaryAmount",
            "currency": one.currency,
            "value": {"@type": "QuantitativeValue", **value},
        }
    return found
