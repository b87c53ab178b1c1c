"""A text as the weighted mean of the vectors of its words: 256 numbers with length 1. The vectors were
distilled from a sentence model by `scripts/distill_embeddings.py`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float32]

DATA = Path(__file__).parent / "data"
TOKENS = "tokens.txt"
VECTORS = "vectors.npy"
SCALES = "scales.npy"
SIZE = 256
MAX_WORD_LENGTH = 60
"""Longer words are addresses or keys."""

WORD = re.compile(r"[^\W_]+[+#]*")


class StaticVectors:
    """The loaded vectors. They are thread-safe."""

    def __init__(self, folder: Path = DATA) -> None:
        tokens = (folder / TOKENS).read_text(encoding="utf-8").split("\n")
        # Map the vectors into memory, where all processes of the machine share them.
        self._vectors = np.load(folder / VECTORS, mmap_mode="r")
        self._scales: Array = np.load(folder / SCALES)
        self._ids = {token: id for id, token in enumerate(tokens)}
        self._word_ids = lru_cache(maxsize=65_536)(self._split_word)

    def embed(self, text: str) -> Array:
        """Embed one text. Its first line is a heading, which weighs as much as the rest. A text
        without a known word gets the zero vector."""
        heading, _, body = text.partition("\n")
        return _normalize(self._embed_part(heading) + self._embed_part(body))

    def _embed_part(self, text: str) -> Array:
        ids = [id for word in split_words(text) for id in self._word_ids(word)]
        return _normalize(self._scales[ids] @ self._vectors[ids].astype(np.float32))

    def _split_word(self, word: str) -> Sequence[int]:
        if (id := self._ids.get(word)) is not None:
            return (id,)
        return tuple(self._ids[piece] for piece in split_pieces(word.rstrip("+#"), self._ids))


def split_words(text: str) -> Iterator[str]:
    """The words of a text in lower case and without accents; "c++" and "c#" stay whole."""
    plain = unicodedata.normalize("NFD", text.lower())
    if not plain.isascii():
        plain = "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")
    return (match[0] for match in WORD.finditer(plain))


def split_pieces(word: str, known: dict[str, int]) -> list[str]:
    """The longest known pieces of a word from left to right (WordPiece); none if one is unknown."""
    pieces: list[str] = []
    start = 0
    while start < len(word) <= MAX_WORD_LENGTH:
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in known), None)
        if end is None:
            return []
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


def _normalize(vector: Array) -> Array:
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector
