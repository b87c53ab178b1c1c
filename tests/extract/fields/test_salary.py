import pytest

from jobmill.catalog.posting import Salary
from jobmill.extract.fields import salary

Pay = tuple[float | None, float | None, str | None, str | None]

STATED: list[tuple[str, Pay]] = [
    ("$120k-150k", (120_000, 150_000, "USD", "year")),
    ("120 000 - 150 000 EUR", (120_000, 150_000, "EUR", "year")),
    ("Salary: £45k DOE", (45_000, 45_000, "GBP", "year")),
    ("The base salary range here is $85,000 - $150,000.", (85_000, 150_000, "USD", "year")),
    ("Base pay range: USD $67,000.00/Yr. - USD $80,000.00/Yr.", (67_000, 80_000, "USD", "year")),
    ("Pay is between  $81K  \u2013  $141K  depending on skill", (81_000, 141_000, "USD", "year")),
    ("Compensation: CA$90,000 to CA$110,000", (90_000, 110_000, "CAD", "year")),
    ("Salary $90,000 - $120,000 AUD plus super", (90_000, 120_000, "AUD", "year")),
    ("Base salary: 140-170k and equity", (140_000, 170_000, None, "year")),
    ("Pay rate: $15.50/hr.", (15.5, 15.5, "USD", "hour")),
    ("Hourly compensation ranging from $17.00 to $23.00", (17, 23, "USD", "hour")),
    ("$28/hour to $47/hour", (28, 47, "USD", "hour")),
    ("A starting salary of $50,000 per year", (50_000, 50_000, "USD", "year")),
    ("Salary is up to $60,000.", (None, 60_000, "USD", "year")),
    ("Competitive compensation $85,000+ , uncapped", (85_000, None, "USD", "year")),
    ("from £30,000 per annum", (30_000, None, "GBP", "year")),
    ("$6,806.73 - $9,820.80 a month", (6_806.73, 9_820.8, "USD", "month")),
    ("Expected compensation: $2,000 to $2,560 per week", (2_000, 2_560, "USD", "week")),
    ("Tagessatz: 600 €", (600, 600, "EUR", "day")),
    ("Gehalt: 4.500 € brutto pro Monat", (4_500, 4_500, "EUR", "month")),
    ("Jahresgehalt zwischen 54.000 EUR und 85.000 EUR", (54_000, 85_000, "EUR", "year")),
    ("Stundenlohn 13,90 €", (13.9, 13.9, "EUR", "hour")),
    ("Salaire : 35-45k€ / an", (35_000, 45_000, "EUR", "year")),
    ("Rémunération entre 3 200 € et 3 800 € brut mensuel", (3_200, 3_800, "EUR", "month")),
    ("Salario entre 45.000 € y 50.000 € brutos anuales", (45_000, 50_000, "EUR", "year")),
    ("Widełki: 18 000 - 24 000 PLN netto/mies.", (18_000, 24_000, "PLN", "month")),
    ("Lön: 45 000 - 55 000 SEK/månad", (45_000, 55_000, "SEK", "month")),
    ("€ 3.000 - € 4.500 bruto per maand", (3_000, 4_500, "EUR", "month")),
    ("Lohn: CHF 110'000 - 130'000", (110_000, 130_000, "CHF", "year")),
    ("CTC: 15-20 LPA", (1_500_000, 2_000_000, "INR", "year")),
    ("₹1.5M - ₹3.4M", (1_500_000, 3_400_000, "INR", "year")),
    ("INR 12,00,000 - 18,00,000 per annum", (1_200_000, 1_800_000, "INR", "year")),
    ("$18 - $22", (18, 22, "USD", None)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), STATED)
