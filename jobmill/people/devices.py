"""Name the browser and system of a User-Agent header, for the list of sessions."""

from __future__ import annotations

# The first that matches wins: most browsers also name the ones they descend from.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def describe_device(user_agent: str) -> str:
    """`Firefox on Linux`; the program's name if it is no browser, and empty without a header."""
    browser = _first(BROWSERS, user_agent)
    system = _first(SYSTEMS, user_agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or user_agent.partition("/")[0][:40]


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for mark, name in names if mark in user_agent), "")
