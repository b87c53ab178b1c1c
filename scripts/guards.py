"""Removes safety guards one at a time and checks that a test fails.

Each guard is removed in a copy of the tracked files: the working tree never changes. `killed`: a test
failed or hung without the guard. `SURVIVED`: every test passed. `BROKEN`: the copy without the guard
does not run at all, which proves nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from scripts.guard_list import GUARDS, Guard, find_faults

ROOT = Path(__file__).resolve().parent.parent
TEST_LIMIT = 60
"""Seconds after which a single test counts as hung."""
PYTEST_LIMIT = 120
"""Seconds for everything else in a run of pytest."""
TESTS_FAILED, HUNG = 1, -1
"""Exit codes: pytest's code for failed tests, and one for a timeout; others mean that no test could run."""
BAD_PATCH = re.compile(
    r".*(?:errors\.Ambiguous|errors\.Indeterminate|SyntaxError|NameError|ImportError).*"
)
"""Errors of Python or PostgreSQL that show that the patched code is invalid."""


def run_tests(folder: Path, tests: Sequence[str], *options: str) -> tuple[int, str]:
    """The exit code of pytest, or HUNG, and its output."""
    limit = PYTEST_LIMIT + TEST_LIMIT * len(tests)
    python = str(folder / ".venv/bin/python")
    settings = ["-q", "-p", "no:cacheprovider", f"--timeout={TEST_LIMIT}"]
    command = [python, "-m", "pytest", *tests, *settings, *options]
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=output, start_new_session=True
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = HUNG
            _end(process)
        output.seek(0)
        return code, output.read()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt pytest, so that it stops its PostgreSQL server; kill it if it does not end."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def copy_checkout(folder: Path) -> Path:
    tracked = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in filter(None, tracked.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    return folder


@contextmanager
def removed(guard: Guard, folder: Path) -> Iterator[None]:
    path = folder / guard.file
    original = path.read_text()
    _write(path, original.replace(guard.old, guard.new))
    try:
        yield
    finally:
        _write(path, original)


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    # Python reuses bytecode if the source has the same size and the same second.
    for bytecode in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        bytecode.unlink()


def remove_and_test(guard: Guard, folder: Path) -> str:
    """The line to print about a guard."""
    started = time.monotonic()
    with removed(guard, folder):
        code, output = run_tests(folder, guard.tests, "-x")
    if code == 0:
        return f"SURVIVED {guard.name}"
    if code not in (TESTS_FAILED, HUNG):
        return f"BROKEN {guard.name}: pytest exited with {code}\n{output}"
    if error := BAD_PATCH.search(output):
        return f"BROKEN {guard.name}: {error[0].strip()}"
    return f"killed {guard.name} ({time.monotonic() - started:.0f} s)"


def run(guards: Sequence[Guard], jobs: int) -> int:
    thread = threading.local()
    tests = sorted({test for guard in guards for test in guard.tests})
    shares = [share for number in range(jobs) if (share := tests[number::jobs])]
    killed = 0
    with tempfile.TemporaryDirectory(prefix="guards-") as parent:

        def prepare() -> None:
            thread.folder = copy_checkout(Path(tempfile.mkdtemp(dir=parent)))

        with ThreadPoolExecutor(jobs, initializer=prepare) as pool:
            for code, output in pool.map(lambda share: run_tests(thread.folder, share), shares):
                if code != 0:
                    sys.exit(f"{output}\nThese tests fail although no guard was removed.")
            for line in pool.map(lambda guard: remove_and_test(guard, thread.folder), guards):
                print(line, flush=True)  # noqa: T201
                killed += line.startswith("killed")
    goal = f"{killed}/{len(guards)} {len(guards)}/{len(guards)}"
    print(f"goal guards-killed {goal} {'ok' if killed == len(guards) else 'short'}")  # noqa: T201
    return int(killed < len(guards))


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/guards")
    parser.add_argument("--list", action="store_true", help="list the guards and run nothing")
    parser.add_argument("--only", default="", metavar="TEXT", help="guards whose name has TEXT")
    parser.add_argument("--jobs", type=int, default=2, help="how many to remove at once")
    options = parser.parse_args()
    if faults := find_faults(ROOT):
        sys.exit("\n".join(faults))
    pattern = options.only.lower()
    guards = [guard for guard in GUARDS if pattern in f"{guard.file} {guard.name}".lower()]
    if not options.list:
        return run(guards, options.jobs)
    print("\n".join(f"{guard.file}: {guard.name}" for guard in guards))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
