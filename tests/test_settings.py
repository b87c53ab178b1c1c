from __future__ import annotations

import grp
import os
import pwd
import re
import traceback
from pathlib import Path

import pytest

from jobmill import settings
from jobmill.errors import Invalid
from jobmill.settings import Settings
from scripts import reference

SHARED_GROUP = 65_534


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the settings of the developer from the tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jobmill.yaml").write_text(text)
    return folder / "jobmill.yaml"


def test_every_setting_has_a_default(tmp_path: Path) -> None:
    loaded, origins = settings.load({}, tmp_path)
    assert loaded == Settings()
    assert set(origins.values()) == {"default"}
    assert list(origins) == list(Settings.model_fields)
    assert loaded.data_dir == tmp_path / "data" / "jobmill"


def test_the_environment_overrides_the_file_and_origins_are_reported(tmp_path: Path) -> None:
    file = write(tmp_path, "web_port: 9000\nprocessors: 4\npoll_only: on\n")
    loaded, origins = settings.load({"JOBMILL_WEB_PORT": "9001"}, tmp_path)
    assert (loaded.web_port, loaded.processors, loaded.poll_only) == (9001, 4, True)
    assert origins["web_port"] == "environment JOBMILL_WEB_PORT"
    assert origins["processors"] == f"{file}:2"
    assert origins["poll_only"] == f"{file}:3"
    assert origins["web_host"] == "default"


def test_the_first_existing_file_is_used(tmp_path: Path) -> None:
    write(tmp_path / "config" / "jobmill", "web_port: 1")
    assert settings.load({}, tmp_path)[0].web_port == 1
    write(tmp_path, "web_port: 2")
    assert settings.load({}, tmp_path)[0].web_port == 2
    chosen = write(tmp_path / "chosen", "web_port: 3")
    assert settings.load({"JOBMILL_CONFIG": str(chosen)}, tmp_path)[0].web_port == 3


def test_jobmill_database_url_overrides_database_url() -> None:
    plain = {"DATABASE_URL": "postgres://plain/x"}
    loaded, origins = settings.load(plain)
    assert loaded.database_url == "postgres://plain/x"
    assert origins["database_url"] == "environment DATABASE_URL"
    both = {**plain, "JOBMILL_DATABASE_URL": "postgresql://ours/x"}
    assert settings.load(both)[0].database_url == "postgresql://ours/x"


KEY_VALUES = "host=a,b port=5432,5433 dbname=jobmill user=me target_session_attrs=read-write"


def test_a_database_is_given_as_a_url_or_as_key_value_pairs(tmp_path: Path) -> None:
    urls = (
        KEY_VALUES,
        "postgresql://me@a:5432,b:5433/jobmill?target_session_attrs=read-write",
        "postgresql:///?host=a,b",
        "postgresql://",
        "service=jobmill",
    )
    for url in urls:
        assert settings.load({"DATABASE_URL": url})[0].database_url == url
    write(tmp_path, f"database_url: {KEY_VALUES}\n")
    assert settings.load({}, tmp_path)[0].database_url == KEY_VALUES


POOLER = {"DATABASE_URL": "postgresql://pooler/x", "JOBMILL_DATABASE_POOLER": "transaction"}
DIRECT = {"JOBMILL_DATABASE_DIRECT_URL": "postgresql://me:s3cret@server/x"}


def test_a_pooler_needs_a_direct_url() -> None:
    loaded, origins = settings.load(POOLER | DIRECT)
    assert loaded.database_direct_url == DIRECT["JOBMILL_DATABASE_DIRECT_URL"]
    assert origins["database_direct_url"] == "environment JOBMILL_DATABASE_DIRECT_URL"
    with pytest.raises(Invalid, match=r"set database_direct_url \(JOBMILL_DATABASE_DIRECT_URL\)"):
        settings.load(POOLER)
    with pytest.raises(
        Invalid, match=r"set database_url \(DATABASE_URL\) to the connection pooler"
    ):
        settings.load({**POOLER, **DIRECT, "DATABASE_URL": ""})


