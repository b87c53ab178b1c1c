"""Profiles of ten professions and postings for each, generated from word lists with a fixed seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple


class Trade(NamedTuple):
    title: str
    levels: tuple[str, ...]
    skills: tuple[str, ...]
    licence: str
    degree: str
    highlights: tuple[str, ...]
    """With {n}, {m} and {p} for numbers."""


TRADES = (
    Trade("Registered Nurse", ("", "Senior", "Charge"),
          ("Patient assessment", "IV therapy", "Wound care", "Epic charting", "Triage", "Ventilator management", "Phlebotomy", "BLS", "ACLS"),
          "Registered Nurse License", "BSc Nursing",
          ("Cared for {n} critically ill patients per shift", "Trained {n} new nurses in ventilator management",
           "Reduced line infections by {p}% with a checklist at every change of shift", "Administered medication to {m} patients a day",
           "Assisted the lead surgeon in {m} operations", "Introduced Epic charting on {n} wards")),
    Trade("Backend Engineer", ("Junior", "", "Senior"),
          ("Python", "PostgreSQL", "Docker", "Kubernetes", "Redis", "Go", "Kafka", "Terraform", "AWS"),
          "AWS Certified Developer", "BSc Computer Science",
          ("Built a billing service in Python that handles {m} payments a day", "Cut the latency of PostgreSQL queries by {p}%",
           "Led a team of {n} engineers through a migration to Kubernetes", "Wrote {m} integration tests for the Kafka pipeline",
           "Contributed to a Redis cache used by {n} services", "Reviewed {m} pull requests a year")),
    Trade("Primary School Teacher", ("", "Senior", "Lead"),
          ("Lesson planning", "Classroom management", "Phonics", "Safeguarding", "Differentiation", "Google Classroom", "Assessment"),
          "Qualified Teacher Status", "BEd Primary Education",
          ("Taught a class of {m} pupils in mixed ability groups", "Raised reading scores by {p}% in two terms",
           "Planned {m} phonics lessons a year", "Mentored {n} trainee teachers", "Ran an after-school chess club for {m} pupils",
           "Supported the head teacher with safeguarding reviews")),
    Trade("Line Cook", ("", "Lead", "Head"),
          ("Food safety", "Grilling", "Knife skills", "Inventory", "Menu planning", "Plating", "HACCP"),
          "ServSafe Food Handler", "Diploma Culinary Arts",
          ("Prepared {m} covers a night on the grill station", "Reduced food waste by {p}% through tighter inventory",
           "Trained {n} prep cooks in knife skills", "Helped plan a seasonal menu with {n} dishes", "Passed {n} health inspections without findings")),
    Trade("Warehouse Associate", ("", "Senior", "Lead"),
          ("Order picking", "Forklift", "Pallet loading", "Inventory control", "RF scanner", "SAP", "Cycle counting"),
          "Forklift Operator Certificate", "High School Diploma",
          ("Picked {m} orders per shift with an RF scanner", "Loaded {n} trucks a day without damage",
           "Improved picking accuracy by {p}% with a new shelf plan", "Trained {n} seasonal workers", "Counted {m} stock positions in each cycle")),
    Trade("Staff Accountant", ("Junior", "", "Senior"),
          ("Month-end close", "Accounts payable", "Excel", "QuickBooks", "Reconciliation", "GAAP", "SAP"),
          "Certified Public Accountant", "BSc Accounting",
          ("Closed the books of {n} entities each month", "Processed {m} invoices a month in accounts payable",
           "Shortened the month-end close by {n} days", "Reconciled {m} bank accounts under GAAP", "Assisted external auditors in {n} audits",
           "Found savings of {p}% in supplier contracts")),
    Trade("Electrician", ("Apprentice", "", "Master"),
          ("Wiring", "Conduit bending", "Blueprint reading", "PLC", "Troubleshooting", "NEC code", "Solar installation"),
          "Journeyman Electrician License", "Apprenticeship Electrical Trade",
          ("Wired {m} apartments in new buildings", "Installed {n} solar arrays on commercial roofs", "Cut fault calls by {p}% with thermal inspections",
           "Supervised {n} apprentices", "Read blueprints for {m} projects a year")),
    Trade("Graphic Designer", ("Junior", "", "Senior"),
          ("Adobe Illustrator", "Photoshop", "InDesign", "Figma", "Typography", "Branding", "Motion graphics"),
          "Adobe Certified Professional", "BA Graphic Design",
          ("Designed {m} campaign assets in Figma", "Created brand guides for {n} clients", "Raised newsletter clicks by {p}% with a new layout",
           "Participated in a rebrand of {n} products", "Animated {m} short clips for social media")),
    Trade("Truck Driver", ("", "Senior", "Lead"),
          ("Route planning", "Load securing", "DOT compliance", "Hazmat", "Logbook keeping", "Vehicle inspection"),
          "Commercial Driver License Class A", "High School Diploma",
          ("Drove {m} thousand miles a year without an accident", "Delivered {n} loads a week on time", "Cut fuel use by {p}% through route planning",
           "Trained {n} new drivers in load securing", "Kept {m} logbooks under DOT rules")),
    Trade("Sales Representative", ("Junior", "", "Senior"),
          ("Salesforce", "Negotiation", "Cold calling", "Lead generation", "CRM", "Account management", "Forecasting"),
          "Certified Sales Professional", "BA Business Administration",
          ("Won {m} new accounts in the region", "Exceeded the sales target by {p}%", "Made {m} calls a week to leads in Salesforce",
           "Managed {n} key accounts", "Supported {n} trade fairs", "Negotiated contracts with {n} distributors")),
)  # fmt: skip
FIRST = ("Maria", "Tom", "Aisha", "Luka", "Chloé", "Ravi", "Ingrid", "Mateo", "Nkechi", "Søren")
LAST = (
    "Santos",
    "Becker",
    "Rahman",
    "Novák",
    "Dupont",
    "Iyer",
    "Larsen",
    "García",
    "Okafor",
    "Møller",
)
PLACES = ("Boise, ID", "Columbus, OH", "Leeds", "Lisbon", "Toronto", "Graz", "Austin, TX", "Oslo")
EMPLOYERS = (
    "Alder Valley",
    "Northgate",
    "Brightwater",
    "Cedar & Sons",
    "Kestrel",
    "Oakfield",
    "Marlow",
    "Tidewater",
)
KINDS = ("Group", "Partners", "Services", "Works", "Collective")
SCHOOLS = ("Riverside College", "Hillcrest University", "Lakeside Institute", "Westbrook Academy")


class DocumentPair(NamedTuple):
    trade: str
    profile: dict[str, Any]
    """The content of a profile, as it is stored."""
    posting_title: str
    posting_company: str
    posting_text: str
    website_quote: str
    is_junior: bool


def make_pairs(count: int) -> Iterator[DocumentPair]:
    """The same pairs each time, the professions in turn, juniors and long careers mixed."""
    for number in range(count):
        yield _make_pair(TRADES[number % len(TRADES)], number)


def _make_pair(trade: Trade, number: int) -> DocumentPair:
    chance = random.Random(number)
    jobs = chance.choice((1, 1, 2, 3, 6, 9))
    years = [chance.randint(1, 4) for _ in range(jobs)]
    if jobs <= 2:
        years = [1] * jobs
    wanted = chance.sample(trade.skills, 4)
    requirements = "\n".join(f"- {skill} in daily work" for skill in wanted)
    return DocumentPair(
        trade.title,
        _make_profile(trade, chance, years),
        f"{chance.choice(trade.levels)} {trade.title}".strip(),
        f"{chance.choice(('Fjord', 'Juniper', 'Summit'))} {chance.choice(KINDS)}",
        f"We look for a {trade.title}.\n\nRequirements\n{requirements}\n- Experience of {chance.randint(1, 7)} years or more\n"
        f"\nWhat we offer\n- A salary of {chance.randint(40, 90)},000 and {chance.randint(20, 30)} days of leave",
        f"We serve our region since {chance.randint(1950, 2015)}",
        jobs <= 2,
    )


def _make_profile(trade: Trade, chance: random.Random, years: list[int]) -> dict[str, Any]:
    first, last = chance.choice(FIRST), chance.choice(LAST)
    return {
        "person": {"name": f"{first} {last}", "home_city": chance.choice(PLACES)},
        "summary": f"{trade.title} who likes careful work and clear handovers.",
        "skills": list(chance.sample(trade.skills, len(trade.skills) - 1)),
        "resume": {
            "headline": trade.title,
            "contact": {
                "email": f"{first.lower()}@example.net",
                "phone": f"+1 555 {chance.randint(1000, 9999)}",
                "links": [{"label": "Website", "url": f"https://{last.lower()}.example"}],
            },
            "experience": list(_make_jobs(trade, chance, years)),
            "education": [
                {
                    "institution": chance.choice(SCHOOLS),
                    "degree": trade.degree.partition(" ")[0],
                    "field": trade.degree.partition(" ")[2],
                    "start": "2001",
                    "end": "2004",
                }
            ],
            "licences": [
                {
                    "name": trade.licence,
                    "number": f"L-{chance.randint(10000, 99999)}",
                    "expires": "2029-05",
                }
            ],
            "languages": [{"name": "English", "level": "C1"}, {"name": "Spanish", "level": "B2"}],
        },
    }


def _make_jobs(trade: Trade, chance: random.Random, years: list[int]) -> Iterator[dict[str, Any]]:
    year = 2026
    for number, length in enumerate(years):
        texts = chance.sample(trade.highlights, min(len(trade.highlights), chance.randint(3, 6)))
        yield {
            "title": f"{chance.choice(trade.levels)} {trade.title}".strip(),
            "employer": f"{chance.choice(EMPLOYERS)} {chance.choice(KINDS)}",
            "location": chance.choice(PLACES),
            "start": f"{year - length}-{chance.randint(1, 12):02}",
            "end": "present" if number == 0 else f"{year}-{chance.randint(1, 12):02}",
            "highlights": [
                text.format(
                    n=chance.randint(2, 9), m=chance.randint(12, 480), p=chance.randint(5, 45)
                )
                for text in texts
            ],
        }
        year -= length + 1
