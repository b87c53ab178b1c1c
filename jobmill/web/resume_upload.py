"""Read a resume that was uploaded or pasted. The file is not stored."""

from __future__ import annotations

from fastapi import Request
from starlette.datastructures import UploadFile

from jobmill.errors import Invalid
from jobmill.matching import resumes
from jobmill.matching.resumes import ParsedResume
from jobmill.sandbox import ReaderStopped, read_untrusted
from jobmill.web.translations import say

MAX_BYTES = 5_000_000
CPU_SECONDS = 5.0


class UnreadableResume(Invalid):
    """A resume that cannot be read; `pasted` is the pasted text, to be shown again."""

    def __init__(self, error: Invalid, pasted: str) -> None:
        super().__init__(str(error))
        self.pasted = pasted


async def read_draft(request: Request) -> tuple[ParsedResume, str]:
    """A draft of a profile from the submitted resume, and the name of the resume."""
    data, name, pasted = await _read_form(request)
    try:
        return await read_resume(data, name), name
    except Invalid as error:
        raise UnreadableResume(error, pasted) from error


async def read_resume(data: bytes, name: str) -> ParsedResume:
    if not data.strip():
        raise Invalid(say("Choose a file, or paste the text of your resume."))
    if len(data) > MAX_BYTES:
        raise Invalid(
            say("The file is larger than 5 MB. Choose a smaller file, or paste the text.")
        )
    try:
        return await read_untrusted(resumes.read_resume, data, name, cpu_seconds=CPU_SECONDS)
    except ReaderStopped as error:
        raise Invalid(
            say("The file could not be read: %(reason)s Paste the text instead.", reason=error)
        ) from error


async def _read_form(request: Request) -> tuple[bytes, str, str]:
    """The resume, its name, and the pasted text."""
    async with request.form(max_files=1, max_fields=10, max_part_size=MAX_BYTES) as form:
        file, text = form.get("file"), form.get("text")
        pasted = text if isinstance(text, str) else ""
        if isinstance(file, UploadFile) and file.size:
            return await file.read(), _printable_name(file.filename), pasted
        return pasted.encode(), say("the pasted text"), pasted


def _printable_name(filename: str | None) -> str:
    name = "".join(char for char in filename or "" if char.isprintable())
    return name[:80] or say("the file")
