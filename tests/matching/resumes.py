"""Resumes in common layouts, with the name, years and seniority that they state."""

# ruff: noqa: RUF001  The dashes are as people write them.

from __future__ import annotations

import datetime as dt
from typing import NamedTuple

TODAY = dt.date(2026, 7, 1)


class ResumeExample(NamedTuple):
    text: str
    name: str | None
    years: float | None
    seniority: tuple[str, ...]


NAME_FIRST = ResumeExample(
    """\
Dana Pell
Backend Engineer
dana.pell@example.net | +351 555 0100 | Porto

Experience
Senior Backend Engineer, Wells & Co
2016 – present
- Moved 2001-2003 archives to PostgreSQL

Education
BSc Hydrology, University of Porto, 2009 - 2013
""",
    "Dana Pell",
    10,
    ("senior",),
)
AFTER_A_HEADING = ResumeExample(
    """\
PERSONAL INFORMATION
ROBIN O'HARA
12 Mill Lane, Cork
robin@example.net

WORK EXPERIENCE
Jan 2019 - Mar 2021
Brine Ltd, Cork
Software Developer
EDUCATION AND COURSES
2012 - 2018: Trinity College, Master in Computing
""",
    "Robin O'Hara",
    2,
    (),
)
CURRICULUM_FIRST = ResumeExample(
    """\
Curriculum Vitae

Maria van der Berg
Product Designer

E M P L O Y M E N T
Product Designer @ Dune | 06/2024 - now
Junior Designer @ Reef | 01/2022 - 05/2024
""",
    "Maria van der Berg",
    4.5,
    (),
)
CONTACT_FIRST = ResumeExample(
    """\
+1 555 0134 | 40 Harbour Street, Boston, MA | sam.okafor@example.net
linkedin.com/in/sam-okafor
Sam Okafor
Engineering Manager

Professional Experience
Engineering Manager, Tide Inc. (Apr 2021 to date)
Staff Engineer, Tide Inc. (Apr 2017 - Mar 2021)
Software Engineer, Foam LLC (2012 - 2015)
""",
    "Sam Okafor",
    12,
    ("manager",),
)
GERMAN = ResumeExample(
    """\
Lebenslauf

Persönliche Daten
Name: Weber, Änne
Geburtsdatum: 03.04.1988

Beruflicher Werdegang
03/2018–heute Leitende Softwareentwicklerin, Brunnen GmbH
01.09.2013 - 28.02.2018 Softwareentwicklerin bei Quelle AG

Ausbildung
10/2008 – 08/2013 Studium der Informatik, Technische Universität Dresden

Kenntnisse
Java, Kubernetes
""",
    "Änne Weber",
    13,
    ("lead",),
)
FRENCH = ResumeExample(
    """\
Chloé Lefèvre
Développeuse full stack
chloe.lefevre@example.net

Expériences professionnelles
Depuis septembre 2023 : Lead Developer, Puits SA
mars 2020 – août 2023 : Développeuse full stack, Source SARL

Formation
2015 – 2020 : École d'ingénieurs, Lyon

Compétences
TypeScript, React
""",
    "Chloé Lefèvre",
    6.5,
    ("lead",),
)
GAPS_AND_OVERLAPS = ResumeExample(
    """\
Resume of Tomás Silva

Employment History
- 2020-01 – 2022-12 Data Analyst, Delta
- 2021-06 – 2021-12 Teacher, Evening School
- 2010-01 – 2011-12 Data Analyst, Creek

Volunteering
2012 - 2019 Red Cross
""",
    "Tomás Silva",
    5,
    (),
)
STATED = ResumeExample(
    """\
Priya Raman, PhD
Principal Data Scientist

Summary
Data scientist with over 15 years of experience.

Career history
Principal Data Scientist, Basin, since 2022
""",
    "Priya Raman",
    15,
    ("principal",),
)
STUDENT = ResumeExample(
    """\
Jonas Keller
jonas@example.net

Education
2023 - present BSc Computer Science, University of Bern
2019 - 2023 Gymnasium Thun

Skills
Python, Git

Languages
German, English
""",
    "Jonas Keller",
    None,
    (),
)
NO_HEADINGS = ResumeExample(
    """\
Lena Fox
lena@example.net
Senior Nurse, St. Mary Hospital, 2018 - 2024
Nurse, St. Mary Hospital, 2014 - 2018
Nursing degree, Harbour College, 2010 - 2014
I have been cooking since 1999.
""",
    "Lena Fox",
    10,
    ("senior",),
)
NOBODY = ResumeExample(
    """\
Software Engineer
New York

Skills
Machine Learning, Python

Experience
Software Engineer at Acme Corp
Built billing in Python.
""",
    None,
    None,
    (),
)
TITLES_BEFORE_DATES = ResumeExample(
    """\
Ola Nordin | Lead QA Engineer | Malmö

Work History

Lead QA Engineer
Fjord AB, Malmö
May 2022 –
• Led a team of four

QA Engineer
Fjord AB, Malmö
August 2019 – April 2022
• Wrote tests
""",
    "Ola Nordin",
    7,
    ("lead",),
)
SPANISH = ResumeExample(
    """\
CURRICULUM VITAE DE LUCÍA GÓMEZ RUIZ
lucia.gomez@example.net

Experiencia laboral
Desarrolladora web, Pozo SL, enero 2025 – actualidad

Educación
2019 - 2024 Grado en Informática
""",
    "Lucía Gómez Ruiz",
    1.5,
    (),
)
MARKDOWN = ResumeExample(
    """\
# Noor Haddad

**Head of Data**

## Experience

### Head of Data, Acme
*Jan '20 – Present*

- Hired ten

### Data Engineer, Foam
*Jan '18 – Dec '19*
""",
    "Noor Haddad",
    8.5,
    ("director",),
)
ALL = {
    name.lower().replace("_", " "): case
    for name, case in dict(globals()).items()
    if isinstance(case, ResumeExample)
}
