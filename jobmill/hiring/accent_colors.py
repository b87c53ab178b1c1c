"""The company's color, adjusted until text in it is readable (WCAG 2.2, level AA)."""

from __future__ import annotations

import re

from jobmill.errors import Invalid

MIN_CONTRAST = 4.5
"""Of text and its background: WCAG 2.2, success criterion 1.4.3."""
LIGHT_BACKGROUND = "#f7f7f4"
DARK_BACKGROUND = "#1e2225"
"""The least favorable backgrounds of the light and the dark theme (`--paper` and `--card` in app.css)."""
BLACK, WHITE = "#000000", "#ffffff"
HEX_COLOR = re.compile(r"#?([0-9a-f]{6})")
STEPS = 50


def parse_color(text: str | None) -> str | None:
    """A color as #rrggbb; None if the text is empty. Raises Invalid."""
    if not (text or "").strip():
        return None
    match = HEX_COLOR.fullmatch((text or "").strip().lower())
    if not match:
        raise Invalid("The color should be six hexadecimal digits, such as #1f5c43.")
    return f"#{match[1]}"


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colors, from 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def for_light_theme(color: str) -> str:
    """The color for text on a light page, and for buttons with light text."""
    return _move_away(color, LIGHT_BACKGROUND, BLACK)


def for_dark_theme(color: str) -> str:
    """The color for text on a dark page, and for buttons with dark text."""
    return _move_away(color, DARK_BACKGROUND, WHITE)


def _move_away(color: str, background: str, toward: str) -> str:
    """The color itself if it is readable on the background, or else the nearest mixture that is."""
    for step in range(STEPS + 1):
        mixed = _mix(color, toward, step / STEPS)
        if contrast(mixed, background) >= MIN_CONTRAST:
            return mixed
    return toward


def _mix(color: str, other: str, share: float) -> str:
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    """Relative luminance as WCAG defines it."""
    red, green, blue = (_linear(channel / 255) for channel in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
