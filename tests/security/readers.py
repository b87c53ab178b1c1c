"""The readers of untrusted content by kind of document, as the product calls them."""

from __future__ import annotations

from jobmill.boards.adapters import find_platform
from jobmill.boards.readable_board import read_saved_response
from jobmill.extract.page import page_reader
from jobmill.hiring.import_export import spreadsheets
from jobmill.matching import resumes

from .corpus import DocumentKind


def read(kind: DocumentKind, body: bytes, file: str) -> None:
    match kind:
        case "page":
            page_reader.read_posting(body, "https://acme.example/jobs/1", expected=True)
        case "board":
            read_saved_response(find_platform("greenhouse"), body)
        case "feed":
            read_saved_response(find_platform("rss"), body, url="https://acme.example/feed")
        case "resume":
            resumes.read_resume(body, file)
        case "table":
            spreadsheets.parse_applicants(body, fold=False)
