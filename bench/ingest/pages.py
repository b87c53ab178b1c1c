"""Pages of about 500 kB: generated ones with much of what takes time to read, and real ones if
there are any."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SIZE = 500_000
_LARGE = 400_000
_STATED = re.compile(r"<script[^>]*ld\+json.*?</script>", re.IGNORECASE | re.DOTALL)
_MENU = "".join(f'<li><a href="/section/{n}">Section {n}</a></li>' for n in range(400))
_WORK = "You will look after the pumps of one valley. Your profile: experience with water. "
_LONG = (
    "The valley has forty wells, and every one of them has a history that its neighbours like to"
    " tell; whoever works here hears most of them in the first year. We measure, we write down what"
    " we saw, and we mend before it breaks. "
)
_HEAD = (
    "<html><head><title>Pump Engineer at Wells - Careers</title></head><body>"
    f"<nav><ul>{_MENU}</ul></nav><main><h1>Pump Engineer</h1><p>Location: Porto</p>"
    f"<p>{_WORK * 3}</p>"
)
# The markup that each page repeats, with a running number.
_FILLINGS = {
    "menus and markup": "<p>We pump water for <b>people</b> who need it, in many places.</p>",
    "tables": '<tr class="row"><td class="c1">Well {}</td><td>Depth: {} m</td><td><b>Porto</b></td>'
    '<td><a href="/well/{}">Details</a></td></tr>',
    "short nodes": '<div class="cell"><div class="in"><span>Well {}</span> <span>open</span>'
    "<div><i>new</i></div></div></div>",
    "prose": f"<p>{_LONG * 5}</p>",
}


def all_pages(data: Path) -> dict[str, str]:
    """Name and HTML of each."""
    return {f"page {name}": html for name, html in (*_made(), *_real(data))}


def _made() -> Iterator[tuple[str, str]]:
    """Postings without any structured data, long in one kind of markup."""
    for name, filling in _FILLINGS.items():
        count = (SIZE - len(_MENU)) // len(filling)
        body = "".join(filling.replace("{}", str(n)) for n in range(count))
        body = f"<table>{body}</table>" if name == "tables" else body
        yield name, _HEAD + f"<div class=description>{body}</div></main></body></html>"


def _real(data: Path) -> Iterator[tuple[str, str]]:
    """Large pages, with and without their JSON-LD."""
    for file in sorted((data / "html_job_page").glob("*.html")):
        if file.stat().st_size > _LARGE:
            html = file.read_text("utf-8", "replace")
            yield file.stem, html
            yield f"{file.stem} without JSON-LD", _STATED.sub("", html)
