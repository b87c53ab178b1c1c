"""Exports of a report: Markdown, HTML and JSON."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Iterable
from html import escape

from jobmill.reports.document import Bar, Cell, Section, Table, build_sections
from jobmill.reports.report import ReportContents

STYLE = """
@page { size: A4 landscape; margin: 14mm; }
body { font: 10.5pt/1.45 system-ui, sans-serif; color: #1c1c1c; max-width: 1100px; margin: 2em auto; }
h1 { font-size: 20pt; margin: 0 0 .2em; } h2 { font-size: 14pt; margin: 1.6em 0 .4em; break-after: avoid; }
table { border-collapse: collapse; width: 100%; margin: .6em 0; table-layout: auto; }
th, td { border-bottom: 1px solid #ccc; padding: .3em .5em; text-align: left; vertical-align: top;
         overflow-wrap: break-word; }
td.url { overflow-wrap: anywhere; min-width: 14em; }
thead { display: table-header-group; } tr { break-inside: avoid; } th { background: #f2f2f2; }
svg { width: 100%; max-width: 480px; height: 12px; display: block; } .bars { margin: .6em 0; }
.bars, #limits { break-inside: avoid; } h2 + p, h2 + .bars { break-after: avoid; }
.meta { color: #555; } a { color: #0b57a4; }
"""


def title_of(contents: ReportContents) -> str:
    return f"Website report: {contents.report.company}"


def describe(contents: ReportContents) -> str:
    """One line: the site, when it was read, and the state of the report."""
    report = contents.report
    read = f", read {contents.findings.read_at:%Y-%m-%d}" if contents.findings else ""
    state = report.status if report.status != "failed" else f"failed: {report.reason}"
    return f"{report.site}{read} · report {report.id}, {state}"


def to_json(contents: ReportContents) -> str:
    return json.dumps(
        dataclasses.asdict(contents), default=_json_value, ensure_ascii=False, indent=2
    )


def _json_value(value: object) -> object:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, dt.timedelta) else str(value)


def to_markdown(contents: ReportContents) -> str:
    return sections_to_markdown(title_of(contents), build_sections(contents), describe(contents))


def sections_to_markdown(title: str, sections: Iterable[Section], subtitle: str = "") -> str:
    lines = [f"# {_plain(title)}", "", *([_plain(subtitle), ""] if subtitle else [])]
    for section in sections:
        lines += markdown_section(section)
    return "\n".join(lines)


def markdown_section(section: Section) -> list[str]:
    lines = [f"## {section.title}", ""]
    lines += [f"- {_plain(text)}" for text in section.text]
    lines += [f"- {_plain(bar.name)}: {_bar_text(bar)}" for bar in section.bars]
    for table in section.tables:
        lines += ["", *_markdown_table(table)]
    return [*lines, ""]


def _bar_text(bar: Bar) -> str:
    return "not known" if bar.value is None else f"{bar.value:.0f}{bar.unit}"


def _markdown_table(table: Table) -> list[str]:
    lines = [f"| {' | '.join(table.columns)} |", f"|{'---|' * len(table.columns)}"]
    lines += [f"| {' | '.join(map(_markdown_cell, row))} |" for row in table.rows]
    return [*lines, f"\n… and {table.left_out} more"] if table.left_out else lines


def _markdown_cell(cell: Cell) -> str:
    text = _plain(cell.text)
    # The URL comes from the site: nothing in it may end the link or the table.
    linked = cell.url and cell.url.startswith(("https://", "http://"))
    url = (cell.url or "").replace("|", "%7C").replace(")", "%29").replace(" ", "%20")
    return f"{text} ([source]({url}))" if linked and cell.url != cell.text else text


_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#"})


def _plain(text: str) -> str:
    """Text from the site or a model, on one line and without meaning in Markdown."""
    return " ".join(text.split()).translate(_MARKUP)


def to_html(contents: ReportContents) -> str:
    """A page that stands alone: no scripts, nothing loaded."""
    sections = "".join(map(html_section, build_sections(contents)))
    return html_page(title_of(contents), describe(contents), sections)


def html_page(title: str, subtitle: str, body: str) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f'<h1>{escape(title)}</h1><p class="meta">{escape(subtitle)}</p>{body}</body></html>\n'
    )


def html_section(section: Section) -> str:
    text = "".join(f"<p>{escape(line)}</p>" for line in section.text)
    bars = "".join(map(_html_bar, section.bars))
    tables = "".join(map(_html_table, section.tables))
    bars = f'<div class="bars">{bars}</div>' if bars else ""
    return (
        f'<section id="{section.id}"><h2>{escape(section.title)}</h2>{text}{bars}{tables}</section>'
    )


def _html_bar(bar: Bar) -> str:
    if bar.value is None:
        return f"<p>{escape(bar.name)}: not known</p>"
    interval = ""
    if bar.low is not None and bar.high is not None:
        width = max(bar.high - bar.low, 0.5)
        interval = f'<rect x="{bar.low:.1f}" y="3" width="{width:.1f}" height="2" fill="#0a3a6b"/>'
    text = f"{escape(bar.name)}: {_bar_text(bar)}"
    text = f'<a href="{escape(bar.url)}">{text}</a>' if bar.url else text
    return (
        f"<p>{text}</p>"
        '<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="100" height="8" fill="#e4e4e4"/>'
        f'<rect width="{bar.value:.1f}" height="8" fill="#5a9bd8"/>{interval}</svg>'
    )


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in table.rows)
    more = f"<p>… and {table.left_out} more</p>" if table.left_out else ""
    id = f' id="{table.id}"' if table.id else ""
    return f"<table{id}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _html_cell(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.url == cell.text and cell.text.startswith(("https://", "http://")):
        # A long address must not widen the table.
        return f'<td class="url"><a href="{text}">{text}</a></td>'
    if cell.url and cell.url.startswith(("https://", "http://", "#")):
        return f'<td><a href="{escape(cell.url)}">{text}</a></td>'
    return f"<td>{text}</td>"
