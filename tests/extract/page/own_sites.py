"""Postings on sites of companies, without structured data."""

from __future__ import annotations

from .pages import PageExample

_LIST = """<h2>What you will do</h2><ul><li>Design sensors for fields<li>Test them outdoors</ul>
<h2>Requirements</h2><ul><li>Python for at least three years<li>SQL<li>Good English</ul>"""

OWN = [
    PageExample(
        "a line of facts and short lists",
        f"""<html><head><title>Field Engineer - Agrisense</title>
        <meta property="og:site_name" content="Agrisense"></head><body>
        <nav><a href="/">Home</a><a href="/jobs">Jobs</a></nav>
        <h1>Field Engineer</h1><p>Munich · Full-time · Hybrid</p>
        <p>Agrisense builds sensors that tell farmers when to water.</p>{_LIST}
        <a href="/apply/7">Apply now</a><p>Share this page with friends</p>
        <footer>© 2024 Agrisense GmbH</footer></body></html>""",
        "Field Engineer", "Agrisense", "Munich",
    ),
    PageExample(
        "German, with tasks, profile and offer",
        """<html lang="de"><head><title>Gärtnermeister (m/w/d) | Blattwerk Karriere</title></head>
        <body><h1>Gärtnermeister (m/w/d)</h1><div>Leipzig | Vollzeit | unbefristet</div>
        <h3>Deine Aufgaben</h3><ul><li>Pflege von Parks<li>Anleitung von Azubis</ul>
        <h3>Dein Profil</h3><ul><li>Meisterbrief<li>Führerschein Klasse B</ul>
        <h3>Wir bieten</h3><ul><li>30 Tage Urlaub<li>Jobrad</ul>
        <a href="mailto:hallo@blattwerk.example">Jetzt bewerben</a></body></html>""",
        "Gärtnermeister (m/w/d)", "Blattwerk", "Leipzig",
    ),
    PageExample(
        "a short page",
        """<html><head><title>Barista - Kettle &amp; Crane</title></head><body>
        <img src="/logo.svg" alt="Kettle &amp; Crane logo"><h1>Barista</h1>
        <p>Location: Hobart</p><p>We need a barista for weekday mornings. You make good coffee and
        stay calm when the queue is long.</p><ul><li>Two years behind a bar<li>Free on Mondays</ul>
        <p>Send a few lines to <a href="mailto:hi@kettle-crane.example">hi@kettle-crane.example</a>
        </p></body></html>""",
        "Barista", "Kettle & Crane", "Hobart",
    ),
    PageExample(
        "with other openings below",
        f"""<html><head><title>Data Analyst | Northmoor Careers</title></head><body>
        <h1>Data Analyst</h1><p>Berlin, Germany | Full-time</p>
        <p>You will find out why parcels are late, and tell the people who can change it.</p>{_LIST}
        <h2>Similar jobs</h2><ul><li><a href="/jobs/2-roof-tiler-x">Roof Tiler</a></li>
        <li><a href="/jobs/3-night-clerk-x">Night Clerk</a></li></ul></body></html>""",
        "Data Analyst", "Northmoor", "Berlin, Germany",
    ),
    PageExample(
        "labels and values in blocks side by side",
        f"""<html><head><title>Site Manager at Stonebridge Homes</title></head><body>
        <h1>Site Manager</h1><div class=row><div><h5>Location</h5></div><div>Berlin</div></div>
        <div class=row><div><h5>Team</h5></div><div>Building</div></div>
        <h2>About Stonebridge Homes</h2><p>We build houses of timber and lime.</p>{_LIST}
        <button>Apply for this job</button></body></html>""",
        "Site Manager", "Stonebridge Homes", "Berlin",
    ),
    PageExample(
        "the rights at the foot and a heading name the company",
        f"""<html><head><title>Press Officer | Hollow Hill Trust</title></head><body>
        <header><a href="/about">Who we are</a></header><main><h1>Press Officer</h1>
        <div><span>Location</span><span>Bristol, UK</span></div>
        <p>You will speak for the woods: to papers, to schools and to the council.</p>{_LIST}
        <h2>About Hollow Hill Trust</h2><p>We look after nine woods.</p></main>
        <footer>Copyright 2023 Hollow Hill Trust Ltd. All rights reserved.</footer></body></html>""",
        "Press Officer", "Hollow Hill Trust", "Bristol, UK",
    ),
]  # fmt: skip
