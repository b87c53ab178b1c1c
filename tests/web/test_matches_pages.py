from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from jobmill.catalog import duplicate_links
from jobmill.catalog.posting import Posting, Salary
from jobmill.db import Database
from jobmill.matching import judging_feed, matches, profiles, skill_highlights
from jobmill.matching.matches import MatchId
from jobmill.matching.verdict import FilterResult, ResumeIntake, ScoreItem, Strike
from jobmill.matching.verdicts import Verdict
from jobmill.people.persons import Role
from jobmill.queue import Move, lineage
from jobmill.queue.items import Work
from jobmill.web.job_view import score_bars
from jobmill.web.pages.matches import list_page as pages
from jobmill.web.pages.matches.inbox_query import InboxQuery
from tests.catalog import helpers
from tests.matching import judged
from tests.people.helpers import bearer
from tests.queue.helpers import new, put, stages
from tests.web.helpers import site_with

HTMX = {"HX-Request": "true"}
EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'-alert(1)-'",
    "{{ 7*7*7*7*7 }}</textarea><script>alert(1)</script>",
    "&lt;b&gt; &amp; <b>bold</b>",
]
TAG = re.compile(r"<(?:script(?! src=\"/static/)|img src=x|svg onload|b>bold)", re.IGNORECASE)


async def fill(
    database: Database,
    scores: Sequence[int] = (91, 88, 85),
    postings: Sequence[Posting] = (),
    **more: Any,
) -> list[MatchId]:
    """Matches of one profile, in the order of `scores`."""
    made: list[MatchId] = []
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=len(scores), postings=postings)
        for listing, score in zip(place.listings, scores, strict=True):
            id = await matches.save_verdict(tx, place.word(score, listing, **more))
            assert id is not None
            made.append(id)
    return made


def shown(page: httpx2.Response) -> list[int]:
    """The ids of the matches on a page, in order."""
    return [int(id) for id in re.findall(r'id="match-(\d+)"', page.text)]


def next_page(page: httpx2.Response) -> str | None:
    match = re.search(r'rel="next" href="([^"]+)"', page.text)
    return match[1].replace("&amp;", "&") if match else None


async def status(database: Database, id: int) -> str:
    async with database.transaction() as tx:
        return (await matches.get(tx, id)).status


async def test_matches_are_listed_best_first_with_reasons_and_terms(
    site: httpx2.AsyncClient, database: Database
) -> None:
    offer = helpers.posting(
        1,
        "Pump Engineer",
        location="Porto",
        arrangement="hybrid",
        salary=Salary(60_000, 75_000, "EUR", "year", "structured"),
    )
    low, high = await fill(database, [85, 91], [offer, helpers.posting(2, "Valve Engineer")])
    page = await site.get("/matches")
    assert page.status_code == 200
    assert shown(page) == [high, low]
    for words in (
        "Pump Engineer", "Wells &amp; Co", "Porto", "hybrid", "EUR 60,000-75,000 a year",
        "For</span> 1 of 2 requested skills", "Against</span> Text similarity", '<time datetime="',
    ):  # fmt: skip
        assert words in page.text


async def test_filters_are_query_parameters_and_empty_ones_are_ignored(
    site: httpx2.AsyncClient, database: Database
) -> None:
    postings = [
        helpers.posting(1, "Pump Engineer", arrangement="remote"),
        helpers.posting(2, "Valve Engineer", arrangement="onsite"),
        helpers.posting(3, "Valve Poet", arrangement="remote"),
    ]
    pump, valve, poet = await fill(database, [91, 88, 85], postings)
    async with database.transaction() as tx:
        await matches.set_status(tx, valve, "saved")
        await matches.set_status(tx, poet, "dismissed")
    for query, expected in {
        "": [pump],
        "?status=&least=&arrangement=&q=&order=": [pump],
        "?status=saved": [valve],
        "?status=dismissed": [poet],
        "?least=90": [pump],
        "?arrangement=onsite&status=saved": [valve],
        "?q=valve": [],
        "?q=valve&status=saved": [valve],
        "?q=valve&status=saved&least=95": [],
    }.items():
        assert shown(await site.get(f"/matches{query}")) == expected, query
    page = await site.get("/matches?status=saved&q=valve")
    assert 'name="q" maxlength="200" value="valve"' in page.text
    assert '<input type="hidden" name="status" value="saved">' in page.text


