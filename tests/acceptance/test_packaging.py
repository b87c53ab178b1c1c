"""The packages that people install: what is in them, and that they work without the lock file."""

from __future__ import annotations

import datetime as dt
import email
import os
import re
import signal
import subprocess
import tarfile
import time
import venv
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from scripts import package, release

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    package.build(folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    [wheel] = dist.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        return email.message_from_bytes(archive.read(name))


def test_the_packages_contain_every_file_of_the_package(dist: Path, wheel: Path) -> None:
    expected = {name for name in package.tracked_files() if name.startswith("jobmill/")}
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if name.startswith("jobmill/")} == expected
    [source] = dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert expected | {"pyproject.toml", "setup.py", "requirements.in"} <= names


def test_every_dependency_has_a_lower_bound(metadata: Message) -> None:
    requirements = metadata.get_all("Requires-Dist", [])
    assert len(requirements) > 20
    assert [text for text in requirements if ">=" not in text] == []


def test_the_index_shows_who_made_it_and_where_it_lives(metadata: Message) -> None:
    assert metadata["Author"] == "The Jobmill authors"
    assert metadata["License-Expression"] == "MIT AND Apache-2.0"
    urls = dict(text.split(", ", 1) for text in metadata.get_all("Project-URL", []))
    assert urls.keys() == {"Repository", "Documentation", "Changelog"}
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_links_in_the_readme_are_absolute(metadata: Message) -> None:
    text = str(metadata.get_payload())
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert len(pictures) == 4
    assert all("/raw/v" in picture for picture in pictures)


TEXTS = {
    "pyproject.toml": '[project]\nversion = "1.2.0"\nurls = { Repository = "https://git.test/j" }\n',
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- A pump.\n",
    "compose.yaml": "image: jobmill:1.2.0\n",
}


def test_a_release_changes_the_version_and_the_changelog() -> None:
    changed = release.prepare(TEXTS, "1.10.0", dt.date(2026, 1, 2))
    assert 'version = "1.10.0"' in changed["pyproject.toml"]
    assert "## Unreleased\n\n## 1.10.0 - 2026-01-02\n\n- A pump." in changed["CHANGELOG.md"]
    assert changed["compose.yaml"] == "image: jobmill:1.10.0\n"


@pytest.mark.parametrize(
    ("version", "name", "text", "reason"),
    [
        ("1.2.0", "compose.yaml", TEXTS["compose.yaml"], "not newer"),
        ("1.3.0", "CHANGELOG.md", "## Unreleased\n\n## 1.2.0\n\n- A pump.\n", "say what changed"),
        ("1.3.0", "pyproject.toml", (ROOT / "pyproject.toml").read_text(), "Set the URLs"),
    ],
)
def test_a_release_that_cannot_be_made_says_why(
    version: str, name: str, text: str, reason: str
) -> None:
    with pytest.raises(SystemExit, match=reason):
        release.prepare(TEXTS | {name: text}, version, dt.date(2026, 1, 2))


@pytest.mark.soak
@pytest.mark.enable_socket
def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """Only the package index, no lock file: install, start, see a match of the demo, stop."""
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / "bin"
    subprocess.run([programs / "pip", "install", "-qq", wheel], check=True)
    listed = subprocess.run(
        [programs / "pip", "list", "--format=freeze"], check=True, capture_output=True, text=True
    )
    assert not re.search(r"(?im)^(torch|transformers|nvidia|tokenizers|huggingface)", listed.stdout)
    size = sum(file.stat().st_size for file in (tmp_path / "venv/lib").rglob("*") if file.is_file())
    print(
        f"{len(listed.stdout.splitlines())} packages, {size / 1e6:.0f} MB, wheel {wheel.stat().st_size:,}"
    )
    clean = {name: text for name, text in os.environ.items() if not name.startswith("JOBMILL_")}
    clean.pop("DATABASE_URL", None)
    environment = clean | {"HOME": str(tmp_path), "JOBMILL_DATA_DIR": str(tmp_path / "data")}
    with subprocess.Popen(
        [programs / "jobmill", "up", "--port", "0"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as server:
        try:
            wait_for_match(programs / "jobmill", environment, tmp_path)
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0


def wait_for_match(program: Path, environment: dict[str, str], folder: Path) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        done = subprocess.run(
            [program, "match", "list", "--json"],
            cwd=folder,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode == 0 and '"matchScore"' in done.stdout:
            return
        time.sleep(1)
    raise AssertionError(f"no match within three minutes: {done.stderr}")
