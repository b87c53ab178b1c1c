from __future__ import annotations

import socket
from multiprocessing import forkserver

from tests.cli.forked import FORKS


def test_a_client_that_is_killed_while_it_asks_for_a_fork_does_not_end_the_fork_server() -> None:
    assert fork() == 0
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(forkserver._forkserver._forkserver_address)  # pyright: ignore
    assert fork() == 0
    assert fork() == 0


def fork() -> int | None:
    process = FORKS.Process(target=int)
    process.start()
    process.join()
    return process.exitcode