@pytest.mark.parametrize(
    "query", ["status=lost", "least=101", "least=x", "arrangement=moon", "after=0", "q=%00", "q=" + "x" * 201]
)  # fmt: skip
async def test_invalid_filters_are_refused(
    site: httpx2.AsyncClient, database: Database, query: str
) -> None:
    await fill(database, [91])
    assert (await site.get(f"/matches?{query}")).status_code == 422


async def test_paging_keeps_the_filter_and_is_stable_while_matches_change(
    site: httpx2.AsyncClient, database: Database
) -> None:
    # Equal scores: only the id orders them.
    made = await fill(database, [90] * (pages.PAGE_SIZE + 5))
    ordered = sorted(made, reverse=True)
    first = await site.get("/matches?least=80")
    assert shown(first) == ordered[: pages.PAGE_SIZE]
    more = next_page(first)
    assert more is not None
    assert parse_qs(urlsplit(more).query)["least"] == ["80"]
    async with database.transaction() as tx:
        await matches.set_status(tx, ordered[0], "dismissed")
        await matches.set_status(tx, ordered[pages.PAGE_SIZE - 1], "dismissed")
    second = await site.get(more)
    assert shown(second) == ordered[pages.PAGE_SIZE :]
    assert next_page(second) is None
    assert 'href="/matches?least=80">First page' in second.text


async def test_a_page_reads_no_more_than_it_shows(database: Database) -> None:
    await fill(database, [90] * (pages.PAGE_SIZE + 5))
    async with database.transaction() as tx:
        version = await profiles.get(tx)
        content = await pages.read_inbox(tx, version, InboxQuery())
    assert len(content.result.matches) == pages.PAGE_SIZE
    assert content.result.next == content.result.matches[-1].id


async def test_setting_a_status_returns_to_the_list_with_undo(
    site: httpx2.AsyncClient, database: Database
) -> None:
    (id,) = await fill(database, [91])
    form = {"status": "dismissed", "back": "/matches?least=80&done=7"}
    answer = await site.post(f"/matches/{id}/status", data=form)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/matches?least=80&done={id}"
    assert await status(database, id) == "dismissed"
    page = await site.get(answer.headers["location"])
    assert shown(page) == []
    assert "Dismissed: Pump Engineer" in page.text
    assert f'action="/matches/{id}/undo"' in page.text
    undone = await site.post(f"/matches/{id}/undo", data={"back": f"/matches/{id}"})
    assert (undone.status_code, undone.headers["location"]) == (303, f"/matches/{id}")
    assert await status(database, id) == "new"
    async with database.transaction() as tx:
        *_, last = await matches.read_events(tx, id)
    assert last.actor == "local"


async def test_a_script_receives_only_what_happened_and_the_panel(
    site: httpx2.AsyncClient, database: Database
) -> None:
    (id,) = await fill(database, [91])
    path = f"/matches/{id}"
    said = await site.post(f"{path}/status", data={"status": "saved"}, headers=HTMX)
    assert said.status_code == 200
    assert "Saved: Pump Engineer" in said.text
    assert "<html" not in said.text
    assert f'action="{path}/undo"' in said.text
    said = await site.post(f"{path}/undo", headers=HTMX)
    assert f'action="{path}/undo"' not in said.text
    assert await status(database, id) == "new"
    assert (await site.post(f"{path}/undo", headers=HTMX)).status_code == 200
    assert await status(database, id) == "saved"
    panel = await site.get(f"{path}/panel?back=//evil.example")
    assert panel.status_code == 200
    assert "<html" not in panel.text
    assert 'name="back" value="/matches"' in panel.text
    assert 'value="dismissed"' in panel.text


