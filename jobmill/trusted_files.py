"""Decides whether a file may steer this process: only if no other user could have written it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

ROOT = 0


def distrust_reason(file: Path) -> str | None:
    """Why another user could have written the file; None if only this user and root could."""
    if not hasattr(os, "geteuid"):
        return None
    if os.statvfs(file).f_flag & os.ST_RDONLY:
        return None  # As containers mount settings.
    # The folder of a link decides where the link points, so it counts as well.
    for path in dict.fromkeys([file, file.parent, file.resolve().parent]):
        status = path.stat()
        if status.st_uid not in (os.geteuid(), ROOT):
            return f"{path} belongs to another user"
        if status.st_mode & stat.S_IWOTH:
            return f"everyone may write to {path}"
        if status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_gid, status.st_uid):
            return f"a group may write to {path}"
    return None


def _is_private_group(group_id: int, user_id: int) -> bool:
    """Whether the group is the one that many systems create for a single user."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(group_id), pwd.getpwuid(user_id)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
