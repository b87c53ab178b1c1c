"""The roles that demo companies hire for, with their texts, from a perfect fit to no fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobmill.demo.companies import Language


@dataclass(frozen=True, slots=True)
class DemoRole:
    title: str
    department: str
    duties: tuple[str, ...]
    required: tuple[str, ...]
    nice: tuple[str, ...] = ()
    years: tuple[int, int] = (3, 6)
    pay: tuple[int, int] = (90, 150)
    """Salary range in thousands a year."""
    levels: tuple[str, ...] = ("", "Senior ")
    remote_share: float = 0.4
    """The probability that it is remote."""


_BACKEND = DemoRole(
    "Backend Engineer",
    "Engineering",
    (
        "Design and run the services behind our product",
        "Keep our data model honest as it grows",
        "Review code kindly and in depth",
        "Write down what you decide, and why",
    ),
    ("Python", "PostgreSQL", "REST APIs", "Docker"),
    ("Kubernetes", "AWS", "Redis"),
    (5, 8),
    (150, 195),
    ("Senior ", "Senior ", ""),
    0.8,
)
_PLATFORM = DemoRole(
    "Platform Engineer",
    "Infrastructure",
    (
        "Run our clusters, and make running them boring",
        "Shorten the way from a commit to a customer",
        "Share the pager fairly",
    ),
    ("Python", "Kubernetes", "Terraform", "AWS"),
    ("PostgreSQL", "Go"),
    (5, 8),
    (150, 190),
    ("Senior ", "", "Staff "),
    0.7,
)
_GO = DemoRole(
    "Backend Engineer, Go",
    "Engineering",
    ("Build services that move a million events a minute", "Find the slow part, and mend it"),
    ("Go", "Kafka", "PostgreSQL", "gRPC"),
    ("Python",),
    (4, 7),
    (145, 185),
    ("Senior ", ""),
    0.6,
)
_JAVA = DemoRole(
    "Java Developer",
    "Engineering",
    ("Maintain our core systems", "Move batch runs to streams", "Document interfaces for partners"),
    ("Java", "Spring Boot", "Oracle", "Kafka"),
    ("Jenkins",),
    (4, 9),
    (110, 160),
    ("", "Senior ", "Lead "),
    0.15,
)
_FRONTEND = DemoRole(
    "Frontend Engineer",
    "Product",
    ("Build interfaces that load fast on old phones", "Work with design from the first sketch"),
    ("TypeScript", "React", "CSS"),
    ("Node.js", "GraphQL"),
    (3, 6),
    (120, 165),
    ("", "Senior "),
    0.5,
)
_FULLSTACK = DemoRole(
    "Full Stack Engineer",
    "Product",
    ("Own features from the table to the button", "Talk to the people who use them"),
    ("Python", "Django", "PostgreSQL", "React"),
    ("TypeScript", "AWS"),
    (4, 7),
    (135, 175),
    ("Senior ", ""),
    0.6,
)
_DATA = DemoRole(
    "Data Engineer",
    "Data",
    ("Build the pipelines our forecasts live on", "Make numbers that two teams can agree on"),
    ("Python", "SQL", "Airflow", "Spark"),
    ("PostgreSQL", "dbt"),
    (4, 7),
    (140, 180),
    ("Senior ", ""),
    0.6,
)
_ML = DemoRole(
    "Machine Learning Engineer",
    "Data",
    ("Train, ship and retire models", "Say plainly what a model cannot do"),
    ("Python", "PyTorch", "Kubernetes"),
    ("Spark",),
    (4, 7),
    (160, 210),
    ("Senior ", ""),
    0.5,
)
_EMBEDDED = DemoRole(
    "Embedded Engineer",
    "Hardware",
    ("Write firmware that survives salt water", "Bring up new boards in our lab"),
    ("C++", "RTOS", "Linux"),
    ("Rust", "Python"),
    (3, 7),
    (115, 160),
    ("", "Senior "),
    0.0,
)
_MANAGER = DemoRole(
    "Engineering Manager",
    "Engineering",
    ("Hire, coach and keep a team of eight", "Plan quarters that survive their first week"),
    ("Python", "People management", "Hiring"),
    (),
    (8, 12),
    (180, 230),
    ("", "Senior "),
    0.4,
)
_INTERN = DemoRole(
    "Software Engineering Intern",
    "Engineering",
    ("Learn from two mentors", "Ship one thing you are proud of"),
    ("Python", "Git"),
    (),
    (0, 1),
    (45, 60),
    ("",),
    0.1,
)
_CRYPTO = DemoRole(
    "Backend Engineer, Crypto Wallets",
    "Payments",
    ("Build the ledger behind our wallets", "Keep keys where nobody finds them"),
    ("Python", "PostgreSQL", "Solidity"),
    (),
    (4, 7),
    (170, 220),
    ("Senior ",),
    0.9,
)
_CLEARED = DemoRole(
    "Backend Engineer (Clearance Required)",
    "Public Sector",
    ("Build services for agencies that cannot be named here",),
    ("Python", "PostgreSQL", "AWS"),
    (),
    (5, 8),
    (150, 190),
    ("Senior ",),
    0.0,
)
_SALES = DemoRole(
    "Account Executive",
    "Sales",
    ("Find customers, and keep the promises made to them", "Travel a third of your time"),
    ("B2B sales", "Salesforce"),
    (),
    (2, 5),
    (70, 120),
    ("", "Senior "),
    0.3,
)
_NURSE = DemoRole(
    "Registered Nurse",
    "Care",
    ("Care for patients on an acute ward", "Keep charts that the next shift can trust"),
    ("RN license", "BLS", "ACLS", "IV therapy", "Patient assessment"),
    ("Wound care",),
    (2, 5),
    (84, 108),
    ("",),
    0.0,
)
_TEACHER = DemoRole(
    "Adult Education Teacher",
    "Learning",
    ("Teach reading and arithmetic to small groups", "Plan lessons around working people"),
    ("Teaching license", "Lesson planning", "Classroom management"),
    ("ESL",),
    (2, 5),
    (58, 74),
    ("",),
    0.0,
)
_CHEF = DemoRole(
    "Sous Chef",
    "Test Kitchen",
    ("Develop recipes that survive a large kettle", "Run the kitchen when the head chef travels"),
    ("Menu planning", "Food costing", "ServSafe"),
    ("Pastry",),
    (3, 6),
    (56, 74),
    ("",),
    0.0,
)
_LAWYER = DemoRole(
    "Attorney",
    "Legal",
    ("Defend claims from the first letter to the verdict", "Advise colleagues before they sign"),
    ("Bar admission", "Litigation", "Contract negotiation", "Legal research"),
    ("Employment law",),
    (4, 7),
    (130, 175),
    ("", "Associate "),
    0.0,
)
_COORDINATOR = DemoRole(
    "Clinical Coordinator",
    "Care",
    ("Plan visits with clinics", "Answer what families ask"),
    ("Nursing degree", "Scheduling"),
    (),
    (2, 4),
    (62, 84),
    ("",),
    0.0,
)
_WAREHOUSE = DemoRole(
    "Warehouse Associate",
    "Operations",
    ("Load, unload and count", "Keep the aisles clear"),
    ("Forklift license", "Order picking", "Inventory counts"),
    (),
    (0, 2),
    (38, 48),
    ("", "Lead "),
    0.0,
)
_BAKER = DemoRole(
    "Production Supervisor",
    "Production",
    ("Run the early shift", "Train new colleagues", "Stop the line when it should stop"),
    ("Food safety certificate", "Shift planning"),
    (),
    (3, 6),
    (55, 72),
    ("",),
    0.0,
)
_SUPPORT = DemoRole(
    "Support Specialist",
    "Customer Care",
    ("Answer people in their own words", "Turn the tenth same question into a page"),
    ("Zendesk", "Written English"),
    ("SQL",),
    (1, 3),
    (52, 70),
    ("", "Senior "),
    0.5,
)

ROLE_MIXES: Mapping[str, tuple[DemoRole, ...]] = {
    "backend": (
        _BACKEND,
        _BACKEND,
        _PLATFORM,
        _GO,
        _DATA,
        _FULLSTACK,
        _MANAGER,
        _INTERN,
        _CRYPTO,
        _SALES,
    ),
    "web": (_FRONTEND, _FULLSTACK, _FULLSTACK, _BACKEND, _SUPPORT, _MANAGER, _INTERN),
    "data": (_DATA, _ML, _DATA, _BACKEND, _SALES, _MANAGER),
    "hardware": (_EMBEDDED, _EMBEDDED, _ML, _PLATFORM, _INTERN, _WAREHOUSE),
    "trades": (_WAREHOUSE, _BAKER, _SALES, _JAVA, _SUPPORT),
    "clinics": (_NURSE, _NURSE, _NURSE, _COORDINATOR, _JAVA, _BACKEND, _SUPPORT),
    "freight": (_WAREHOUSE, _WAREHOUSE, _WAREHOUSE, _DATA, _JAVA, _FULLSTACK, _SALES),
    "insurance": (_LAWYER, _LAWYER, _LAWYER, _JAVA, _SALES, _CLEARED, _SUPPORT),
    "food": (_CHEF, _CHEF, _BAKER, _WAREHOUSE, _SALES, _JAVA, _SUPPORT),
    "library": (_TEACHER, _TEACHER, _TEACHER, _BACKEND, _SUPPORT),
    "mixed": (
        _BACKEND,
        _JAVA,
        _JAVA,
        _COORDINATOR,
        _SALES,
        _WAREHOUSE,
        _CLEARED,
        _FULLSTACK,
        _SUPPORT,
        _DATA,
    ),
}


@dataclass(frozen=True, slots=True)
class PostingPhrases:
    """The headings and phrases around a role's text, per language."""

    about: str
    duties: str
    required: str
    nice: str
    years: str
    remote: str
    hybrid: str
    onsite: str
    pay: str