async def test_the_panel_tells_what_missing_skills_would_add(
    site: httpx2.AsyncClient, database: Database
) -> None:
    text = f"{helpers.TEXT} Requirements: 3 years of Go. You must know Go and Kubernetes."
    gaps = ("Kubernetes", "Go")
    (id,) = await fill(database, [91], [helpers.posting(1, description=text)], skill_gaps=gaps)
    path = f"/matches/{id}"
    panel = (await site.get(f"{path}/panel")).text
    assert "What if you had these skills" in panel
    assert f'hx-get="{path}/skill-gains"' in panel
    assert f'hx-get="{path}/what-if"' in panel.partition("<details")[0]
    gains = await site.get(f"{path}/skill-gains")
    points = {skill: int(n) for n, skill in re.findall(r"\+(\d+) with (\w+)", gains.text)}
    assert points.keys() == set(gaps)
    for skills in gaps:
        answer = await site.get(f"{path}/what-if", params={"having": skills})
        assert "<html" not in answer.text
        change = re.search(r"<strong>skipped (\d+) → \w+ (\d+)</strong>", answer.text)
        assert change
        assert int(change[2]) - int(change[1]) == points[skills] > 0
    wrong = await site.get(f"{path}/what-if", params={"having": "Basketry"})
    assert wrong.status_code == 422
    assert "Unknown skill: Basketry." in wrong.text
    empty = await site.get(f"{path}/what-if", params={"having": " , "})
    assert "Enter at least one skill." in empty.text


async def test_a_dismissal_has_an_optional_reason_until_it_is_undone(
    site: httpx2.AsyncClient, database: Database
) -> None:
    (id,) = await fill(database, [91])
    path = f"/matches/{id}"
    assert (await site.post(f"{path}/reason", data={"reason": "pay"})).status_code == 409
    await site.post(f"{path}/status", data={"status": "dismissed"})
    assert (await site.post(f"{path}/reason", data={"reason": "mood"})).status_code == 400
    said = await site.post(f"{path}/reason", data={"reason": "pay"}, headers=HTMX)
    assert "Dismissed: Pump Engineer (Pay)" in said.text
    assert f"{path}/reason" not in said.text
    async with database.transaction() as tx:
        assert (await matches.get(tx, id)).dismiss_reason == "pay"
        *_, last = await matches.read_events(tx, id)
    assert (last.what, last.data) == ("dismiss reason", {"reason": "pay"})
    await site.post(f"{path}/undo")
    async with database.transaction() as tx:
        assert (await matches.get(tx, id)).dismiss_reason is None


async def test_the_list_shows_the_match_that_was_asked_for_beside_it(
    site: httpx2.AsyncClient, database: Database
) -> None:
    postings = [helpers.posting(1, "Pump Engineer"), helpers.posting(2, "Valve Poet")]
    _, second = await fill(database, [91, 85], postings)
    for query, title in {"": "Pump Engineer", f"?match={second}": "Valve Poet", "?match=99": "Pump Engineer"}.items():  # fmt: skip
        page = await site.get(f"/matches{query}")
        assert f'<h2 id="panel-title">{title}</h2>' in page.text, query


@pytest.mark.parametrize(
    "back",
    ["https://evil.example/", "//evil.example", "/matchesevil", "/\\evil.example", "javascript:alert(1)",
     "/matches/../openings\r\nX-Evil: 1", "/other"],
)  # fmt: skip
async def test_the_return_path_cannot_leave_the_matches_pages(
    site: httpx2.AsyncClient, database: Database, back: str
) -> None:
    (id,) = await fill(database, [91])
    answer = await site.post(f"/matches/{id}/status", data={"status": "saved", "back": back})
    assert answer.headers["location"] == f"/matches?done={id}"


async def test_an_unknown_status_is_refused(site: httpx2.AsyncClient, database: Database) -> None:
    (id,) = await fill(database, [91])
    assert (await site.post(f"/matches/{id}/status", data={"status": "lost"})).status_code == 400
    assert (await site.post(f"/matches/{id}/undo")).status_code == 409
    assert (
        await site.post("/matches/999999999/status", data={"status": "saved"})
    ).status_code == 404
    evil = {"Origin": "https://evil.example"}
    answer = await site.post(f"/matches/{id}/status", data={"status": "saved"}, headers=evil)
    assert answer.status_code == 403
    assert await status(database, id) == "new"


