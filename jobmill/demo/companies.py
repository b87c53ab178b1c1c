"""The fictional companies of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

DemoPlatform: TypeAlias = Literal["greenhouse", "lever", "ashby", "workday", "rss", "html", "none"]
Language: TypeAlias = Literal["en", "de", "fr", "es"]


@dataclass(frozen=True, slots=True)
class DemoCompany:
    name: str
    platform: DemoPlatform
    activity: str
    """What it does, as a phrase that follows its name."""
    employees: int
    town: str
    founded: int
    stack: tuple[str, ...]
    max_listings: int
    """The most listings it has at a time."""
    remote_first: bool = False
    language: Language = "en"
    role_mix: str = "mixed"
    """Which roles it hires for: a key of `roles.ROLE_MIXES`."""

    @property
    def slug(self) -> str:
        """Its token on job boards."""
        return "".join(letter for letter in self.name.lower() if letter.isalnum())

    @property
    def host(self) -> str:
        return f"{self.slug}.example"

    @property
    def website(self) -> str:
        return f"https://{self.host}"

    @property
    def workday_host(self) -> str:
        """The URL of its Workday site."""
        return f"{self.slug}.wd5.myworkdayjobs.com"


_PY = ("Python", "PostgreSQL", "Docker", "Kubernetes", "AWS")
_JS = ("TypeScript", "React", "Node.js", "AWS")
_JVM = ("Java", "Spring Boot", "Kafka", "Oracle")
_ML = ("Python", "PyTorch", "Spark", "Airflow")

COMPANIES: tuple[DemoCompany, ...] = (
    DemoCompany(
        "Fernhollow Water",
        "greenhouse",
        "builds software that keeps drinking water safe: sensors, forecasts and control rooms for towns along the coast",
        250,
        "Portland, OR",
        2009,
        _PY,
        7,
        remote_first=True,
        role_mix="backend",
    ),
    DemoCompany(
        "Marrowstone Maps",
        "greenhouse",
        "draws maps for people who walk, paddle and get lost on purpose",
        80,
        "Seattle, WA",
        2014,
        _PY,
        5,
        role_mix="backend",
    ),
    DemoCompany(
        "Copperlea Health",
        "greenhouse",
        "runs the scheduling and billing of four hundred small clinics",
        1_200,
        "Boston, MA",
        2003,
        _JVM,
        7,
        role_mix="clinics",
    ),
    DemoCompany(
        "Galecrest Grid",
        "greenhouse",
        "balances the power of wind farms minute by minute",
        600,
        "Denver, CO",
        2011,
        _PY,
        6,
        remote_first=True,
        role_mix="backend",
    ),
    DemoCompany(
        "Saltmarsh Robotics",
        "greenhouse",
        "makes robots that plant sea grass and count what lives in it",
        140,
        "Pittsburgh, PA",
        2017,
        ("C++", "ROS", "Python", "Linux"),
        5,
        role_mix="hardware",
    ),
    DemoCompany(
        "Gilded Hook Gaming",
        "greenhouse",
        "builds casino games for phones",
        300,
        "Las Vegas, NV",
        2015,
        _JS,
        4,
        role_mix="backend",
    ),
    DemoCompany(
        "Hollowbeam Audio",
        "lever",
        "teaches loudspeakers to listen to the room they stand in",
        45,
        "Austin, TX",
        2018,
        ("C++", "Rust", "Python"),
        4,
        role_mix="hardware",
    ),
    DemoCompany(
        "Thistledown Freight",
        "lever",
        "finds the emptiest truck for the lightest load",
        900,
        "Chicago, IL",
        1998,
        ("Python", "PostgreSQL", "Kafka", "React"),
        7,
        role_mix="freight",
    ),
    DemoCompany(
        "Nettlebrook Bank",
        "lever",
        "is a bank for allotment gardeners and the people who feed them",
        2_500,
        "London, United Kingdom",
        1987,
        _JVM,
        8,
    ),
    DemoCompany(
        "Orrery and Finch",
        "lever",
        "publishes star charts, almanacs and the software behind them",
        35,
        "New York, NY",
        2012,
        _PY,
        3,
        remote_first=True,
        role_mix="backend",
    ),
    DemoCompany(
        "Kestrelworks",
        "ashby",
        "gives small workshops the planning tools of large factories",
        110,
        "San Francisco, CA",
        2016,
        _JS,
        6,
        role_mix="web",
    ),
    DemoCompany(
        "Mossgate Security",
        "ashby",
        "watches the supply chain of open software and writes to those who break it",
        75,
        "Salt Lake City, UT",
        2019,
        ("Python", "Go", "PostgreSQL", "Kubernetes"),
        5,
        remote_first=True,
        role_mix="backend",
    ),
    DemoCompany(
        "Umbervale Energy",
        "ashby",
        "heats whole quarters with the warmth of data centres",
        320,
        "Portland, OR",
        2010,
        _PY,
        6,
        role_mix="backend",
    ),
    DemoCompany(
        "Driftline Analytics",
        "ashby",
        "tells harbours when to expect which ship",
        160,
        "Toronto, Canada",
        2013,
        _ML,
        5,
        role_mix="data",
    ),
    DemoCompany(
        "Castellane Aviation",
        "workday",
        "maintains regional aircraft on three continents",
        12_000,
        "Atlanta, GA",
        1961,
        _JVM,
        9,
    ),
    DemoCompany(
        "Broadfell Insurance",
        "workday",
        "insures barns, boats and bicycles",
        8_000,
        "Hartford, CT",
        1924,
        _JVM,
        8,
        role_mix="insurance",
    ),
    DemoCompany(
        "Grandmere Foods",
        "workday",
        "cooks soup for schools, hospitals and night trains",
        30_000,
        "Minneapolis, MN",
        1932,
        ("Java", "SAP", "Python"),
        9,
        role_mix="food",
    ),
    DemoCompany(
        "Holzwinkel Werke",
        "rss",
        "baut Fenster, Türen und die Maschinen, die sie fertigen",
        400,
        "München",
        1954,
        ("C#", ".NET", "SAP"),
        5,
        language="de",
        role_mix="trades",
    ),
    DemoCompany(
        "Petit Phare",
        "rss",
        "édite un logiciel de navigation pour les voiliers",
        55,
        "Nantes",
        2015,
        ("Python", "Django", "PostgreSQL"),
        4,
        language="fr",
        role_mix="backend",
    ),
    DemoCompany(
        "Tallowmere City Library",
        "rss",
        "lends books, tools and quiet rooms to a city of half a million",
        220,
        "Portland, OR",
        1911,
        ("Python", "PostgreSQL", "Linux"),
        4,
        role_mix="library",
    ),
    DemoCompany(
        "Bellweather Baking",
        "html",
        "bakes for two hundred cafés and plans every loaf with its own software",
        90,
        "Portland, OR",
        2006,
        ("Python", "Django", "PostgreSQL"),
        5,
    ),
    DemoCompany(
        "Naranjal Studio",
        "html",
        "diseña juegos educativos para museos",
        30,
        "Valencia",
        2016,
        ("Unity", "C#", "React"),
        3,
        language="es",
        role_mix="web",
    ),
    DemoCompany(
        "Ironquill Press",
        "html",
        "prints and binds books that are meant to be repaired",
        48,
        "Portland, ME",
        1979,
        ("PHP", "MySQL"),
        4,
        role_mix="trades",
    ),
    DemoCompany(
        "Pipwillow Learning",
        "lever",
        "makes arithmetic feel like a walk in the woods",
        60,
        "Austin, TX",
        2014,
        ("Python", "Django", "PostgreSQL", "React"),
        4,
        remote_first=True,
        role_mix="web",
    ),
    DemoCompany(
        "Ringdove Travel",
        "none",
        "sells round trips, and its web site has taken that to heart",
        20,
        "Miami, FL",
        2001,
        ("PHP",),
        0,
    ),
)

BY_HOST = {company.host: company for company in COMPANIES} | {
    company.workday_host: company for company in COMPANIES
}
BY_SLUG = {company.slug: company for company in COMPANIES}


def companies_on(vendor: DemoPlatform) -> list[DemoCompany]:
    """The companies that use a vendor."""
    return [company for company in COMPANIES if company.platform == vendor]
