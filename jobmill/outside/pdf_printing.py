"""Prints a page of our own as PDF, with the local Chromium."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from jobmill.errors import OutsideError, Unavailable
from jobmill.outside.browser import (
    ISOLATED_FLAGS,
    browser_environment,
    choose_account,
    find_browser,
    kill_browser,
)

PRINT_SECONDS = 60.0


async def print_pdf(html: str, chromium: Path | None = None) -> bytes:
    """The page as PDF. The browser has no network. Unavailable if there is no browser."""
    program = find_browser(chromium)
    if program is None:
        raise Unavailable(
            "PDF needs a browser and there is none: install Chromium (package `chromium`), set "
            "`chromium` to the program, or export as html"
        )
    account = choose_account()
    with tempfile.TemporaryDirectory(prefix="jobmill-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        page, printed = folder / "report.html", folder / "report.pdf"
        page.write_text(html, "utf-8")
        if account:
            for path in (folder, page):
                os.chown(path, account.uid, account.gid)
        process = await asyncio.create_subprocess_exec(
            program,
            *ISOLATED_FLAGS,
            # No proxy listens there: the page can load nothing.
            "--proxy-server=http://127.0.0.1:9",
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
            f"--print-to-pdf={printed}",
            page.as_uri(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
            env=browser_environment(name),
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
        try:
            async with asyncio.timeout(PRINT_SECONDS):
                await process.wait()
        except TimeoutError as error:
            raise OutsideError("the browser did not print the report in time") from error
        finally:
            await kill_browser(process)
        if not printed.is_file():
            raise OutsideError(f"{program} printed nothing")
        return printed.read_bytes()
