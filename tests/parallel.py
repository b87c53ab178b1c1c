"""Runs the tests in several processes: `--processes 5`.

They are forked after the collection, so everything is imported and collected once. Processes that
each collect for themselves, as pytest-xdist starts them, take half a minute of CPU time each.

A process runs one file after another. All browser tests are one group, because they share one demo
world, which takes half a minute to build. That group takes the longest, so it starts first, and the
processes without it yield to it.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
from _pytest.capture import FDCapture

BROWSER = "tests/browser"
LONGEST_FIRST = (BROWSER, "tests/faults", "tests/acceptance", "tests/queue", "tests/demo")
"""Folders with the longest tests; a long group that starts last would keep the other processes waiting."""
NICENESS = 4
STOP_ATTEMPTS, STOP_SECONDS = 3, 20.0
"""An interruption is lost if it arrives while Python runs a callback."""
FORK = multiprocessing.get_context("fork")

Group = list[int]
"""Positions of tests in the collection."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--processes", type=int, default=1, help="run the tests in this many processes"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        folder = item.nodeid.rpartition("/")[0]
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=rank)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    processes = session.config.getoption("processes")
    if processes <= 1 or session.testsfailed or session.config.option.collectonly:
        return None
    ParallelSession(session, processes).run()
    return True


def group_items(items: list[pytest.Item]) -> list[Group]:
    groups: dict[str, Group] = {}
    for position, item in enumerate(items):
        file = item.nodeid.partition("::")[0]
        groups.setdefault(BROWSER if _is_browser_test(item) else file, []).append(position)
    return list(groups.values())


def _is_browser_test(item: pytest.Item) -> bool:
    return item.nodeid.startswith(f"{BROWSER}/")


@dataclass
class TestProcess:
    process: BaseProcess
    current: tuple[str, Any] | None = None
    """The node id and the location of the running test."""
    next_group: Group | None = None
    """Sent, but not started."""


class ParallelSession:
    """Gives groups of tests to processes and reports what they send."""

    def __init__(self, session: pytest.Session, processes: int) -> None:
        self._session = session
        self._hook = session.config.hook
        self._groups = deque(group_items(session.items))
        self._finished = 0
        self._processes: dict[Connection, TestProcess] = {}
        self._count = processes

    def run(self) -> None:
        try:
            for _ in range(self._count):
                self._start_process()
            while self._processes:
                for connection in wait(list(self._processes)):
                    assert isinstance(connection, Connection)
                    self._receive(connection)
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
        finally:
            self._stop()
        if missing := len(self._session.items) - self._finished:
            self._report_failure(None, f"Tests that did not run: {missing}.")

    def _start_process(self) -> None:
        # Already now, so that no process requests two before another has one.
        group = self._take_group()
        if group is None:
            return
        ours, theirs = FORK.Pipe()
        inherited = [ours, *self._processes]
        process = FORK.Process(target=_run_tests, args=(self._session, group, theirs, inherited))
        process.start()
        theirs.close()
        self._processes[ours] = TestProcess(process)

    def _take_group(self) -> Group | None:
        return self._groups.popleft() if self._groups else None

    def _receive(self, connection: Connection) -> None:
        try:
            self._handle(connection, self._processes[connection], connection.recv())
        # Also in the middle of a message.
        except (EOFError, OSError):
            self._replace(connection)

    def _handle(self, connection: Connection, sender: TestProcess, message: Any) -> None:
        match message:
            case ("next",):
                sender.next_group = self._take_group()
                connection.send(sender.next_group)
            case ("start", nodeid, location):
                sender.current = nodeid, location
                group = sender.next_group
                if group and self._session.items[group[0]].nodeid == nodeid:
                    sender.next_group = None
            case ("report", data):
                report = self._hook.pytest_report_from_serializable(
                    config=self._session.config, data=data
                )
                self._hook.pytest_runtest_logreport(report=report)
            case ("finish", nodeid, location):
                sender.current = None
                self._finished += 1
                self._hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
            case ("done",):
                self._end(connection)
            case _:
                raise AssertionError(message)

    def _end(self, connection: Connection) -> None:
        process = self._processes.pop(connection).process
        process.join(STOP_SECONDS)
        if process.is_alive():
            process.kill()
            self._report_failure(None, "A process of the tests did not exit.")

    def _replace(self, connection: Connection) -> None:
        """After a crash the running test fails, the rest of its group is left out, and a new process starts."""
        dead = self._processes.pop(connection)
        dead.process.join(STOP_SECONDS)
        message = f"The process of this test ended with status {dead.process.exitcode}."
        self._report_failure(dead.current, message)
        self._finished += dead.current is not None
        if dead.next_group:
            self._groups.appendleft(dead.next_group)
        self._start_process()

    def _report_failure(self, test: tuple[str, Any] | None, message: str) -> None:
        nodeid, location = test or ("a process of the tests", ("", None, ""))
        report = pytest.TestReport(nodeid, location, {}, "failed", message, "call")
        self._hook.pytest_runtest_logreport(report=report)

    def _stop(self) -> None:
        """Let processes that still run tear down their fixtures."""
        for _ in range(STOP_ATTEMPTS):
            for running in self._processes.values():
                # After Ctrl-C in a terminal they have the signal already.
                running.process.join(1)
                if running.process.is_alive() and running.process.pid:
                    os.kill(running.process.pid, signal.SIGINT)
            for running in self._processes.values():
                running.process.join(STOP_SECONDS)
        for running in self._processes.values():
            running.process.kill()


def _run_tests(
    session: pytest.Session, group: Group, parent: Connection, inherited: list[Connection]
) -> None:
    for connection in inherited:
        connection.close()
    config = session.config
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(ReportSender(config, parent))
    _separate_captured_output(config)
    status = pytest.ExitCode.INTERRUPTED
    try:
        items = itertools.chain(_request_items(session, group, parent), [None])
        for item, following in itertools.pairwise(items):
            assert item
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        status = pytest.ExitCode.TESTS_FAILED if session.testsfailed else pytest.ExitCode.OK
    except KeyboardInterrupt:
        # Another one would end the teardown.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        config.hook.pytest_sessionfinish(session=session, exitstatus=status)
    # Otherwise the parent reports the running test as failed.
    if status != pytest.ExitCode.INTERRUPTED:
        parent.send(("done",))


def _separate_captured_output(config: pytest.Config) -> None:
    """Output is captured in files, whose content and position forked processes share."""
    capturing: Any = config.pluginmanager.getplugin("capturemanager")
    streams = capturing._global_capturing
    for stream in (streams.out, streams.err):
        if isinstance(stream, FDCapture):
            with tempfile.TemporaryFile() as own_file:
                os.dup2(own_file.fileno(), stream.tmpfile.fileno())


def _request_items(
    session: pytest.Session, first: Group, parent: Connection
) -> Iterator[pytest.Item]:
    """One group after another. The next one is requested before the last test of a group, which must
    know what follows to keep the fixtures that both use."""
    group: Group | None = first
    while group is not None:
        for position in group:
            yield session.items[position]
        parent.send(("next",))
        group = parent.recv()


class ReportSender:
    """Sends what happens in this process to its parent."""

    def __init__(self, config: pytest.Config, parent: Connection) -> None:
        self._config = config
        self._parent = parent

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if not _is_browser_test(item):
            _lower_priority()

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self._parent.send(("start", nodeid, location))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._parent.send(("report", data))

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        self._parent.send(("finish", nodeid, location))


@cache
def _lower_priority() -> None:
    os.nice(NICENESS)
