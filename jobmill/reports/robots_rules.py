"""The rules of a robots.txt by RFC 9309, with the line that decides. Where the RFC leaves a choice,
Google's documented behaviour applies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from jobmill.catalog import urls

MAX_LENGTH = 512_000
"""Characters that are read; Google reads 500 KiB."""
MAX_RULES = 1_000
"""Rules of one bot that are compared with a page."""
_MAX_STARS = 20
"""A pattern with more stars is ignored: real ones have up to five."""
_MAX_PATH = 2_048
_LINE_END = re.compile(r"\r\n|\r|\n")
_PRODUCT_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,100}")
# Google's parser accepts these misspellings, and a space instead of the colon.
_AGENT_KEYS = frozenset(("user-agent", "useragent", "user agent"))
_DISALLOW_KEYS = frozenset(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"))


@dataclass(frozen=True, slots=True)
class RobotsRule:
    allows: bool
    pattern: str
    """As compared: percent-encoded in one form."""
    line: str
    """As written."""


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    allowed: bool
    agent: str | None
    """The user agent of the group that applies; None if no group does."""
    rule: RobotsRule | None
    """The deciding rule; None if no rule matches."""


class RobotsFile:
    """A parsed robots.txt."""

    def __init__(self, text: str) -> None:
        self._groups: dict[str, list[RobotsRule]] = {}
        agents: list[str] = []
        in_rules = False
        for key, value, line in _read_lines(_cut(text)):
            if key in _AGENT_KEYS:
                agents = [] if in_rules else agents
                in_rules = False
                if agent := _read_agent(value):
                    agents.append(agent)
                    self._groups.setdefault(agent, [])
            elif key == "allow" or key in _DISALLOW_KEYS:
                in_rules = True
                if value and value.count("*") <= _MAX_STARS:
                    self._add(agents, RobotsRule(key == "allow", normalize_path(value), line))

    def _add(self, agents: Iterable[str], rule: RobotsRule) -> None:
        for agent in set(agents):
            if len(self._groups[agent]) < MAX_RULES:
                self._groups[agent].append(rule)

    def names(self, bot: str) -> bool:
        """Whether a group is for this bot."""
        return bot.lower() in self._groups

    def decide(self, bot: str, url: str) -> RobotsDecision:
        """Whether the bot may fetch the URL. The longest matching pattern decides; of equally long
        ones, Allow does."""
        agent = bot.lower() if self.names(bot) else "*"
        if agent not in self._groups:
            return RobotsDecision(True, None, None)
        path = _path_of(url)
        matching = [rule for rule in self._groups[agent] if matches(rule.pattern, path)]
        rule = max(matching, key=lambda rule: (len(rule.pattern), rule.allows), default=None)
        # A bot must always be able to read the rules.
        allowed = rule is None or rule.allows or path == "/robots.txt"
        return RobotsDecision(allowed, bot if agent != "*" else "*", rule)


def _cut(text: str) -> str:
    """The whole lines up to the maximum length: half a pattern would match too much."""
    if len(text) <= MAX_LENGTH:
        return text
    return text[:MAX_LENGTH].rpartition("\n")[0]


def _read_lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Key, value and the line as written, of every line with a key."""
    for raw in _LINE_END.split(text.removeprefix("\ufeff").removeprefix("ï»¿")):
        line = raw.partition("#")[0].strip(" \t\0")
        key, colon, value = line.partition(":")
        if not colon:
            words = line.split()
            if len(words) != 2:
                continue
            key, value = words
        yield key.strip().lower(), value.strip(" \t"), line[:200]


def _read_agent(value: str) -> str | None:
    """The product token in lower case: "googlebot" for "Googlebot/2.1"; "*" for all bots."""
    if value[:1] == "*" and (len(value) == 1 or value[1].isspace()):
        return "*"
    token = _PRODUCT_TOKEN.match(value)
    return token[0].lower() if token else None


def normalize_path(path: str) -> str:
    """The path in one form of percent-encoding, as RFC 9309 compares it: unreserved characters are
    decoded, others encoded."""
    # "?", "&", "=", "+", "#" and the like have a meaning in the URL, so they stay as they are.
    parts = re.split(r"([?&+#\[\]=$*])", path[:_MAX_PATH])
    return "".join(part if index % 2 else urls.escape(part) for index, part in enumerate(parts))


def _path_of(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "/"
    query = f"?{parts.query}" if parts.query else ""
    return normalize_path(f"{parts.path or '/'}{query}")


def matches(pattern: str, path: str) -> bool:
    """Whether the path starts with the pattern, in which "*" is any text and a last "$" the end.
    Linear in time for each "*": a regular expression could take exponential time."""
    anchored = pattern.endswith("$")
    first, *pieces = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    last = pieces.pop() if pieces else None
    for piece in pieces:
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    if last is None:
        return not anchored or at == len(path)
    if anchored:
        return path.endswith(last) and len(path) - len(last) >= at
    return path.find(last, at) >= 0
