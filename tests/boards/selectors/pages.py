"""Careers pages of fictional companies, with structures that real pages have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Post: TypeAlias = tuple[str, str, str]
"""Path, title, location."""

POSTS: tuple[Post, ...] = (
    ("1021-pump-engineer", "Pump Engineer", "Porto, Portugal"),
    ("1022-senior-backend-developer", "Senior Backend Developer", "Remote"),
    ("1023-office-manager", "Office Manager (m/w/d)", "Berlin, Germany"),
    ("1024-head-of-people", "Head of People", "Porto, Portugal"),
)
TITLES = [title for _, title, _ in POSTS]

NAV = """
  <header><nav class="main-nav"><ul>
    <li><a href="/product">Product</a></li><li><a href="/team">Team</a></li>
    <li><a href="/careers">Careers</a></li><li><a href="/jobs/engineering">Engineering jobs</a></li>
  </ul></nav></header>"""
BLOG = """
  <section class="blog"><h2>From the blog</h2>
    <div class="post"><h3><a href="/blog/how-our-engineer">How one engineer mends a well</a></h3></div>
    <div class="post"><h3><a href="/blog/meet-our-lead">Meet our team lead</a></h3></div>
    <div class="post"><h3><a href="/blog/a-day">A day with a designer</a></h3></div>
  </section>"""
FOOTER = """
  <footer><ul class="links"><li><a href="/privacy">Privacy</a></li><li><a href="/terms">Terms</a></li>
    <li><a href="https://www.linkedin.com/company/wells">LinkedIn</a></li></ul></footer>"""


def page(inside: str) -> bytes:
    return (
        f"<!doctype html><html><head><title>Careers at Wells</title></head><body>{NAV}<main>"
        f"<h1>Work with us</h1>{inside}</main>{BLOG}{FOOTER}</body></html>"
    ).encode()


def each(make: Callable[[str, str, str], str], posts: tuple[Post, ...] = POSTS) -> str:
    return "".join(make(*post) for post in posts)


def cards() -> bytes:
    return page(
        '<div class="openings">'
        + each(
            lambda path, title, place: (
                f"""
        <div class="job-card featured-{len(title)}"><h3 class="job-title">{title}</h3>
          <p class="job-location"><i class="fa fa-map-marker"></i> {place}</p>
          <p>We look for someone who cares about water, and about those who drink it.</p>
          <a class="btn" href="/careers/{path}">Apply now</a></div>"""
            )
        )
        + "</div>"
    )


def plain_list() -> bytes:
    return page(
        "<h2>Open positions</h2><ul>"
        + each(
            lambda path, title, place: (
                f'<li><a href="/careers/{path}.html">{title}</a> - {place}</li>'
            )
        )
        + "</ul>"
    )


def whole_links() -> bytes:
    """Each card is a link; class names come from a CSS framework."""
    return page(
        '<div class="grid gap-4 md:grid-cols-2">'
        + each(
            lambda path, title, place: (
                f"""
        <a class="flex p-4 rounded-xl border" href="/open-roles/{path}">
          <span class="text-lg font-bold">{title}</span><span class="text-sm">{place}</span></a>"""
            )
        )
        + "</div>"
    )


def made_up_names() -> bytes:
    """Class names that change with every build."""
    return page(
        '<div class="sc-bdVaJa kXyzAb"><div class="JobList_list__3fKq2">'
        + each(
            lambda path, title, place: (
                f"""
        <div class="JobList_item__9aZ1x css-1x2y3z"><a class="css-9q8w7e" href="/jobs/{path}">
          <h4 class="css-abc123">{title}</h4></a><div class="css-77aa1b">{place}</div></div>"""
            )
        )
        + "</div></div>"
    )


def table() -> bytes:
    rows = each(
        lambda path, title, place: (
            f"""
        <tr><td>2026-03-01</td><td><a href="/vacancies/view?id={path[:4]}">{title}</a></td>
        <td>Operations</td><td>{place}</td></tr>"""
        )
    )
    return page(
        "<table><thead><tr><th>Date</th><th>Position</th><th>Team</th><th>Location</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def departments() -> bytes:
    """Departments with a heading each; two have a single posting."""

    def one(path: str, title: str, place: str) -> str:
        return f"""<li class="opening"><div><a href="/jobs/{path}">{title}</a></div>
          <span class="location">{place}</span></li>"""

    return page(
        f"""<section class="department"><h3>Engineering</h3><ul>{each(one, POSTS[:2])}</ul></section>
        <section class="department"><h3>Office</h3><ul>{one(*POSTS[2])}</ul></section>
        <section class="department"><h3>People</h3><ul>{one(*POSTS[3])}</ul></section>"""
    )


def definitions() -> bytes:
    return page(
        "<dl>"
        + each(
            lambda path, title, place: (
                f"""<dt><a href="https://wells.example/jobs/{path}">{title}</a></dt>
            <dd>{place}</dd>"""
            )
        )
        + "</dl>"
    )


def two_links() -> bytes:
    """Cards with a picture, a title and a button that all are links, with dates, salaries and a
    next page."""
    return page(
        '<ul id="vacancies">'
        + each(
            lambda path, title, place: (
                f"""
        <li><a href="/stellen/{path}"><img src="/i.png" alt=""></a>
          <a class="dept" href="/teams/{len(title)}">Team</a>
          <h2><a href="/stellen/{path}">{title}</a></h2>
          <span class="place">{place}</span><time datetime="2026-03-01">1 March 2026</time>
          <span class="salary">EUR 50,000 - 60,000 a year</span>
          <a class="more" href="/stellen/{path}">Mehr erfahren</a></li>"""
            )
        )
        + """</ul><div class="pages"><a href="/careers">1</a><a href="/careers?page=2">2</a>
        <a rel="next" href="/careers?page=2">Next</a></div>"""
    )


def dots() -> bytes:
    """Team and town differ only in their position."""
    towns = ("Milan", "Remote", "Milan", "Lisbon")
    posts = tuple((path, title, town) for (path, title, _), town in zip(POSTS, towns, strict=True))
    return page(
        '<ul id="jobs_list" class="company-links">'
        + each(
            lambda path, title, place: (
                f"""
        <li class="border-b"><div class="flex"><a class="hyphens-auto" href="/jobs/{path}">{title}</a>
          <span class="text-base"><span>Growth</span><span>&middot;</span><span>{place}</span></span>
        </div></li>"""
            ),
            posts,
        )
        + "</ul>"
    )


def nameless() -> bytes:
    """No stable names; each card contains its link directly, in an element like the cards."""
    inside = each(
        lambda path, title, place: (
            f"""
        <div class="css-{path[:4]}x"><a class="sc-hKgILt" href="/join/{path}">{title}</a></div>"""
        )
    )
    return page(f'<div class="css-0"><div class="css-1k2j3">{inside}</div></div>')


def numbered() -> bytes:
    """Names with numbers, and fields that differ only in their position."""
    return page(
        '<div role="list" class="w-dyn-items">'
        + each(
            lambda path, title, place: (
                f"""
        <div role="listitem" class="w-dyn-item"><a href="/jobs/{path}" class="link-block-7 w-inline-block">
          <div class="text-block-12">{title}</div><div class="text-block-13">{place}</div></a></div>"""
            )
        )
        + "</div>"
    )


def framed() -> bytes:
    """The whole page is a form, in an element that is named like a menu."""
    inside = each(
        lambda path, title, place: (
            f"""
        <div class="row"><div class="cell"><a id="ctl{path[:4]}_lnk" href="Vacancy.aspx?id={path[:4]}">
          {title}</a></div><div class="cell">{place}</div></div>"""
        )
    )
    results = page(f'<div class="results">{inside}</div>').decode()
    start = '<body><form id="aspnetForm" action="x"><div class="page with-menu sticky">'
    return results.replace("<body>", start).replace("</body>", "</div></form></body>").encode()


def tiles(folder: str, words: tuple[str, ...]) -> bytes:
    """Cards that are not postings."""
    return page(
        '<div class="tiles">'
        + "".join(
            f'<div class="tile"><h3><a href="{folder}{number}">{word}</a></h3><p>Read on.</p></div>'
            for number, word in enumerate(words, 1)
        )
        + "</div>"
    )
