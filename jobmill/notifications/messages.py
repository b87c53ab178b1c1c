"""What a notification says: one line per event, and messages as plain text and HTML."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.notifications.deliveries import DeliveryFrequency
from jobmill.notifications.kinds import KINDS, Kind, as_kind

SETTINGS_PATH = "/account/notifications"
MAX_LINES = 50
"""Lines of one message; the rest is counted."""
MAX_TITLE_LENGTH = 160

HEADINGS: Mapping[Kind, str] = {
    "high_match": "New high-priority matches",
    "saved_search": "Saved views",
    "follow_up": "Next steps due",
    "job_update": "Jobs you applied to",
    "application": "New applications",
    "offer": "Offers",
    "review": "Reviews waiting",
    "alert": "Alerts",
    "source": "Failing sources",
    "budget": "Budget",
    "backup": "Backups",
}
COUNTED: Mapping[Kind, tuple[str, str]] = {
    "high_match": ("new high-priority match", "new high-priority matches"),
    "saved_search": ("match in a saved view", "matches in saved views"),
    "follow_up": ("next step due", "next steps due"),
    "job_update": ("change to a job you applied to", "changes to jobs you applied to"),
    "application": ("new application", "new applications"),
    "offer": ("answered or missed offer", "answered or missed offers"),
    "review": ("review waiting", "reviews waiting"),
    "alert": ("alert", "alerts"),
    "source": ("failing source", "failing sources"),
    "budget": ("budget alert", "budget alerts"),
    "backup": ("failed backup", "failed backups"),
}
"""One and several of a kind, in the subject of a message."""


@dataclass(frozen=True, slots=True)
class EventLine:
    kind: Kind
    title: str
    detail: str
    path: str
    """The page about it, which needs a sign-in."""


@dataclass(frozen=True, slots=True)
class Message:
    subject: str
    lines: Sequence[EventLine]
    left_out: int = 0
    """Events beyond `MAX_LINES`."""


def describe_event(kind: str, data: Mapping[str, Any]) -> EventLine | None:
    """None for an event of a kind that this version does not know."""
    checked = as_kind(kind)
    if checked is None:
        return None
    match KINDS[checked].audience:
        case "seekers":
            title, detail, path = _describe_match(checked, data)
        case "recruiters":
            title, detail, path = _describe_application(data)
        case "operators":
            title, detail, path = _describe_system(checked, data)
    return EventLine(checked, _one_line(title), _one_line(detail), path)


def _describe_match(kind: Kind, data: Mapping[str, Any]) -> tuple[str, str, str]:
    job = " at ".join(part for part in (data.get("title"), data.get("company")) if part) or "A job"
    path = f"/matches/{data['match']}"
    match kind:
        case "follow_up":
            return f"{data.get('step')}: {job}", "Your next step is due.", path
        case "job_update":
            return f"{job} {_describe_change(data)}", "You applied to this job.", path
        case "saved_search":
            return job, f"Score {data.get('score')} of 100, saved view “{data.get('view')}”", path
        case _:
            return job, f"Score {data.get('score')} of 100, high priority", path


def _describe_change(data: Mapping[str, Any]) -> str:
    match data.get("what"):
        case "closed":
            return "has closed"
        case "reopened":
            return "is open again"
        case _:
            fields = ", ".join(str(name).replace("_", " ") for name in data.get("fields") or ())
            return f"has changed ({fields})" if fields else "has changed"


def _describe_application(data: Mapping[str, Any]) -> tuple[str, str, str]:
    opening, number = str(data.get("title")), f"Application {data.get('application')}"
    path = f"/hiring/{data['opening']}/people/{data.get('application')}"
    match data.get("what"):
        case "MENTION":
            return f"You were mentioned in a note: {opening}", number, path
        case "ACKNOWLEDGED":
            return f"Offer accepted: {opening}", number, path
        case "DECAY_TRIGGERED" | "LAPSED":
            return f"Offer missed: {opening}", f"{number} did not answer in time.", path
        case _:
            return f"New application: {opening}", number, path


def _describe_system(kind: Kind, data: Mapping[str, Any]) -> tuple[str, str, str]:
    detail = str(data.get("detail") or data.get("reason") or "")
    match kind:
        case "source" if data.get("noun") == "vendor":
            return f"Sources on {data.get('id')} are on hold", detail, "/sources"
        case "source":
            return f"Source {data.get('id')} was disabled", detail, f"/sources/{data.get('id')}"
        case "budget":
            return "The model budget is spent", detail, "/budget"
        case "backup":
            return "A backup failed", detail, "/health"
        case _:
            return f"Work queue alert: {detail or data.get('rule')}", "", "/activity"


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_TITLE_LENGTH else f"{flat[: MAX_TITLE_LENGTH - 1]}…"


def compose_message(frequency: DeliveryFrequency, lines: Sequence[EventLine]) -> Message:
    """One message about these events, by kind."""
    order = list(KINDS)
    lines = sorted(lines, key=lambda line: order.index(line.kind))
    return Message(_subject(frequency, lines), lines[:MAX_LINES], max(0, len(lines) - MAX_LINES))


def _subject(frequency: DeliveryFrequency, lines: Sequence[EventLine]) -> str:
    if frequency == "test":
        return "Jobmill: test message"
    if frequency == "instant" and len(lines) == 1:
        return lines[0].title
    counts: Counter[Kind] = Counter()
    counts.update(line.kind for line in lines)
    parts = ", ".join(f"{count} {COUNTED[kind][count > 1]}" for kind, count in counts.items())
    return f"{'Jobmill' if frequency == 'instant' else f'Your {frequency} digest'}: {parts}"


def render_text(message: Message, base_url: str) -> str:
    """The message as plain text, with a link per event."""
    if not message.lines:
        return "This is a test message. Notifications from Jobmill will arrive here."
    parts: list[str] = []
    heading = None
    for line in message.lines:
        if line.kind != heading and len(message.lines) > 1:
            heading = line.kind
            parts.append(HEADINGS[line.kind].upper())
        detail = f"\n{line.detail}" if line.detail else ""
        parts.append(f"{line.title}{detail}\n{base_url}{line.path}")
    if message.left_out:
        parts.append(f"And {message.left_out} more.")
    return "\n\n".join(parts)


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{subject}</title>
<style>@media (prefers-color-scheme: dark) {{
.page {{ background: #15191c !important; color: #e6e8e6 !important }} .card {{ background: #1f2528 !important }}
.title {{ color: #8fd0b1 !important }} .quiet {{ color: #a9b1ae !important }} .line {{ border-color: #38403f !important }} }}</style></head>
<body class="page" style="margin:0;padding:16px;background:#f7f7f4;color:#22262a;font:16px/1.5 system-ui,sans-serif">
<div class="card" style="max-width:36rem;margin:0 auto;padding:20px;background:#fff;border-top:4px solid #1f5c43">
<h1 style="font-size:20px;line-height:1.3;margin:0 0 16px">{subject}</h1>
{body}
<p class="quiet" style="font-size:14px;color:#5b6165;margin:24px 0 0">{footer}</p>
</div></body></html>
"""
HEADING = '<h2 style="font-size:16px;margin:24px 0 4px">{text}</h2>\n'
LINE = (
    '<div class="line" style="padding:12px 0;border-top:1px solid #dfe2de">'
    '<a class="title" href="{url}" style="color:#1f5c43;font-weight:600;display:block;padding:4px 0;'
    'overflow-wrap:anywhere">{title}</a>{detail}</div>\n'
)
DETAIL = '<span class="quiet" style="color:#5b6165;overflow-wrap:anywhere">{text}</span>'


def render_html(message: Message, base_url: str, unsubscribe_url: str) -> str:
    """The message as an HTML letter that fits a phone; everything foreign is escaped."""
    parts: list[str] = []
    heading = None
    for line in message.lines:
        if line.kind != heading and len(message.lines) > 1:
            heading = line.kind
            parts.append(HEADING.format(text=html.escape(HEADINGS[line.kind])))
        detail = DETAIL.format(text=html.escape(line.detail)) if line.detail else ""
        url = html.escape(base_url + line.path)
        parts.append(LINE.format(url=url, title=html.escape(line.title), detail=detail))
    if message.left_out:
        parts.append(f"<p>And {message.left_out} more.</p>")
    return PAGE.format(
        subject=html.escape(message.subject),
        body="".join(parts) or f"<p>{render_text(message, base_url)}</p>",
        footer=f'<a class="quiet" href="{html.escape(base_url + SETTINGS_PATH)}" style="color:#5b6165">'
        "Change notifications</a> · "
        f'<a class="quiet" href="{html.escape(unsubscribe_url)}" style="color:#5b6165">Unsubscribe</a>',
    )
