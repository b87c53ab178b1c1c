"""`jobmill match`."""

from __future__ import annotations

import asyncio
import csv
import os
import pty
import re
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobmill.catalog import duplicate_links
from jobmill.catalog.posting import Posting, Salary
from jobmill.db import Database
from jobmill.matching import judging_feed, match_export, matches, profiles, verdicts
from jobmill.matching.profile import Profile
from jobmill.matching.verdict import ScoreItem
from tests.catalog import helpers
from tests.cli import forked
from tests.cli.forked import json_lines
from tests.matching import judged
from tests.queue.helpers import fetch

Run = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]

REQUIRED_FIELDS = {
    "url", "title", "company", "companyId", "location", "description", "matchScore",
    "applicationPriority", "matchedSkills", "skillGaps", "resumeIntakeData", "createdAt", "status",
}  # fmt: skip
INTAKE = {
    "professionalSummary", "prioritizedSkills", "experienceHighlights", "projectsToInclude",
    "achievementAngles", "atsKeywords",
}  # fmt: skip
WORDLESS = Profile(seniority=("senior",))
"""Without words that need an embedding, which takes a while to compute."""


def variables(home: Path, url: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "USER": "dana",
        "DATABASE_URL": forked.as_url(url),
    }


@pytest.fixture
def run(home: Path, url: str) -> Run:
    async def call(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        words = arguments if arguments[0] == "profile" else ("match", *arguments)
        environment = variables(home, url)
        return await asyncio.to_thread(
            forked.jobmill, *words, stdin=stdin, folder=home, variables=environment
        )

    return call


@pytest.fixture(autouse=True)
async def numbers(database: Database) -> None:
    """Ids start at 1: tests before this one used numbers of the template database."""
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE matching.match ALTER COLUMN id RESTART")
        await tx.execute("ALTER TABLE catalog.listing ALTER COLUMN id RESTART")


def offer(id: int, title: str = "Senior Pump Engineer", **facts: Any) -> Posting:
    facts.setdefault("arrangement", "remote")
    facts.setdefault("location", "Remote, US")
    return helpers.posting(id, title, **facts)


async def make(database: Database, *scores: int, **more: Any) -> judged.Place:
    """A profile, and a listing with each of these scores."""
    postings = more.pop("postings", None) or [offer(id) for id in range(1, len(scores) + 1)]
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=postings, profile=WORDLESS)
        for listing, score in zip(place.listings, scores, strict=False):
            await matches.save_verdict(tx, place.word(score, listing, **more), scrape_method="text")
    return place


async def test_an_empty_list_says_what_to_do_next(run: Run, database: Database) -> None:
    done = await run("list")
    assert done.returncode == 3
    assert "jobmill profile import me.yaml" in done.stderr
    async with database.transaction() as tx:
        await profiles.save(tx, "main", WORDLESS)
    assert "jobmill source add URL" in (await run("list")).stdout
    assert "jobmill source add URL" in (await run("stats")).stdout
    assert "No open jobs" in (await run("rescore", "--dry-run")).stdout
    place = await make(database, postings=[offer(1), offer(2)])
    async with database.transaction() as tx:
        await judging_feed.add(tx, place.listings)
    assert "2 jobs are waiting to be scored" in (await run("list")).stdout
    async with database.transaction() as tx:
        await judging_feed.claim_due(tx, 10)
        await matches.save_verdict(tx, place.word(40))
    assert "None of 1 job matches main" in (await run("list")).stdout
    async with database.transaction() as tx:
        await matches.save_verdict(tx, place.word(90))
    assert "No matches for these filters" in (await run("list", "--status", "offer")).stdout
    assert (await run("list", "--status", "offer", "--json")).stdout == ""


