"""Content that would stop a process stops a child, and nothing else."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobmill.errors import Invalid, OutsideError
from jobmill.sandbox import ReaderStopped, Sandbox
from jobmill.sandbox.messages import decode_untrusted

from . import readers


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(memory=64 * 2**20)
    yield sandbox
    sandbox.close()


async def test_a_reader_returns_its_result(sandbox: Sandbox) -> None:
    assert await sandbox.call(readers.double, "ab") == "abab"


async def test_a_warm_child_serves_the_next_call(sandbox: Sandbox) -> None:
    assert await sandbox.call(readers.process_id) == await sandbox.call(readers.process_id)


async def test_errors_of_the_product_keep_their_type(sandbox: Sandbox) -> None:
    with pytest.raises(Invalid, match="not a board"):
        await sandbox.call(readers.refuse, "not a board")
    with pytest.raises(OutsideError, match="gone") as raised:
        await sandbox.call(readers.fail_outside, "gone")
    assert raised.value.permanent


async def test_a_bug_in_a_reader_is_reported(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderStopped, match="RuntimeError: a bug"):
        await sandbox.call(readers.fail)


async def test_an_endless_reader_is_stopped_by_its_cpu_time(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderStopped, match=r"more than 0\.5 s of CPU time"):
        await sandbox.call(readers.spin, cpu_seconds=0.5)
    assert await sandbox.call(readers.double, "a") == "aa"


async def test_a_reader_that_needs_too_much_memory_is_stopped(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderStopped, match="more than 64 MB of memory"):
        await sandbox.call(readers.allocate, 512)
    assert await sandbox.call(readers.allocate, 8) == 8 * 2**20


async def test_a_reader_that_waits_is_stopped_by_the_clock(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderStopped, match=r"longer than 0\.2 s"):
        await sandbox.call(readers.sleep, 600, wall_seconds=0.2)
    assert await sandbox.call(readers.double, "a") == "aa"


async def test_a_crash_of_the_reader_is_reported(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderStopped, match="ended unexpectedly"):
        await sandbox.call(readers.crash)
    assert await sandbox.call(readers.double, "a") == "aa"


async def test_a_cancelled_call_kills_its_child(sandbox: Sandbox) -> None:
    child = await sandbox.call(readers.process_id)
    call = asyncio.create_task(sandbox.call(readers.sleep, 600))
    await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    while Path(f"/proc/{child}").exists():
        await asyncio.sleep(0.01)


async def test_an_answer_cannot_run_code_in_the_parent(sandbox: Sandbox, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with pytest.raises(ReaderStopped, match="not allowed"):
        await sandbox.call(readers.exploit, str(trace))
    assert not trace.exists()


async def test_a_reader_cannot_write_files(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(ReaderStopped):
        await sandbox.call(readers.write_file, str(tmp_path / "trace"))
    assert not (tmp_path / "trace").exists() or (tmp_path / "trace").stat().st_size == 0


async def test_a_reader_sees_no_secrets(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    assert "secret" not in str(await sandbox.call(readers.environment))


async def test_the_event_loop_runs_while_a_reader_is_busy(sandbox: Sandbox) -> None:
    call = asyncio.create_task(sandbox.call(readers.spin, cpu_seconds=0.5))
    turns = 0
    while not call.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 10
    with pytest.raises(ReaderStopped):
        await call


async def test_code_without_an_event_loop_can_read_too(sandbox: Sandbox) -> None:
    assert sandbox.call_now(readers.double, "ab") == "abab"


async def test_a_reader_that_nests_too_deeply_is_reported(sandbox: Sandbox) -> None:
    with pytest.raises(ReaderStopped, match="nested too deeply"):
        await sandbox.call(readers.recurse)
    assert await sandbox.call(readers.double, "a") == "aa"


async def test_large_content_passes_in_both_directions(sandbox: Sandbox) -> None:
    text = "x" * 5_000_000
    assert await sandbox.call(readers.double, text) == text * 2


async def test_calls_beyond_the_pool_wait_for_a_child(sandbox: Sandbox) -> None:
    texts = [str(number) for number in range(20)]
    doubled = await asyncio.gather(*(sandbox.call(readers.double, text) for text in texts))
    assert doubled == [text * 2 for text in texts]


async def test_modules_of_the_current_folder_are_not_imported(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "pickle.py").write_text(f"open({str(trace)!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert await sandbox.call(str.upper, "a") == "A"
    assert not trace.exists()


async def test_interrupting_the_parent_leaves_readers_alone(sandbox: Sandbox) -> None:
    child = await sandbox.call(readers.process_id)
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(child, number)
    assert await sandbox.call(readers.process_id) == child


async def test_a_child_that_died_while_idle_is_replaced(sandbox: Sandbox) -> None:
    child = await sandbox.call(readers.process_id)
    os.kill(child, signal.SIGKILL)
    while (Path(f"/proc/{child}") / "stat").read_text().split()[2] != "Z":
        await asyncio.sleep(0.01)
    assert await sandbox.call(readers.process_id) != child


async def test_cancelled_calls_do_not_disturb_others(sandbox: Sandbox) -> None:
    """Also where a call ends in the moment of its cancellation."""
    for _ in range(50):
        calls = [asyncio.create_task(sandbox.call(readers.double, "a")) for _ in range(4)]
        await asyncio.sleep(0.002)
        calls[0].cancel()
        assert await asyncio.gather(*calls[1:]) == ["aa"] * 3


@pytest.mark.parametrize(
    "name", ["jobmill.__main__.x", "jobmill.cli.app", "jobmill.errors.Invalid"]
)
def test_an_answer_names_only_data_of_the_product(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    with pytest.raises(pickle.UnpicklingError, match="not allowed"):
        decode_untrusted(f"c{module}\n{attribute}\n.".encode())
