"""Pages of many kinds of sites; all companies in them are fictional."""

from __future__ import annotations

from dataclasses import dataclass

PROSE = (
    "We look for somebody who likes careful work and good company. You will plan your own week,"
    " talk to the people who use what you make, and leave things tidier than you found them."
)
MORE = (
    "You bring three years of experience, patience, and a driving licence. We offer a fair salary,"
    " close early on Fridays, and train everybody who wants to be trained."
)
TEXT = f"<p>{PROSE}</p><p>{MORE}</p>"


@dataclass(frozen=True)
class PageExample:
    """A page and the posting a reader would see."""

    name: str
    html: str
    title: str
    company: str | None
    location: str | None
    day: str | None = None
    """When it was posted; "some day" if that depends on today."""


CASES = [
    PageExample(
        "definition list",
        f"""<html><head><title>Harbour Pilot Job in Westport, OR - SaltyJobs</title></head><body>
        <ul id="topnav"><li><a href="/">Home</a></li><li><a href="/c">Company</a></li>
        <li><a href="/l">Location</a></li></ul>
        <h1>SaltyJobs</h1><div id="view"><h2>Harbour Pilot</h2>
        <dl><dt>Employer</dt><dd>Northwater Marine Ltd.</dd><dt>Location</dt><dd>Westport, OR
        97121</dd>
        <dt>Date Posted</dt><dd>March 3, 2011</dd><dt>Job Type</dt><dd>Full Time</dd></dl>
        {TEXT}</div><div id="footer">Copyright 2011
        SaltyJobs</div></body></html>""",
        "Harbour Pilot", "Northwater Marine Ltd.", "Westport, OR 97121", "2011-03-03",
    ),
    PageExample(
        "table with a colon behind each label",
        f"""<title>TechPlace.example :: Job Details</title><body><table><tr><td><img
        src=logo.gif></td>
        <td><a href=/>Search Jobs</a> | <a href=/r>Post Resume</a></td></tr></table>
        <table><tr><td><b>Job Title:</b></td><td>Database Gardener (Contract)</td></tr>
        <tr><td><b>Company:</b></td><td><a href="/co/9">Fern &amp; Moss, Inc.</a></td></tr>
        <tr><td><b>Pay Rate:</b></td><td></td></tr>
        <tr><td><b>City, State:</b></td><td>Duluth, MN</td></tr>
        <tr><td><b>Posted:</b></td><td>11/23/2010</td></tr></table>
        <p><b>Description:</b><br>{PROSE}<br><br>{MORE}</p></body>""",
        "Database Gardener (Contract)", "Fern & Moss, Inc.", "Duluth, MN", "2010-11-23",
    ),
    PageExample(
        "labels and values in one text each",
        f"""<title>Night Baker at Crumb House | OvenWork</title><body><div><h3>Night Baker</h3>
        <p>Company: Crumb House<br>Location: Asheville, NC<br>Posted on: 2 May 2012<br>Ref:
        CB-17</p>
        {TEXT}</div></body>""",
        "Night Baker", "Crumb House", "Asheville, NC", "2012-05-02",
    ),
    PageExample(
        "labels between bars in one line",
        f"""<title>Crane Operator - Lift Right LLC - Gary, IN</title><body><div
        class="hd">LiftJobs</div>
        <div class="t"><font size="4"><b>Crane Operator</b></font></div>
        <div>Location: Gary, IN | Posted: Jan 9, 2011 | Employer: Lift Right LLC</div>
        <div>{PROSE}</div><div>{MORE}</div></body>""",
        "Crane Operator", "Lift Right LLC", "Gary, IN", "2011-01-09",
    ),
    PageExample(
        "cells side by side, no colon, empty values between",
        f"""<title>View Opening</title><body><h2>Welcome to JobHarbor</h2><table class="grid">
        <tr><th>Position Title</th><td>Payroll Clerk II</td></tr><tr><th>Salary</th><td></td></tr>
        <tr><th>Organization Name</th><td>County of Elmwood</td></tr>
        <tr><th>Work Location</th><td>Elmwood, Kansas</td></tr>
        <tr><th>Posting Date</th><td>12-06-2010</td></tr></table>{TEXT}</body>""",
        "Payroll Clerk II", "County of Elmwood", "Elmwood, Kansas", "2010-12-06",
    ),
    PageExample(
        "a row of labels over a row of values",
        f"""<title>Job: Piano Tuner</title><body><h1>Piano Tuner</h1><table>
        <tr><th>Company</th><th>Location</th><th>Date Posted</th></tr>
        <tr><td>Ivory &amp; Sons</td><td>Salem, MA</td><td>October 1, 2010</td></tr></table>
        {TEXT}</body>""",
        "Piano Tuner", "Ivory & Sons", "Salem, MA", "2010-10-01",
    ),
    PageExample(
        "breadcrumbs and a header block without labels",
        f"""<head><title>Roof Thatcher - Reed Works - Ludlow | Craftlist</title>
        <meta name="description" content="Roof Thatcher at Reed Works. Apply today.">
        <meta property="og:site_name" content="Craftlist"></head><body>
        <div class="breadcrumbs"><a>Home</a> &gt; <a>Crafts</a> &gt; Roof Thatcher</div>
        <div class="job-header"><h1 class="job-header__title">Roof Thatcher</h1>
        <a class="job-header__company-name" href="/c/reed-works">Reed Works</a>
        <span class="job-header__location">Ludlow, United Kingdom</span></div>
        <section>{TEXT}</section>
        <div class="related"><h3>Similar jobs</h3><a href="/1">Roof Tiler</a><a
        href="/2">Mason</a></div></body>""",
        "Roof Thatcher", "Reed Works", "Ludlow, United Kingdom",
    ),
    PageExample(
        "posted by, and all openings of the company",
        f"""<title>'Line Cook' in Bend, OR job posted by Juniper Grill</title><body>
        <div class="contenttitle">Juniper Grill</div><h3>Line Cook</h3><i>Posted: June 4, 2011</i>
        {TEXT}<p><a href="/all">View all jobs at Juniper Grill</a></p>
        <p>Bend, OR</p></body>""",
        "Line Cook", "Juniper Grill", "Bend, OR", "2011-06-04",
    ),
    PageExample(
        "div soup with test ids",
        f"""<head><title>Staff Surveyor | Contour Labs Careers</title>
        <meta property="og:title" content="Staff Surveyor"></head><body><div id="root"><div
        class="x1a">
        <div class="x9"><span>Open roles</span><span>Life here</span></div>
        <div data-testid="job-title" class="x7">Staff Surveyor</div>
        <div class="x7b"><span data-testid="company-name">Contour Labs</span></div>
        <div class="x7c" data-testid="job-location"><span>Graz</span><span>,
        </span><span>Austria</span></div>
        <div class="x8" data-testid="posted-date">Posted 2024-02-11</div>
        <div class="x2"><div>{PROSE}</div><div>{MORE}</div></div></div></div></body>""",
        "Staff Surveyor", "Contour Labs", "Graz, Austria", "2024-02-11",
    ),
    PageExample(
        "German",
        f"""<html lang="de"><head><title>Uhrmacher (m/w/d) in Glashütte -
        Stellenmarkt</title></head><body>
        <nav><a href="/">Start</a></nav><h1>Uhrmacher (m/w/d)</h1>
        <table><tr><td>Arbeitgeber:</td><td>Feinwerk Berger GmbH</td></tr>
        <tr><td>Arbeitsort:</td><td>01768 Glashütte</td></tr>
        <tr><td>Veröffentlicht am:</td><td>03.05.2023</td></tr></table>
        <h2>Ihre Aufgaben</h2><p>{PROSE}</p><h2>Ihr Profil</h2><p>{MORE}</p></body></html>""",
        "Uhrmacher (m/w/d)", "Feinwerk Berger GmbH", "01768 Glashütte", "2023-05-03",
    ),
    PageExample(
        "Spanish, label and value in one list entry",
        f"""<html lang="es"><head><title>Panadero de noche</title></head><body>
        <header><h1 class="job-page__title">Panadero de noche</h1></header>
        <ul><li><span><strong>Empresa:</strong> Hornos Ribera</span></li>
        <li><span><strong>Ubicación:</strong> Soria (España)</span></li>
        <li><span><strong>Vacantes:</strong> 2</span></li></ul><h2>Descripción de la oferta</h2>
        {TEXT}</body></html>""",
        "Panadero de noche", "Hornos Ribera", "Soria (España)",
    ),
    PageExample(
        "title only in the head and in a plain cell",
        f"""<title>Find Jobs - Beekeeper - Apiary Jobs in Chico, California - Sweet Acre
        Farms</title><body>
        <table><tr><td colspan=2 class="job_title">Beekeeper - Apiary</td></tr>
        <tr><td class=l>Company:</td><td>Sweet Acre Farms</td></tr>
        <tr><td class=l>Location:</td><td><a>US-CA-Chico</a><div>Loading
        Map...</div></td></tr></table>
        <div class=desc>{PROSE} {MORE}</div><b>Company Overview</b><p>{MORE}</p></body>""",
        "Beekeeper - Apiary", "Sweet Acre Farms", "US-CA-Chico",
    ),
    PageExample(
        "company hung on the heading",
        f"""<head><title>Locksmith job in Provo, UT: Security careers - JobMoth</title>
        <meta name="description" content="View the Locksmith job description at Keyhole Bros. and
        apply"></head>
        <body><div id="breadcrumb"><a>Jobs Home</a> &gt; <a>Search</a> &gt; <a>Keyhole Bros.</a>
        &gt; Locksmith</div>
        <h1>Locksmith: Keyhole Bros.</h1><table><tr><th>Company Name</th><td>Keyhole Bros.</td></tr>
        <tr><th>Location</th><td>Provo, UT</td></tr><tr><th>Date Posted</th><td>July 27,
        2010</td></tr></table>
        <div id="jobDescription">{TEXT}</div></body>""",
        "Locksmith", "Keyhole Bros.", "Provo, UT", "2010-07-27",
    ),
    PageExample(
        "somebody is hiring",
        f"""<head><title>Tidewater Clinic hiring Night Nurse in Mobile, AL |
        WorkNet</title></head><body>
        <h1>Night Nurse</h1><h4><a href="/co/tidewater">Tidewater Clinic</a> <span>Mobile, AL</span>
        <span>Posted 5 days ago</span></h4><div class="description">{TEXT}</div></body>""",
        "Night Nurse", "Tidewater Clinic", "Mobile, AL", "some day",
    ),
    PageExample(
        "labels after the text, town and state apart",
        f"""<title>Forester - TimberJobs.example</title><body><h2>Forester</h2>{TEXT}
        <div class=row><div class=lbl>Hiring Company</div><div class=val>Highridge Timber
        Co</div></div>
        <div class=row><div class=lbl>City</div><div class=val>Libby</div></div>
        <div class=row><div class=lbl>State</div><div class=val>Montana</div></div>
        <div class=row><div class=lbl>Creation Date</div><div class=val>2010-06-21
        00:17:25</div></div></body>""",
        "Forester", "Highridge Timber Co", "Libby, Montana", "2010-06-21",
    ),
    PageExample(
        "a page that names no company and no place",
        f"""<title>Kennel Hand</title><body><h1>Kennel Hand</h1>{TEXT}</body>""",
        "Kennel Hand", None, None,
    ),
    PageExample(
        "the company is a second heading and a part of the page's title",
        f"""<title>Weaver - Loom &amp; Shuttle - Paisley, OR - threadjobs.example</title><body>
        <a href="/"><img src="l.gif" alt="ThreadJobs"></a><h1>Weaver</h1><h2>Loom &amp; Shuttle</h2>
        <dl><dt>Skills:</dt><dd>Warp, weft</dd><dt>Date:</dt><dd>12-3-2010</dd>
        <dt>Location:</dt><dd>Paisley, OR</dd><dt>Area Code:</dt><dd>541</dd></dl>
        {TEXT}</body>""",
        "Weaver", "Loom & Shuttle", "Paisley, OR", "2010-12-03",
    ),
    PageExample(
        "no heading, only a larger line above the labels",
        f"""<title>Job Detail</title><body><table><tr><td><a href=/>Home</a></td></tr></table>
        <font size=+1>Tugboat Deckhand</font><br><br>
        <b>Location:</b> Astoria, OR <a href="/map">map it</a><br><b>Position Type:</b> Full
        Time<br>
        <b>Company:</b> Columbia Tow<br><b>Date Posted:</b> 9/14/10<br><br>
        {PROSE}<br><br>{MORE}</body>""",
        "Tugboat Deckhand", "Columbia Tow", "Astoria, OR", "2010-09-14",
    ),
    PageExample(
        "town and state labelled apart in one line, company known by its logo",
        f"""<head><title>Millwright needed by Gristwork Inc. - HireMill</title></head><body>
        <div><img src="9.png" alt="Gristwork Inc. logo"></div><h2>Millwright</h2>
        <div><b>City:</b> Minot <b>State:</b> ND <b>Job #:</b> 4411</div>
        <div><a href="/gristwork">More openings from Gristwork Inc.</a></div>
        <div>Posted 10/30/2010 by staff</div>{TEXT}</body>""",
        "Millwright", "Gristwork Inc.", "Minot, ND", "2010-10-30",
    ),
    PageExample(
        "posted by whom and when in one line",
        f"""<title>Pastry Chef (Hotel) | Kitchenwork</title><body><div id="hdr">Kitchenwork</div>
        <div class="posting"><span class="big">Pastry Chef (Hotel)</span><br>
        Posted by: Grand Meridian Hotel<br>Posted on: Monday, 6 December 2010<br>
        Job Location: Baton Rouge, LA 70801 [View Map]<br>Salary: DOE</div>
        <div>{PROSE}</div><div>{MORE}</div></body>""",
        "Pastry Chef (Hotel)", "Grand Meridian Hotel", "Baton Rouge, LA 70801", "2010-12-06",
    ),
    PageExample(
        "a search form and a sidebar around it",
        f"""<title>Glazier - Clearpane Ltd - Jobs in Leeds</title><body>
        <form><label>Job title</label><input>
        <label>Location</label><input><button>Search</button></form>
        <div class="sidebar"><h3>Featured employers</h3><a href="/e/1">Oakfield Homes</a>
        <a href="/e/2">Brickline</a></div>
        <main><h1>Glazier</h1><ul class="job-meta"><li class="job-company">Clearpane Ltd</li>
        <li class="job-location">Leeds, West Yorkshire</li>
        <li class="job-date-posted">Posted: 14 March 2024</li></ul>
        <article>{TEXT}</article></main></body>""",
        "Glazier", "Clearpane Ltd", "Leeds, West Yorkshire", "2024-03-14",
    ),
    PageExample(
        "a company's own careers site",
        f"""<html><head><title>Arborist | Greenbough Tree Care Careers</title>
        </head><body>
        <header><a href="/">Open roles</a></header><h1>Arborist</h1><div>Eugene, OR</div>
        <h2>About the role</h2>{TEXT}<a
        href="/apply/3">Apply</a></body></html>""",
        "Arborist", "Greenbough Tree Care", "Eugene, OR",
    ),
    PageExample(
        "the company in the first heading, the title in the second",
        f"""<head><title>Ropewalk Ltd: Splicer in Dundee, Scotland</title></head><body>
        <h1>Ropewalk Ltd</h1><h2>Splicer</h2><div>Dundee, Scotland</div>
        <h3>Duties</h3>{TEXT}<p><a href="/all">All jobs at Ropewalk
        Ltd</a></p></body>""",
        "Splicer", "Ropewalk Ltd", "Dundee, Scotland",
    ),
    PageExample(
        "a page title that says all in one breath",
        f"""<title>Job Search Data Librarian Confidential</title><body><h1>RIGHT</h1>
        <div class="n">Data Librarian</div><div><div>Company</div><div>Confidential</div></div>
        <div><div>Location</div><div>Boise,United States</div></div>
        {TEXT}</body>""",
        "Data Librarian", "Confidential", "Boise,United States",
    ),
    PageExample(
        "company hung on the heading and nowhere in the head",
        f"""<title>Job view</title><body><h1>Saddler - Hoof &amp; Strap</h1><table>
        <tr><td>Employer:</td><td>Hoof &amp; Strap</td></tr>
        <tr><td>City:</td><td>Reno</td></tr></table>
        {TEXT}</body>""",
        "Saddler", "Hoof & Strap", "Reno",
    ),
    PageExample(
        "the company only in description and breadcrumbs",
        f"""<head><title>Vintner job in Napa, CA - BoardBoard</title><meta name="description"
        content="Read the Vintner job description at Tannin Hill. Find more jobs on
        BoardBoard."></head>
        <body><div id="breadcrumb"><a>Home</a> &gt; <a>Tannin Hill</a> &gt;
        Vintner</div><h1>Vintner</h1>
        <div><img alt="Tannin Hill logo" src="t.png"></div>{TEXT}</body>""",
        "Vintner", "Tannin Hill", "Napa, CA",
    ),
    PageExample(
        "hiring in the page's title, the company far from the title",
        f"""<title>Peatland Trust is hiring a Warden | Greenwork</title><body><h1>Warden</h1>
        {TEXT}<h3>About Peatland Trust</h3><p>Bogs since 1971.</p></body>""",
        "Warden", "Peatland Trust", None,
    ),
    PageExample(
        "a time for machines, and a title like an error",
        f"""<title>403(b) Plan Clerk - Jobs</title><body><h1>403(b) Plan Clerk</h1>
        <p><b>Company</b> Fund Office</p><p>Since <time datetime="2024-05-06">two weeks</time></p>
        {TEXT}</body>""",
        "403(b) Plan Clerk", "Fund Office", None, "2024-05-06",
    ),
    PageExample(
        "French, label and value in spans side by side",
        f"""<html lang="fr"><head><title>Fromager H/F - Annecy - Emplois des
        Alpes</title></head><body>
        <h1>Fromager H/F</h1><div><span>Entreprise</span><span>Laiterie du Lac</span></div>
        <div><span>Lieu</span><span>Annecy (74)</span></div>
        <div><span>Publié le</span><span>02/03/2024</span></div>
        <h2>Vos missions</h2>{TEXT}</body></html>""",
        "Fromager H/F", "Laiterie du Lac", "Annecy (74)", "2024-03-02",
    ),
]  # fmt: skip


def named(name: str) -> PageExample:
    return next(case for case in CASES if case.name == name)
