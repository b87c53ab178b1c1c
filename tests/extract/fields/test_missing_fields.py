from dataclasses import replace

from jobmill.catalog.posting import Posting, Salary
from jobmill.extract.fields.missing_fields import fill_missing_fields

BARE = Posting(
    title="Senior Baker",
    location="Lyon; Remote, France",
    description="We bake.\n\nSalary: €40,000 - €50,000 per year\n\nRequirements\n- Bread\n- Cake",
)


def test_missing_fields_are_read_from_the_text() -> None:
    filled = fill_missing_fields(BARE)
    assert filled.locations == ("Lyon", "Remote, France")
    assert filled.arrangement == "remote"
    assert filled.seniority == "senior"
    assert filled.salary == Salary(40_000, 50_000, "EUR", "year", "text")
    assert filled.requirements == "Requirements\n- Bread\n- Cake"


def test_existing_fields_stay() -> None:
    complete = replace(
        BARE,
        locations=("Nantes",),
        arrangement="onsite",
        seniority="junior",
        salary=Salary(1, 2, "EUR", "hour", "structured"),
        requirements="Hands",
    )
    assert fill_missing_fields(complete) == complete


def test_only_what_was_unknown_changes() -> None:
    filled = fill_missing_fields(BARE)
    assert (
        replace(
            filled, locations=(), arrangement=None, seniority=None, salary=None, requirements=None
        )
        == BARE
    )


def test_a_posting_that_says_nothing_stays_as_it_is() -> None:
    silent = Posting(title="Baker", location="N/A", partial=True)
    assert fill_missing_fields(silent) == silent


def test_pay_in_a_title_counts_where_the_text_has_none() -> None:
    filled = fill_missing_fields(Posting(title="Baker - $18 to $22/hr", description="We bake."))
    assert filled.salary == Salary(18, 22, "USD", "hour", "text")
