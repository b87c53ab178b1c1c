from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import duplicates
from jobmill.catalog.posting import Posting

TEXT = " ".join(f"You will weld part{number} of the hull." for number in range(40))
OTHER_TEXT = " ".join(f"Our team paints side{number} of the ship." for number in range(40))
EDITED = TEXT.replace("weld part1", "join the part1")
MARCH = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


def on_board(id: int = 7001, **changes: object) -> Posting:
    posting = Posting(
        "Senior Welder",
        f"https://boards.greenhouse.io/acme/jobs/{id}",
        "Acme",
        "Oslo",
        description=TEXT,
        platform="greenhouse",
        board="acme",
        vendor_id=str(id),
        posted_at=MARCH,
    )
    return replace(posting, **changes)  # pyright: ignore[reportArgumentType]


def copy(**changes: object) -> Posting:
    """The posting as another site shows it: no ids, another URL."""
    posting = Posting(
        "Senior Welder",
        "https://finder.example/ads/555001",
        "Acme Inc.",
        "Oslo, Norway",
        description=TEXT,
        via="Finder",
    )
    return replace(posting, **changes)  # pyright: ignore[reportArgumentType]


def kinds(*postings: Posting) -> list[tuple[str, tuple[int, ...]]]:
    return [
        (group.kind, group.members) for group in duplicates.find_groups(postings, PLATFORM_RULES)
    ]


SAME = {
    "the same id": (on_board(), on_board(title="Welder III", description=OTHER_TEXT)),
    "another form of the URL": (
        on_board(),
        Posting("Welder", "https://job-boards.greenhouse.io/Acme/jobs/7001?gh_src=x"),
    ),
    "the id on the company's site": (
        on_board(),
        copy(url="https://acme.example/join?gh_jid=7001", title="Welder", description=None),
    ),
    "the board behind an aggregator's link": (
        on_board(),
        copy(apply_url="https://boards.greenhouse.io/acme/jobs/7001", description=None, location="?"),
    ),
    "the board's number in the company's URL": (
        on_board(7001234, location=None),
        copy(url="https://acme.example/position/7001234", description=None),
    ),
    "the same page": (copy(), copy(url="https://www.finder.example/ads/555001/?utm_source=x")),
    "a copy elsewhere": (on_board(), copy()),
    "noise in the title": (on_board(), copy(title="SR. WELDER (m/w/d) - Remote")),
    "a cut text": (on_board(), copy(description=TEXT[:400] + "…", partial=True)),
    "an edited text": (on_board(), copy(description=TEXT.replace("part7 ", "bow "))),
    "a place left out": (on_board(), copy(location=None)),
    "one place of two": (on_board(location="Oslo; Bergen"), copy(location="Bergen")),
    "a copy without text": (on_board(), copy(description=None)),
    "the company left out": (on_board(), copy(company=None)),
    "the board for the company": (on_board(company=None), copy()),
    "nothing but company, title and place": (
        Posting("Welder", company="Acme", location="Oslo"),
        Posting("WELDER", company="ACME", location="oslo"),
    ),
    "a page of its own and the list": (
        copy(url="https://acme.example/careers"),
        copy(url="https://acme.example/careers/10042"),
    ),
    "two own pages": (
        copy(url="https://acme.example/careers/welder", via=None),
        copy(url="https://acme.example/team/senior-welder", via=None),
    ),
    "the same requisition": (
        copy(url="", requisition_id="R-77"),
        copy(requisition_id="R-77", description=OTHER_TEXT),
    ),
}  # fmt: skip


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_copies_of_a_posting_are_grouped_as_same(pair: tuple[Posting, Posting]) -> None:
    assert kinds(*pair) == [("same", (0, 1))]
    assert kinds(*reversed(pair)) == [("same", (0, 1))]