async def test_matches_are_listed_best_first_with_reasons(run: Run, database: Database) -> None:
    pay = Salary(60_000, 75_000, "EUR", "year", "structured")
    postings = [offer(1), offer(2, "Staff Engineer", salary=pay), offer(3, "Diver")]
    place = await make(database, 82, 91, 40, postings=postings)
    shown = (await run("list")).stdout.splitlines()
    assert [line.split("  ")[-1] for line in shown if "Wells" in line] == [
        "Staff Engineer · Wells & Co",
        "Senior Pump Engineer · Wells & Co",
    ]
    assert shown[0].startswith("    2   91 High ")
    assert shown[1].strip() == "for: 1 of 2 requested skills"
    assert shown[2].strip() == "against: Text similarity: 90%"
    assert shown[3].strip().startswith("new · EUR 60,000-75,000 a year · Remote, US · found ")
    listed = json_lines(await run("list", "--json"))
    assert [match["matchScore"] for match in listed] == [91, 82]
    assert listed[0].keys() >= REQUIRED_FIELDS
    assert listed[0]["resumeIntakeData"].keys() == INTAKE
    assert (listed[0]["listingId"], listed[0]["profileVersion"]) == (place.listings[1], 1)


async def test_a_vacancy_from_two_sources_is_listed_once(run: Run, database: Database) -> None:
    place = await make(database, 82, 91, postings=[offer(1), offer(2)])
    async with database.transaction() as tx:
        await duplicate_links.link(tx, place.listings[1], place.listing)
    shown = (await run("list")).stdout.splitlines()
    assert len(shown) == 4
    assert shown[0].startswith("    2   91 High ")
    assert shown[3].endswith(" board (match 1, new)")
    assert [match["id"] for match in json_lines(await run("export", "--json"))] == [2, 1]
    await run("set-status", 1, "dismissed")
    assert "No matches for these filters." in (await run("list")).stdout
    assert re.search(
        r"duplicates +also at \S+ board \(match 2, new\)", (await run("show", 1)).stdout
    )


async def test_reasons_dealbreakers_and_missing_points_are_shown(
    run: Run, database: Database
) -> None:
    items = (
        ScoreItem("skills", 80, 85, "4 of 5 requested skills: Python; missing: Go"),
        ScoreItem("salary", 7, 10, "Pay not stated", state="unknown"),
        ScoreItem("arrangement", 0, 5, "Remote, but in another country", state="excluded"),
    )
    await make(database, 87, postings=[offer(1)], items=items)
    for command in (["list"], ["show", 1], ["why", 1]):
        shown = (await run(*command)).stdout
        assert "dealbreaker: Remote, but in another country" in shown
        assert "for: 4 of 5 requested skills: Python\n" in shown
    for command in ("show", "why"):
        shown = (await run(command, 1)).stdout
        assert "  87 of 100  missing: skills 5, arrangement 5, salary 3 (not known)\n" in shown
    (listed,) = json_lines(await run("list", "--json"))
    (shown_match,) = json_lines(await run("show", 1, "--json"))
    (explained,) = json_lines(await run("why", 1, "--json"))
    for record in (listed, shown_match):
        assert record["reasonFor"] == "4 of 5 requested skills: Python"
        assert record["reasonAgainst"] == "Remote, but in another country"
        assert record["dealbreakers"] == ["Remote, but in another country"]
        assert [loss["points"] for loss in record["missingPoints"]] == [5, 5, 3]
    assert explained["match_result"]["dealbreakers"] == ["Remote, but in another country"]


async def test_matches_can_be_filtered_and_paged(run: Run, database: Database) -> None:
    await make(database, 82, 91, 86)
    await run("set-status", 1, 3, "saved")

    async def ids(*arguments: object) -> list[int]:
        return [match["id"] for match in json_lines(await run("list", "--json", *arguments))]

    assert await ids("--status", "saved", "--status", "offer") == [3, 1]
    assert await ids("--priority", "High") == [2, 3]
    assert await ids("--least", 86) == [2, 3]
    assert await ids("--find", '"vacancy 3"') == [3]
    assert await ids("--newest") == [3, 2, 1]
    first = await run("list", "--limit", 2)
    assert "There are more: --after 3" in first.stderr
    assert await ids("--limit", 2, "--after", 3) == [1]
    assert "No more matches" in (await run("list", "--after", 1)).stdout
    for arguments, code, words in [
        (["--status", "hired"], 2, "hired is not a status: use new, saved"),
        (["--after", 99], 3, "match 99 does not exist; `jobmill match list`"),
        (["--profile", "nobody"], 3, "`jobmill profile list`"),
        (["--after", "9" * 20], 2, "cannot store"),
    ]:
        done = await run("list", *arguments)
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr


