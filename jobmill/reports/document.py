"""A report as sections of text, bars and tables, which pages and exports show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from jobmill.reports.answers import AnswerAnalysis, Score
from jobmill.reports.claims import find_absent
from jobmill.reports.competitors import find_competitors
from jobmill.reports.findings import Evidence, PostingShares, SiteFindings, StructuredData
from jobmill.reports.report import LIMITS, ReportContents

MAX_ROWS = 300
"""Rows of a table; exports name how many are left out. The JSON export has all."""
MAX_TEXT = 1_500
"""Characters of an answer; the JSON export has all."""
NOTHING = "-"
TONES = ("positive", "neutral", "negative")
SCORE_NAMES = {"visibility": "Visibility", "placement": "Placement", "accuracy": "Accuracy"}
FACT_NAMES = {
    "name": "Name",
    "description": "Description",
    "industry": "Industry",
    "products": "Products",
    "size": "Size",
    "places": "Places",
    "founded": "Founded",
    "values": "Values",
    "benefits": "Benefits",
    "tech": "Technologies",
    "hiring_process": "Hiring process",
    "remote_policy": "Remote policy",
}


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    url: str | None = None
    """Where the evidence is: a page of the site, or a section of the report (`#claims`)."""


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int = 0
    id: str = ""
    """Where bars and numbers link to."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A value from 0 to 100 with its interval."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    url: str | None = None
    unit: str = "%"


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    text: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def has_content(self) -> bool:
        return bool(self.text or self.bars or self.tables)


def build_sections(contents: ReportContents, *, with_texts: bool = True) -> tuple[Section, ...]:
    """The sections of a report; parts that do not exist yet are left out. `with_texts`: with the texts of
    the answers, which the page shows in its own way under the same anchor."""
    findings = contents.findings
    sections: list[Section | None] = [_scores(contents), _recommendations(contents)]
    if findings:
        sections += [
            _facts(findings),
            _questions(findings),
            _access(findings),
            _readability(findings),
            _structured_data(findings.structured_data),
            _postings(findings.postings),
            _hostile(findings),
        ]
    sections += [_prompts(contents), _answers(contents), _beside(contents), _claims(contents)]
    sections += [_absent(contents), _limits(contents)]
    if with_texts:
        sections.append(_texts(contents))
    return tuple(section for section in sections if section and section.has_content)


def build_table(
    columns: Sequence[str], rows: Iterable[Sequence[Cell | str]], id: str = ""
) -> tuple[Table, ...]:
    """A table of at most MAX_ROWS rows; none if there are no rows."""
    cells = [tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows]
    if not cells:
        return ()
    return (Table(tuple(columns), tuple(cells[:MAX_ROWS]), max(len(cells) - MAX_ROWS, 0), id),)


def _quote(evidence: Evidence | None) -> Cell:
    return Cell(f"“{evidence.quote}”", evidence.url) if evidence else Cell(NOTHING)


def format_score(score: Score) -> str:
    if score.value is None:
        return "not known"
    if score.low is None or score.high is None:
        return f"{score.value:.0f} of 100"
    return f"{score.value:.0f} of 100 ({score.low:.0f} to {score.high:.0f})"


def _scores(contents: ReportContents) -> Section | None:
    if not contents.scores:
        return None
    bars = tuple(
        Bar(SCORE_NAMES[score.name], score.value, score.low, score.high, _evidence_of(score), " of 100")
        for score in contents.scores
    )  # fmt: skip
    rows = [
        (SCORE_NAMES[score.name], Cell(format_score(score), _evidence_of(score)), score.arithmetic)
        for score in contents.scores
    ]
    return Section(
        "scores",
        "Scores",
        ("The numbers in parentheses are the interval that repeated answers allow.",),
        bars,
        build_table(("Score", "Value", "Arithmetic"), rows),
    )


def _evidence_of(score: Score) -> str:
    return "#claims" if score.name == "accuracy" else "#answers"


_FINDING_SECTIONS = {
    "claim": "#claims",
    "access": "#access",
    "page": "#readability",
    "question": "#questions",
    "structured_data": "#structured-data",
    "contradiction": "#structured-data",
    "hostile": "#crawl",
}


