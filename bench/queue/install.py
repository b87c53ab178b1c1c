"""Separate environments for the peers, built from hash-pinned locks and rebuilt when a lock changes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[1] / ".venv-bench"


class Missing(Exception):
    """Something is missing on this machine; the message says what."""


@dataclass(frozen=True)
class Environment:
    name: str
    at_least: tuple[int, int]

    @property
    def lock(self) -> Path:
        return HERE / f"requirements-{self.name}.lock"


PEERS = Environment("peers", (3, 11))
OBAN = Environment("oban", (3, 12))


def python(environment: Environment) -> Path:
    """The interpreter of the environment; installs the packages of its lock file first, if necessary."""
    home = HOME / environment.name
    interpreter = home / "bin" / "python"
    stamp = home / "lock.sha256"
    digest = hashlib.sha256(environment.lock.read_bytes()).hexdigest()
    if interpreter.exists() and stamp.exists() and stamp.read_text() == digest:
        return interpreter
    base_python = _find(environment.at_least)
    print(f"installing {environment.lock.name}", file=sys.stderr)
    _run(base_python, "-m", "venv", "--clear", home)
    # The lock file lists all dependencies, without the extras that some packages ask for.
    options = ("-qq", "--no-deps", "--require-hashes", "-r", environment.lock)
    _run(interpreter, "-m", "pip", "install", *options)
    stamp.write_text(digest)
    return interpreter


def _find(at_least: tuple[int, int]) -> str:
    """The Python that runs this if it is new enough, or else the first one on the PATH that is."""
    newer = [f"python3.{minor}" for minor in range(at_least[1], at_least[1] + 4)]
    for name in (sys.executable, "python3", *newer):
        if _version(name) >= at_least:
            return name
    raise Missing(f"needs Python {at_least[0]}.{at_least[1]} or newer on the PATH")


def _version(name: str) -> tuple[int, ...]:
    ask = "import sys; print(*sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [name, "-c", ask], capture_output=True, text=True, check=True
        ).stdout
    # A name on the PATH may be a shim for a version that is not installed.
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(int(part) for part in answer.split())


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{' '.join(map(str, command))} failed:\n{done.stderr.strip()}")


if __name__ == "__main__":
    for each in (PEERS, OBAN):
        try:
            print(python(each))
        except Missing as missing:
            print(f"{each.name}: {missing}")