def test_pay_is_read_as_it_is_stated(text: str, expected: Pay) -> None:
    assert _read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "Salary: competitive",
        "401(k) with a match of up to 4%",
        "We crossed $5M ARR and raised $2B.",
        "Our fund of $100,000 - $200,000 is for tools.",
        "You will manage a budget of $100,000 - $200,000.",
        "Deals between $50,000 and $200,000",
        "New hires get a $10,000 sign-on bonus.",
        "A $500 referral bonus, $250 for books and $75/month for the gym.",
        "Tuition reimbursement up to $5,250 per year",
        "1.200 € Budget für das Arbeiten zu Hause",
        "Tickets restaurant d'une valeur de 210 € / mois",
        "We invest an average of $5,000 per employee on training each year.",
        "Trusted by 60,000 - 70,000 businesses since 2015, in 10,000+ shops",
        "Between 2015 and 2024 we grew from 10 to 500.",
        "Call 555-123 4567, room 12345",
        "Lift up to 49 pounds.",
    ],
)
def test_other_money_is_not_pay(text: str | None) -> None:
    assert salary.from_text(text) is None


def test_ranges_of_several_places_make_one() -> None:
    text = "Pay range\n- Zone A: $100,000 - $120,000\n- Zone B: $90,000 - $110,000"
    assert _read(text) == (90_000, 120_000, "USD", "year")


def test_base_pay_is_preferred_to_target_pay() -> None:
    assert _read("OTE $200k-$240k, base $100k-$120k") == (100_000, 120_000, "USD", "year")


def test_a_heading_above_says_what_an_amount_is() -> None:
    assert _read("Compensation\n- $16.50/hour and tips") == (16.5, 16.5, "USD", "hour")
    text = "Salary\n$70,000\n\nWe value\n$70,000 worth of things"
    assert _read(text) == (70_000, 70_000, "USD", "year")


def test_pay_is_preferred_to_a_bonus_in_the_same_sentence() -> None:
    text = "Salary of $150,000 and a bonus of up to $20,000, plus a stipend of $5,000 per year"
    assert _read(text) == (150_000, 150_000, "USD", "year")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((100_000, 150_000, "USD", "per-year-salary"), (100_000, 150_000, "USD", "year")),
        ((15, 20.5, "usd", "HOUR"), (15, 20.5, "USD", "hour")),
        (("85,000", "$95k", "$", "1 YEAR"), (85_000, 95_000, "USD", "year")),
        (("85000.00", "", "EUR", "MONTH"), (85_000, None, "EUR", "month")),
        (("45.000", "55.000", "€", "Jahr"), (45_000, 55_000, "EUR", "year")),
        ((0, 90_000, "GBP", "PA"), (None, 90_000, "GBP", "year")),
        ((90_000, 80_000, "CA$", "annually"), (80_000, 90_000, "CAD", "year")),
        ((12.5, 15, "GBP", "year"), (12.5, 15, "GBP", None)),
        ((100, None, "kr", "bi-weekly"), (100, None, None, None)),
        ((100, True, 7, 7), (100, None, None, None)),
    ],
)
def test_a_sites_own_fields_are_read_leniently(
    value: tuple[object, object, object, object], expected: Pay
) -> None:
    parsed = salary.from_fields(*value)
    assert parsed
    assert (parsed.min, parsed.max, parsed.currency, parsed.period) == expected
    assert parsed.known == "structured"


@pytest.mark.parametrize(
    "nothing", [0, None, "", "0", -5, "-5", "negotiable", float("nan"), float("inf"), 10**400, []]
)
def test_fields_without_an_amount_are_no_salary(nothing: object) -> None:
    assert salary.from_fields(nothing, nothing, "USD", "year") is None


def test_an_estimate_is_marked_as_one() -> None:
    parsed = salary.from_fields(1, 2, "GBP", "year", predicted=True)
    assert parsed
    assert parsed.known == "predicted"


def _read(text: str) -> Pay | None:
    parsed: Salary | None = salary.from_text(text)
    return (parsed.min, parsed.max, parsed.currency, parsed.period) if parsed else None
