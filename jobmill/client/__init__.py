"""A typed client of Jobmill's HTTP API, independent of the server's code.

from jobmill.client import Jobmill, models

with Jobmill("http://127.0.0.1:8571", key="jm_…") as jobmill:
    for match in jobmill.iterate(jobmill.list_matches, min_score=85):
        print(match.score, match.title, match.reason_for)
    jobmill.set_match_status(7, models.ApiStatusBody(status="saved"))
"""

from __future__ import annotations

from jobmill.client import models
from jobmill.client.errors import ApiError, OutdatedVersion, ServerUnreachable
from jobmill.client.session import Jobmill

__all__ = ["ApiError", "Jobmill", "OutdatedVersion", "ServerUnreachable", "models"]