DIFFERENT = {
    "same requisition and text under another title": (
        on_board(requisition_id="R-1"),
        on_board(7002, requisition_id="R-1", location="Bergen", title="Hull Welder"),
    ),
    "two openings on one board": (on_board(), on_board(7002)),
    "two openings posted days apart": (
        on_board(),
        on_board(7002, posted_at=MARCH + dt.timedelta(days=2)),
    ),
    "two pages of one site": (copy(), copy(url="https://finder.example/ads/555002")),
    "two own pages, an edited text": (
        copy(url="https://acme.example/careers/welder", via=None),
        copy(url="https://acme.example/team/senior-welder", via=None, description=EDITED),
    ),
    "two own pages, two requisitions": (
        copy(url="https://acme.example/careers/welder", via=None, requisition_id="R-1"),
        copy(url="https://acme.example/team/senior-welder", via=None, requisition_id="R-2"),
    ),
    "other requisition, same text, other place": (
        on_board(requisition_id="R-1"),
        on_board(7002, requisition_id="R-2", location="Bergen"),
    ),
    "other place, a text much alike": (on_board(), on_board(7002, location="Bergen", description=EDITED)),
    "other place, the same beginning": (
        copy(description=TEXT[:900] + "…"),
        copy(description=TEXT[:900] + "…", location="Bergen", url=""),
    ),
    "more places, nothing else known": (
        copy(url="", location="Oslo; Bergen"),
        copy(url="", location="Oslo"),
    ),
    "a place said otherwise, nothing else known": (
        copy(url="", description=None, location="Oslo"),
        copy(url="", description=None),
    ),
    "edited when posted again": (
        on_board(),
        on_board(7002, description=EDITED, posted_at=MARCH + dt.timedelta(days=30)),
    ),
    "another id at the same URL": (
        on_board(),
        on_board(7002, url=on_board().url, title="Painter", description=OTHER_TEXT),
    ),
    "two short names of pages": (
        copy(url="https://finder.example/ad/welder-day", description=None),
        copy(url="https://finder.example/ad/welder-night", description=None),
    ),
    "other text": (on_board(), copy(description=OTHER_TEXT)),
    "other title, same text": (on_board(), copy(title="Welder")),
    "other company, same text": (on_board(), copy(company="Apex")),
    "other place, no text": (on_board(description=None), copy(location="Bergen", description=None)),
    "other place, a cut text": (on_board(), copy(location="Bergen", description=TEXT[:400] + "…")),
    "other place in the title": (
        copy(title="Senior Welder - Canada", location=None, description=None),
        copy(title="Senior Welder - Germany", location=None, description=None, url=""),
    ),
    "one list for a page": (
        Posting("Welder", "https://acme.example/careers", "Acme"),
        Posting("Painter", "https://acme.example/careers", "Acme"),
    ),
    "one standing requisition": (
        on_board(requisition_id="R-1"),
        on_board(7002, requisition_id="R-1", title="Painter", description=OTHER_TEXT),
    ),
    "a requisition that is none": (
        on_board(requisition_id="See opening"),
        on_board(7002, requisition_id="See opening"),
    ),
    "small ids of two companies": (
        Posting("Welder", vendor_id="31", platform="bamboohr"),
        Posting("Painter", vendor_id="31", platform="bamboohr"),
    ),
    "a few equal words": (
        on_board(description="Weld hulls."),
        copy(description="Weld hulls.", location=None),
    ),
    "no title, no text": (Posting("", company="Acme"), Posting("", company="Acme")),
}  # fmt: skip


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_postings_that_may_differ_are_not_grouped(pair: tuple[Posting, Posting]) -> None:
    assert kinds(*pair) == []
    assert kinds(*reversed(pair)) == []


ELSEWHERE = {
    "same text": (on_board(), on_board(7002, location="Bergen")),
    "same requisition": (
        on_board(requisition_id="R-1"),
        on_board(7002, requisition_id="R-1", location="Bergen", description=OTHER_TEXT),
    ),
    "place in the title": (
        on_board(title="Senior Welder (Oslo)"),
        on_board(7002, title="Senior Welder (Bergen)", location="Bergen"),
    ),
    "a page a place": (
        copy(url="https://finder.example/ad/senior-welder-acme-oslo", description=None),
        copy(url="https://finder.example/ad/senior-welder-acme-bergen-2", description=None),
    ),
}