async def test_a_match_is_shown_in_full(run: Run, database: Database) -> None:
    postings = [offer(1, description="Pumps. " * 200, apply_url="https://apply.example/1")]
    await make(database, 91, postings=postings, scored_by="claude-strong")
    await run("set-status", 1, "applied", "--note", "by mail")
    shown = (await run("show", 1)).stdout
    for words in (
        "91 of 100, High priority",
        "by claude-strong for version 1 of main",
        "applied since",
        "by dana",
        "by mail",
        "https://boards.example/wells/postings/1",
        "https://apply.example/1",
        "  40 of 40   skills       1 of 2 requested skills",
        "  91 of 100  missing: meaning 9",
        "Keeps water running.",
        "created with score 91 for version 1",
        "new → applied · by dana · by mail",
        "more characters: --text",
    ):
        assert words in shown, words
    assert (await run("show", 1, "--text")).stdout.count("Pumps.") == 200
    (match,) = json_lines(await run("show", 1, "--json"))
    assert match.keys() >= REQUIRED_FIELDS
    assert match["description"] == "Pumps. " * 200
    assert [event["what"] for event in match["events"]] == ["created", "status"]
    done = await run("show", 7)
    assert done.returncode == 3
    assert "match 7 does not exist; `jobmill match list`" in done.stderr


async def test_control_characters_in_a_listing_are_escaped(run: Run, database: Database) -> None:
    await make(
        database, 91, postings=[offer(1, "Evil\x1b[2J\x07 Engineer", description="\x1b[31m")]
    )
    for arguments in (["list"], ["show", 1], ["why", 1], ["set-status", 1, "saved"]):
        done = await run(*arguments)
        assert "Evil\\x1b[2J" in done.stdout, arguments
        assert "\x1b[2J" not in done.stdout + done.stderr


async def test_why_shows_rules_points_and_evidence(run: Run, database: Database) -> None:
    claims = ("skill: Rust",)
    place = await make(
        database, 91, postings=[offer(1), offer(2), offer(3)],
        scored_by="claude-strong", dropped_claims=claims, local_score=84,
    )  # fmt: skip
    _, struck, rejected = place.listings
    async with database.transaction() as tx:
        await matches.save_verdict(tx, place.filtered(struck))
        await matches.save_verdict(tx, place.filtered(rejected, why=judged.REJECTED))
    fits = (await run("why", "https://boards.example/wells/postings/1?utm_source=x")).stdout
    for words in (
        "matched, score 91 of 100",
        "scored by claude-strong for version 1 of main, on 20",
        "the local score was 84",
        "match 1, new",
        "passed with 0 strikes (limit 5)",
        "40 of 40   skills",
        "“Python”",
        "91 of 100  missing: meaning 9",
        "needs 80: the minimum score of a match",
        "skill: Rust",
    ):
        assert words in fits, words
    shown = (await run("why", struck)).stdout
    assert "filtered out" in shown
    assert "3    seniority      Seniority mismatch (too senior): director" in shown
    assert "“Director of Pumps”" in shown
    assert "reject  arrangement    on site" in (await run("why", rejected)).stdout
    (verdict,) = json_lines(await run("why", struck, "--json"))
    assert (verdict["outcome"], verdict["kept"], verdict["match_id"]) == ("filtered", True, None)
    assert verdict["filter_result"]["total_strikes"] == 5
    async with database.transaction() as tx:
        await profiles.save(tx, "main", Profile())
    assert "the newest version is 2" in (await run("why", struck)).stdout
    for unknown, hint in ((99, "listing search"), ("https://boards.example/9", "listing add")):
        done = await run("why", unknown)
        assert (done.returncode, hint in done.stderr) == (3, True)


async def test_why_shows_that_a_match_no_longer_matches(run: Run, database: Database) -> None:
    place = await make(database, 90)
    async with database.transaction() as tx:
        await matches.save_verdict(tx, place.word(40))
    assert "match 1, new, no longer a match" in (await run("why", place.listing)).stdout