def _recommendations(contents: ReportContents) -> Section | None:
    if not contents.recommendations:
        return None
    rows = [
        (
            Cell(item.page, item.page),
            item.problem,
            item.proposed_text,
            Cell(f"{item.effect:g}", _FINDING_SECTIONS.get(item.finding.partition(":")[0])),
        )
        for item in contents.recommendations
    ]
    return Section(
        "recommendations",
        "Recommendations",
        ("Larger effects come first.",),
        tables=build_table(("Page", "Problem", "Proposed text", "Effect"), rows),
    )


def _facts(findings: SiteFindings) -> Section:
    rows = [(FACT_NAMES[fact.name], fact.value, _quote(fact.evidence)) for fact in findings.facts]
    missing = [
        name
        for key, name in FACT_NAMES.items()
        if key not in {fact.name for fact in findings.facts}
    ]
    text = [f"The site does not state: {', '.join(missing).lower()}."] if missing else []
    return Section(
        "facts",
        "What the site says",
        tuple(text),
        tables=build_table(("Subject", "Value", "Evidence"), rows),
    )


def _questions(findings: SiteFindings) -> Section | None:
    questions = findings.questions
    if not questions:
        return None
    by_stage: dict[str, list[bool]] = defaultdict(list)
    for question in questions:
        by_stage[question.stage].append(question.answer is not None)
    bars = tuple(
        Bar(
            f"{stage.title()}: {sum(answers)} of {len(answers)}",
            100 * sum(answers) / len(answers),
            url="#question-list",
        )
        for stage, answers in by_stage.items()
    )
    answered = sum(question.answer is not None for question in questions)
    rows = [(item.stage.title(), item.question, _quote(item.answer)) for item in questions]
    return Section(
        "questions",
        "Questions of candidates",
        (f"The site answers {answered} of {len(questions)} questions that candidates ask.",),
        bars,
        build_table(("Stage", "Question", "Answer on the site"), rows, "question-list"),
    )


def _access(findings: SiteFindings) -> Section | None:
    if not findings.access:
        return None
    allowed: Counter[str] = Counter()
    pages: Counter[str] = Counter()
    reasons: dict[str, dict[str, str]] = defaultdict(dict)
    purposes: dict[str, str] = {}
    for access in findings.access:
        purposes[access.bot] = access.purpose
        pages[access.bot] += 1
        allowed[access.bot] += access.allowed
        if not access.allowed:
            reasons[access.bot].setdefault(access.reason, access.url)
    rows = [
        (
            bot,
            purpose,
            Cell(
                f"{allowed[bot]} of {pages[bot]}",
                "#readability" if allowed[bot] == pages[bot] else "#unreadable-pages",
            ),
            Cell(
                "; ".join(list(reasons[bot])[:3]) or NOTHING,
                next(iter(reasons[bot].values()), None),
            ),
        )
        for bot, purpose in sorted(purposes.items(), key=lambda entry: (entry[1], entry[0]))
    ]
    note = (
        "Google-Extended governs training and grounding of Gemini, not AI Overviews in Google Search: "
        "those follow Googlebot."
    )
    return Section(
        "access",
        "Access for bots",
        (note,),
        tables=build_table(("Bot", "Purpose", "Readable pages", "Why others are not"), rows)
        + build_table(
            ("Bot", "Page that it may not read", "Why"),
            [
                (access.bot, Cell(access.url, access.url), access.reason)
                for access in findings.access
                if not access.allowed
            ],
            "unreadable-pages",
        ),
    )


def _readability(findings: SiteFindings) -> Section:
    rows = [
        (
            Cell(page.url, page.url),
            f"{page.raw_characters:,}",
            NOTHING if page.rendered_characters is None else f"{page.rendered_characters:,}",
            ": ".join(
                part for part in ((page.problem or "").replace("_", " "), page.reason) if part
            )
            or NOTHING,
        )
        for page in findings.readability
    ]
    columns = ("Page", "Characters without JavaScript", "With JavaScript", "Problem")
    return Section("readability", "Readability", tables=build_table(columns, rows))


