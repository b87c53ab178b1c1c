"""Pages of fictional companies, in forms that real sites have."""

from __future__ import annotations

from jobmill.catalog.company_pages import CompanyPage
from jobmill.extract.company import page_sections
from jobmill.extract.company.page_sections import PageSections

FRAME = """<!doctype html><html lang="en"><head><title>{title}</title>{head}</head><body>
<nav><a href="/">Home</a> <a href="/about">About</a> <a href="/careers">Careers</a></nav>
<main>{body}</main>
<footer><p>We use cookies to make this site better for you.</p>{foot}</footer></body></html>"""

ABOUT = """
<h1>About Brinewell</h1>
<p>Brinewell is a water technology company that builds controllers for desalination plants. Founded in
2012 by two engineers, we are headquartered in Portland, Oregon, with offices in Lisbon, Austin and
Singapore.</p>
<p>Today more than 240 employees look after plants in 31 countries.</p>
<h2>Our mission</h2>
<p>Our mission is to make fresh water affordable for every town on a coast.</p>
<h2>Our values</h2>
<h3>Kindness</h3><p>We treat each other, our customers and our suppliers with respect, also on bad days.</p>
<h3>Ownership</h3><p>Whoever builds a thing also looks after it in the field.</p>
<h2>Press</h2><p>Brinewell was named one of the ten firms to watch by Coastal Weekly last spring.</p>
"""
CAREERS = """
<h1>Careers at Brinewell</h1>
<p>We are a remote-first company: you choose where you work, and we meet twice a year.</p>
<p>Our services are written in Python and Go and run on Kubernetes in AWS, with PostgreSQL below them and
React in front. We use machine learning and computer vision to find leaks; AI is in all we ship.</p>
<a href="https://boards.greenhouse.io/brinewell">See open roles</a>
"""


def html(body: str, *, title: str = "Brinewell", head: str = "", foot: str = "") -> str:
    return FRAME.format(title=title, body=body, head=head, foot=foot)


def page(body: str, url: str = "https://brinewell.example/about", **more: str) -> CompanyPage:
    return CompanyPage(url, html(body, **more))


def read(body: str, url: str = "https://brinewell.example/about", **more: str) -> PageSections:
    return page_sections.read_sections(page(body, url, **more))
