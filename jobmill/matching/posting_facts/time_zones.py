"""Hours from UTC, by the words for time zones and by well-known places; in winter, so that a
summer's hour more or less is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

from jobmill.catalog import place_comparison

from .quoted_lines import cut

Zones: TypeAlias = tuple[float, ...]

# Hours, then the places that have them; what spans several has the first and the last.
PLACES = """
-10 | hawaii | honolulu
-9 | alaska | anchorage
-8 | washington state | oregon | california | nevada | portland | seattle | san francisco | bay area | los angeles | san diego | san jose | oakland | palo alto | mountain view | sunnyvale | menlo park | sacramento | las vegas | vancouver | british columbia | victoria bc | tijuana | bellevue | redmond | irvine | santa monica | cupertino | santa clara | berkeley | la | sf | sfo
-7 | arizona | colorado | utah | idaho | montana | wyoming | new mexico | denver | boulder | phoenix | tempe | scottsdale | salt lake city | lehi | boise | albuquerque | calgary | edmonton | alberta
-6 | texas | illinois | minnesota | wisconsin | iowa | missouri | arkansas | louisiana | mississippi | alabama | tennessee | kansas | nebraska | oklahoma | north dakota | south dakota | chicago | austin | dallas | houston | san antonio | minneapolis | st louis | kansas city | nashville | new orleans | milwaukee | omaha | memphis | winnipeg | manitoba | mexico | mexico city | ciudad de mexico | cdmx | guadalajara | monterrey | costa rica | san jose costa rica | guatemala | el salvador | honduras | nicaragua
-5 | new york | nyc | new jersey | massachusetts | connecticut | pennsylvania | virginia | maryland | georgia us | north carolina | south carolina | florida | ohio | michigan | indiana | kentucky | west virginia | delaware | rhode island | vermont | new hampshire | maine | district of columbia | washington dc | dc | boston | cambridge ma | philadelphia | pittsburgh | atlanta | miami | orlando | tampa | charlotte | raleigh | durham | detroit | columbus | cleveland | cincinnati | indianapolis | baltimore | arlington | brooklyn | manhattan | jersey city | toronto | ottawa | montreal | quebec | ontario | waterloo | colombia | bogota | medellin | peru | lima | ecuador | panama | jamaica
-4 | nova scotia | halifax | new brunswick | chile | santiago | bolivia | venezuela | paraguay | puerto rico | dominican republic
-3 | brazil | brasil | sao paulo | rio de janeiro | argentina | buenos aires | uruguay | montevideo
0 | united kingdom | uk | great britain | england | scotland | wales | northern ireland | london | manchester | edinburgh | bristol | cambridge uk | oxford | leeds | glasgow | belfast | birmingham | ireland | dublin | cork | galway | portugal | lisbon | lisboa | porto | braga | iceland | reykjavik | ghana | accra | morocco | casablanca
1 | germany | deutschland | france | spain | espana | italy | italia | netherlands | belgium | luxembourg | switzerland | schweiz | austria | osterreich | poland | polska | czech republic | czechia | slovakia | hungary | slovenia | croatia | serbia | bosnia and herzegovina | north macedonia | albania | denmark | sweden | norway | malta | berlin | munich | munchen | hamburg | cologne | koln | frankfurt | stuttgart | dusseldorf | leipzig | paris | lyon | toulouse | nantes | lille | bordeaux | marseille | madrid | barcelona | valencia | malaga | milan | milano | rome | roma | turin | amsterdam | rotterdam | utrecht | the hague | eindhoven | brussels | antwerp | ghent | zurich | geneva | basel | lausanne | vienna | wien | warsaw | warszawa | krakow | wroclaw | gdansk | poznan | prague | praha | brno | bratislava | budapest | ljubljana | zagreb | belgrade | copenhagen | aarhus | stockholm | gothenburg | malmo | oslo | nigeria | lagos | tunisia | algeria
2 | finland | estonia | latvia | lithuania | ukraine | romania | bulgaria | greece | cyprus | moldova | israel | egypt | south africa | lebanon | helsinki | tallinn | riga | vilnius | kyiv | kiev | lviv | bucharest | cluj | cluj napoca | sofia | athens | tel aviv | tel aviv yafo | jerusalem | haifa | cairo | cape town | johannesburg
3 | turkey | turkiye | saudi arabia | kenya | qatar | kuwait | bahrain | iraq | belarus | istanbul | ankara | riyadh | jeddah | nairobi | doha | moscow | minsk
4 | united arab emirates | uae | dubai | abu dhabi | armenia | yerevan | georgia country | tbilisi | azerbaijan | baku
5 | pakistan | karachi | lahore | islamabad | uzbekistan | kazakhstan | almaty
5.5 | india | bengaluru | bangalore | hyderabad | pune | mumbai | delhi | new delhi | gurugram | gurgaon | noida | chennai | kolkata | ahmedabad | sri lanka | colombo
6 | bangladesh | dhaka
7 | vietnam | viet nam | thailand | ho chi minh city | hanoi | bangkok | jakarta
8 | china | singapore | malaysia | philippines | taiwan | hong kong | beijing | shanghai | shenzhen | kuala lumpur | manila | taipei | perth
9 | japan | south korea | korea | tokyo | osaka | seoul
10 | sydney | melbourne | brisbane | canberra | new south wales | victoria australia | queensland
9.5 | adelaide
12 | new zealand | auckland | wellington | christchurch
-8 -5 | united states | us | usa | u s | america | united states of america | north america
-8 -4 | canada
-8 -3 | americas | amer
-6 -3 | latam | latin america | south america | central america
0 2 | europe | eu | european union
0 3 | emea
1 3 | cee | eastern europe
0 1 | western europe
5 10 | apac
7 9 | indonesia
8 10 | australia
3 9 | russia
"""
STATES = {
    -10.0: "HI", -9.0: "AK", -8.0: "WA OR CA NV", -7.0: "AZ CO UT ID MT WY NM AB",
    -6.0: "TX IL MN WI IA MO AR LA MS AL TN KS NE OK ND SD MB SK",
    -5.0: "NY NJ MA CT PA VA MD GA NC SC FL OH MI IN KY WV DE RI VT NH ME DC ON QC", -4.0: "NS NB",
}  # fmt: skip
"""By code, in capitals only: "in" and "or" are words."""
COUNTRY_TOO = frozenset(("IN", "DE", "CA", "CO", "IL", "AR", "MA", "PA", "MT", "ID"))
"""Codes of countries, too: beside a city that we know the city tells which."""
CODES = re.compile(r"(?<!\w)[A-Z]{2}(?!\w)")
WORDS: dict[str, Zones] = {
    "pacific": (-8.0,), "mountain": (-7.0,), "central": (-6.0,), "eastern": (-5.0,),
    "pst": (-8.0,), "pdt": (-8.0,), "pt": (-8.0,), "mst": (-7.0,), "mdt": (-7.0,), "mt": (-7.0,),
    "cst": (-6.0,), "cdt": (-6.0,), "ct": (-6.0,), "est": (-5.0,), "edt": (-5.0,), "et": (-5.0,),
    "ast": (-4.0,), "brt": (-3.0,), "art": (-3.0,), "gmt": (0.0,), "utc": (0.0,), "bst": (0.0,),
    "wet": (0.0,), "cet": (1.0,), "cest": (1.0,), "mez": (1.0,), "eet": (2.0,), "eest": (2.0,),
    "sast": (2.0,), "msk": (3.0,), "ist": (5.5,), "sgt": (8.0,), "hkt": (8.0,), "jst": (9.0,),
    "kst": (9.0,), "aest": (10.0,), "aedt": (10.0,), "nzst": (12.0,), "nzdt": (12.0,),
    "us": (-8.0, -5.0), "american": (-8.0, -5.0), "european": (0.0, 2.0), "emea": (0.0, 3.0),
    "uk": (0.0,), "apac": (5.0, 10.0),
}  # fmt: skip
EAST_WEST = "(?:[Pp]acific|[Mm]ountain|[Cc]entral|[Ee]astern)"
CODE = (
    r"(?:[PMCE][SD]T|[PMCE]T|AST|BRT|ART|GMT|UTC|BST|WET|CES?T|MEZ|EES?T|SAST|MSK|IST|SGT|HKT|JST|KST"
    r"|AE[SD]T|NZ[SD]T)"
)
OFFSET = r"(?:UTC|GMT) ?(?P<{0}>[+\-\u2212\u2013] ?\d{{1,2}}(?::?[0345]{{2}})?)"
STATED = re.compile(
    rf"{OFFSET.format('low')}(?:\s*(?:to|and|[-\u2013\u2014/]|through|until)\s*"
    rf"(?:{OFFSET.format('high')}|(?P<bare>[+\-\u2212]\d{{1,2}})))?"
    rf"|\b(?P<one>{CODE}|{EAST_WEST})(?:(?: (?:[Ss]tandard |[Dd]aylight )?[Tt]ime)?(?: ?\([A-Z]+\))?"
    rf"(?: ?(?:/|to|or|and|through|[-\u2013]) ?)(?P<two>{CODE}|{EAST_WEST}))?\b"
    r"|\b(?P<region>US|U\.S\.|American|European|EMEA|UK|APAC)[- ](?:based )?"
    r"(?=(?:business |working |core )?(?:hours|time ?-?zones?|time\b))"
)
ABOUT_HOURS = re.compile(
    r"\b(?:hours?|overlap\w*|time ?-?zones?|standard time|core|schedule|shifts?|work(?:ing)? (?:in|on|from"
    r"|within)|within|between|\u00b1|arbeitszeit\w*|based)\b",
    re.IGNORECASE,
)
NAMED = re.compile(r"\s?(?:\w+ )?time\b|\s?hours\b", re.IGNORECASE)
NOT_HOURS = re.compile(
    r"\b(?:deadline|apply by|applications? (?:close|must|will)|closes?|submit|webinar|call us"
    r"|phone|support line|posted|updated)\b",
    re.IGNORECASE,
)
REACH = 60
BETWEEN = re.compile(r"[;|•\n]")
PARTS = re.compile(r"[,()\[\]/]| [-\u2013\u2014] |(?<=\b[A-Z]{2})-|\b(?:or|and)\b")


def from_text(text: str) -> tuple[Zones, str]:
    """The zones in which a text says the work is done, and the words."""
    for found in STATED.finditer(text):
        around = text[max(0, found.start() - REACH) : found.end() + REACH]
        if NOT_HOURS.search(around) or not ABOUT_HOURS.search(around):
            continue
        # "Central" and its like are everyday words.
        if (found["one"] or "UTC").isupper() or NAMED.match(text, found.end()):
            return _stated(found), cut(text, *found.span())
    return (), ""


def from_places(said: Iterable[str]) -> tuple[Zones, str]:
    """The zones of places, and those that tell; a place that we do not know tells nothing."""
    known = [(zones, place) for place in said if (zones := _of_several(place))]
    hours = sorted({hour for zones, _ in known for hour in zones})
    return tuple(hours), "; ".join(place for _, place in known)


def _stated(found: re.Match[str]) -> Zones:
    if found["low"]:
        low = _hours(found["low"])
        high = found["high"] or found["bare"]
        return _between(low, _hours(high)) if high else (low,)
    if found["region"]:
        return _between(*_ends(WORDS[found["region"].replace(".", "").lower()]))
    one = WORDS[found["one"].lower()]
    return _between(one[0], WORDS[found["two"].lower()][0]) if found["two"] else one


def _hours(offset: str) -> float:
    sign = -1 if offset[0] in "-\u2212\u2013" else 1
    digits = offset[1:].strip()
    hours, _, minutes = digits.partition(":")
    return sign * (int(hours[:2]) + int(minutes or hours[2:] or 0) / 60)


def _ends(zones: Zones) -> tuple[float, float]:
    return zones[0], zones[-1]


def _between(low: float, high: float) -> Zones:
    """Every hour from one to the other: whoever lives between them is not far from any."""
    low, high = min(low, high), max(low, high)
    steps = int(high - low) if high - low <= 24 else 0
    return tuple(dict.fromkeys([*(low + step for step in range(steps + 1)), high]))


def _of_several(place: str) -> Zones:
    return tuple(hour for one in BETWEEN.split(place[:500]) for hour in _of(one))


def _of(place: str) -> Zones:
    """By states' codes, else by the most exact parts that we know: "Austin, TX, US" is Austin, and
    "NYC, SF" is both."""
    parts = [part.strip() for part in PARTS.split(place) if part.strip()]
    known = [zones for part in parts if (zones := _places().get(place_comparison.name(part)))]
    wide = [zones for zones in known if len(zones) > 1]
    exact = {
        zones[0]
        for zones in known
        if len(zones) == 1 and all(zones[0] in around for around in wide)
    }
    codes = {code for part in parts for code in CODES.findall(part)} & _states().keys()
    if exact:
        codes -= COUNTRY_TOO
    hours = {_states()[code] for code in codes} or exact
    return tuple(sorted(hours or {hour for zones in wide for hour in zones}))


@cache
def _states() -> dict[str, float]:
    return {code: hours for hours, codes in STATES.items() for code in codes.split()}


@cache
def _places() -> dict[str, Zones]:
    table: dict[str, Zones] = {}
    for line in PLACES.strip().splitlines():
        hours, *names = line.split(" | ")
        zones = _between(*_ends(tuple(map(float, hours.split()))))
        table.update(dict.fromkeys(names, zones))
    return table
