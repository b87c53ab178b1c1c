"""Pages of fictional job boards: random combinations of layouts, labels, dates and noise."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Fact = tuple[str, str]
"""A label and its value, both as markup."""


@dataclass(frozen=True)
class Truth:
    """The facts of one page."""

    title: str
    company: str
    place: str
    day: dt.date


@dataclass(frozen=True)
class Sheet:
    """One page and the names of the variants it was built from."""

    html: str
    truth: Truth
    url: str
    made_of: dict[str, str]


TRUTHS = [
    Truth("Registered Nurse - ICU", "Pinecrest Regional Hospital", "Denver, CO",
          dt.date(2010, 12, 3)),
    Truth("Sr. Java Developer (J2EE)", "Quillmark Systems, Inc.", "Columbus, OH 43215",
          dt.date(2010, 11, 30)),
    Truth("Customer Service Representative", "Bluefern Staffing", "St. Louis, MO",
          dt.date(2010, 10, 9)),
    Truth("Truck Driver, CDL Class A", "Hartwell & Sons Freight", "Fort Worth, Texas",
          dt.date(2010, 9, 21)),
    Truth("C#/.NET Programmer Analyst", "Tessera Group", "New York, NY",
          dt.date(2011, 1, 5)),
    Truth("Sales Associate", "The Copper Lantern", "San Jose, California",
          dt.date(2010, 7, 14)),
    Truth("Director of Finance and Operations", "Ostrander University", "Ithaca, New York",
          dt.date(2010, 8, 2)),
    Truth("Help Desk Technician", "Marrow Consulting LLC", "Washington, DC",
          dt.date(2010, 12, 11)),
]  # fmt: skip

PROSE = (
    "We are looking for a dependable person who takes pride in careful work. You will plan your"
    " own week, speak with the people who rely on you, and report to the head of the department."
)
TASKS = (
    "Keep records complete and up to date",
    "Answer questions by telephone",
    "Train new staff",
    "Work some weekends",
)
ASKED = ("Two years of experience", "High school diploma", "Good references")

SITE = "Workladder"

TITLE_TAGS: dict[str, Callable[[Truth], str]] = {
    "site last": lambda t: f"{t.title} - {SITE}.example",
    "site first": lambda t: f"{SITE} - {t.title}",
    "all of it": lambda t: f"{t.title} job in {t.place} | {t.company} | {SITE}",
    "company at": lambda t: f"{t.title} at {t.company} in {t.place} - {SITE}",
    "company first": lambda t: f"{t.company}: {t.title}",
    "site only": lambda t: f"{SITE}.example - Job Details",
    "place first": lambda t: f"{t.place} Jobs - {t.title} | {SITE}",
    "jobs": lambda t: f"{SITE} Jobs: {t.title} Job at {t.company}",
    "generic": lambda t: "View Job",
}

TITLES: dict[str, Callable[[str], str]] = {
    "h1": lambda t: f"<h1>{t}</h1>",
    "h2": lambda t: f"<h2 class=hd>{t}</h2>",
    "div.jobtitle": lambda t: f'<div class="jobtitle">{t}</div>',
    "font": lambda t: f'<p><font size="4"><b>{t}</b></font></p>',
    "span.jobTitle": lambda t: f'<div><span id="lblJobTitle" class="jobTitle">{t}</span></div>',
    "td.title": lambda t: f'<table><tr><td class="pageTitle">{t}</td></tr></table>',
    "h1 of site": lambda t: f"<h1><a href='/'>{SITE}</a></h1><h2>{t}</h2>",
    "h3 in bar": lambda t: f"<h2>Job Details</h2><h3>{t}</h3>",
    "label": lambda t: "",
    "label in h1": lambda t: f"<h1>Job Title: {t}</h1>",
    "h1 details": lambda t: f"<h1>Job Details</h1><div class=subhead>{t}</div>",
    "big": lambda t: f'<span style="font-size:18px;font-weight:bold">{t}</span><br><br>',
    "b": lambda t: f"<div class=box><b>{t}</b><br></div>",
}
TITLE_LABELS = ("Job Title", "Title", "Position", "Position Title", "Job Title")
COMPANY_LABELS = (
    "Company", "Employer", "Company Name", "Hiring Company", "Agency/Recruiter", "Organization",
    "Posted By", "Employer Name", "Company/Agency", "Job Provider", "Client",
)  # fmt: skip
PLACE_LABELS = (
    "Location", "Job Location", "Work Location", "Location(s)", "City/State", "Locations",
    "City, State", "Where", "Job Location(s)", "Location of Job", "Location (City, State)",
)  # fmt: skip
DATE_LABELS = (
    "Date Posted", "Posted", "Post Date", "Date", "Added", "Posted On", "Job Posted",
    "Posting Date", "Last Updated", "Listed", "Date Added", "Date Listed", "Updated",
    "Date Modified", "Last Posted", "Job Post Date",
)  # fmt: skip
DATES: dict[str, Callable[[dt.date], str]] = {
    "12/3/2010": lambda d: f"{d.month}/{d.day}/{d.year}",
    "12/03/10": lambda d: f"{d:%m/%d/%y}",
    "Dec 03, 2010": lambda d: f"{d:%b %d, %Y}",
    "December 3, 2010": lambda d: f"{d:%B} {d.day}, {d.year}",
    "3-Dec-2010": lambda d: f"{d.day}-{d:%b-%Y}",
    "03-DEC-10": lambda d: f"{d:%d-%b-%y}".upper(),
    "Friday, December 03, 2010": lambda d: f"{d:%A, %B %d, %Y}",
    "2010-12-03": lambda d: f"{d.isoformat()}",
    "12/3/2010 4:15:00 PM": lambda d: f"{d.month}/{d.day}/{d.year} 4:15:00 PM",
    "12-03-2010": lambda d: f"{d:%m-%d-%Y}",
    "Dec 3 '10": lambda d: f"{d:%b} {d.day} '{d:%y}",
    "12.03.2010 us": lambda d: f"{d:%b}. {d.day}, {d.year}",
    "Fri Dec 3 2010": lambda d: f"{d:%a %b} {d.day} {d.year}",
}


def _table(facts: list[Fact]) -> str:
    rows = (f"<tr><td class=label>{name}:</td><td>{value}</td></tr>" for name, value in facts)
    return f"<table>{''.join(rows)}</table>"


def _bold_table(facts: list[Fact]) -> str:
    rows = (
        f'<tr valign="top"><td width="120"><b>{name}</b>&nbsp;</td><td>&nbsp;{value}</td></tr>'
        for name, value in facts
    )
    return f"<table><tr><td><table border=0>{''.join(rows)}</table></td></tr></table>"


def _wide(facts: list[Fact]) -> str:
    cells = [f"<th>{name}:</th><td>{value}</td>" for name, value in facts]
    rows = ("".join(cells[n : n + 2]) for n in range(0, len(cells), 2))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _columns(facts: list[Fact]) -> str:
    names = "".join(f"<td><b>{name}</b></td>" for name, _ in facts)
    values = "".join(f"<td>{value}</td>" for _, value in facts)
    return f"<table><tr>{names}</tr><tr>{values}</tr></table>"


def _dl(facts: list[Fact]) -> str:
    return "<dl>" + "".join(f"<dt>{n}</dt><dd>{v}</dd>" for n, v in facts) + "</dl>"


def _dl_colon(facts: list[Fact]) -> str:
    return "<dl>" + "".join(f"<dt>{n.upper()}:<dd>{v}" for n, v in facts) + "</dl>"


def _strong_br(facts: list[Fact]) -> str:
    return "<p>" + "<br>\n".join(f"<strong>{n}:</strong> {v}" for n, v in facts) + "</p>"


def _strong_nbsp(facts: list[Fact]) -> str:
    return "<div>" + "<br/>".join(f"<b>{n}</b>&nbsp;:&nbsp;&nbsp;{v}" for n, v in facts) + "</div>"


def _field_label(facts: list[Fact]) -> str:
    return "".join(
        f'<div class="row"><span class="fieldLabel">{n}</span>'
        f'<span class="fieldValue">{v}</span></div>'
        for n, v in facts
    )


def _li(facts: list[Fact]) -> str:
    items = "".join(f"<li><label>{n}:</label> <span>{v}</span></li>" for n, v in facts)
    return f"<ul class=facts>{items}</ul>"


def _plain(facts: list[Fact]) -> str:
    return "<div>" + "<br>".join(f"{n}: {v}" for n, v in facts) + "</div>"


def _upper_bar(facts: list[Fact]) -> str:
    return "<p>" + " | ".join(f"{n.upper()}: {v}" for n, v in facts) + "</p>"


def _sibling_blocks(facts: list[Fact]) -> str:
    return "".join(
        f"<div class=item><div class=caption>{n}</div><div class=val>{v}</div></div>"
        for n, v in facts
    )


def _headings(facts: list[Fact]) -> str:
    return "".join(f"<h4>{n}</h4><p>{v}</p>" for n, v in facts)


def _stacked_cells(facts: list[Fact]) -> str:
    return "<table>" + "".join(
        f"<tr><td bgcolor=#eee><font size=1>{n}</font></td></tr><tr><td>{v}</td></tr>"
        for n, v in facts
    ) + "</table>"  # fmt: skip


def _cell_break(facts: list[Fact]) -> str:
    return "<table><tr>" + "".join(
        f"<td><b>{n}:</b><br>{v}</td>" for n, v in facts
    ) + "</tr></table>"  # fmt: skip


def _spaced_cells(facts: list[Fact]) -> str:
    return "<table>" + "".join(
        f"<tr><td align=right>{n}</td><td>&nbsp;</td><td>{v}</td></tr>" for n, v in facts
    ) + "</table>"  # fmt: skip


def _colon_cell(facts: list[Fact]) -> str:
    return "<table>" + "".join(
        f"<tr><td>{n}</td><td>:</td><td>{v}</td></tr>" for n, v in facts
    ) + "</table>"  # fmt: skip


def _one_text(facts: list[Fact]) -> str:
    return "<p>" + " &nbsp; &nbsp; ".join(f"{n}: {v}" for n, v in facts) + "</p>"


def _bold_values(facts: list[Fact]) -> str:
    return "<div>" + "<br>".join(f"{n}: <b>{v}</b>" for n, v in facts) + "</div>"


def _spans(facts: list[Fact]) -> str:
    return "<div>" + " ".join(
        f'<span class="lbl">{n}:</span> <span class="txt">{v}</span>' for n, v in facts
    ) + "</div>"  # fmt: skip


def _nested(facts: list[Fact]) -> str:
    return "<table>" + "".join(
        f"<tr><td><table><tr><td><font face=arial><b>{n}:</b></font></td></tr></table></td>"
        f"<td><table><tr><td><font face=arial>{v}</font></td></tr></table></td></tr>"
        for n, v in facts
    ) + "</table>"  # fmt: skip


def _two_tables(facts: list[Fact]) -> str:
    names = "<br>".join(f"<b>{n}:</b>" for n, _ in facts)
    values = "<br>".join(v for _, v in facts)
    return f"<table><tr><td>{names}</td><td>{values}</td></tr></table>"


FACTS: dict[str, Callable[[list[Fact]], str]] = {
    "one text": _one_text,
    "bold values": _bold_values,
    "spans": _spans,
    "nested": _nested,
    "label column": _two_tables,
    "table": _table,
    "bold table": _bold_table,
    "two a row": _wide,
    "columns": _columns,
    "dl": _dl,
    "dl colon": _dl_colon,
    "strong br": _strong_br,
    "strong nbsp": _strong_nbsp,
    "field label": _field_label,
    "li": _li,
    "plain": _plain,
    "upper bar": _upper_bar,
    "sibling blocks": _sibling_blocks,
    "headings": _headings,
    "stacked cells": _stacked_cells,
    "cell break": _cell_break,
    "spaced cells": _spaced_cells,
    "colon cell": _colon_cell,
}

TOP = {
    "bar": f"""<div id=hdr><a href=/><img src=/l.gif alt="{SITE}"></a> <a href=/s>Search Jobs</a> |
    <a href=/r>Post Resume</a> | <a href=/e>Employers</a> | <a href=/h>Help</a></div>""",
    "table": f"""<table width=100%><tr><td><img src=l.gif alt="{SITE} - find a better job"></td>
    <td><font size=1>Monday, January 10, 2011</font></td></tr><tr><td><a href=/>Home</a></td>
    <td><a href=/b>Browse Jobs</a></td><td><a href=/m>My Account</a></td></tr></table>""",
    "form": """<form action=/s>Keywords: <input name=q> Location: <input name=l>
    <select><option>Alabama<option>Alaska</select><input type=submit value=Search></form>""",
    "crumbs": """<div class=crumbs><a href=/>Home</a> &gt; <a href=/b>Browse Jobs</a> &gt;
    <a href=/b/2>Office</a></div>""",
    "slogan": """<h1>Find your next job here!</h1><h3>Job Search</h3><p>Over 40,000 openings</p>""",
}
TOOLS = {
    "tools": """<div class=tools><a href=/a>Apply Now</a> <a href=/s>Save Job</a>
    <a href=/e>Email to a Friend</a> <a href=/p>Print</a></div>""",
    "back": """<p><a href="javascript:history.back()">&laquo; Back to results</a> |
    <a href=/n>Next job &raquo;</a></p>""",
    "nothing": "",
}
END = {
    "related": """<div id=rel><h3>Related Searches</h3><ul><li><a href=/q/1>Office jobs in Boise,
    ID</a><li><a href=/q/2>Clerk jobs in Reno, NV</a></ul></div>""",
    "similar": """<table><tr><th colspan=3>Similar Jobs</th></tr><tr><td><a href=/j/8>Night
    Clerk</a></td><td>Fairbanks Hotel</td><td>Boise, ID</td><td>12/1/2010</td></tr><tr><td>
    <a href=/j/9>Day Clerk</a></td><td>Otter Inn</td><td>Reno, NV</td><td>11/2/2010</td></tr>
    </table>""",
    "footer": f"""<div>&copy; 2010 {SITE}, Inc. All rights reserved. <a href=/t>Terms</a></div>""",
    "contact": """<h4>Contact Information</h4><table><tr><td>Contact:</td><td>Ada Pell</td></tr>
    <tr><td>Phone:</td><td>555-0100</td></tr><tr><td>Address:</td><td>1 Elm Rd, Boise, ID
    83701</td></tr></table>""",
    "advert": """<div><b>Earn your degree online</b><br>Location: Anywhere<br><a href=/d>Request
    info</a></div>""",
}
TEXTS: dict[str, str] = {
    "paragraphs": f"<h3>Job Description</h3><p>{PROSE}</p><p>Requirements: {', '.join(ASKED)}.</p>",
    "lists": f"<b>Description</b><br>{PROSE}<ul>{''.join(f'<li>{t}' for t in TASKS)}</ul>"
    f"<b>Requirements</b><ul>{''.join(f'<li>{a}' for a in ASKED)}</ul>",
    "breaks": f"<div id=desc>{PROSE}<br><br>{'<br>'.join(f'- {t}' for t in TASKS)}<br><br>"
    f"Requirements:<br>{'<br>'.join(ASKED)}</div>",
    "table": f"<table><tr><td><b>Job Description:</b></td></tr><tr><td>{PROSE} {PROSE}</td></tr>"
    "</table>",
}
COMPANIES: dict[str, Callable[[str], str]] = {
    "words": lambda name: name,
    "link": lambda name: f"<a href='/company/17'>{name}</a>",
    "link and more": lambda name: f"{name} <a href='/c/17'>View all jobs</a>",
}


def sheets(count: int, seed: int = 1) -> Iterator[Sheet]:
    """Pages with labels for company, place and date; each variant of each part occurs often."""
    chance = random.Random(seed)
    for n in range(count):
        yield _labelled(chance, TRUTHS[n % len(TRUTHS)], list(FACTS)[n % len(FACTS)])


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;")


def _labelled(chance: random.Random, truth: Truth, facts: str) -> Sheet:
    made = {
        "facts": facts,
        "head": chance.choice(list(TITLE_TAGS)),
        "title": chance.choice(list(TITLES)),
        "company": chance.choice(list(COMPANIES)),
        "company label": chance.choice(COMPANY_LABELS),
        "place label": chance.choice(PLACE_LABELS),
        "date label": chance.choice(DATE_LABELS),
        "date": chance.choice(list(DATES)),
        "top": chance.choice(list(TOP)),
        "tools": chance.choice(list(TOOLS)),
        "text": chance.choice(list(TEXTS)),
        "end": chance.choice(list(END)),
        "split place": chance.choice(["no", "no", "no", "yes"]),
    }
    labelled = _facts(chance, truth, made)
    shown = FACTS[facts](labelled)
    after = chance.random() < 0.25
    made["order"] = "text first" if after else "facts first"
    text = TEXTS[made["text"]]
    html = f"""<html><head><title>{_escaped(TITLE_TAGS[made["head"]](truth))}</title></head><body>
    {TOP[made["top"]]}{TITLES[made["title"]](_escaped(truth.title))}{TOOLS[made["tools"]]}
    {text + shown if after else shown + text}{END[made["end"]]}</body></html>"""
    return Sheet(html, truth, "", made)


def _facts(chance: random.Random, truth: Truth, made: dict[str, str]) -> list[Fact]:
    company = COMPANIES[made["company"]](_escaped(truth.company))
    facts: list[Fact] = [
        (made["company label"], company),
        (made["date label"], DATES[made["date"]](truth.day)),
        (chance.choice(["Job Type", "Employment Type", "Type"]), "Full Time"),
        (chance.choice(["Job Number", "Ref Code", "Position ID", "Job ID", "Req #"]), "JX-20117"),
        (chance.choice(["Salary", "Pay", "Compensation", "Start Date"]), ""),
        (chance.choice(["Category", "Industry", "Job Category"]), "Office and Clerical"),
    ]
    facts[4] = (facts[4][0], "1/17/2009" if facts[4][0] == "Start Date" else "Open")
    if made["split place"] == "yes":
        town, _, state = truth.place.partition(", ")
        state, _, code = state.partition(" 4")
        facts[1:1] = [("City", town), ("State", state)] + ([("Zip", f"4{code}")] if code else [])
    else:
        facts.insert(1, (made["place label"], truth.place))
    if chance.random() < 0.4:
        chance.shuffle(facts)
    if made["title"] == "label":
        facts.insert(0, (chance.choice(TITLE_LABELS), _escaped(truth.title)))
    return facts


def _title(t: Truth) -> str:
    return _escaped(t.title)


BARE: dict[str, Callable[[Truth, str, str], str]] = {
    "lines below": lambda t, c, d: (
        f"<h1>{_title(t)}</h1><h2 class=company>{c}</h2><h3>{t.place}</h3><span>Posted {d}</span>"
    ),
    "company - place": lambda t, c, d: (
        f"<h1>{_title(t)}</h1><div>{c} - {t.place}</div><div class=postdate>{d}</div>"
    ),
    "company in place": lambda t, c, d: (
        f"<h2>{_title(t)}</h2><p>{c} in {t.place}<br>Posted on {d}</p>"
    ),
    "one cell": lambda t, c, d: (
        f"<table><tr><td><b>{_title(t)}</b><br>{c}<br>{t.place}</td><td>Posted: {d}</td></tr>"
        "</table>"
    ),
    "company above": lambda t, c, d: (
        f"<h2>{c}</h2><h1>{_title(t)}</h1><p>{t.place} | Posted {d}</p>"
    ),
    "place in heading": lambda t, c, d: (
        f"<h1>{_title(t)}</h1><p>by {c} on {d}</p><p><img src=pin.gif> {t.place}</p>"
    ),
    "brackets": lambda t, c, d: (
        f"<h1>{_title(t)}</h1><div class=emp>{c} ({t.place})</div><div>Date posted {d}</div>"
    ),
    "classes": lambda t, c, d: (
        f"<div class=job-title>{_title(t)}</div><div class=job-company>{c}</div>"
        f"<div class=job-location>{t.place}</div><div class=job-date>{d}</div>"
    ),
}
"""Facts without labels: title, company and date."""


def bare_sheets(count: int, seed: int = 1) -> Iterator[Sheet]:
    """Pages with facts below the title and without labels."""
    chance = random.Random(seed)
    for n in range(count):
        truth, way = TRUTHS[n % len(TRUTHS)], list(BARE)[(n // len(TRUTHS)) % len(BARE)]
        made = {
            "bare": way,
            "head": chance.choice([tag for tag in TITLE_TAGS if tag not in ("generic",)]),
            "company": chance.choice(["words", "link"]),
            "date": chance.choice(list(DATES)),
            "top": chance.choice(list(TOP)),
            "text": chance.choice(list(TEXTS)),
            "end": chance.choice(list(END)),
        }
        company = COMPANIES[made["company"]](_escaped(truth.company))
        html = f"""<html><head><title>{_escaped(TITLE_TAGS[made["head"]](truth))}</title></head>
        <body>{TOP[made["top"]]}{BARE[way](truth, company, DATES[made["date"]](truth.day))}
        {TOOLS["tools"]}{TEXTS[made["text"]]}{END[made["end"]]}</body></html>"""
        yield Sheet(html, truth, "http://www.workladder.example/view.asp?id=20117", made)
