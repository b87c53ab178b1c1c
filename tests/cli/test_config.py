from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.cli.conftest import Jobmill
from tests.outside.mailbox import open_mailbox


def test_show_prints_every_value_and_its_origin(jobmill: Jobmill, home: Path) -> None:
    (home / "jobmill.yaml").write_text("processors: 4\n")
    done = jobmill("config", "show", "--json", JOBMILL_LOG_LEVEL="error")
    settings = {setting["name"]: setting for setting in json.loads(done.stdout)}
    assert settings["processors"]["value"] == 4
    assert settings["processors"]["origin"] == f"{home}/jobmill.yaml:1"
    assert settings["log_level"]["origin"] == "environment JOBMILL_LOG_LEVEL"
    assert settings["web_host"] == {"name": "web_host", "value": "127.0.0.1", "origin": "default"}


def test_show_hides_passwords(jobmill: Jobmill) -> None:
    secret = {
        "DATABASE_URL": "postgresql://me:s3cret@pooler.example/x?sslpassword=s3cret",
        "JOBMILL_DATABASE_POOLER": "transaction",
        "JOBMILL_DATABASE_DIRECT_URL": "host=a.example,b.example user=me password=s3cret",
    }
    for face in ([], ["--json"]):
        done = jobmill("config", "show", *face, **secret)
        assert "pooler.example" in done.stdout
        assert "a.example,b.example" in done.stdout
        assert "s3cret" not in done.stdout + done.stderr


def test_show_does_not_truncate_values_in_a_pipe(jobmill: Jobmill, home: Path) -> None:
    long = f"{home}/{'x' * 200}"
    assert long in jobmill("config", "show", JOBMILL_DATA_DIR=long).stdout


def test_check_passes_or_names_the_invalid_setting(jobmill: Jobmill) -> None:
    done = jobmill("config", "check")
    assert (done.returncode, done.stdout[:3]) == (0, "ok:")
    done = jobmill("config", "check", JOBMILL_PROCESSORS="none")
    assert done.returncode == 2
    assert done.stderr == (
        "jobmill: JOBMILL_PROCESSORS should be a whole number from 1 to 10000000, not 'none'\n"
    )


def test_path_prints_the_settings_file(jobmill: Jobmill, home: Path) -> None:
    done = jobmill("config", "path")
    assert done.stdout == ""
    assert str(home / "config" / "jobmill" / "jobmill.yaml") in done.stderr
    assert json.loads(jobmill("config", "path", "--json").stdout)["path"] is None
    (home / "jobmill.yaml").write_text("")
    assert jobmill("config", "path").stdout == f"{home}/jobmill.yaml\n"


def test_a_test_letter_needs_a_mail_server_that_takes_it(jobmill: Jobmill) -> None:
    off = jobmill("config", "test-mail", "me@example.org")
    assert (off.returncode, "no mail server is configured" in off.stderr) == (5, True)
    mail = {"JOBMILL_SMTP_URL": "smtp://127.0.0.1:1", "JOBMILL_MAIL_FROM": "hiring@wells.example"}
    refused = jobmill("config", "test-mail", "me@example.org", **mail)
    assert (refused.returncode, "did not accept the email" in refused.stderr) == (5, True)


async def test_a_test_letter_reaches_the_mail_server(jobmill: Jobmill) -> None:
    async with open_mailbox() as mailbox:
        mail = {
            "JOBMILL_SMTP_URL": f"smtp://127.0.0.1:{mailbox.port}",
            "JOBMILL_MAIL_FROM": "hiring@wells.example",
        }
        done = await asyncio.to_thread(
            jobmill, "config", "test-mail", "me@example.org", "--json", **mail
        )
    assert json.loads(done.stdout) == {"address": "me@example.org", "accepted": True}
    assert mailbox.recipients == [["me@example.org"]]