def _structured_data(data: StructuredData) -> Section:
    pages = len(data.organization_pages)
    text = [f"Pages with data about the organization: {pages}."]
    if data.missing_organization_fields:
        text.append(f"Missing there: {', '.join(data.missing_organization_fields)}.")
    if data.postings:
        text.append(f"Postings with structured data: {data.postings_with_data} of {data.postings}.")
    if data.self_rating:
        text.append(
            f"The site rates its own employer ({data.self_rating.url}), which search engines do not "
            "accept."
        )
    if data.llms_txt:
        text.append(f"There is an llms.txt ({data.llms_txt}). It informs and scores nothing.")
    missing = [(field, f"{count}") for field, count in data.missing_posting_fields]
    contradictions = [
        (Cell(item.listing_url, item.listing_url), item.field, item.on_site, item.on_board)
        for item in data.contradictions
    ]
    organization = [(Cell(url, url),) for url in data.organization_pages]
    tables = build_table(("Page with data about the organization",), organization)
    tables += build_table(("Field", "Postings without it"), missing)
    tables += build_table(("Posting", "Field", "On the site", "On the job board"), contradictions)
    return Section("structured-data", "Structured data", tuple(text), tables=tables)


def _postings(shares: PostingShares) -> Section | None:
    if not shares.postings:
        return None
    stated = (
        ("Pay", shares.with_pay),
        ("Place", shares.with_place),
        ("Arrangement", shares.with_arrangement),
        ("Closing date", shares.with_closing_date),
    )
    bars = tuple(
        Bar(
            f"{name}: {count} of {shares.postings}",
            100 * count / shares.postings,
            url="#unstated" if shares.unstated else None,
        )
        for name, count in stated
    )
    text = [f"Reposted: {shares.reposted}."]
    if shares.median_days_open is not None:
        text.insert(0, f"Median time open: {shares.median_days_open:.0f} days.")
    rows = [(name, Cell(title, url)) for name, title, url in shares.unstated]
    tables = build_table(("Not stated", "Posting"), rows, "unstated")
    return Section("postings", "What postings state", tuple(text), bars, tables)


def _hostile(findings: SiteFindings) -> Section:
    rows = [(item.kind.replace("_", " "), _quote(item.evidence)) for item in findings.hostile]
    text = tuple(findings.crawl_notes[:50])
    return Section(
        "crawl",
        "Notes of the crawl",
        text,
        tables=build_table(("Kind", "Hidden or hostile text"), rows),
    )


def _prompts(contents: ReportContents) -> Section:
    rows = [
        (stored.prompt.text, stored.prompt.stage.title(), stored.prompt.audience,
         "yes" if stored.prompt.names_company else "no")
        for stored in contents.prompts
    ]  # fmt: skip
    columns = ("Question", "Stage", "Audience", "Names the company")
    return Section("prompts", "Questions to assistants", tables=build_table(columns, rows))


def _answers(contents: ReportContents) -> Section:
    texts = {stored.prompt.key: stored.prompt.text for stored in contents.prompts}
    groups: dict[tuple[str, str], list[AnswerAnalysis]] = defaultdict(list)
    failures: Counter[tuple[str, str]] = Counter()
    for stored in contents.answers:
        place = (stored.answer.prompt_key, stored.answer.model)
        failures[place] += stored.failure is not None
        groups[place] += [stored.analysis] if stored.analysis else []
    rows = [
        (texts[key], model, *_summarize(group), Cell(f"{failures[key, model]}", "#texts"))
        for (key, model), group in groups.items()
    ]
    columns = ("Question", "Model", "Named", "Place", "Tone", "Cited", "No answer")
    tones = Counter(
        analysis.tone for group in groups.values() for analysis in group if analysis.named
    )
    total = tones.total()
    bars = tuple(
        Bar(f"{name.title()} tone: {tones[name]} of {total}", 100 * tones[name] / total, url="#texts")
        for name in TONES
        if tones[name]
    )  # fmt: skip
    text = ("The tone is counted over the answers that name the company.",) if bars else ()
    return Section("answers", "Answers", text, bars, build_table(columns, rows, "answer-list"))


