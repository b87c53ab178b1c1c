"""What pages are sent beyond short forms: long ones, and resumes. No file is kept."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from fastapi import Request
from starlette.datastructures import UploadFile

from jobmill.errors import Invalid
from jobmill.matching import resume
from jobmill.matching.resume import Draft
from jobmill.web.translations import say

BIGGEST = 5_000_000
"""Bytes of a resume."""
# One at a time: reading one takes the processor, and nobody uploads several.
_reader = ThreadPoolExecutor(1, "resume")


class Unread(Invalid):
    """A resume that cannot be read; `pasted` is what was typed, to be mended."""

    def __init__(self, error: Invalid, pasted: str) -> None:
        super().__init__(str(error))
        self.pasted = pasted


async def draft(request: Request) -> tuple[Draft, str]:
    """What a resume says that was sent as a file or pasted, and what it was called; Unread, in
    words for people, where it cannot be read."""
    data, name, pasted = await _sent(request)
    try:
        return await _read(data, name), name
    except Invalid as error:
        raise Unread(error, pasted) from error


async def _read(data: bytes, name: str) -> Draft:
    if not data.strip():
        raise Invalid(say("Choose a file, or paste the text of your resume."))
    if len(data) > BIGGEST:
        raise Invalid(say("That is more than 5 MB. Give a smaller file, or paste the text alone."))
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_reader, resume.read, data, name)


async def _sent(request: Request) -> tuple[bytes, str, str]:
    """What is to be read, what it is called, and what was pasted beside it."""
    async with request.form(max_files=1, max_fields=10, max_part_size=BIGGEST) as form:
        file, text = form.get("file"), form.get("text")
        pasted = text if isinstance(text, str) else ""
        if isinstance(file, UploadFile) and file.size:
            return await file.read(), _called(file.filename), pasted
        return pasted.encode(), say("the text"), pasted


def _called(name: str | None) -> str:
    """What the browser says, as far as it can be said again."""
    plain = "".join(mark for mark in name or "" if mark.isprintable())
    return plain[:80] or say("the file")
