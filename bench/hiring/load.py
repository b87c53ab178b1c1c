"""Sends requests from a separate process: `python -m bench.hiring.load PORT PATH CLIENTS SECONDS`.

Reads bodies from standard input, one JSON value per line, and sends each once, in order. Each
client has one connection and waits for its answer. Prints the results as JSON. With KEYED in the
environment every request has an Idempotency-Key of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

import uvloop

COOKIE = os.environ["COOKIE"].encode()
"""Cookie of local access."""
KEYED = "KEYED" in os.environ


async def client(
    port: int,
    path: str,
    bodies: Iterator[bytes],
    end: float,
    answers: Counter[str],
    took: list[float],
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for body in bodies:
        key = b"Idempotency-Key: %b\r\n" % uuid4().hex.encode() if KEYED else b""
        began = time.perf_counter()
        writer.write(
            b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Cookie: %b\r\n%bContent-Length: %d\r\n\r\n%b"
            % (path.encode(), COOKIE, key, len(body), body)
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        took.append(time.perf_counter() - began)
        status = json.loads(answer).get("status") if head[9:12] == b"201" else None
        answers[f"{head[9:12].decode()} {status or ''}".strip()] += 1
        if time.perf_counter() > end:
            break
    writer.close()


async def main(port: int, path: str, clients: int, seconds: float) -> None:
    lines = iter(sys.stdin.buffer.read().splitlines())
    answers: Counter[str] = Counter()
    took: list[float] = []
    began = time.perf_counter()
    end = began + seconds
    await asyncio.gather(*(client(port, path, lines, end, answers, took) for _ in range(clients)))
    wall = time.perf_counter() - began
    took.sort()
    print(
        json.dumps(
            {
                "answers": answers,
                "seconds": wall,
                "p50": took[len(took) // 2],
                "p99": took[len(took) * 99 // 100],
            }
        )
    )


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