@pytest.mark.parametrize("pair", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_posts_of_one_vacancy_are_grouped_as_separate_posts(pair: tuple[Posting, Posting]) -> None:
    (group,) = duplicates.find_groups(pair, PLATFORM_RULES)
    assert (group.kind, group.posts) == ("multi_location", ((0,), (1,)))


def test_an_identical_later_post_is_a_repost() -> None:
    again = on_board(7002, posted_at=MARCH + dt.timedelta(days=30))
    (group,) = duplicates.find_groups([on_board(), again], PLATFORM_RULES)
    assert (group.kind, group.posts, group.canonical) == ("repost", ((0,), (1,)), 0)
    assert group.why == "same title, place and text at Acme, reposted"


def test_a_copy_does_not_join_two_postings_of_one_board() -> None:
    for order in permutations([on_board(), on_board(7002), copy()]):
        (group,) = duplicates.find_groups(order, PLATFORM_RULES)
        assert len(group.members) == 2
        assert order.index(copy()) in group.members


def test_a_copy_without_company_does_not_join_two_companies() -> None:
    nameless = copy(company=None, url="")
    apex = copy(company="Apex", location="Bergen", url="https://apex.example/jobs/10042")
    for order in permutations([on_board(), nameless, apex]):
        (group,) = duplicates.find_groups(order, PLATFORM_RULES)
        assert (
            order.index(apex) not in group.members or order.index(on_board()) not in group.members
        )


def test_a_copy_without_text_is_not_joined_if_ambiguous() -> None:
    assert kinds(on_board(), on_board(7002), copy(description=None)) == []


def test_a_copy_joins_the_posting_with_the_same_place() -> None:
    exact = copy(location="Oslo, Norway")
    board = [on_board(location="Oslo"), on_board(7002, location="Oslo, Norway")]
    assert kinds(*board, exact) == [("same", (1, 2))]


def test_copies_of_several_posts_join_their_own_post() -> None:
    bergen = {"location": "Bergen", "url": "https://finder.example/ads/555002"}
    postings = [on_board(), on_board(7002, location="Bergen"), copy(), copy(**bergen)]
    (group,) = duplicates.find_groups(postings, PLATFORM_RULES)
    assert group.posts == ((0, 2), (1, 3))
    assert group.kind == "multi_location"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (on_board(description=TEXT[:600]), copy()),
        (copy(url="https://acme.example/jobs/777001", via=None), copy()),
        (on_board(), on_board(description=TEXT[:600])),
        (on_board(), on_board(posted_at=MARCH + dt.timedelta(days=1))),
        (on_board(), on_board(partial=True)),
    ],
)
def test_the_canonical_posting_is_from_the_board_then_fuller_then_earlier(
    better: Posting, worse: Posting
) -> None:
    assert duplicates.find_groups([worse, better], PLATFORM_RULES)[0].canonical == 1
    assert duplicates.find_groups([better, worse], PLATFORM_RULES)[0].canonical == 0


def test_every_member_except_the_canonical_has_a_reason() -> None:
    (group,) = duplicates.find_groups(
        [on_board(), copy(), on_board(7002, location="Bergen")], PLATFORM_RULES
    )
    assert group.reasons == (
        "",
        "same title at Acme, same text (100%)",
        "same title and text at Acme, different place",
    )
    assert group.why == "; ".join(group.reasons[1:])


def test_a_large_block_is_grouped_completely() -> None:
    stores = [on_board(8000 + at, location=f"Town{at}") for at in range(300)]
    (group,) = duplicates.find_groups(stores, PLATFORM_RULES)
    assert len(group.members) == len(group.posts) == 300


def test_equal_texts_in_a_large_block_are_found_for_any_place() -> None:
    stores = [
        on_board(
            8000 + at, location=f"Town{at:02}", description=TEXT.replace("hull", f"ship{at % 30}")
        )
        for at in range(60)
    ]
    assert [group.members for group in duplicates.find_groups(stores, PLATFORM_RULES)] == [
        (at, at + 30) for at in range(30)
    ]


@given(
    st.lists(
        st.builds(
            Posting,
            title=st.sampled_from(["Welder", "Painter", "", "Welder (Oslo)"]),
            url=st.sampled_from(["", "x", "https://a.example/1", "https://a.example/careers"]),
            company=st.sampled_from([None, "", "Acme", "Apex"]),
            location=st.sampled_from([None, "", "Oslo", "Remote"]),
            description=st.sampled_from([None, "", "short", TEXT, OTHER_TEXT, TEXT[:300]]),
            vendor_id=st.sampled_from([None, "", "1", "2"]),
            platform=st.sampled_from([None, "greenhouse", "workday"]),
            requisition_id=st.sampled_from([None, "", "R1", "R2"]),
            posted_at=st.sampled_from([None, MARCH, dt.datetime(2026, 5, 1)]),  # noqa: DTZ001
        ),
        max_size=12,
    )
)
def test_groups_never_overlap(postings: list[Posting]) -> None:
    groups = duplicates.find_groups(postings, PLATFORM_RULES)
    members = [index for group in groups for index in group.members]
    assert len(members) == len(set(members))
    for group in groups:
        assert len(group.members) > 1
        assert group.canonical in group.members
        assert sorted(index for post in group.posts for index in post) == list(group.members)
        assert [not why for why in group.reasons] == [
            index == group.canonical for index in group.members
        ]
