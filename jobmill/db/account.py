"""Whom the bundled PostgreSQL runs as: it refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobmill.errors import Unavailable

NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
"""Root under another number: the files stay root's, and PostgreSQL does not see root."""

SYSTEM_USERS = ("jobmill", "postgres")


@dataclass(frozen=True)
class Account:
    """How to start a program so that PostgreSQL accepts who it is."""

    uid: int
    prefix: tuple[str, ...] = ()
    switch: tuple[int, int] | None = None

    def popen(self) -> dict[str, Any]:
        """Arguments for subprocess. The folder is one that everyone can enter."""
        if self.switch is None:
            return {"cwd": "/"}
        user, group = self.switch
        return {"cwd": "/", "user": user, "group": group, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Hand a file that we made to whoever the server runs as."""
        if self.switch is not None:
            os.chown(path, *self.switch)


def choose_account(data: Path, bin: Path) -> Account:
    """Ourselves; for root the owner of the data, a user namespace or a system user."""
    us = os.geteuid()
    owner = data.stat().st_uid if data.exists() else us
    if us != 0:
        if owner != us:
            raise Unavailable(f"{data} belongs to {_name(owner)}: run Jobmill as that user")
        return Account(us)
    if owner != 0:
        return _user(owner)
    if _works((*NAMESPACE, "true")):
        return Account(0, NAMESPACE)
    if not data.exists():
        for name in SYSTEM_USERS:
            if (found := _reaching(name, data.parent, bin)) is not None:
                return found
    raise Unavailable(
        "PostgreSQL refuses to run as root, and neither `unshare --user` nor a system user "
        f"({' or '.join(SYSTEM_USERS)}) who can reach {data.parent} and {bin} is at hand: "
        "run Jobmill as another user, or set DATABASE_URL"
    )


def _user(uid: int) -> Account:
    try:
        group = pwd.getpwuid(uid).pw_gid
    except KeyError:
        group = uid
    return Account(uid, switch=(uid, group))


def _reaching(name: str, parent: Path, bin: Path) -> Account | None:
    try:
        account = _user(pwd.getpwnam(name).pw_uid)
    except KeyError:
        return None
    test = ("test", "-x", str(bin / "postgres"), "-a", "-x", str(parent))
    return account if _works(test, account) else None


def _works(command: tuple[str, ...], account: Account | None = None) -> bool:
    more = account.popen() if account else {}
    try:
        subprocess.run(
            command,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=10,
            **more,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
