"""The companies of the demo: none of them exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Vendor: TypeAlias = Literal["greenhouse", "lever", "ashby", "workday", "rss", "html", "none"]
Language: TypeAlias = Literal["en", "de", "fr", "es"]


@dataclass(frozen=True, slots=True)
class Company:
    name: str
    vendor: Vendor
    trade: str
    """What it does, after its name."""
    people: int
    town: str
    founded: int
    stack: tuple[str, ...]
    slots: int
    """How many listings it has at most at a time."""
    remote_first: bool = False
    language: Language = "en"
    leaning: str = "mixed"
    """What it looks for: a key of `roles.LEANINGS`."""

    @property
    def slug(self) -> str:
        """Its token on boards."""
        return "".join(letter for letter in self.name.lower() if letter.isalnum())

    @property
    def host(self) -> str:
        return f"{self.slug}.example"

    @property
    def site(self) -> str:
        return f"https://{self.host}"

    @property
    def tenant(self) -> str:
        """Where its board is at Workday."""
        return f"{self.slug}.wd5.myworkdayjobs.com"


_PY = ("Python", "PostgreSQL", "Docker", "Kubernetes", "AWS")
_JS = ("TypeScript", "React", "Node.js", "AWS")
_JVM = ("Java", "Spring Boot", "Kafka", "Oracle")
_ML = ("Python", "PyTorch", "Spark", "Airflow")

COMPANIES: tuple[Company, ...] = (
    Company(
        "Fernhollow Water",
        "greenhouse",
        "builds software that keeps drinking water safe: sensors, forecasts and control rooms for towns along the coast",
        250,
        "Portland, OR",
        2009,
        _PY,
        7,
        remote_first=True,
        leaning="backend",
    ),
    Company(
        "Marrowstone Maps",
        "greenhouse",
        "draws maps for people who walk, paddle and get lost on purpose",
        80,
        "Seattle, WA",
        2014,
        _PY,
        5,
        leaning="backend",
    ),
    Company(
        "Copperlea Health",
        "greenhouse",
        "runs the scheduling and billing of four hundred small clinics",
        1_200,
        "Boston, MA",
        2003,
        _JVM,
        7,
    ),
    Company(
        "Galecrest Grid",
        "greenhouse",
        "balances the power of wind farms minute by minute",
        600,
        "Denver, CO",
        2011,
        _PY,
        6,
        remote_first=True,
        leaning="backend",
    ),
    Company(
        "Saltmarsh Robotics",
        "greenhouse",
        "makes robots that plant sea grass and count what lives in it",
        140,
        "Pittsburgh, PA",
        2017,
        ("C++", "ROS", "Python", "Linux"),
        5,
        leaning="hardware",
    ),
    Company(
        "Gilded Hook Gaming",
        "greenhouse",
        "builds casino games for phones",
        300,
        "Las Vegas, NV",
        2015,
        _JS,
        4,
        leaning="backend",
    ),
    Company(
        "Hollowbeam Audio",
        "lever",
        "teaches loudspeakers to listen to the room they stand in",
        45,
        "Austin, TX",
        2018,
        ("C++", "Rust", "Python"),
        4,
        leaning="hardware",
    ),
    Company(
        "Thistledown Freight",
        "lever",
        "finds the emptiest truck for the lightest load",
        900,
        "Chicago, IL",
        1998,
        ("Python", "PostgreSQL", "Kafka", "React"),
        7,
    ),
    Company(
        "Nettlebrook Bank",
        "lever",
        "is a bank for allotment gardeners and the people who feed them",
        2_500,
        "London, United Kingdom",
        1987,
        _JVM,
        8,
    ),
    Company(
        "Orrery and Finch",
        "lever",
        "publishes star charts, almanacs and the software behind them",
        35,
        "New York, NY",
        2012,
        _PY,
        3,
        remote_first=True,
        leaning="backend",
    ),
    Company(
        "Kestrelworks",
        "ashby",
        "gives small workshops the planning tools of large factories",
        110,
        "San Francisco, CA",
        2016,
        _JS,
        6,
        leaning="web",
    ),
    Company(
        "Mossgate Security",
        "ashby",
        "watches the supply chain of open software and writes to those who break it",
        75,
        "Salt Lake City, UT",
        2019,
        ("Python", "Go", "PostgreSQL", "Kubernetes"),
        5,
        remote_first=True,
        leaning="backend",
    ),
    Company(
        "Umbervale Energy",
        "ashby",
        "heats whole quarters with the warmth of data centres",
        320,
        "Portland, OR",
        2010,
        _PY,
        6,
        leaning="backend",
    ),
    Company(
        "Driftline Analytics",
        "ashby",
        "tells harbours when to expect which ship",
        160,
        "Toronto, Canada",
        2013,
        _ML,
        5,
        leaning="data",
    ),
    Company(
        "Castellane Aviation",
        "workday",
        "maintains regional aircraft on three continents",
        12_000,
        "Atlanta, GA",
        1961,
        _JVM,
        9,
    ),
    Company(
        "Broadfell Insurance",
        "workday",
        "insures barns, boats and bicycles",
        8_000,
        "Hartford, CT",
        1924,
        _JVM,
        8,
    ),
    Company(
        "Grandmere Foods",
        "workday",
        "cooks soup for schools, hospitals and night trains",
        30_000,
        "Minneapolis, MN",
        1932,
        ("Java", "SAP", "Python"),
        9,
        leaning="trades",
    ),
    Company(
        "Holzwinkel Werke",
        "rss",
        "baut Fenster, Türen und die Maschinen, die sie fertigen",
        400,
        "München",
        1954,
        ("C#", ".NET", "SAP"),
        5,
        language="de",
        leaning="trades",
    ),
    Company(
        "Petit Phare",
        "rss",
        "édite un logiciel de navigation pour les voiliers",
        55,
        "Nantes",
        2015,
        ("Python", "Django", "PostgreSQL"),
        4,
        language="fr",
        leaning="backend",
    ),
    Company(
        "Tallowmere City Library",
        "rss",
        "lends books, tools and quiet rooms to a city of half a million",
        220,
        "Portland, OR",
        1911,
        ("Python", "PostgreSQL", "Linux"),
        4,
    ),
    Company(
        "Bellweather Baking",
        "html",
        "bakes for two hundred cafés and plans every loaf with its own software",
        90,
        "Portland, OR",
        2006,
        ("Python", "Django", "PostgreSQL"),
        5,
    ),
    Company(
        "Naranjal Studio",
        "html",
        "diseña juegos educativos para museos",
        30,
        "Valencia",
        2016,
        ("Unity", "C#", "React"),
        3,
        language="es",
        leaning="web",
    ),
    Company(
        "Ironquill Press",
        "html",
        "prints and binds books that are meant to be repaired",
        48,
        "Portland, ME",
        1979,
        ("PHP", "MySQL"),
        4,
        leaning="trades",
    ),
    Company(
        "Pipwillow Learning",
        "lever",
        "makes arithmetic feel like a walk in the woods",
        60,
        "Austin, TX",
        2014,
        ("Python", "Django", "PostgreSQL", "React"),
        4,
        remote_first=True,
        leaning="web",
    ),
    Company(
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

BY_HOST = {one.host: one for one in COMPANIES} | {one.tenant: one for one in COMPANIES}
BY_SLUG = {one.slug: one for one in COMPANIES}


def at(vendor: Vendor) -> list[Company]:
    """The companies that use a vendor."""
    return [one for one in COMPANIES if one.vendor == vendor]
