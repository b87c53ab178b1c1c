"""What the phases of a report store: findings, prompts, answers and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from psycopg.types.json import Jsonb

from jobmill.catalog import history
from jobmill.db import Tx, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.reports import store
from jobmill.reports.answers import Prompt, StoredAnswer
from jobmill.reports.company_mentions import company_names
from jobmill.reports.findings import SiteFindings
from jobmill.reports.report import (
    ANALYSIS,
    FINDINGS,
    RECOMMENDATIONS,
    REVIEW,
    SCORES,
    ReportAnswer,
    ReportContents,
    ReportPrompt,
    ReportResults,
    storable,
    to_json,
)

MAX_PROMPT_LENGTH = 1_000
MAX_ANSWER_LENGTH = 50_000


async def save_findings(
    tx: Tx, *, id: int, findings: SiteFindings, company: str, site_only: bool
) -> None:
    """Store the findings of the website analysis, which ends. Prompts that exist are kept."""
    await tx.execute(
        "UPDATE reports.report SET findings = %s, company = %s WHERE id = %s",
        [Jsonb(to_json(FINDINGS, findings)), storable(company), id],
    )
    has_prompts = await fetch_value(
        tx,
        bool,
        """
        SELECT EXISTS (SELECT FROM reports.prompt
                        WHERE report_id = report.id AND prompt.round = report.round)
          FROM reports.report WHERE id = %s
        """,
        [id],
    )
    became = "completed" if site_only else "model-analysis" if has_prompts else "prompt-forming"
    await store.end_phase(tx, id, "website-analysis", became)


async def read_findings(tx: Tx, id: int) -> SiteFindings | None:
    cursor = await tx.execute("SELECT findings FROM reports.report WHERE id = %s", [id])
    row = await cursor.fetchone()
    return FINDINGS.validate_python(row[0]) if row and row[0] is not None else None


async def save_prompts(tx: Tx, *, id: int, prompts: Sequence[Prompt]) -> None:
    """Store the prompts of the round in place of earlier ones without answers; prompt forming ends. A
    prompt that stays the same takes over its answers from the round before."""
    round = (await store.get(tx, id)).round
    await tx.execute(
        """
        DELETE FROM reports.prompt
         WHERE report_id = %(id)s AND round = %(round)s
           AND NOT EXISTS (SELECT FROM reports.answer
                            WHERE answer.report_id = prompt.report_id
                              AND answer.round = prompt.round AND prompt_key = key)
        """,
        {"id": id, "round": round},
    )
    for position, prompt in enumerate(prompts):
        await tx.execute(
            """
            INSERT INTO reports.prompt
                   (report_id, round, key, position, text, stage, audience, names_company)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (report_id, round, key) DO UPDATE SET position = excluded.position
            """,
            [id, round, prompt.key, position, storable(prompt.text), prompt.stage,
             storable(prompt.audience), prompt.names_company],
        )  # fmt: skip
    await tx.execute(
        """
        INSERT INTO reports.answer
               (report_id, round, prompt_key, model, run, text, failure, cost, asked_at)
        SELECT report_id, %(round)s, key, model, run, answer.text, failure, cost, asked_at
          FROM reports.answer JOIN reports.prompt AS old USING (report_id, round)
         WHERE report_id = %(id)s AND round = %(round)s - 1 AND old.key = prompt_key
           AND EXISTS (SELECT FROM reports.prompt AS new
                        WHERE new.report_id = old.report_id AND new.round = %(round)s
                          AND (new.key, new.text) = (old.key, old.text))
        ON CONFLICT DO NOTHING
        """,
        {"id": id, "round": round},
    )
    await store.end_phase(tx, id, "prompt-forming", "model-analysis")


async def find_prompts(tx: Tx, id: int, round: int) -> list[ReportPrompt]:
    cursor = await tx.execute(
        """
        SELECT key, text, stage, audience, names_company, edited_by,
               (SELECT count(*) FROM reports.answer
                 WHERE answer.report_id = prompt.report_id AND answer.round = prompt.round
                   AND prompt_key = prompt.key)
          FROM reports.prompt WHERE report_id = %s AND round = %s ORDER BY position, key
        """,
        [id, round],
    )
    return [
        ReportPrompt(Prompt(*row[:5]), edited_by=row[5], answers=row[6])
        for row in await cursor.fetchall()
    ]


async def edit_prompt(tx: Tx, id: int, key: str, text: str, *, by: str | None = None) -> None:
    """Change the text of a prompt that has not run; Conflict if it has, or runs now."""
    text = " ".join(storable(text).split())
    if not 0 < len(text) <= MAX_PROMPT_LENGTH:
        raise Invalid(f"a prompt has 1 to {MAX_PROMPT_LENGTH} characters (got {len(text)})")
    report = await store.get(tx, id, lock=True)
    if report.status != "model-analysis" or report.in_progress:
        raise Conflict(
            f"the questions of report {id} have run, or run now: start a new report with `--review` "
            "to edit its questions before they run"
        )
    findings = await read_findings(tx, id)
    names_company = findings is not None and company_names(findings).find(text) is not None
    cursor = await tx.execute(
        """
        UPDATE reports.prompt
           SET text = %(text)s, edited_by = coalesce(%(by)s, 'the operator'), edited_at = now(),
               names_company = %(names_company)s
         WHERE report_id = %(id)s AND round = %(round)s AND key = %(key)s
           AND NOT EXISTS (SELECT FROM reports.answer
                            WHERE report_id = %(id)s AND round = %(round)s AND prompt_key = %(key)s)
        """,
        {
            "id": id,
            "round": report.round,
            "key": key,
            "text": text,
            "by": by,
            "names_company": names_company,
        },
    )
    if cursor.rowcount == 0:
        if key not in {stored.prompt.key for stored in await find_prompts(tx, id, report.round)}:
            raise NotFound("prompt", key)
        raise Conflict(f"prompt {key} has answers already, so it cannot be edited")
    await history.record(tx, "report", id, "prompt edited", actor=by, key=key)


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """An answer that arrived, or the failure that ended the question."""

    prompt_key: str
    model: str
    run: int
    text: str = ""
    failure: str | None = None
    cost: Decimal | None = None


async def save_answer(tx: Tx, id: int, round: int, answer: NewAnswer) -> None:
    """Store an answer once, whichever attempt asked for it."""
    failure = None if answer.failure is None else storable(answer.failure)
    await tx.execute(
        """
        INSERT INTO reports.answer (report_id, round, prompt_key, model, run, text, failure, cost)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
        """,
        [id, round, answer.prompt_key, answer.model, answer.run,
         storable(answer.text)[:MAX_ANSWER_LENGTH], failure, answer.cost],
    )  # fmt: skip


async def find_answers(tx: Tx, id: int, round: int) -> list[ReportAnswer]:
    cursor = await tx.execute(
        """
        SELECT prompt_key, model, run, answer.text, failure, cost, asked_at, analysis
          FROM reports.answer JOIN reports.prompt USING (report_id, round)
         WHERE report_id = %s AND round = %s AND prompt_key = key
         ORDER BY position, model, run
        """,
        [id, round],
    )
    return [
        ReportAnswer(
            StoredAnswer(*row[:4]),
            failure=row[4],
            cost=row[5],
            asked_at=row[6],
            analysis=None if row[7] is None else ANALYSIS.validate_python(row[7]),
        )
        for row in await cursor.fetchall()
    ]


async def save_results(tx: Tx, *, id: int, results: ReportResults, limits: Sequence[str]) -> None:
    """Store the analyses, scores and recommendations; the model analysis ends."""
    await store_results(tx, id, results)
    await tx.execute(
        "UPDATE reports.report SET limits = %s WHERE id = %s", [[*map(storable, limits)], id]
    )
    await store.end_phase(tx, id, "model-analysis", "completed")


async def store_results(tx: Tx, id: int, results: ReportResults) -> None:
    """Store results in place of earlier ones, without a change of status."""
    await tx.execute(
        """
        UPDATE reports.report SET scores = %s, recommendations = %s, claim_review = %s
         WHERE id = %s
        """,
        [
            Jsonb(to_json(SCORES, results.scores)),
            Jsonb(to_json(RECOMMENDATIONS, results.recommendations)),
            Jsonb(to_json(REVIEW, results.review)),
            id,
        ],
    )
    for analysis in results.analyses:
        await tx.execute(
            """
            UPDATE reports.answer SET analysis = %s
             WHERE report_id = %s AND round = (SELECT round FROM reports.report WHERE id = report_id)
               AND prompt_key = %s AND model = %s AND run = %s
            """,
            [Jsonb(to_json(ANALYSIS, analysis)), id, analysis.prompt_key, analysis.model,
             analysis.run],
        )  # fmt: skip


async def read_contents(tx: Tx, id: int) -> ReportContents:
    """Everything that a report holds; NotFound if there is none."""
    report = await store.get(tx, id)
    cursor = await tx.execute(
        "SELECT scores, recommendations, claim_review FROM reports.report WHERE id = %s", [id]
    )
    [(scores, recommendations, review)] = await cursor.fetchall()
    reruns = report.shown_round != report.round
    return ReportContents(
        report,
        await read_findings(tx, id),
        tuple(await find_prompts(tx, id, report.shown_round)),
        tuple(await find_answers(tx, id, report.shown_round)),
        SCORES.validate_python(scores or ()),
        RECOMMENDATIONS.validate_python(recommendations or ()),
        REVIEW.validate_python(review),
        tuple(await find_prompts(tx, id, report.round)) if reruns else (),
    )


async def read_newest(tx: Tx, company_id: int) -> ReportContents | None:
    """The newest report of a company that has results."""
    id = await fetch_value(
        tx,
        int,
        """
        SELECT id FROM reports.report WHERE company_id = %s AND results_round IS NOT NULL
         ORDER BY id DESC LIMIT 1
        """,
        [company_id],
    )
    return None if id is None else await read_contents(tx, id)
