"""The user account of the bundled PostgreSQL, which refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobmill.errors import Unavailable

NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
"""Runs a program as root under another user id: root owns the files, and PostgreSQL does not see root."""

SYSTEM_USERS = ("jobmill", "postgres")


@dataclass(frozen=True)
class Account:
    """How to start a program under an account that PostgreSQL accepts."""

    uid: int
    prefix: tuple[str, ...] = ()
    switch: tuple[int, int] | None = None

    def popen(self) -> dict[str, Any]:
        """Arguments for subprocess, with a working directory that every user can enter."""
        if self.switch is None:
            return {"cwd": "/"}
        user, group = self.switch
        return {"cwd": "/", "user": user, "group": group, "extra_groups": []}

    def take_ownership(self, path: Path) -> None:
        """Make the account of the server the owner of a file."""
        if self.switch is not None:
            os.chown(path, *self.switch)


def choose_account(data: Path, bin: Path) -> Account:
    """The current user; for root, the owner of the data, a user namespace or a system user."""
    uid = os.geteuid()
    owner = data.stat().st_uid if data.exists() else uid
    if uid != 0:
        if owner != uid:
            raise Unavailable(f"{data} belongs to {_name(owner)}: run Jobmill as that user")
        return Account(uid)
    if owner != 0:
        return _user_account(owner)
    if _works((*NAMESPACE, "true")):
        return Account(0, NAMESPACE)
    if not data.exists():
        for name in SYSTEM_USERS:
            if (account := _system_account(name, data.parent, bin)) is not None:
                return account
    raise Unavailable(
        "PostgreSQL refuses to run as root, and neither `unshare --user` nor a system user "
        f"({' or '.join(SYSTEM_USERS)}) with access to {data.parent} and {bin} is available: "
        "run Jobmill as another user, or set DATABASE_URL"
    )


def _user_account(uid: int) -> Account:
    try:
        group = pwd.getpwuid(uid).pw_gid
    except KeyError:
        group = uid
    return Account(uid, switch=(uid, group))


def _system_account(name: str, parent: Path, bin: Path) -> Account | None:
    try:
        account = _user_account(pwd.getpwnam(name).pw_uid)
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
