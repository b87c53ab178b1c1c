"""Send uploaded files: always as a download, so that the browser never runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO
from urllib.parse import quote

from fastapi.responses import StreamingResponse

from jobmill.hiring.forms import uploads
from jobmill.hiring.forms.uploads import UploadedFile
from jobmill.web.dependencies import RequestDatabase

CHUNK_BYTES = 64 * 1024


def download_headers(name: str) -> dict[str, str]:
    return {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "no-store",
    }


def send_upload(db: RequestDatabase, file: UploadedFile) -> StreamingResponse:
    """Stream a file of an application; the caller has checked that the visitor may read it."""
    headers = {**download_headers(file.name), "Content-Length": str(file.size)}
    content = uploads.iter_content(db.transaction, file.id)
    return StreamingResponse(content, media_type=file.media_type, headers=headers)


def iter_chunks(file: IO[bytes]) -> Iterator[bytes]:
    """The content of a temporary file, which is closed at the end."""
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
