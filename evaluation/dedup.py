"""Measure how many duplicates are found, and that different postings are never merged."""

from __future__ import annotations

import csv
import datetime as dt
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from evaluation.goal import Goal, Report
from jobmill.boards.adapters import BY_NAME, PLATFORM_RULES
from jobmill.catalog import duplicates
from jobmill.catalog.posting import Posting
from jobmill.errors import AppError
from jobmill.outside.request import Request

PRECISION, RECALL = 0.995, 0.90
DEMONSTRATION = "leverdemo"  # A demonstration board of the vendor with test postings.
BOARDS = ("greenhouse", "lever", "ashby")
COLUMNS = (
    "construction", "postings", "pairs", "precision", "recall", "same: precision", "same: recall",
    "unsure: linked, same",
)  # fmt: skip


@dataclass(frozen=True)
class LabelledPosting:
    """A posting with its labels: which posting it is, and which vacancy it belongs to."""

    posting: Posting
    post: Hashable
    vacancy: Hashable
    requisition: Hashable = None
    text: Hashable = None
    """Identifies its title and text within its company."""
    hidden: bool = False

    def is_unsure(self, other: LabelledPosting) -> bool:
        """Whether the two cannot be told apart for certain: one requisition with two titles, or the
        same title and text with hidden ids."""
        return (self.requisition is not None and self.requisition == other.requisition) or (
            (self.hidden or other.hidden) and self.text is not None and self.text == other.text
        )


@dataclass(frozen=True)
class PairScore:
    linked: int
    right: int
    expected: int
    unsure: int
    """Linked pairs that are unsure; they count neither as right nor as wrong."""

    @property
    def precision(self) -> float:
        return self.right / self.linked if self.linked else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 1.0


def report(data: Path) -> Report:
    """Compare linked pairs with pairs of one vacancy, and merged pairs with pairs of one posting."""
    rows: list[tuple[str, ...]] = []
    linked: list[PairScore] = []
    merged: list[PairScore] = []
    notes: list[str] = []
    for name, cases in _constructions(data):
        groups = duplicates.find_groups([case.posting for case in cases], PLATFORM_RULES)
        any_way = _score(cases, (group.members for group in groups), lambda case: case.vacancy)
        same = _score(
            cases, (post for group in groups for post in group.posts), lambda case: case.post
        )
        linked.append(any_way)
        merged.append(same)
        rows.append(_row(name, len(cases), any_way, same))
        notes += _wrong(name, cases, groups)
    total, strict = _sum(linked), _sum(merged)
    notes.append(
        "with what is unsure counted as wrong: "
        f"precision {total.right / (total.linked + total.unsure):.4f}, "
        f"{strict.linked + strict.unsure - strict.right} different postings called the same"
    )
    notes.append(_by_requisition(_boards(data)))
    rows.append(_row("all", sum(int(row[1]) for row in rows), total, strict))
    goals = [
        Goal("precision of linked pairs", total.precision, PRECISION),
        Goal("recall of linked pairs", total.recall, RECALL),
        Goal("different postings called the same", strict.linked - strict.right, 0, at_most=True),
    ]
    return Report("Duplicates", COLUMNS, rows, goals, notes)


def _by_requisition(cases: list[LabelledPosting]) -> str:
    """The result if a vacancy is defined by its requisition alone, whatever the title."""
    numbered = [case for case in {case.post: case for case in cases}.values() if case.requisition]
    groups = duplicates.find_groups([case.posting for case in numbered], PLATFORM_RULES)
    score = _score(numbered, (group.members for group in groups), lambda case: case.requisition)
    return (
        f"by requisition alone, whatever the title: {score.right} of {score.expected} pairs are linked, "
        f"{score.linked - score.right} wrongly"
    )


def _row(name: str, cases: int, linked: PairScore, same: PairScore) -> tuple[str, ...]:
    figures = (linked.precision, linked.recall, same.precision, same.recall)
    shown = (f"{figure:.4f}" for figure in figures)
    return name, str(cases), str(linked.expected), *shown, f"{linked.unsure}, {same.unsure}"


