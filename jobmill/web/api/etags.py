"""ETags: clients ask whether a response has changed, and change only the version that they have seen."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from fastapi import Depends, Header, Request

IF_MATCH = r'^"[0-9]{1,9}(-[0-9a-f]{1,32})?"$'
DIGEST_BYTES = 12


def make_etag(body: str, version: int | None = None) -> str:
    """Of a versioned thing it begins with the version, which is all that If-Match compares: the rest of
    the response may say more than what is edited."""
    digest = hashlib.blake2b(body.encode(), digest_size=DIGEST_BYTES).hexdigest()
    # Weak: compressed responses have the same ETag.
    return f'W/"{digest}"' if version is None else f'"{version}-{digest}"'


def is_not_modified(request: Request, etag: str) -> bool:
    """Whether the client has this response already."""
    header = request.headers.get("if-none-match")
    if header is None or request.method != "GET":
        return False
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return "*" in tags or etag.removeprefix("W/") in tags


async def _read_version(
    if_match: Annotated[
        str | None,
        Header(
            alias="If-Match",
            pattern=IF_MATCH,
            description="The ETag of the version that the change is based on; 412 if there is a newer "
            "one. Without it, the change replaces whatever is there.",
        ),
    ] = None,
) -> int | None:
    return int(re.findall("[0-9]+", if_match)[0]) if if_match else None


SeenVersion = Annotated[int | None, Depends(_read_version)]
"""The version in the If-Match header of the request."""