@pytest.mark.parametrize(
    ("role", "reads", "changes"),
    [(None, 401, 401), ("viewer", 200, 403), ("recruiter", 404, 404), ("admin", 200, 303)],
)
async def test_keys_without_an_owner_act_for_the_local_user_within_their_scope(
    database: Database, role: Role | None, reads: int, changes: int
) -> None:
    (id,) = await fill(database, [91])
    headers = await bearer(database, role) if role else {}
    async with site_with(database) as client:
        for path in ("/matches", f"/matches/{id}", "/matches/news"):
            page = await client.get(path, headers=headers)
            assert page.status_code == reads
            if path != "/matches/news":
                assert ("/status" in page.text) is (changes == 303)
        for step in ("status", "undo"):
            answer = await client.post(
                f"/matches/{id}/{step}", data={"status": "saved"}, headers=headers
            )
            assert answer.status_code == changes


async def test_new_matches_are_counted_without_changing_the_list(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=4)
        await matches.save_verdict(tx, place.word(91, place.listings[0]))
    page = await site.get("/matches?least=85")
    match = re.search(r'hx-get="(/matches/news[^"]+)"', page.text)
    assert match
    news = match[1].replace("&amp;", "&")
    assert 'hx-trigger="matches from:#live"' in page.text
    assert "/live?topic=matches" in page.text
    assert (await site.get(news)).text.strip() == ""
    async with database.transaction() as tx:
        # The last one is below the minimum score of this list.
        for listing, score in zip(place.listings[1:], (90, 86, 82), strict=True):
            await matches.save_verdict(tx, place.word(score, listing))
    assert (
        await site.get(news)
    ).text.strip() == '<a href="/matches?least=85">Show 2 new matches</a>'


async def test_each_profile_has_its_own_inbox(site: httpx2.AsyncClient, database: Database) -> None:
    (first,) = await fill(database, [91])
    assert 'aria-label="Profiles"' not in (await site.get("/matches")).text
    async with database.transaction() as tx:
        other = await judged.make(tx, name="other", postings=[helpers.posting(77, "Poet")])
        second = await matches.save_verdict(tx, other.word(85))
    page = await site.get("/matches")
    assert shown(page) == [first]
    assert "/matches?profile=other" in page.text
    assert shown(await site.get("/matches?profile=other")) == [second]
    assert (await site.get("/matches?profile=nobody")).status_code == 404


