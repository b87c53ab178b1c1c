"""Detect text in a listing that is addressed to language models rather than to people."""

from __future__ import annotations

import re
import unicodedata

_TO_MODELS = re.compile(
    r"\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|vergiss|oubli\w*|olvida\w*)\W+(?:\w+\W+){0,5}?"
    r"(?:instruc\w+|instruk\w+|anweisung\w*|prompts?|istruzioni)\b"
    r"|\b(?:system|developer) (?:prompt|message|override)\b|\bjailbreak"
    r"|\b(?:new|updated|your|hidden) instructions?\s*(?::|are\b|is\b)"
    r"|\b(?:if you(?:'re| are)|you are|dear|attention|attn|note (?:to|for)|message (?:to|for)|hey|hello|hi)\W+"
    r"(?:all |any |an? |the |now )*(?:ai|a\.i\.|llms?|(?:large )?language models?|chat ?bots?|chatgpt|gpt|claude|gemini"
    r"|(?:ai|automated|virtual) (?:\w+ )?(?:models?|assistants?|agents?|systems?|tools?|bots?|screeners?|reviewers?"
    r"|evaluators?|readers?|judges?|graders?))"
    r"(?=\s*(?:$|[,.:;!)\u2014\u2013]|-\W|(?:reading|that|which|who|and|or|processing|evaluating|reviewing)\b))"
    r"|\b(?:scor(?:e|ed|ing)|fit|rate|rated|rating|match_score|grade)\b\W*(?:(?:it|this|us|listing|posting|match|fit|role"
    r"|job|candidate|me|them|of|to|at|as|is|be|a|an|the|with|must|should|out)\W+){0,6}(?:100(?! ?%|\w)|10/10|ten out of ten)"
    r"|\b(?:highest|maximum|perfect|top|full) (?:possible )?(?:score|rating|marks)\b"
    r"|[\"']fit[\"']\s*:|<\|\w+\|>|\[/?INST\]|</?(?:system|assistant|document)\b"
    r"|=== (?:CANDIDATE|LISTING) ===|^[ \t]*(?:system|assistant)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)


def find_injection(text: str) -> str | None:
    """The first words that address a model; None if there are none."""
    visible = text
    if not text.isascii():
        visible = unicodedata.normalize("NFKC", text)
        visible = "".join(sign for sign in visible if unicodedata.category(sign) != "Cf")
    match = _TO_MODELS.search(visible)
    return " ".join(match[0].split())[:80] if match else None
