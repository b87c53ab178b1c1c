"""People with a slot by their stage."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.stages.stage_definitions import OpeningStage, list_stages


@dataclass(frozen=True, slots=True)
class StagedApplication:
    application_id: int
    applicant_id: int
    applicant_name: str
    stage: str
    """The key of the stage."""
    moved_at: dt.datetime
    """When the application came into this stage."""
    total: int
    """How many applications the stage has."""


@dataclass(frozen=True, slots=True)
class StageColumn:
    stage: OpeningStage
    count: int
    people: Sequence[StagedApplication]
    """The first people, the longest in the stage first."""


async def read_board(tx: Tx, opening: Opening, *, limit: int) -> list[StageColumn]:
    """The stages in order, each with at most `limit` people; stages that end applications have none."""
    stages = list_stages(opening)
    people = await fetch_all(
        tx,
        StagedApplication,
        """
        SELECT application_id, applicant_id, name AS applicant_name, stage, moved_at, total
          FROM (SELECT application.id AS application_id, applicant_id, in_stage AS stage, moved_at,
                       count(*) OVER (PARTITION BY in_stage) AS total,
                       row_number() OVER (PARTITION BY in_stage
                                          ORDER BY moved_at, application.id) AS place
                  FROM hiring.application
                 CROSS JOIN LATERAL (
                    SELECT coalesce(stage, %(first)s) AS in_stage,
                           coalesce(CASE WHEN stage IS NOT NULL THEN (
                               SELECT created_at FROM hiring.event
                                WHERE application_id = application.id AND type = 'STAGE_CHANGED'
                                ORDER BY seq DESC LIMIT 1) END, entered_at) AS moved_at) AS current
                 WHERE opening_id = %(opening)s AND status = 'ACTIVE') AS staged
          JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE place <= %(limit)s
         ORDER BY place
        """,
        {"opening": opening.id, "first": stages[0].key, "limit": limit},
    )
    columns = {stage.key: [row for row in people if row.stage == stage.key] for stage in stages}
    return [
        StageColumn(
            stage, columns[stage.key][0].total if columns[stage.key] else 0, columns[stage.key]
        )
        for stage in stages
    ]