async def test_an_empty_inbox_says_what_to_do_next(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async def says(words: str, query: str = "") -> None:
        page = await site.get(f"/matches{query}")
        assert page.status_code == 200
        assert words in page.text

    await says("You have no profile yet")
    async with database.transaction() as tx:
        place = await judged.make(tx)
    await says('href="/sources">Add sources')
    async with database.transaction() as tx:
        await judging_feed.add(tx, [place.listing])
    await says("Jobs are waiting to be scored")
    async with database.transaction() as tx:
        await tx.execute("DELETE FROM matching.judging_queue")
        await matches.save_verdict(tx, place.filtered())
    await says("No job matches the profile main yet.")
    async with database.transaction() as tx:
        id = await matches.save_verdict(tx, place.word(91))
    assert id
    await says("No matches for these filters.", "?least=99")
    await says("No more matches.", f"?after={id}")
    async with database.transaction() as tx:
        await matches.set_status(tx, id, "dismissed")
    await says("you have decided on every match")


async def test_tabs_count_what_their_lists_show(
    site: httpx2.AsyncClient, database: Database
) -> None:
    ids = await fill(database, [91, 90, 89])
    async with database.transaction() as tx:
        await matches.set_status(tx, ids[0], "saved")
        await judged.close(tx, (await matches.get(tx, ids[0])).listing_id)
        await judged.close(tx, (await matches.get(tx, ids[1])).listing_id)
    page = await site.get("/matches")
    assert len(shown(page)) == 1
    assert re.findall(r">(\w+) <small>(\d+)</small>", page.text) == [
        ("Inbox", "1"), ("Saved", "1"), ("Applied", "0"), ("Dismissed", "0"),
    ]  # fmt: skip


async def test_a_vacancy_from_two_sources_is_listed_once_with_a_link_to_the_other(
    site: httpx2.AsyncClient, database: Database
) -> None:
    low, high, other = await fill(database, [85, 91, 88])
    async with database.transaction() as tx:
        first, second = [(await matches.get(tx, id)).listing_id for id in (low, high)]
        await duplicate_links.link(tx, second, first)
    for path in ("/matches", "/matches?status=new", "/matches?order=newest", "/today"):
        page = await site.get(path)
        assert f'"/matches/{high}"' in page.text or f"match-{high}" in page.text, path
        assert f"match-{low}" not in page.text, path
    page = await site.get("/matches")
    assert shown(page) == [high, other]
    assert re.search(r">Inbox <small>2</small>", page.text)
    lines = await site.get("/matches/export.jsonl")
    assert [json.loads(line)["id"] for line in lines.text.splitlines()] == [other, high, low]
    also = rf'also at <a href="/matches/{low}">wells\d+ board</a></span>'
    for path in ("/matches", f"/matches/{high}"):
        assert re.search(also, (await site.get(path)).text), path
    # A status applies to both duplicates.
    form = {"status": "saved", "back": "/matches"}
    await site.post(f"/matches/{high}/status", data=form, headers=HTMX)
    hidden = await site.get(f"/matches/{low}")
    assert re.search(rf'/matches/{high}">wells\d+ board</a> <em>\(saved\)</em>', hidden.text)
    assert shown(await site.get("/matches?status=new")) == [other]


async def test_the_status_of_a_duplicate_is_shown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    low, high = await fill(database, [85, 91])
    async with database.transaction() as tx:
        first, second = [(await matches.get(tx, id)).listing_id for id in (low, high)]
        await duplicate_links.link(tx, second, first)
    assert "New: Pump Engineer" in (await site.get(f"/matches?done={low}")).text


async def test_reasons_dealbreakers_and_missing_points_are_shown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    items = (
        ScoreItem("skills", 80, 85, "4 of 5 requested skills: Python; missing: Go"),
        ScoreItem("salary", 7, 10, "Pay not stated", state="unknown"),
        ScoreItem("arrangement", 0, 5, "Remote, but in another country", state="excluded"),
    )
    (id,) = await fill(database, [87], items=items)
    async with database.transaction() as tx:
        listing = (await matches.get(tx, id)).listing_id
        await matches.set_status(tx, id, "saved")
    for path in ("/matches?status=saved", f"/matches/{id}", f"/jobs/{listing}"):
        page = await site.get(path)
        assert "Dealbreaker</span> Remote, but in another country" in page.text, path
        assert "For</span> 4 of 5 requested skills: Python<" in page.text, path
    for path in (f"/matches/{id}", f"/jobs/{listing}"):
        page = await site.get(path)
        assert "13 points missing: skills 5, arrangement 5, salary 3 (not known)" in page.text


async def test_a_match_without_a_dealbreaker_shows_its_strongest_reason_against(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await fill(database, [91])
    page = await site.get("/matches")
    assert "Against</span> Text similarity: 90%" in page.text
    assert "Dealbreaker" not in page.text


async def test_a_match_page_shows_score_strikes_text_and_history(
    site: httpx2.AsyncClient, database: Database
) -> None:
    text = f"{helpers.TEXT} You know Python and some Fortran."
    struck = FilterResult(True, 2, (), (Strike("location", "asks for Madrid", 2, "Madrid"),), "")
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=[helpers.posting(1, description=text)])
        word = place.word(91)
        word = Verdict(word.profile_id, 1, word.listing_id, "matched", struck, word.match_result, 91, item=4711)  # fmt: skip
        id = await matches.save_verdict(tx, word, scrape_method="greenhouse")
        assert id
        await matches.set_status(tx, id, "saved", actor="ada", note="call them")
    page = await site.get(f"/matches/{id}")
    assert page.status_code == 200
    for words in (
        "<b>91</b>", "1 of 2 requested skills", "51 <small>of 60", 'width="85"', "<mark>Python</mark>",
        "some Fortran", "asks for Madrid", "2 strikes", "<q>Madrid</q>", '<span class="chip">Go</span>',
        "Keeps water running.", "new → saved · by ada · call them", "created, score 91",
        'href="https://boards.example/wells/postings/1" rel="noopener noreferrer"', " board", "greenhouse",
        "Task 4711, no longer in the queue", "needs 80",
    ):  # fmt: skip
        assert words in page.text, words
    assert (await site.get("/matches/999999999")).status_code == 404
    assert (await site.get("/matches/none")).status_code == 404


@pytest.mark.parametrize("evil", EVIL)
async def test_text_from_sites_is_escaped(
    site: httpx2.AsyncClient, database: Database, evil: str
) -> None:
    bad = helpers.posting(
        1, evil, company=evil, location=evil, description=f"{evil} Python <b>bold</b> {helpers.TEXT}",
        url="javascript:alert(1)", apply_url="javascript:alert(2)",
    )  # fmt: skip
    id = await _evil(database, bad, evil)
    await site.post(f"/matches/{id}/status", data={"status": "saved", "back": f"/matches?q={evil}"})
    for path in ("/matches", f"/matches/{id}", f"/matches?q={evil}", f"/matches?done={id}"):
        page = await site.get(path)
        assert page.status_code == 200
        assert not TAG.search(page.text), path
        assert "javascript:" not in page.text
        assert "16807</" not in page.text


async def _evil(database: Database, bad: Posting, evil: str) -> MatchId:
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=[bad])
        result = judged.result(
            91,
            matched_skills=(evil, "Python"),
            skill_gaps=(evil,),
            items=(ScoreItem(evil, 91, 100, evil, (evil,)),),
            resume_intake=ResumeIntake(professional_summary=evil, ats_keywords=(evil,)),
        )
        struck = FilterResult(True, 2, (), (Strike(evil, evil, 2, evil),), evil)
        word = Verdict(place.profile, 1, place.listing, "matched", struck, result, 91)
        id = await matches.save_verdict(tx, word, scrape_method=evil)
        assert id
        await matches.set_status(tx, id, "saved", note=evil, actor=evil)
    return id


