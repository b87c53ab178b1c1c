from __future__ import annotations

import json

from tests.cli.conftest import Jobmill
from tests.cli.forked import as_url


def test_competitors_are_named_at_creation_or_later_and_a_report_is_deleted(
    jobmill: Jobmill, url: str
) -> None:
    def run(*arguments: str) -> str:
        done = jobmill("report", *arguments, DATABASE_URL=as_url(url))
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("create", "tidewater.example", "--competitors", "aquaflow.example")
    shown = json.loads(run("competitors", "1", "rival.example", "aquaflow.example", "--json"))
    assert [report["site"] for report in shown["reports"]] == [
        "https://aquaflow.example/", "https://rival.example/",
    ]  # fmt: skip
    assert all(report["site_only"] for report in shown["reports"])
    run("delete", "1", "--yes")
    assert jobmill("report", "show", "1", DATABASE_URL=as_url(url)).returncode != 0
    assert "Aquaflow" in run("list")
