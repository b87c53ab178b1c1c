"""Files in the data folder by which `jobmill open` finds the user's own local servers.

Only the user can read them: they hold the keys that admit a browser.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import socket
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path

from jobmill.cli.servers.listener import is_local, page_address
from jobmill.cli.support.files import open_private
from jobmill.errors import Unavailable
from jobmill.settings import Settings
from jobmill.trusted_files import distrust_reason
from jobmill.web.local_access import KEY_BYTES, LocalAccess

log = logging.getLogger(__name__)

FOLDER = "local"
COOKIE_KEY = "cookie-key"
OTHERS = 0o077
"""Permission bits of the group and of all other users."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    host: str
    port: int
    url: str
    """Without a trailing slash."""
    link_key: str
    """In hexadecimal."""


@contextlib.contextmanager
def announce(settings: Settings, listener: socket.socket) -> Generator[LocalAccess | None]:
    """Tell `jobmill open` about this server during the block; None if it is not a local one."""
    if not is_local(listener, settings):
        yield None
        return
    host, port = listener.getsockname()[:2]
    url = page_address(listener, settings).rstrip("/")
    file: Path | None = None
    try:
        folder = _private_folder(settings)
        access = LocalAccess(_load_cookie_key(folder))
        file = folder / f"server-{port}.json"
        server = LocalServer(host, port, url, access.link_key.hex())
        with open_private(file) as out:
            json.dump(asdict(server), out)
    except OSError as error:
        log.warning(
            "`jobmill open` will not find this server, because its folder cannot be written",
            extra={"error": str(error)},
        )
        file, access = None, LocalAccess()
    try:
        yield access
    finally:
        if file:
            file.unlink(missing_ok=True)


def find_server(settings: Settings) -> LocalServer:
    """The running server on web_port, or else the one that was started last."""
    servers = [
        LocalServer(**json.loads(file.read_text()))
        for file in _newest_first(settings.data_dir / FOLDER)
    ]
    # A stable sort: among the others the newest stays first.
    servers.sort(key=lambda server: server.port != settings.web_port)
    for server in servers:
        if _accepts_connections(server):
            return server
    raise Unavailable("Jobmill is not running for this user: start it with `jobmill up`")


def _newest_first(folder: Path) -> list[Path]:
    files = [file for file in folder.glob("server-*.json") if file.is_file()]
    for file in files:
        if reason := distrust_reason(file):
            raise Unavailable(f"{file} is not used, because {reason}: remove it")
    return sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)


def _accepts_connections(server: LocalServer) -> bool:
    """A killed server leaves its file behind; whatever listens there now cannot use its links."""
    try:
        socket.create_connection((server.host, server.port), timeout=5).close()
    except OSError:
        return False
    return True


def _private_folder(settings: Settings) -> Path:
    folder = settings.data_dir / FOLDER
    # As for the bundled server, which may run as another user than root.
    mode = 0o711 if os.geteuid() == 0 else 0o700
    folder.parent.mkdir(mode=mode, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    # Fails if the folder belongs to another user.
    folder.chmod(0o700)
    return folder


def _load_cookie_key(folder: Path) -> bytes:
    """The key of this user; a new one replaces a key that others could have read or written."""
    file = folder / COOKIE_KEY
    if file.exists() and (distrust_reason(file) or file.stat().st_mode & OTHERS):
        file.unlink()
    if not file.exists():
        _create_key(file)
    return bytes.fromhex(file.read_text())


def _create_key(file: Path) -> None:
    """Of two servers that start at the same time, the second uses the key of the first."""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    with open_private(new) as out:
        out.write(secrets.token_hex(KEY_BYTES))
    with contextlib.suppress(FileExistsError):
        os.link(new, file)
    new.unlink()