@pytest.mark.parametrize(
    ("text", "names", "marked"),
    [
        ("", ["Python"], []),
        ("We write Python, golang and C++.", ["Python", "Go"], ["Python", "golang"]),
        ("Well digging and well-digging wells", ["Well digging"], ["Well digging"]),
        ("Pythonic", ["Python"], []),
        ("C++ (and c) a.b axb", ["a.b"], ["a.b"]),
        ("Python Python", ["Python", "python"], ["Python", "Python"]),
        # No more of a very long text is searched than is read for the score.
        (
            f"Python well digging {'dig ' * 10_000}Python well digging",
            ["Python", "Well digging"],
            ["Python", "well digging"],
        ),
    ],
)
def test_skills_are_highlighted_in_the_text(text: str, names: list[str], marked: list[str]) -> None:
    pieces = skill_highlights.split_at_skills(text, names)
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.text for piece in pieces if piece.is_skill] == marked


@pytest.mark.parametrize(
    ("points", "most", "length"), [(0, 10, 0), (5, 10, 50), (-15, 5, 100), (-5, 10, 50), (0, 0, 0)]
)
def test_the_length_of_a_score_bar_is_its_share(points: int, most: int, length: int) -> None:
    (bar,) = score_bars([{"name": "x", "points": points, "most": most, "why": ""}])
    assert bar.length == length


async def test_filters_can_be_saved_as_a_view_removed_and_restored(
    site: httpx2.AsyncClient, database: Database
) -> None:
    high, _ = await fill(database, [95, 85])
    assert "Save these filters" not in (await site.get("/matches")).text
    page = await site.get("/matches?least=90&order=newest")
    action = re.search(r'action="(/matches/views\?[^"]+)"', page.text)
    assert action
    saved = await site.post(action[1].replace("&amp;", "&"), data={"name": "Good ones"})
    assert (saved.status_code, saved.headers["location"]) == (303, "/matches?least=90&order=newest")
    page = await site.get("/matches")
    link = '<a href="/matches?least=90&amp;order=newest"{}>Good ones</a>'
    assert link.format("") in page.text
    page = await site.get(saved.headers["location"])
    assert shown(page) == [high]
    assert link.format(' aria-current="true"') in page.text
    remove = re.search(r'action="(/matches/views/\d+/remove[^"]*)"', page.text)
    assert remove
    gone = await site.post(remove[1].replace("&amp;", "&"))
    assert re.fullmatch(r"/matches\?gone=\d+", gone.headers["location"])
    page = await site.get(gone.headers["location"])
    assert "View Good ones removed" in page.text
    assert "order=newest" not in page.text
    restore = re.search(r'action="(/matches/views/\d+/restore)"', page.text)
    assert restore
    back = await site.post(restore[1])
    assert back.headers["location"] == "/matches?least=90&order=newest"
    assert link.format("") in (await site.get("/matches")).text


