"""The client that programs use: the operations of the API, with credentials and paging."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from jobmill.client.operations import Operations
from jobmill.client.transport import RETRIES, Transport

T_co = TypeVar("T_co", covariant=True)

TIMEOUT = 30.0


class Page(Protocol[T_co]):
    """A page of a list."""

    @property
    def items(self) -> Sequence[T_co]: ...

    @property
    def next(self) -> int | str | None: ...


class Jobmill(Operations):
    """A connection to a Jobmill server.

    `key`: an API key; not needed after `open_link`. A change that is repeated because no response came
    is done once.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        headers = {"User-Agent": "jobmill-client"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        super().__init__(Transport(url, headers, timeout=timeout, retries=retries))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    def open_link(self, link: str) -> None:
        """Sign in with a link of `jobmill open --print`, on the machine that runs the server."""
        self._transport.open_link(link)

    def iterate(
        self, operation: Callable[..., Page[T_co]], /, *arguments: Any, **filters: Any
    ) -> Iterator[T_co]:
        """All items of a list, page after page."""
        after: int | str | None = None
        while True:
            page = operation(*arguments, after=after, **filters)
            yield from page.items
            if page.next is None:
                return
            after = page.next