def test_a_direct_url_without_a_pooler_is_refused() -> None:
    for pooler in ("", "none"):
        with pytest.raises(Invalid, match=r"set database_pooler .* to transaction") as caught:
            settings.load({**POOLER, **DIRECT, "JOBMILL_DATABASE_POOLER": pooler})
        assert "s3cret" not in str(caught.value)


def test_processors_can_be_set_for_individual_phases(tmp_path: Path) -> None:
    write(tmp_path, "processors: 7\nprocessors_by_phase:\n  fetch: 2\n")
    loaded, _ = settings.load({}, tmp_path)
    assert (loaded.processors_by_phase["fetch"], loaded.processors) == (2, 7)
    loaded, _ = settings.load({"JOBMILL_PROCESSORS_BY_PHASE": "fetch=3, score=4"}, tmp_path)
    assert loaded.processors_by_phase == {"fetch": 3, "score": 4}


def test_paths_are_relative_to_home_or_to_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    write(tmp_path, "data_dir: stuff\nletters_dir: ~/letters\n")
    loaded, _ = settings.load({}, tmp_path)
    assert loaded.data_dir == tmp_path / "stuff"
    assert loaded.letters_dir == tmp_path / "me" / "letters"
    assert settings.load({"JOBMILL_DATA_DIR": "~/x"})[0].data_dir == tmp_path / "me" / "x"


def test_an_empty_variable_is_unset(tmp_path: Path) -> None:
    write(tmp_path, "postgres_bin:\nweb_port: ''\n")
    _, origins = settings.load({"JOBMILL_LOG_LEVEL": "", "DATABASE_URL": ""}, tmp_path)
    assert set(origins.values()) == {"default"}


def test_variables_that_kubernetes_adds_are_ignored() -> None:
    settings.load(
        {
            "JOBMILL_SERVICE_HOST": "10.0.0.1",
            "JOBMILL_SERVICE_PORT_HTTP": "80",
            "JOBMILL_PORT": "tcp://10.0.0.1:80",
            "JOBMILL_PORT_80_TCP_ADDR": "10.0.0.1",
        }
    )


