"""Build the source distribution and the wheel into `dist`, from the files that git tracks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# setuptools changes sys.argv.
BUILD = (
    "import sys; from setuptools import build_meta; target = sys.argv[1]; "
    "build_meta.build_sdist(target); build_meta.build_wheel(target)"
)


def main() -> None:
    for file in build(ROOT / "dist"):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")  # noqa: T201


def build(target: Path) -> list[Path]:
    """Build in a copy, because setuptools leaves files beside the source and reuses them."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in tracked_files():
            copy = Path(folder, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy)
        command = [sys.executable, "-c", BUILD, str(target.resolve())]
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"The build failed:\n{done.stdout}\n{done.stderr}")
    return sorted([*target.glob("*.tar.gz"), *target.glob("*.whl")])


def tracked_files() -> list[str]:
    """The files of the checkout that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


if __name__ == "__main__":
    main()
