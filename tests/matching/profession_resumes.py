"""Resumes of several professions, what must be read from each, and a posting that fits it."""

from __future__ import annotations

from typing import NamedTuple


class ProfessionExample(NamedTuple):
    resume: str
    home_city: str
    timezone: str
    years: float
    title: str
    skills: tuple[str, ...]
    """All that the sections for skills and licences list, in their words."""
    posting_title: str
    posting: str


NURSE = ProfessionExample(
    """\
Maria Santos, RN
412 Alder Street, Boise, ID 83702 | (208) 555-0142 | maria.santos@example.net

PROFESSIONAL SUMMARY
Registered Nurse with 8 years of experience in intensive care units.

CLINICAL SKILLS
Patient assessment, IV therapy, ventilator management,
wound care, Epic charting

LICENSES & CERTIFICATIONS
- Registered Nurse License, Idaho Board of Nursing, #N-48213, expires 2027
- BLS, ACLS

EXPERIENCE
Registered Nurse, Alder Valley Hospital - 2019 to present
- Cared for two to three critically ill patients per shift
""",
    "Boise, ID",
    "America/Denver",
    8,
    "Registered Nurse",
    ("Patient assessment", "IV therapy", "ventilator management", "wound care", "Epic charting",
     "Registered Nurse License", "BLS", "ACLS"),
    "Registered Nurse - ICU",
    "Requirements\n- BLS and ACLS\n- 3+ years of critical care experience\n"
    "- Patient assessment, IV therapy, ventilator management, wound care",
)  # fmt: skip
WAREHOUSE_WORKER = ProfessionExample(
    """\
Tom Becker
Columbus, Ohio

Summary
Warehouse worker with five years of warehouse experience. Reliable on early shifts.

Skills
• Order picking
• Pallet loading
• Inventory counts
• RF scanner

Licenses
Forklift License, 2021

Work history
Warehouse Worker
Lakeside Logistics, 2021 - present
""",
    "Columbus, Ohio",
    "America/New_York",
    5,
    "Warehouse Worker",
    ("Order picking", "Pallet loading", "Inventory counts", "RF scanner", "Forklift License"),
    "Warehouse Worker",
    "Requirements\n- Forklift license\n- Order picking and pallet loading\n- 1+ years of experience\n"
    "- Inventory count with an RF scanner",
)  # fmt: skip
TEACHER = ProfessionExample(
    """\
AMINA DIALLO
Leeds, UK
amina@example.net

Profile
Primary school teacher, 11 years' teaching experience.

Teaching skills: 
Planning: lesson planning, differentiated instruction
Classroom: behaviour management, phonics

Certifications
Qualified Teacher Status (QTS), 2014

Employment history
Primary School Teacher, Harehills Primary, 2015 - present
""",
    "Leeds, UK",
    "Europe/London",
    11,
    "Primary School Teacher",
    ("lesson planning", "differentiated instruction", "behaviour management", "phonics",
     "Qualified Teacher Status"),
    "Primary School Teacher",
    "Essential\n- Qualified Teacher Status\n- Phonics and lesson planning\n- Behaviour management",
)  # fmt: skip
CHEF = ProfessionExample(
    """\
Luca Moretti
Sous Chef
Chicago, IL 60607

About me
12 years as a chef in hotel kitchens.

Culinary skills
Menu planning | Sauces | Pastry (8 years) | Food costing

Certificates
ServSafe Manager

Experience
Sous Chef, Hotel Lindenhof, 2018 - present
Chef de partie, Trattoria Nove, 2014 - 2018
""",
    "Chicago, IL",
    "America/Chicago",
    12,
    "Sous Chef",
    ("Menu planning", "Sauces", "Pastry", "Food costing", "ServSafe Manager"),
    "Sous Chef",
    "What you bring\n- ServSafe Manager certificate\n- Menu planning, sauces and food costing\n"
    "- 5+ years of experience in a professional kitchen",
)  # fmt: skip
LAWYER = ProfessionExample(
    """\
Helen Park
Attorney at Law
350 Fifth Avenue, New York, NY 10118

Summary
Employment attorney with 9 years of experience in litigation.

Practice areas
Employment law; Commercial litigation; Contract negotiation; Depositions

Bar admissions
New York State Bar, admitted 2017

Experience
Associate Attorney, Park & Lowe LLP, 2017 - present
""",
    "New York, NY",
    "America/New_York",
    9,
    "Associate Attorney",
    ("Employment law", "Commercial litigation", "Contract negotiation", "Depositions",
     "New York State Bar"),
    "Associate Attorney, Employment",
    "Qualifications\n- Admitted to the New York State Bar\n- Employment law, depositions\n"
    "- Contract negotiation\n- 5+ years of experience",
)  # fmt: skip
ENGINEER = ProfessionExample(
    """\
Dana Pell
Senior Backend Engineer
Portland, OR

Technical Skills:
Python (8 years), PostgreSQL, Well digging

Experience
Senior Backend Engineer, Wells & Co - 2016 to 2026
""",
    "Portland, OR",
    "America/Los_Angeles",
    10,
    "Senior Backend Engineer",
    ("Python", "PostgreSQL", "Well digging"),
    "Senior Backend Engineer",
    "Requirements\n- 6+ years of experience\n- Python and PostgreSQL",
)
ALL = {
    "nurse": NURSE,
    "warehouse worker": WAREHOUSE_WORKER,
    "teacher": TEACHER,
    "chef": CHEF,
    "lawyer": LAWYER,
    "engineer": ENGINEER,
}