WRONG_VARIABLES = [
    ("JOBMILL_WEB_PORT", "many", "JOBMILL_WEB_PORT should be a whole number from 0 to 65535, not 'many'"),
    ("JOBMILL_WEB_PORT", "65536", "from 0 to 65535, not '65536'"),
    ("JOBMILL_WEB_PROT", "1", "sets JOBMILL_WEB_PROT, which is not a setting: did you mean JOBMILL_WEB_PORT?"),
    ("JOBMILL_XYZZY", "1", "sets JOBMILL_XYZZY, which is not a setting"),
    ("JOBMILL_LOG_LEVEL", "loud", "debug or info or warning or error, not 'loud'"),
    ("JOBMILL_LOG_FORMAT", "xml", "text or json, not 'xml'"),
    ("JOBMILL_POLL_ONLY", "maybe", "true or false, not 'maybe'"),
    ("JOBMILL_PROCESSORS", "0", "a whole number from 1 to 10000000, not '0'"),
    ("JOBMILL_PROCESSORS_BY_PHASE", "a=2,b=x", r"\(b\) should be .* from 1 to 10000000, not 'x'"),
    ("JOBMILL_PROCESSORS_BY_PHASE", "5", r"\(5\) should be .* not ''"),
    ("JOBMILL_MAX_RETRIES", "-1", "a whole number from 0 to 1000, not '-1'"),
    ("JOBMILL_RUN_LIMIT_SECONDS", "0", "a number above 0, not '0'"),
    ("JOBMILL_RUN_LIMIT_SECONDS", "inf", "a number above 0, not 'inf'"),
    ("JOBMILL_KEEP_FINISHED_DAYS", "1.5", "a whole number from 1 to 10000000, not '1.5'"),
    ("JOBMILL_USER_AGENT", "my\nbot", "JOBMILL_USER_AGENT should be a text"),
    ("JOBMILL_CONTACT", "\u00fcs@example.org", "JOBMILL_CONTACT should be a text"),
    ("JOBMILL_HOST_INTERVAL_SECONDS", "0", "a number above 0, not '0'"),
    ("JOBMILL_HOST_CALLS", "0", "a whole number from 1 to 100, not '0'"),
    ("JOBMILL_PRIVATE_HOSTS", "localhost", "should be host:port,host:port, not 'localhost'"),
    ("JOBMILL_PRIVATE_HOSTS", "a:1,b:65536", "should be host:port,host:port"),
    ("JOBMILL_PRIVATE_HOSTS", "http://a:1", "should be host:port,host:port"),
    ("JOBMILL_MODEL_CHEAP", "haiku", "should be anthropic:MODEL or openai:MODEL or ollama:MODEL or none, not 'haiku'"),
    ("JOBMILL_MODEL_PRICES", "openai:x=5", r"\(openai:x\) should be model=IN/OUT,model=IN/OUT, not '5'"),
    ("JOBMILL_OPENAI_BASE_URL", "http://me:secret@host", "JOBMILL_OPENAI_BASE_URL should be a URL .* without a password$"),
    ("JOBMILL_BUDGET_DAY", "-1", "a number from 0 to 1,000,000, not '-1'"),
    ("JOBMILL_BUDGET_DAY", "nan", "a number from 0 to 1,000,000, not 'nan'"),
    ("DATABASE_URL", "mysql://me@host/x", "DATABASE_URL should be a URL that starts with postgresql://"),
    ("DATABASE_URL", "jobmill", "DATABASE_URL should be .* or pairs such as host=a,b dbname=jobmill$"),
    ("DATABASE_URL", " ", "DATABASE_URL should be a URL"),
    ("DATABASE_URL", "hots=a dbname=x", "DATABASE_URL should be a URL"),
    ("DATABASE_URL", "postgresql://host/x?sslmod=require", "DATABASE_URL should be a URL"),
    ("JOBMILL_DATABASE_DIRECT_URL", "mysql://host/x", "JOBMILL_DATABASE_DIRECT_URL should be a URL"),
    ("JOBMILL_DATABASE_POOLER", "session", "none or transaction, not 'session'"),
    ("JOBMILL_CONFIG", "/nowhere/x.yaml", "JOBMILL_CONFIG names /nowhere/x.yaml, which is not a file"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "complaint"), WRONG_VARIABLES)
def test_a_wrong_variable_is_named_with_the_allowed_values(
    name: str, text: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match=complaint.replace("?", r"\?")):
        settings.load({name: text}, tmp_path)


WRONG_FILES = [
    ("web_port: yes", ":1: web_port should be a whole number from 0 to 65535, not 'yes'"),
    ("\n\nweb_prt: 1", r":3: web_prt is not a setting: did you mean web_port\?"),
    ("web_port: 1\nweb_port: 2", r":2: web_port is set twice \(first in .*:1\)"),
    ("web_port: [1, 2]", ":1: web_port should be .*, not a list or a group"),
    ("web_port: {a: 1}", ":1: web_port should be .*, not a list or a group"),
    ("processors_by_phase: {a: [1]}", ":1: processors_by_phase should be .*, not a list or a group"),
    ("processors_by_phase: 3", ":1: processors_by_phase should be phase=N"),
    ("- web_port", ":1: not a settings file: each line must be `name: value`"),
    ("web_port", ":1: not a settings file: each line must be `name: value`"),
    ("web_port: 1\nlog_level: [", ":2: not YAML: .*"),
    ("web_port: *other", ":1: not YAML: found undefined alias"),
    ("web_port: \x00", ": not YAML: "),
    ("log_level: loud\nweb_port: x", ":2: web_port should be .*; .*:1: log_level should be"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "complaint"), WRONG_FILES)
