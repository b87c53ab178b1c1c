"""The Jobmill that an assistant talks to, and the key that it uses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Protocol

from mcp.server.mcpserver.exceptions import ToolError

from jobmill.client import Jobmill

MAX_CLIENTS = 100


class Connections(Protocol):
    def find(self, headers: Mapping[str, str] | None) -> Jobmill:
        """The client for one request of an assistant; ToolError without a key."""
        ...


class OwnConnection:
    """For stdio: one client, of the user of this process."""

    def __init__(self, client: Jobmill) -> None:
        self._client = client

    def find(self, headers: Mapping[str, str] | None) -> Jobmill:
        return self._client


class KeyOfCaller:
    """For HTTP: each request brings its own API key, so that this process needs none and people keep
    their job searches to themselves."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._clients: OrderedDict[str, Jobmill] = OrderedDict()
        """By key, the one that was used last at the end."""

    def close(self) -> None:
        with self._lock:
            while self._clients:
                self._clients.popitem()[1].close()

    def find(self, headers: Mapping[str, str] | None) -> Jobmill:
        scheme, _, key = (headers or {}).get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise ToolError(
                "Send your Jobmill API key as `Authorization: Bearer jm_…`. An admin creates one with "
                "`jobmill key add NAME --scope search`."
            )
        return self._connect(key.strip())

    def _connect(self, key: str) -> Jobmill:
        with self._lock:
            client = self._clients.pop(key, None) or Jobmill(self._url, key=key)
            self._clients[key] = client
            if len(self._clients) > MAX_CLIENTS:
                self._clients.popitem(last=False)[1].close()
            return client