def _summarize(analyses: Sequence[AnswerAnalysis]) -> tuple[Cell, Cell, str, str]:
    places = [analysis.position for analysis in analyses if analysis.position is not None]
    cited = Counter(domain for analysis in analyses for domain in analysis.cited_domains)
    named = sum(analysis.named for analysis in analyses)
    tones = Counter(analysis.tone for analysis in analyses if analysis.named)
    return (
        Cell(f"{named} of {len(analyses)}", "#texts"),
        Cell(f"{median(places):g}", "#texts") if places else Cell(NOTHING),
        ", ".join(f"{tones[name]} {name}" for name in TONES if tones[name]) or NOTHING,
        ", ".join(name for name, _ in cited.most_common(5)) or NOTHING,
    )


def _beside(contents: ReportContents) -> Section:
    """The companies that answers name beside this one."""
    rows = [
        (
            rival.name,
            Cell(f"{rival.answers}", "#texts"),
            Cell(rival.domain, f"https://{rival.domain}") if rival.domain else NOTHING,
        )
        for rival in find_competitors(contents)
    ]
    columns = ("Company", "Answers that name it", "Website that answers cite")
    return Section("beside", "Companies named beside it", tables=build_table(columns, rows))


def _claims(contents: ReportContents) -> Section:
    """The claims of the answers, each once, those that the site contradicts first."""
    order = ("contradicted", "outdated", "unsupported", "absent", "true")
    counts: Counter[tuple[str, str]] = Counter()
    rows: dict[tuple[str, str], tuple[Cell | str, ...]] = {}
    for stored in contents.answers:
        for claim in stored.analysis.claims if stored.analysis else ():
            key = (claim.verdict, claim.claim)
            counts[key] += 1
            rows[key] = (f"“{claim.claim}”", _quote(claim.evidence), claim.reason)
    by_verdict = Counter(verdict for verdict, _ in counts.elements())
    sorted_keys = sorted(rows, key=lambda key: (order.index(key[0]), -counts[key]))
    total = by_verdict.total()
    return Section(
        "claims",
        "Claims of assistants against the site",
        bars=tuple(
            Bar(f"{verdict.title()}: {by_verdict[verdict]} of {total}",
                100 * by_verdict[verdict] / total, url="#claim-list")
            for verdict in order
            if by_verdict[verdict]
        ),
        tables=build_table(
            ("Verdict", "Answers", "Claim", "The site", "Reason"),
            [(key[0], Cell(f"{counts[key]}", "#texts"), *rows[key]) for key in sorted_keys],
            "claim-list",
        ),
    )  # fmt: skip


def _absent(contents: ReportContents) -> Section:
    """The facts of the site that no answer mentions."""
    analyses = [stored.analysis for stored in contents.answers if stored.analysis]
    absent = find_absent(contents.findings, analyses) if contents.findings and analyses else ()
    return Section(
        "absent",
        "What no assistant mentions",
        tables=build_table(
            ("Subject", "Value", "Evidence"),
            [
                (FACT_NAMES.get(claim.fact or "", ""), claim.claim, _quote(claim.evidence))
                for claim in absent
            ],
        ),
    )


def _texts(contents: ReportContents) -> Section:
    """The answers themselves: the evidence of the scores."""
    prompts = {stored.prompt.key: stored.prompt.text for stored in contents.prompts}
    rows = [
        (
            prompts[stored.answer.prompt_key],
            f"{stored.answer.model}, run {stored.answer.run}",
            _shorten(stored.answer.text) if stored.failure is None else f"No answer: {stored.failure}",
        )
        for stored in contents.answers
    ]  # fmt: skip
    columns = ("Question", "Model", "Answer")
    return Section("texts", "Texts of the answers", tables=build_table(columns, rows))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT].rsplit(' ', 1)[0]} …"


def _limits(contents: ReportContents) -> Section:
    return Section("limits", "Limits of this report", tuple(contents.report.limits or LIMITS))