def _score(
    cases: Sequence[LabelledPosting],
    sets: Iterable[Sequence[int]],
    label: Callable[[LabelledPosting], Hashable],
) -> PairScore:
    linked = right = unsure = 0
    for members in sets:
        for first, second in combinations((cases[index] for index in members), 2):
            is_right = label(first) == label(second)
            is_unsure = not is_right and first.is_unsure(second)
            right += is_right
            unsure += is_unsure
            linked += not is_unsure
    sizes = Counter(label(case) for case in cases).values()
    return PairScore(linked, right, sum(count * (count - 1) // 2 for count in sizes), unsure)


def _sum(scores: list[PairScore]) -> PairScore:
    return PairScore(
        *(
            sum(getattr(score, part) for score in scores)
            for part in ("linked", "right", "expected", "unsure")
        )
    )


def _wrong(
    name: str, cases: Sequence[LabelledPosting], groups: list[duplicates.DuplicateGroup]
) -> list[str]:
    descriptions = (
        f"{name}: {cases[first].posting.title!r} ({_place(cases[first].posting)}) and "
        f"{cases[second].posting.title!r} ({_place(cases[second].posting)}): {group.why}"
        for group in groups
        for first, second in combinations(group.members, 2)
        if cases[first].vacancy != cases[second].vacancy
        and not cases[first].is_unsure(cases[second])
    )
    return [line for _, line in zip(range(8), descriptions, strict=False)]


def _place(posting: Posting) -> str:
    return "; ".join(posting.locations) or posting.location or "-"


def _constructions(data: Path) -> list[tuple[str, list[LabelledPosting]]]:
    boards = _boards(data)
    return [
        ("boards, captured several times", boards),
        ("the same, ids and URLs hidden", [_hide(case) for case in boards]),
        ("the same, texts hidden, too", [_mute(_hide(case)) for case in _one_each(boards)]),
        ("copies at aggregators, cut", _copied(boards, _cut)),
        ("copies at aggregators, without text", _copied(boards, _bare)),
        ("other forms of the URL, no ids", _copied(boards, _tracked)),
        ("copies with noise in the title, no URL", _copied(boards, _noisy)),
        ("posted again after a month", _reposted(boards)),
        ("a feed on six days", _snapshots(data)),
        ("trackers: alike, with other ids", _trackers(data)),
        ("Polish sites, a page a place", _polish(data)),
        ("searches: rows seen twice", _searches(data)),
    ]


def _boards(data: Path) -> list[LabelledPosting]:
    """A post is identified by its vendor id, a vacancy by its requisition or otherwise by its title
    and text."""
    cases: list[LabelledPosting] = []
    for name in BOARDS:
        platform = BY_NAME[name]
        for file in sorted((data / f"ats_{name}").glob("*.json")):
            token = file.name.split("__")[0]
            if token == DEMONSTRATION:
                continue
            config = platform.parse_config({"board_token": token})
            try:
                page = platform.read_response(
                    file.read_bytes(), Request("https://x.example"), config
                )
            except AppError:
                continue
            for posting in page.postings:
                complete = replace(posting, company=posting.company or token.title(), board=token)
                requisition = (token, posting.requisition_id) if posting.requisition_id else None
                cases.append(
                    LabelledPosting(complete, (name, posting.vendor_id), None, requisition)
                )
    return _with_one_vacancy_a_post([_settle(case) for case in _with_texts(_real(cases))])


def _real(cases: list[LabelledPosting]) -> list[LabelledPosting]:
    """Without invented postings of a data set, which have the URL of another posting."""
    posts: dict[str, set[Hashable]] = defaultdict(set)
    for case in cases:
        posts[case.posting.url].add(case.post)
    return [case for case in cases if len(posts[case.posting.url]) == 1]


def _settle(case: LabelledPosting) -> LabelledPosting:
    """A vacancy is identified by its requisition, or otherwise by its title and text."""
    title = _letters(case.posting.title)
    return replace(case, vacancy=(*case.requisition, title) if case.requisition else case.text)


def _with_texts(cases: list[LabelledPosting]) -> list[LabelledPosting]:
    """Two texts are the same if at least four fifths of each are in identical lines."""
    kinds: dict[Hashable, list[Counter[str]]] = defaultdict(list)
    settled: list[LabelledPosting] = []
    for number, case in enumerate(cases):
        title = case.posting.company, *sorted(re.findall(r"\w+", case.posting.title.lower()))
        lines = Counter(_letters(line) for line in (case.posting.description or "").splitlines())
        texts = kinds[title]
        at = next((at for at, other in enumerate(texts) if _same_lines(lines, other)), len(texts))
        if at == len(texts):
            texts.append(lines)
        settled.append(
            replace(case, text=(*title, at if case.posting.description else -number - 1))
        )
    return settled


def _same_lines(first: Counter[str], second: Counter[str]) -> bool:
    common = sum(len(line) for line in (first & second).elements())
    longer = max(sum(map(len, lines.elements())) for lines in (first, second))
    return common >= 0.8 * longer


def _letters(text: str | None) -> str:
    return re.sub(r"[\W_]+", "", (text or "").lower())


def _with_one_vacancy_a_post(cases: list[LabelledPosting]) -> list[LabelledPosting]:
    """A post that was edited between two captures is still one vacancy."""
    first = {case.post: case.vacancy for case in reversed(cases)}
    return [replace(case, vacancy=first[case.post]) for case in cases]


def _one_each(cases: list[LabelledPosting]) -> list[LabelledPosting]:
    """The postings whose title and place are unique in their company: the others cannot be told
    apart without ids, URLs and texts."""
    captures = {case.post: case for case in cases}.values()
    spots = Counter(
        (case.posting.company, case.posting.title, _place(case.posting)) for case in captures
    )
    alone = {spot for spot, count in spots.items() if count == 1}
    posts = {
        case.post
        for case in captures
        if (case.posting.company, case.posting.title, _place(case.posting)) in alone
    }
    return [replace(case, vacancy=case.post) for case in cases if case.post in posts]


def _hide(case: LabelledPosting) -> LabelledPosting:
    bare = replace(
        case.posting,
        url="",
        apply_url=None,
        platform=None,
        board=None,
        vendor_id=None,
        requisition_id=None,
    )
    return replace(case, posting=bare, hidden=True)


def _mute(case: LabelledPosting) -> LabelledPosting:
    return replace(case, posting=replace(case.posting, description=None, requirements=None))


def _copied(
    cases: list[LabelledPosting], change: Callable[[LabelledPosting, random.Random], Posting]
) -> list[LabelledPosting]:
    dice = random.Random(7)
    originals = list({case.post: case for case in cases}.values())
    return originals + [
        replace(case, posting=change(case, dice), hidden=True) for case in originals
    ]


def _cut(case: LabelledPosting, dice: random.Random) -> Posting:
    copy = _bare(case, dice)
    text = (case.posting.description or "")[: dice.choice((300, 500, 1000))]
    return replace(copy, description=f"{text}…", partial=True)


def _bare(case: LabelledPosting, dice: random.Random) -> Posting:
    posting = _hide(case).posting
    number = dice.randrange(10**9)
    return replace(
        posting,
        title=_noise(posting.title, dice),
        company=f"{posting.company}{dice.choice(('', ', Inc.', ' GmbH', ' Ltd'))}",
        url=f"https://www.aggregator.example/land/ad/{number}?utm_source=x",
        platform="adzuna",
        vendor_id=str(number),
        via="Adzuna",
        description=None,
    )


def _tracked(case: LabelledPosting, dice: random.Random) -> Posting:
    url = case.posting.url
    tail = dice.choice(
        ("utm_source=a&utm_medium=b", "gh_src=1", "ref=x&fbclid=2", "lever-source=y")
    )
    changed = f"{url.replace('https://', 'HTTP://')}{'&' if '?' in url else '?'}{tail}#top"
    hidden = _hide(case).posting
    return replace(hidden, url=changed, description=None, location=None, locations=())


def _noisy(case: LabelledPosting, dice: random.Random) -> Posting:
    posting = _hide(case).posting
    text = posting.description or ""
    spaced = re.sub(r"\n+", "  ", text) if dice.random() < 0.5 else text.upper()
    return replace(posting, title=_noise(posting.title, dice), description=spaced)


def _noise(title: str, dice: random.Random) -> str:
    return dice.choice((
        title, title.upper(), f"{title} (m/f/d)", f"{title} - Remote", title.replace(",", " -"),
        f"{title} (m/w/d) | Remote", title.replace("Senior", "Sr."), f"{title} [All Genders]",
    ))  # fmt: skip


def _reposted(cases: list[LabelledPosting]) -> list[LabelledPosting]:
    """The same postings with a new id a month later, without requisition."""
    originals = [
        replace(case, posting=replace(case.posting, requisition_id=None), vacancy=case.post)
        for case in {case.post: case for case in cases}.values()
        if case.posting.posted_at and case.posting.description
    ]
    texts = Counter(case.text for case in originals)
    single = [case for case in originals if texts[case.text] == 1]
    again = [
        replace(
            case,
            post=(case.post, "again"),
            posting=replace(
                case.posting,
                vendor_id=f"9{case.posting.vendor_id}",
                url="",
                apply_url=None,
                posted_at=case.posting.posted_at + dt.timedelta(days=30),
            ),
        )
        for case in single
        if case.posting.posted_at
    ]
    return single + again


def _snapshots(data: Path) -> list[LabelledPosting]:
    rows: list[dict[str, Any]] = []
    for file in sorted((data / "listing_snapshots").glob("*.json")):
        rows += json.loads(file.read_text())["jobs"]
    return [
        LabelledPosting(
            Posting(row["title"], row["url"], row["company"], row["location"]),
            row["url"],
            row["url"],
        )
        for row in rows
    ]


def _trackers(data: Path) -> list[LabelledPosting]:
    """Rows are labelled by the id in their URL: the same company, title and place occur many times
    with different ids."""
    postings = [
        Posting(row["title"], row["application_url"], row["company"], row["location"],
                description=row["description"], vendor_id=row["source_job_id"])
        for row in _csv(data / "listings/newgrad_active_jobs.csv")
    ] + [
        Posting(row["title"], row["absolute_url"], row["company_name"], row["location"])
        for row in _csv(data / "listings/yc_job_postings.csv")
    ] + [
        Posting(row["title"], row["url"], row["company_name"], locations=tuple(row["locations"]))
        for row in _lines(data / "listings/simplify_newgrad_listings.jsonl")
    ]  # fmt: skip
    ids = [
        re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{6,}", posting.url) or [posting.url]
        for posting in postings
    ]
    return [
        LabelledPosting(posting, id[-1], id[-1]) for posting, id in zip(postings, ids, strict=True)
    ]


def _polish(data: Path) -> list[LabelledPosting]:
    """Rows are labelled by the key of the data set; further pages with the same key are copies."""
    rows = _lines(data / "listings/pl_jobs_multi_source.jsonl")
    key = {row["url"]: row["key"] for row in rows}
    return [
        LabelledPosting(
            Posting(row["title"], url, row["company"], row["city"]), url, key[row["url"]]
        )
        for row in rows
        for url in dict.fromkeys((row["url"], *row["alt_urls"]))
    ]


def _searches(data: Path) -> list[LabelledPosting]:
    """Pages of a search overlap: a row with equal fields is the same posting again."""
    columns = {
        "indeed_usa_la": ("job_title", "company_name", "company_location", "job_description"),
        "indeed_sweden": ("job_title", "company_name", "company_location", "job_description"),
        "glassdoor_jobs": ("Job Title", "Company Name", "Location", "Job Description"),
    }
    cases: list[LabelledPosting] = []
    for file, (title, company, place, text) in columns.items():
        for row in _csv(data / f"listings/{file}.csv"):
            posting = Posting(
                row[title], company=row[company].split("\n")[0], location=row[place],
                description=row[text],
            )  # fmt: skip
            label = tuple(" ".join(row[column].split()) for column in columns[file])
            cases.append(LabelledPosting(posting, label, (label[0], label[1], label[3])))
    return cases


def _csv(file: Path) -> list[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]
