"""The HTML part of a letter: the same words, with links to select and the company's name, logo and color."""

from __future__ import annotations

import html
import re

from jobmill.hiring import accent_colors
from jobmill.hiring.company_identity import CompanyIdentity

LINK = re.compile(r"https?://[^\s<>\"]+")
END_OF_SENTENCE = ".,;:!?)"
DEFAULT_COLOR = "#1f5c43"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
<body style="margin:0;padding:24px;background:#f7f7f4;color:#22262a;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:36rem;margin:0 auto;padding:24px;background:#fff;border-top:4px solid {color}">
{header}{paragraphs}
</div></body></html>
"""


def render_html(body: str, company: CompanyIdentity, name: str | None, base_url: str) -> str:
    """`name`: the employer of the opening, or the company."""
    color = accent_colors.for_light_theme(company.accent or DEFAULT_COLOR)
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", body.strip())]
    return PAGE.format(
        color=color,
        header=_header(company, name, base_url),
        paragraphs="".join(f"<p>{_paragraph(part, color)}</p>" for part in paragraphs),
    )


def _header(company: CompanyIdentity, name: str | None, base_url: str) -> str:
    if not name:
        return ""
    text = html.escape(name)
    if company.logo_hash and name == company.name:
        source = html.escape(f"{base_url}/openings/logo?v={company.logo_hash}")
        text = f'<img src="{source}" alt="{text}" height="40" style="height:40px;max-width:100%">'
    return f'<p style="font-size:18px;font-weight:600">{text}</p>'


def _paragraph(text: str, color: str) -> str:
    parts: list[str] = []
    position = 0
    for match in LINK.finditer(text):
        url = match[0].rstrip(END_OF_SENTENCE)
        parts += [html.escape(text[position : match.start()]), _link(url, color)]
        position = match.start() + len(url)
    return "".join([*parts, html.escape(text[position:])]).replace("\n", "<br>\n")


def _link(url: str, color: str) -> str:
    escaped = html.escape(url)
    return f'<a href="{escaped}" style="color:{color};overflow-wrap:anywhere">{escaped}</a>'