async def test_why_scores_an_unscored_listing_without_saving(run: Run, database: Database) -> None:
    place = await make(
        database, postings=[offer(1), offer(2, arrangement="onsite", location="Lyon")]
    )
    (verdict,) = json_lines(await run("why", place.listing, "--json"))
    assert (verdict["kept"], verdict["judged_at"], verdict["scored_by"]) == (False, None, "local")
    assert verdict["score"] == sum(item["points"] for item in verdict["match_result"]["items"])
    away = (await run("why", place.listings[1])).stdout
    assert "filtered out" in away
    assert "just now, not saved" in away
    assert "Lyon" in away
    assert await fetch(database, "SELECT count(*) FROM matching.verdict") == [0]


async def test_what_if_shows_the_change_without_saving(run: Run, database: Database) -> None:
    text = "Requirements: strong Python, 5+ years. You look after pumps. " * 3
    place = await make(database, postings=[offer(1, description=text)])
    await run("profile", "import", "-", stdin="skills: [{name: Python, rank: primary}]")
    (result,) = json_lines(await run("what-if", place.listing, "--without", "python", "--json"))
    change = result["difference"]
    assert change["before"]["score"] > change["after"]["score"]
    assert "skills" in {item["name"] for item in change["items"]}
    shown = (await run("what-if", place.listing, "--without", "Python")).stdout
    assert "→" in shown.splitlines()[2]
    assert "Nothing was saved" in shown
    lower = (await run("what-if", place.listing, "--set", "rules.match.score=1")).stdout
    assert "score needed: 80 → 1" in lower
    (added,) = json_lines(await run("what-if", 1, "--with", "Go:strong", "--json"))
    assert added["difference"]["after"]["score"] >= added["difference"]["before"]["score"]
    assert await fetch(database, "SELECT count(*) FROM matching.verdict") == [0]
    assert len(json_lines(await run("profile", "history", "--json"))) == 2


async def test_what_if_estimates_the_score_of_a_model(run: Run, database: Database) -> None:
    place = await make(database, postings=[offer(1, seniority="senior")])
    (now,) = json_lines(await run("why", 1, "--json"))
    async with database.transaction() as tx:
        await matches.save_verdict(tx, place.word(now["score"] + 5, local_score=now["score"]))
    (result,) = json_lines(await run("what-if", 1, "--set", "seniority=[intern]", "--json"))
    assert result["difference"]["after"]["score"] < now["score"]
    assert result["predicted"]["score"] == result["difference"]["after"]["score"] + 5


async def test_what_if_all_counts_matches_gained_and_lost(run: Run, database: Database) -> None:
    await make(database, 90, 40)
    low = ["--set", "rules.match={score: 0, with_home_city: 0}"]
    (preview,) = json_lines(await run("what-if", "--all", *low, "--json"))
    assert preview["counts"] == {"in": 1, "out": 0, "moved": 1, "other": 0, "same": 0}
    shown = (await run("what-if", "--all", *low)).stdout
    assert "2 open jobs, scored with local rules for main with these changes." in shown
    assert "Nothing was changed." in shown
    high = ["--set", "rules.match={score: 100, with_home_city: 100}"]
    (preview,) = json_lines(await run("what-if", "--all", *high, "--json"))
    assert [change["before"]["score"] for change in preview["out"]] == [90]
    assert await fetch(database, "SELECT count(*) FROM matching.judging_queue") == [0]


async def test_what_if_all_warns_about_unknown_skills(run: Run, database: Database) -> None:
    await make(database, 90)
    done = await run("what-if", "--all", "--with", "Basketry:strong", "--with", "Go", "--json")
    assert done.stderr == "Unknown skill Basketry: only its exact words are searched for.\n"
    (preview,) = json_lines(done)
    assert preview["counts"]["moved"] + preview["counts"]["same"] + preview["counts"]["out"] == 1


async def test_invalid_what_if_options_are_refused(run: Run, database: Database) -> None:
    await make(database, 90)
    for arguments, words in [
        ([1], "name at least one change"),
        (["--with", "Go"], "name one job, or use --all"),
        ([1, "--all", "--with", "Go"], "name one job, or use --all"),
        ([1, "--without", "Go"], "The profile does not list the skill Go. It lists no skills."),
        ([1, "--set", "titels=[A]"], "did you mean titles?"),
        ([1, "--with", "Go:best"], "skills.1.rank should be"),
        ([1, "--with", "Kubernets"], "Unknown skill: Kubernets. Did you mean Kubernetes?"),
        ([1, "--with", "Basketry"], "Unknown skill: Basketry. The job does not mention it"),
        ([1, "--set", "locations=[Atlantis]"], "Unknown place: Atlantis"),
    ]:
        done = await run("what-if", *arguments)
        assert (done.returncode, words in done.stderr) == (2, True), (arguments, done.stderr)
    assert (await run("what-if", 99, "--with", "Go")).returncode == 3