def test_a_wrong_file_is_named_with_the_line(text: str, complaint: str, tmp_path: Path) -> None:
    file = write(tmp_path, text)
    with pytest.raises(Invalid) as caught:
        settings.load({}, tmp_path)
    assert str(caught.value).startswith(str(file))
    assert re.search(complaint, str(caught.value))


def test_a_file_that_cannot_be_decoded_is_named(tmp_path: Path) -> None:
    write(tmp_path, "").write_bytes(b"web_host: \xff\xfe")
    with pytest.raises(Invalid, match=r"jobmill\.yaml: not YAML"):
        settings.load({}, tmp_path)


def test_no_error_and_no_print_shows_a_password() -> None:
    for variable in ("DATABASE_URL", "JOBMILL_DATABASE_DIRECT_URL"):
        for wrong in ("mysql://me:s3cret@host/x", "host=a password=my s3cret"):
            with pytest.raises(Invalid) as caught:
                settings.load({variable: wrong})
            assert "s3cret" not in str(caught.value)
            # A traceback, which JOBMILL_DEBUG=1 prints, does not show it either.
            assert "s3cret" not in "".join(traceback.format_exception(caught.value))
    url = "postgresql://me:s3cret@host/x"
    assert "s3cret" not in repr(Settings(database_url=url, database_direct_url=url))


def test_the_reference_page_is_up_to_date() -> None:
    page = Path(__file__).parent.parent / reference.SETTINGS
    assert page.read_text() == reference.settings_page(), "run `make fmt`"


@pytest.mark.parametrize("path", ["jobmill.yaml", "."])
def test_a_settings_file_that_others_may_write_is_not_read(tmp_path: Path, path: str) -> None:
    write(tmp_path, "web_port: 1")
    (tmp_path / path).chmod(0o777)
    with pytest.raises(Invalid, match="is not read, because everyone may write to"):
        settings.load({}, tmp_path)
    (tmp_path / path).chmod(0o755)
    assert settings.load({}, tmp_path)[0].web_port == 1


def test_a_settings_file_that_a_shared_group_may_write_is_not_read(tmp_path: Path) -> None:
    file = write(tmp_path, "web_port: 1")
    os.chown(file, -1, SHARED_GROUP) if os.geteuid() == 0 else None
    file.chmod(0o664)
    if grp.getgrgid(file.stat().st_gid).gr_name == pwd.getpwuid(os.geteuid()).pw_name:
        pytest.skip("only root can give a file to a shared group")
    with pytest.raises(Invalid, match="a group may write"):
        settings.load({}, tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("path", ["jobmill.yaml", "."])
def test_a_settings_file_of_another_user_is_not_read(tmp_path: Path, path: str) -> None:
    file = write(tmp_path, "web_port: 1")
    os.chown(tmp_path / path, 65_534, -1)
    for environ in ({}, {"JOBMILL_CONFIG": str(file)}):
        with pytest.raises(Invalid, match="belongs to another user"):
            settings.load(environ, tmp_path)


def test_a_link_in_a_folder_of_others_is_not_followed(tmp_path: Path) -> None:
    file = write(tmp_path / "mine", "web_port: 1")
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "jobmill.yaml").symlink_to(file)
    shared.chmod(0o777)
    with pytest.raises(Invalid, match="everyone may write"):
        settings.load({}, shared)


@pytest.mark.parametrize("name", settings.PROGRAMS)
def test_a_file_in_the_current_folder_names_no_programs(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, f"{name}: ./evil")
    with pytest.raises(Invalid, match=f"JOBMILL_{name.upper()}"):
        settings.load({}, tmp_path)
    assert settings.load({"JOBMILL_CONFIG": str(file)}, tmp_path)[0]
    file.unlink()
    write(tmp_path / "config" / "jobmill", f"{name}: ./mine")
    assert getattr(settings.load({}, tmp_path)[0], name) == tmp_path / "config/jobmill/mine"
