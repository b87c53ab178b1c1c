"""Demo data with an attack in every external text."""

from __future__ import annotations

from typing import Any, cast

from psycopg import sql
from psycopg.errors import CheckViolation
from psycopg.types.json import Jsonb

from jobmill.db import Database, Tx

TEXTS = (
    "<script>window.__xss=1</script>",
    "<img src=x onerror=window.__xss=1>",
    '"><svg onload=window.__xss=1>',
    "'-(window.__xss=1)-'",
    "</textarea></title></script><script>window.__xss=1</script>",
    "{{7*7}}${window.__xss=1}{% raw %}",
    "&lt;script&gt;window.__xss=1&lt;/script&gt;&#x3c;img src=x onerror=window.__xss=1&#x3e;",
    '<iframe srcdoc="<script>parent.__xss=1</script>">',
    '<p style="width:expression(window.__xss=1);background:url(//evil.example/__xss)">',
    "\u202e<b onmouseover=window.__xss=1>txet desrever\u202c",
    "<a href=javascript:window.__xss=1>here</a><base href=//evil.example/__xss/>",
    "<img src=//evil.example/__xss><link rel=stylesheet href=//evil.example/__xss>",
    "<div hx-get=//evil.example/__xss hx-trigger=load hx-on:load=window.__xss=1>",
)
URLS = (
    "javascript:window.__xss=1//",
    "JaVaScRiPt:window.__xss=1//",
    " javascript:window.__xss=1//",
    "java\tscript:window.__xss=1//",
    "data:text/html,<script>parent.__xss=1</script>",
    "vbscript:window.__xss=1",
    'https://evil.example/"onmouseover="window.__xss=1"x="',
    "https://evil.example/</a><script>window.__xss=1</script>",
    "//evil.example/__xss",
)
WRITTEN = {
    "catalog.company": "name about culture mission industry headquarters_location founded "
    "size job_board_evidence",
    "catalog.listing": "title company location department description requirements requisition_id",
    "catalog.run": "detail",
    "catalog.incident": "detail",
    "catalog.source": "name company_name last_detail disabled_reason evidence",
    "hiring.applicant": "name",
    "hiring.event": "note actor",
    "hiring.opening": "title description location employer",
    "matching.match": "note",
    "matching.event": "actor",
    "matching.profile_version": "note saved_by",
    "queue.alert": "subject detail",
    "queue.ending": "message",
    "queue.event": "note",
    "queue.item": "message error_text error_class",
    "rotation.call": "detail",
}
ADDRESSES = {
    "catalog.company": "website job_board_url",
    "catalog.listing": "url apply_url",
    "catalog.source": "url",
}
LISTS = {
    "catalog.company": "tech_stack offices",
    "catalog.listing": "tags locations",
    "matching.match": "matched_skills skill_gaps",
}
ANSWERS = {
    "matching.match": "items resume_intake",
    "matching.verdict": "match_result filter_result",
}
"""JSON columns with answers of models and rules."""
SAID = ("why", "words", "reason", "detail", "quote", "summary", "note")


async def spoil(database: Database) -> None:
    """Write an attack into every column that holds external text."""
    async with database.transaction() as tx:
        # Triggers that protect the audit log would also refuse this update.
        await tx.execute("SET LOCAL session_replication_role = replica")
        for table, columns in WRITTEN.items():
            for column in columns.split():
                await _write(tx, table, column, TEXTS)
        for table, columns in ADDRESSES.items():
            for column in columns.split():
                await _write(tx, table, column, URLS)
        for table, columns in LISTS.items():
            for column in columns.split():
                await _write_list(tx, table, column)
        for table, columns in ANSWERS.items():
            for column in columns.split():
                await _write_answer(tx, table, column)


async def _write(tx: Tx, table: str, column: str, attacks: tuple[str, ...]) -> None:
    """Write a different attack into each row, since some columns are unique."""
    statement = """
        WITH numbered AS (SELECT ctid AS row, row_number() OVER () AS n FROM {table})
        UPDATE {table} SET {column} = (%(attacks)s::text[])[1 + n %% %(many)s] || n
          FROM numbered
         WHERE {table}.ctid = row AND (%(everywhere)s OR {column} IS NOT NULL)
    """
    values = {"attacks": list(attacks), "many": len(attacks)}
    try:
        async with tx.transaction():
            await _run(tx, statement, table, column, everywhere=True, **values)
    except CheckViolation:
        # A constraint allows it only in some rows.
        await _run(tx, statement, table, column, everywhere=False, **values)


async def _write_list(tx: Tx, table: str, column: str) -> None:
    statement = "UPDATE {table} SET {column} = %(attacks)s::text[]"
    await _run(tx, statement, table, column, attacks=list(TEXTS))


async def _write_answer(tx: Tx, table: str, column: str) -> None:
    names = {"table": sql.Identifier(*table.split(".")), "column": sql.Identifier(column)}
    cursor = await tx.execute(sql.SQL("SELECT ctid::text, {column} FROM {table}").format(**names))
    statement = sql.SQL("UPDATE {table} SET {column} = %s WHERE ctid = %s::tid").format(**names)
    for number, (row, value) in enumerate(await cursor.fetchall()):
        if value:
            await tx.execute(statement, [Jsonb(_spoilt(value, number)), row])


async def _run(tx: Tx, statement: str, table: str, column: str, **values: object) -> None:
    names = {"table": sql.Identifier(*table.split(".")), "column": sql.Identifier(column)}
    await tx.execute(sql.SQL(cast(Any, statement)).format(**names), values)


def _spoilt(value: Any, number: int, key: str = "") -> Any:
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {name: _spoilt(item, number, name) for name, item in items.items()}
    if isinstance(value, list):
        return [_spoilt(item, number, key) for item in cast("list[Any]", value)]
    attack = TEXTS[number % len(TEXTS)]
    return attack if isinstance(value, str) and key in (*SAID, *INTAKE) else value


INTAKE = ("professional_summary", "prioritized_skills", "experience_highlights", "ats_keywords")