async def test_rescore_previews_and_queues_only_changed_listings(
    run: Run, database: Database
) -> None:
    place = await make(database, postings=[offer(id) for id in range(1, 6)])
    (now,) = json_lines(await run("why", 1, "--json"))
    same, moved, out, came, never = place.listings
    async with database.transaction() as tx:
        await matches.save_verdict(tx, place.word(now["score"], same))
        await matches.save_verdict(tx, place.word(now["score"] + 9, moved, threshold=0))
        await matches.save_verdict(tx, place.word(now["score"], out, threshold=0))
        await matches.save_verdict(tx, place.filtered(came))
        await matches.set_status(tx, 2, "applied")
    before = await fetch(
        database, "SELECT outcome, score FROM matching.verdict ORDER BY listing_id"
    )

    dry = await run("rescore", "--dry-run")
    assert "5 open jobs, scored with local rules for version 1 of main." in dry.stdout
    assert "To apply it: `jobmill match rescore --profile main`" in dry.stdout
    done = await run("rescore")
    assert (done.returncode, "--yes" in done.stderr) == (2, True)
    assert await fetch(database, "SELECT count(*) FROM matching.judging_queue") == [0]

    (preview,) = json_lines(await run("rescore", "--yes", "--json"))
    changed = sum(count for kind, count in preview["counts"].items() if kind != "same")
    assert preview["queued"] == changed
    waits = await fetch(database, "SELECT listing_id FROM matching.judging_queue ORDER BY 1")
    assert set(waits) >= {moved, came, never}
    assert len(waits) == changed
    assert same not in waits
    after = await fetch(database, "SELECT outcome, score FROM matching.verdict ORDER BY listing_id")
    assert after == before
    assert (await fetch(database, "SELECT status FROM matching.match WHERE id = 2")) == ["applied"]
    assert "queued for scoring" in (await run("rescore", "--yes")).stdout


async def test_rescore_without_differences_changes_nothing(run: Run, database: Database) -> None:
    place = await make(database, postings=[offer(1)])
    (now,) = json_lines(await run("why", 1, "--json"))
    async with database.transaction() as tx:
        await matches.save_verdict(tx, place.word(now["score"]))
    assert "Nothing would change." in (await run("rescore", "--yes")).stdout
    assert await fetch(database, "SELECT count(*) FROM matching.judging_queue") == [0]


async def test_rescore_keeps_the_status_of_lost_matches(run: Run, database: Database) -> None:
    place = await make(database, 90, 90, postings=[offer(1), offer(2)])
    await run("set-status", 1, "saved")
    async with database.transaction() as tx:
        high = WORDLESS.rules.model_copy(
            update={"match": WORDLESS.rules.match.model_copy(update={"score": 100})}
        )
        await profiles.save(tx, "main", WORDLESS.model_copy(update={"rules": high}))
    shown = (await run("rescore", "--dry-run")).stdout
    assert "1 with a status that you set, which is kept" in shown
    assert "your status: saved" in shown
    (preview,) = json_lines(await run("rescore", "--dry-run", "--json"))
    assert {change["listing_id"]: change["status"] for change in preview["out"]} == {
        place.listings[0]: "saved",
        place.listings[1]: None,
    }


