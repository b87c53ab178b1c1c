"""Which countries and states a name can mean; a country is "US", a state "US-OR"."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, TypeAlias

from jobmill.catalog.company_names import fold

Area: TypeAlias = frozenset[str]
"""All that a name can mean: "DE" is Germany or Delaware, "Europe" any country of it."""

# Code, region, names, then the cities by which a time zone or a place alone tells the country.
COUNTRIES: Final = """
US | North America | united states, usa, us, u s, america, united states of america | new york, chicago, denver, los angeles, phoenix, anchorage, detroit, boise, honolulu, indianapolis, louisville, juneau, san francisco, seattle, austin, boston, atlanta, dallas, houston, philadelphia, san diego, miami, san jose, palo alto, mountain view, salt lake city, minneapolis, nashville, pittsburgh, charlotte, raleigh
CA | North America | canada | toronto, vancouver, montreal, edmonton, winnipeg, halifax, regina, st johns, ottawa, calgary, waterloo
MX | Latin America | mexico, méxico | mexico city, tijuana, monterrey, cancun, guadalajara
BR | Latin America | brazil, brasil | sao paulo, bahia, fortaleza, manaus, rio de janeiro, florianopolis, curitiba
AR | Latin America | argentina | buenos aires, cordoba
CL | Latin America | chile | santiago
CO | Latin America | colombia | bogota, medellin
PE | Latin America | peru | lima
UY | Latin America | uruguay | montevideo
CR | Latin America | costa rica | san jose cr
EC | Latin America | ecuador | guayaquil, quito
VE | Latin America | venezuela | caracas
BO | Latin America | bolivia | la paz
PY | Latin America | paraguay | asuncion
GT | Latin America | guatemala |
PA | Latin America | panama |
DO | Latin America | dominican republic | santo domingo
PR | Latin America | puerto rico | san juan
GB | Europe | united kingdom, uk, u k, great britain, england, scotland, wales, northern ireland | london, belfast, edinburgh, bristol, glasgow, leeds
IE | EU | ireland, éire | dublin, cork, galway
DE | EU | germany, deutschland | berlin, busingen, munich, münchen, hamburg, cologne, köln, frankfurt, stuttgart, düsseldorf, leipzig
FR | EU | france | paris, lyon, toulouse, nantes, bordeaux, lille
ES | EU | spain, españa | madrid, ceuta, canary, barcelona, valencia, malaga
PT | EU | portugal | lisbon, lisboa, porto, madeira, azores
IT | EU | italy, italia | rome, roma, milan, milano, turin
NL | EU | netherlands, the netherlands, holland, nederland | amsterdam, rotterdam, utrecht, eindhoven, den haag, the hague
BE | EU | belgium, belgië, belgique | brussels, ghent, antwerp
LU | EU | luxembourg | luxembourg
AT | EU | austria, österreich | vienna, wien, graz
CH | Europe | switzerland, schweiz, suisse | zurich, zürich, geneva, lausanne, basel, bern
PL | EU | poland, polska | warsaw, warszawa, krakow, kraków, wroclaw, wrocław, gdansk, poznan
CZ | EU | czechia, czech republic, česko | prague, praha, brno
SK | EU | slovakia | bratislava
HU | EU | hungary | budapest
RO | EU | romania | bucharest, cluj, cluj-napoca
BG | EU | bulgaria | sofia
GR | EU | greece | athens
SE | EU | sweden, sverige | stockholm, gothenburg, malmo
NO | Europe | norway, norge | oslo
DK | EU | denmark, danmark | copenhagen
FI | EU | finland, suomi | helsinki
IS | Europe | iceland | reykjavik
EE | EU | estonia | tallinn
LV | EU | latvia | riga
LT | EU | lithuania | vilnius
HR | EU | croatia | zagreb
SI | EU | slovenia | ljubljana
RS | Europe | serbia | belgrade
CY | EU | cyprus | nicosia, limassol
MT | EU | malta |
UA | Europe | ukraine | kyiv, kiev, lviv
MD | Europe | moldova | chisinau
TR | Europe | turkey, türkiye | istanbul, ankara
RU | Europe | russia | moscow
GE | Europe | georgia | tbilisi
AM | Europe | armenia | yerevan
IL | Middle East | israel | jerusalem, tel aviv, tel aviv-yafo, haifa
AE | Middle East | united arab emirates, uae, u a e | dubai, abu dhabi
SA | Middle East | saudi arabia, ksa | riyadh
QA | Middle East | qatar | doha
EG | Africa | egypt | cairo
MA | Africa | morocco | casablanca
NG | Africa | nigeria | lagos
KE | Africa | kenya | nairobi
GH | Africa | ghana | accra
ZA | Africa | south africa | johannesburg, cape town
IN | Asia | india, bharat | kolkata, calcutta, bengaluru, bangalore, mumbai, new delhi, delhi, hyderabad, pune, chennai, gurugram, gurgaon, noida, ahmedabad
PK | Asia | pakistan | karachi, lahore, islamabad
BD | Asia | bangladesh | dhaka
LK | Asia | sri lanka | colombo
NP | Asia | nepal | kathmandu
CN | Asia | china | shanghai, beijing, shenzhen, urumqi
HK | Asia | hong kong | hong kong
TW | Asia | taiwan | taipei
JP | Asia | japan | tokyo, osaka
KR | Asia | south korea, korea, republic of korea | seoul
SG | Asia | singapore | singapore
MY | Asia | malaysia | kuala lumpur
ID | Asia | indonesia | jakarta
PH | Asia | philippines, the philippines | manila, cebu
VN | Asia | vietnam, viet nam | ho chi minh, ho chi minh city, saigon, hanoi
TH | Asia | thailand | bangkok
KZ | Asia | kazakhstan | almaty
AU | Oceania | australia | sydney, melbourne, brisbane, perth, adelaide, hobart, darwin
NZ | Oceania | new zealand | auckland, wellington
"""
STATES: Final = """
US | AL alabama | AK alaska | AZ arizona | AR arkansas | CA california | CO colorado | CT connecticut | DE delaware | DC district of columbia | FL florida | GA georgia | HI hawaii | ID idaho | IL illinois | IN indiana | IA iowa | KS kansas | KY kentucky | LA louisiana | ME maine | MD maryland | MA massachusetts | MI michigan | MN minnesota | MS mississippi | MO missouri | MT montana | NE nebraska | NV nevada | NH new hampshire | NJ new jersey | NM new mexico | NY new york | NC north carolina | ND north dakota | OH ohio | OK oklahoma | OR oregon | PA pennsylvania | RI rhode island | SC south carolina | SD south dakota | TN tennessee | TX texas | UT utah | VT vermont | VA virginia | WA washington | WV west virginia | WI wisconsin | WY wyoming
CA | AB alberta | BC british columbia | MB manitoba | NB new brunswick | NL newfoundland and labrador | NS nova scotia | ON ontario | PE prince edward island | QC quebec | SK saskatchewan
IN | KA karnataka | MH maharashtra | TG telangana | TN tamil nadu | HR haryana | UP uttar pradesh | GJ gujarat | KL kerala | WB west bengal
AU | NSW new south wales | VIC victoria | QLD queensland
"""  # fmt: skip
REGIONS: Final = {
    "europe": "EU, Europe", "eu": "EU", "european union": "EU", "emea": "EU, Europe, Middle East, Africa",
    "eea": "EU, Europe", "middle east": "Middle East", "mena": "Middle East, Africa", "africa": "Africa",
    "north america": "North America", "northam": "North America", "namer": "North America",
    "latin america": "Latin America", "latam": "Latin America", "south america": "Latin America",
    "americas": "North America, Latin America", "amer": "North America, Latin America",
    "the americas": "North America, Latin America", "asia": "Asia", "oceania": "Oceania",
    "apac": "Asia, Oceania", "asia pacific": "Asia, Oceania", "asia-pacific": "Asia, Oceania",
}  # fmt: skip
# A city has the name of a state or country around it.
ALSO_CITIES: Final = frozenset(
    ("new york", "washington", "singapore", "luxembourg", "hong kong", "panama", "guatemala", "quebec")
)  # fmt: skip


def area(name: str) -> Area:
    """What a name of a country, state or region can mean; a code only in capitals; empty if unknown."""
    code = _codes().get(name.strip().replace(".", "")) or frozenset()
    return code | _names().get(_plain(name), frozenset())


def around(city: str) -> Area:
    """The country of a large city; empty where we do not know it, or there are several."""
    return _cities().get(_plain(city), frozenset())


def of_zone(zone: str) -> Area:
    """The country in which people keep this time zone, such as Europe/Berlin."""
    return around(zone.rsplit("/", 1)[-1].replace("_", " "))


def overlap(one: Area, other: Area) -> bool:
    """Whether two names can be about one place: the same, or one in the other."""
    return any(a == b or a.startswith(f"{b}-") or b.startswith(f"{a}-") for a in one for b in other)


def within(area: Area, others: Iterable[Area]) -> bool:
    """Whether all that a name can mean lies in each of the others."""
    return all(
        any(code == wide or code.startswith(f"{wide}-") for wide in other)
        for other in others
        for code in area
    )


def countries(of: Area) -> Area:
    return frozenset(code.partition("-")[0] for code in of)


def _plain(name: str) -> str:
    return " ".join(fold(name).replace(".", " ").split())


@cache
def _rows() -> list[tuple[str, str, list[str], list[str]]]:
    rows: list[tuple[str, str, list[str], list[str]]] = []
    for line in COUNTRIES.strip().splitlines():
        code, region, names, cities = (part.strip() for part in line.split("|"))
        rows.append((code, region, _list(names), _list(cities)))
    return rows


def _list(text: str) -> list[str]:
    return [_plain(one) for one in text.split(",") if one.strip()]


@cache
def _states() -> list[tuple[str, str, str]]:
    """Country, code and name."""
    found: list[tuple[str, str, str]] = []
    for line in STATES.strip().splitlines():
        country, *states = (part.strip() for part in line.split("|"))
        found += [(country, *_pair(state)) for state in states]
    return found


def _pair(state: str) -> tuple[str, str]:
    code, _, name = state.partition(" ")
    return code, name


@cache
def _codes() -> dict[str, Area]:
    found: dict[str, Area] = {code: frozenset({code}) for code, *_ in _rows()}
    for code, other in (("USA", "US"), ("UK", "GB"), ("UAE", "AE"), ("GBR", "GB"), ("DEU", "DE"),
                        ("IND", "IN"), ("CAN", "CA")):  # fmt: skip
        found[code] = frozenset({other})
    for country, code, _ in _states():
        found[code] = found.get(code, frozenset()) | {f"{country}-{code}"}
    return found


@cache
def _names() -> dict[str, Area]:
    found: dict[str, Area] = {}
    for code, _, names, _ in _rows():
        for name in names:
            found[name] = found.get(name, frozenset()) | {code}
    for country, code, name in _states():
        found[name] = found.get(name, frozenset()) | {f"{country}-{code}"}
    found["washington"] |= {"US-DC"}
    for name, parts in REGIONS.items():
        within = {part.strip() for part in parts.split(",")}
        found[name] = frozenset(code for code, region, *_ in _rows() if region in within)
    return found


@cache
def _cities() -> dict[str, Area]:
    found: dict[str, Area] = {}
    for code, _, names, cities in _rows():
        for city in (*cities, *(names if not cities else ())):
            found[city] = found.get(city, frozenset()) | {code}
    return {city: codes for city, codes in found.items() if len(codes) == 1}
