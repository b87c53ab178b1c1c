"""Detect pages that say their posting is closed."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from .visible_lines import PageText

# Plain words first, for speed: the pattern runs only on lines that contain one of them.
_HINTS = (
    "no longer", "not accepting", "been filled", "been closed", "been removed", "been deactivated",
    "has expired", "is expired", "is closed", "has ended", "nicht mehr", "bereits besetzt",
    "ya no está", "n'est plus", "n\u2019est plus", "non è più", "niet meer",
)  # fmt: skip
_CLOSED = re.compile(
    r"\b(?:job|position|posting|vacancy|role|listing|opening|opportunity|requisition|advert|we|ad|"
    r"company|applications)\b.{0,60}?\b(?:"
    r"no longer (?:accept|available|active|open|being|exist|advertised|posted)|"
    r"(?:has|have) (?:already )?(?:expired|ended|closed|been (?:filled|closed|removed|"
    r"deactivated))|"
    r"(?:is|are) (?:now )?(?:closed|expired|filled|no longer|not accepting))"
    r"|^(?:no longer (?:accepting|available|active)|not accepting applications)"
    r"|\b(?:stelle|stellenanzeige|anzeige|position|job)\b.{0,60}?"
    r"(?:bereits besetzt|nicht mehr (?:verfügbar|aktiv|online|ausgeschrieben))"
    r"|\boferta\b.{0,40}?ya no está|\boffre\b.{0,40}?n['\u2019]est plus"
    r"|\bannuncio\b.{0,40}?non è più|\bvacature\b.{0,40}?niet meer",
    re.IGNORECASE,
)
# "Open until the position has been filled" says the opposite.
_CONDITION = re.compile(
    r"\b(?:until|till|if|once|when|unless|after|bis|sobald|falls|wenn)\b", re.IGNORECASE
)
_MAX_LINE_LENGTH = 250
_CHOICE_TAGS = frozenset(("label", "option", "button", "a", "legend"))
_MAX_CHOICE_DEPTH = 4
"""Elements around a text that are searched for the control it belongs to."""
_TICK_BOX = "input[type=radio i],input[type=checkbox i]"
_REPORT = re.compile(
    r"\b(?:report|flag)(?:ing)?\b|\bwhat(?:['\u2019]s| is) wrong\b|\breasons?\b|\bmelden\b"
    r"|\bsignaler\b|\b(?:reportar|denunciar)\b|\bsegnala\b",
    re.IGNORECASE,
)
_TEXTS_BEFORE = 8
"""Texts before one of several reasons in which their heading is searched."""
_REASON = re.compile(
    r"\W*(?:job|position|posting|vacancy|role|listing|opening|ad|advert)\s+(?!is\b|are\b|has\b|have\b)",
    re.IGNORECASE,
)


def may_say_closed(texts: list[str]) -> bool:
    """Whether any text has the words of a notice; a cheap test before `says_closed`."""
    text = "\n".join(text for text in texts if len(text) <= 4 * _MAX_LINE_LENGTH).lower()
    return any(word in text for word in _HINTS)


def says_closed(page: PageText) -> bool:
    """Whether a short line says that the posting is closed. Long lines are sentences of the
    posting; choices in a form describe what a reader may report."""
    if not may_say_closed(page.texts):
        return False
    return any(
        _has_notice(text) and not _is_choice(node) and not _is_reason(page.texts, at)
        for at, (text, node) in enumerate(zip(page.texts, page.nodes, strict=True))
    )


def _has_notice(text: str) -> bool:
    if len(text) > 4 * _MAX_LINE_LENGTH:
        return False
    return any(
        bool(_CLOSED.search(line))
        and not _CONDITION.search(line)
        and not line.rstrip().endswith("?")
        for line in text.lower().splitlines()
        if len(line) <= _MAX_LINE_LENGTH and any(word in line for word in _HINTS)
    )


def _is_choice(text: LexborNode) -> bool:
    """Whether a text belongs to a control: a label, a button, a link, or the words right after a
    radio button or checkbox."""
    node = text
    for _ in range(_MAX_CHOICE_DEPTH):
        parent = node.parent
        if parent is None:
            break
        if parent.tag in _CHOICE_TAGS:
            return True
        node = parent
    return _follows_tick_box(text)


def _follows_tick_box(text: LexborNode) -> bool:
    node: LexborNode | None = text
    for _ in range(_MAX_CHOICE_DEPTH):
        before = node.prev if node else None
        while before is not None and before.tag in ("-text", "-comment"):
            if before.tag == "-text" and (before.text_content or "").strip():
                return False
            before = before.prev
        if before is not None:
            return not before.text(strip=True) and _has_tick_box(before)
        node = node.parent if node else None
    return False


def _has_tick_box(node: LexborNode) -> bool:
    return node.css_matches(_TICK_BOX) or node.css_first(_TICK_BOX) is not None


def _is_reason(texts: list[str], at: int) -> bool:
    """Whether a text is one of the reasons to report a posting: a noun without a verb ("Position no
    longer available") below such a heading."""
    if not _REASON.match(texts[at]):
        return False
    before = texts[max(0, at - _TEXTS_BEFORE) : at]
    return any(len(text) <= _MAX_LINE_LENGTH and _REPORT.search(text) for text in before)