@pytest.mark.parametrize(("answer", "waits"), [(b"n\n", 0), (b"y\n", 1)])
async def test_rescore_asks_for_confirmation_on_a_terminal(
    home: Path, url: str, database: Database, answer: bytes, waits: int
) -> None:
    await make(database, postings=[offer(1)])
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    done = await asyncio.to_thread(
        forked.jobmill, "match", "rescore",
        terminal=os.ttyname(theirs), folder=home, variables=variables(home, url),
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "Queue 1 job for scoring?" in done.stderr
    assert await fetch(database, "SELECT count(*)::int FROM matching.judging_queue") == [waits]
    assert ("Nothing was changed." in done.stdout) == (waits == 0)


async def test_statuses_can_be_set_for_several_matches_and_undone(
    run: Run, database: Database
) -> None:
    await make(database, 82, 91)
    done = await run("set-status", 2, 1, 2, "saved", "--note", "nice")
    assert done.stdout.splitlines() == [
        "    1  new → saved  Senior Pump Engineer · Wells & Co",
        "    2  new → saved  Senior Pump Engineer · Wells & Co",
    ]
    assert "jobmill match undo" in done.stderr
    (change,) = json_lines(await run("set-status", 1, "applied", "--json"))
    assert (change["before"], change["status"], change["note"]) == ("saved", "applied", "nice")
    assert "applied → saved" in (await run("undo", 1)).stdout
    (back,) = json_lines(await run("undo", 2, "--json"))
    assert (back["before"], back["status"]) == ("saved", "new")
    assert await fetch(database, "SELECT status_by FROM matching.match ORDER BY id") == ["dana"] * 2

    done = await run("set-status", 1, 99, "dismissed")
    assert (done.returncode, "match 99 does not exist" in done.stderr) == (3, True)
    # All or none are changed.
    assert json_lines(await run("list", "--status", "dismissed", "--json")) == []
    assert (await run("set-status", 1, "hired")).returncode == 2
    assert (await run("undo", 99)).returncode == 3


async def test_dismissed_matches_are_listed_only_on_request(run: Run, database: Database) -> None:
    await make(database, 82, 91)
    await run("set-status", 2, "dismissed")
    assert [match["id"] for match in json_lines(await run("list", "--json"))] == [1]
    assert [
        match["id"] for match in json_lines(await run("list", "--status", "dismissed", "--json"))
    ] == [2]
    await run("set-status", 1, "dismissed")
    assert "--status dismissed" in (await run("list")).stdout


async def test_a_status_that_never_changed_cannot_be_undone(run: Run, database: Database) -> None:
    await make(database, 82)
    done = await run("undo", 1)
    assert (done.returncode, "nothing to undo" in done.stderr) == (4, True)


async def test_an_export_has_all_fields_and_is_safe_in_a_spreadsheet(
    run: Run, database: Database, home: Path
) -> None:
    postings = [offer(1, "=A1+A2", location="@home"), offer(2)]
    await make(database, 82, 91, postings=postings, matched_skills=("=cmd", "Go"))
    await run("set-status", 2, "saved", "--note", "+1")
    done = await run("export", "--out", "all.csv")
    assert "2 matches written to all.csv" in done.stderr
    with (home / "all.csv").open(newline="") as file:
        second, first = csv.DictReader(file)
    assert first.keys() >= REQUIRED_FIELDS - {"resumeIntakeData"}
    assert {f"resumeIntakeData.{name}" for name in INTAKE} <= first.keys()
    assert (first["title"], first["location"], first["matchedSkills"]) == (
        "'=A1+A2", "'@home", "'=cmd; Go",
    )  # fmt: skip
    assert (second["note"], second["status"], second["matchScore"]) == ("'+1", "saved", "91")
    assert second["items"] == "skills 40/40; meaning 51/60"
    listed = json_lines(await run("export", "--format", "jsonl", "--status", "saved"))
    assert [match["id"] for match in listed] == [2]
    assert listed == json_lines(await run("list", "--status", "saved", "--json"))
    assert "cannot write" in (await run("export", "--out", "all.csv/x")).stderr


async def test_an_export_includes_every_page(run: Run, database: Database) -> None:
    many = match_export.PAGE_SIZE + 3
    await make(database, *([90] * many))
    exported = json_lines(await run("export", "--json"))
    assert sorted(match["id"] for match in exported) == list(range(1, many + 1))


async def test_stats_count_verdicts_and_the_most_frequent_rules(
    run: Run, database: Database
) -> None:
    place = await make(database, 90, 40, postings=[offer(id) for id in range(1, 6)])
    async with database.transaction() as tx:
        for listing in place.listings[2:4]:
            await matches.save_verdict(tx, place.filtered(listing, why=judged.REJECTED))
        await judging_feed.add(tx, place.listings[4:])
    (stats,) = json_lines(await run("stats", "--json"))
    names = ("judged", "filtered", "skipped", "matched", "waiting")
    assert [stats[name] for name in names] == [4, 2, 1, 1, 1]
    assert stats["statuses"] == {"new": 1}
    assert stats["rules"] == [{"rule": "arrangement", "kind": "rejection", "count": 2}]
    shown = (await run("stats")).stdout
    assert "      4  decided" in shown
    assert "      2  arrangement (dealbreaker)" in shown


async def test_all_open_listings_are_scored_for_a_new_profile(run: Run, database: Database) -> None:
    await make(database, postings=[offer(1), offer(2)])
    yaml = "titles: [Cook]"
    (saved,) = json_lines(
        await run("profile", "import", "-", "--name", "night", "--json", stdin=yaml)
    )
    assert saved["waiting"] == 2
    first = await run("profile", "import", "-", "--name", "day", stdin=yaml)
    assert "2 open jobs are waiting to be scored" in first.stderr
    second = await run("profile", "import", "-", "--name", "day", stdin="titles: [Diver]")
    assert "jobmill match rescore --dry-run --profile day" in second.stderr
    waits = (
        "SELECT count(*)::int FROM matching.judging_queue JOIN matching.profile ON id = profile_id"
    )
    assert await fetch(database, f"{waits} WHERE name = 'day'") == [2]
    assert await fetch(database, waits) == [4]
    dry = await run("profile", "import", "-", "--name", "none", "--dry-run", stdin=yaml)
    assert dry.returncode == 0
    assert await fetch(database, waits) == [4]


async def test_a_resumed_profile_scores_what_it_missed(run: Run, database: Database) -> None:
    place = await make(database, 90, postings=[offer(1), offer(2)])
    assert "main is paused" in (await run("profile", "pause", "main")).stdout
    assert json_lines(await run("profile", "list", "--json"))[0]["paused_at"]
    assert "paused" in (await run("stats")).stdout
    async with database.transaction() as tx:
        assert await judging_feed.add(tx, place.listings) == 0
    queued = await run("rescore", "--yes")
    assert "jobmill profile resume main" in queued.stderr
    async with database.transaction() as tx:
        assert await judging_feed.claim_due(tx, 10) == []
    (resumed,) = json_lines(await run("profile", "resume", "main", "--json"))
    assert (resumed["paused"], resumed["waiting"]) == (False, 2)
    async with database.transaction() as tx:
        assert len(await judging_feed.claim_due(tx, 10)) == 2
    assert (await run("profile", "pause", "nobody")).returncode == 3
    assert (await run("profile", "resume", "nobody")).returncode == 3


async def test_each_profile_has_its_own_matches(run: Run, database: Database) -> None:
    place = await make(database, 90)
    async with database.transaction() as tx:
        await profiles.save(tx, "night", WORDLESS)
        night = replace(place, profile=(await profiles.get(tx, "night")).profile_id)
        await verdicts.save(tx, night.filtered())
    assert [match["profile"] for match in json_lines(await run("list", "--json"))] == ["main"]
    assert "None of 1 job matches night" in (await run("list", "--profile", "night")).stdout
    (verdict,) = json_lines(await run("why", place.listing, "--profile", "night", "--json"))
    assert (verdict["profile"], verdict["outcome"]) == ("night", "filtered")


async def test_a_view_is_saved_listed_shown_and_removed(run: Run, database: Database) -> None:
    await make(database, 90, 82)
    assert "No views yet" in (await run("view", "list")).stdout
    saved = await run("view", "save", "Good ones", "--least", 85, "--newest", "--json")
    (view,) = json_lines(saved)
    assert (view["name"], view["least"], view["order"]) == ("Good ones", 85, "newest")
    assert [row["name"] for row in json_lines(await run("view", "list", "--json"))] == ["Good ones"]
    shown = json_lines(await run("view", "show", "good ones", "--json"))
    assert [row["matchScore"] for row in shown] == [90]
    assert (await run("view", "save", "good ones")).returncode == 4
    assert "removed" in (await run("view", "remove", "Good ones")).stdout
    gone = await run("view", "show", "Good ones")
    assert gone.returncode == 3
    assert "`jobmill match view list`" in gone.stderr
