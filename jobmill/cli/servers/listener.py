"""The socket of the web pages, and the names that they are reached by."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from jobmill.db import Database
from jobmill.errors import Invalid, Unavailable
from jobmill.people import persons
from jobmill.settings import Settings, split_list

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def listen(settings: Settings) -> socket.socket:
    """Bind the socket of the web pages."""
    host, port = settings.web_host, settings.web_port
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Invalid(f"web_host {host} is not an address of this machine: {error}") from error
    family, kind, protocol, _, address = addresses[0]
    if ipaddress.ip_address(address[0]).is_unspecified and not public_names(settings):
        raise Invalid(
            f"web_host is {host}, which means all addresses of this machine: set web_names "
            "(JOBMILL_WEB_NAMES) to the host names and addresses that browsers will use"
        )
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"cannot serve pages on {host}:{port}: {error.strerror}; stop the program that uses "
            "this port, or set web_port (JOBMILL_WEB_PORT) to another port, 0 for any free one"
        ) from error
    return listener


def is_local(listener: socket.socket, settings: Settings) -> bool:
    """Whether only this machine is meant to reach the pages."""
    bound = ipaddress.ip_address(listener.getsockname()[0].partition("%")[0])
    # Public names and proxies mean that others come through a proxy on this machine.
    return bound.is_loopback and not public_names(settings) and not settings.trusted_proxies


def public_names(settings: Settings) -> list[str]:
    """The host names of the pages besides the address that they listen on."""
    public = urlsplit(settings.public_url).hostname
    is_public = public and public not in (settings.web_host, *LOCAL_NAMES)
    return [*split_list(settings.web_names), *([public] if public and is_public else [])]


def page_address(listener: socket.socket, settings: Settings) -> str:
    name = (public_names(settings) or [settings.web_host])[0]
    host = f"[{name}]" if ":" in name else name
    return f"http://{host}:{listener.getsockname()[1]}/"


async def require_admin(database: Database, listener: socket.socket, settings: Settings) -> None:
    """Refuse to serve other machines until an admin can sign in."""
    if is_local(listener, settings):
        return
    async with database.transaction() as tx:
        if not await persons.has_admin(tx):
            raise Unavailable(
                "other machines can reach these pages, but no one can sign in yet: "
                "first add an admin with `jobmill person add NAME EMAIL --role admin`"
            )
