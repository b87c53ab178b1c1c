"""Release a version: `python -m scripts.release 0.2.0` changes the version and the changelog, commits,
tags, and builds the packages and their bill of materials into `dist`. It publishes nothing."""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from scripts import package, sbom

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"\d+\.\d+\.\d+")
RESERVED = ".example/"


def main() -> None:
    if len(sys.argv) != 2 or not VERSION.fullmatch(sys.argv[1]):
        raise SystemExit("usage: python -m scripts.release MAJOR.MINOR.PATCH")
    version = sys.argv[1]
    texts = {name: (ROOT / name).read_text() for name in ("pyproject.toml", "CHANGELOG.md")}
    texts["compose.yaml"] = (ROOT / "compose.yaml").read_text()
    changed = prepare(texts, version, dt.datetime.now(dt.UTC).date())
    if _git("status", "--porcelain"):
        raise SystemExit("Commit or stash your changes first.")
    for name, text in changed.items():
        (ROOT / name).write_text(text)
    _git("commit", "--all", "--message", f"Release {version}")
    _git("tag", "--annotate", f"v{version}", "--message", f"Jobmill {version}")
    files = package.build(ROOT / "dist")
    bill = ROOT / "dist" / f"jobmill-{version}.cdx.json"
    bill.write_text(json.dumps(sbom.build_sbom((ROOT / "requirements.lock").read_text()), indent=2))
    print(*files, bill, sep="\n")  # noqa: T201
    print(f"Check them, then push main and v{version}, and upload the packages.")  # noqa: T201


def prepare(texts: dict[str, str], version: str, date: dt.date) -> dict[str, str]:
    """The changed files by name; SystemExit with what to do if the release cannot be made."""
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    old: str = project["version"]
    if _numbers(version) <= _numbers(old):
        raise SystemExit(f"{version} is not newer than {old}: choose a higher version.")
    if RESERVED in project["urls"]["Repository"]:
        raise SystemExit("Set the URLs in pyproject.toml to the repository of the project first.")
    unreleased = re.search(
        r"^## Unreleased\n+(.*?)(?=^## |\Z)", texts["CHANGELOG.md"], re.MULTILINE | re.DOTALL
    )
    if not unreleased or not unreleased[1].strip():
        raise SystemExit("CHANGELOG.md has nothing under Unreleased: say what changed first.")
    heading = f"## Unreleased\n\n## {version} - {date}\n"
    return {
        "pyproject.toml": texts["pyproject.toml"].replace(
            f'version = "{old}"', f'version = "{version}"', 1
        ),
        "CHANGELOG.md": texts["CHANGELOG.md"].replace("## Unreleased\n", heading, 1),
        "compose.yaml": texts["compose.yaml"].replace(f"jobmill:{old}", f"jobmill:{version}"),
    }


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