@pytest.mark.parametrize(("name", "status"), [("Good", 409), ("", 400), ("x" * 61, 400)])
async def test_an_invalid_view_is_refused_and_the_form_keeps_its_name(
    site: httpx2.AsyncClient, database: Database, name: str, status: int
) -> None:
    await fill(database, [91])
    await site.post("/matches/views?least=80", data={"name": "good"})
    page = await site.post("/matches/views?least=90", data={"name": name})
    assert page.status_code == status
    assert 'role="alert"' in page.text
    assert f'maxlength="60" required value="{name}"' in page.text


@pytest.mark.parametrize("evil", EVIL)
async def test_the_name_of_a_view_is_escaped(
    site: httpx2.AsyncClient, database: Database, evil: str
) -> None:
    await fill(database, [91])
    saved = await site.post("/matches/views", params={"q": evil}, data={"name": evil})
    assert saved.status_code == 303
    for path in ("/matches", saved.headers["location"]):
        assert not TAG.search((await site.get(path)).text)


async def test_a_list_can_be_exported_as_a_file(
    site: httpx2.AsyncClient, database: Database
) -> None:
    formula = helpers.posting(1, '=HYPERLINK("https://evil.example")', arrangement="remote")
    first, other, _ = await fill(
        database, [95, 91, 85], [formula, helpers.posting(2), helpers.posting(3)]
    )
    page = await site.get("/matches?least=90")
    assert 'href="/matches/export.csv?least=90"' in page.text
    table = await site.get("/matches/export.csv?least=90")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.headers["content-disposition"] == 'attachment; filename="matches.csv"'
    rows = list(csv.DictReader(io.StringIO(table.text, newline="")))
    assert [int(row["id"]) for row in rows] == [other, first]
    assert rows[1]["title"] == '\'=HYPERLINK("https://evil.example")'
    assert rows[0]["items"] == "skills 40/40; meaning 51/60"
    lines = await site.get("/matches/export.jsonl?arrangement=remote")
    (written,) = map(json.loads, lines.text.splitlines())
    assert (written["id"], written["title"]) == (first, formula.title)
    assert (await site.get("/matches/export.csv?profile=nobody")).status_code == 404


async def _never(work: Work) -> Move:
    raise AssertionError(work)


async def test_a_match_links_to_its_lineage(site: httpx2.AsyncClient, database: Database) -> None:
    (item,) = await put(database, stages(tea=_never), new("tea"))
    async with database.transaction() as tx:
        place = await judged.make(tx)
        id = await matches.save_verdict(tx, replace(place.word(91), item=item))
        lineage_id = await lineage.get_tracking_id(tx, item)
    link = f'href="/activity/lineage/{lineage_id}?item={item}"'
    for path in (f"/matches/{id}", f"/jobs/{place.listing}"):
        assert link in (await site.get(path)).text


@pytest.mark.parametrize(("role", "changes"), [("viewer", 403), ("admin", 303)])
async def test_a_key_that_reads_can_see_views_and_board_but_not_change_them(
    database: Database, role: Role, changes: int
) -> None:
    await fill(database, [91])
    headers = await bearer(database, role)
    async with site_with(database) as client:
        for path in ("/matches?least=90", "/matches/export.csv"):
            page = await client.get(path, headers=headers)
            assert page.status_code == 200
            assert ('action="/matches/' in page.text) is (changes == 303 and "csv" not in path)
        answer = await client.post("/matches/views?least=90", data={"name": "x"}, headers=headers)
        assert answer.status_code == changes