PHRASES: Mapping[Language, PostingPhrases] = {
    "en": PostingPhrases(
        "{company} {trade}. We are {people} people, and we are looking for a {title}.",
        "What you will do",
        "Requirements",
        "Nice to have",
        "{years}+ years of professional experience",
        "This role is fully remote within {area}.",
        "This is a hybrid role: two days a week in our office in {town}.",
        "You work on site in {town}, five days a week.",
        "The base salary is {low} - {high} per year.",
    ),
    "de": PostingPhrases(
        "{company} {trade}. Wir sind {people} Menschen und suchen: {title} (m/w/d).",
        "Ihre Aufgaben",
        "Ihr Profil",
        "Von Vorteil",
        "Mindestens {years} Jahre Berufserfahrung",
        "Die Stelle ist vollständig remote innerhalb von {area}.",
        "Hybrides Arbeiten: zwei Tage pro Woche im Büro in {town}.",
        "Sie arbeiten vor Ort in {town}.",
        "Das Gehalt liegt bei {low} - {high} pro Jahr.",
    ),
    "fr": PostingPhrases(
        "{company} {trade}. Nous sommes {people} personnes et cherchons : {title} (F/H).",
        "Vos missions",
        "Votre profil",
        "Un plus",
        "Au moins {years} ans d'expérience",
        "Le poste est entièrement en télétravail depuis {area}.",
        "Poste hybride : deux jours par semaine au bureau de {town}.",
        "Le poste est basé à {town}, sur site.",
        "Le salaire est de {low} - {high} par an.",
    ),
    "es": PostingPhrases(
        "{company} {trade}. Somos {people} personas y buscamos: {title}.",
        "Qué harás",
        "Requisitos",
        "Se valora",
        "Al menos {years} años de experiencia",
        "El puesto es totalmente remoto desde {area}.",
        "Puesto híbrido: dos días por semana en la oficina de {town}.",
        "Trabajarás de forma presencial en {town}.",
        "El salario es de {low} - {high} al año.",
    ),
}

AREAS: Mapping[Language, str] = {
    "en": "the United States",
    "de": "Deutschland",
    "fr": "France",
    "es": "España",
}
CURRENCIES: Mapping[Language, str] = {"en": "USD", "de": "EUR", "fr": "EUR", "es": "EUR"}
