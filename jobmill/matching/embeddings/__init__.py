"""Compare the meaning of texts locally, by the vectors of their words."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .static_vectors import StaticVectors

Vector: TypeAlias = "npt.NDArray[np.float32]"
"""A vector of length 1, or the zero vector."""

UNRELATED, CLOSE = 0.34, 0.73
"""Similarity of an unrelated and of a close pair of posting and profile. Of real postings, most
related pairs are around 0.65 and unrelated ones around 0.4."""


def compare_texts(posting_text: str, profile_text: str) -> float:
    """The similarity of two texts from 0 (unrelated) to 1 (close), over the range of real pairs."""
    return scale_similarity(similarity(embed(posting_text), _embed_profile(profile_text)))


def embed(text: str) -> Vector:
    """The vector of a text, whose first line is its heading. It takes a fraction of a millisecond."""
    return _load().embed(text)


def similarity(first: Vector, second: Vector) -> float:
    """The cosine of two vectors, from -1 to 1."""
    return max(-1.0, min(1.0, float(first @ second)))


def scale_similarity(similarity: float) -> float:
    return max(0.0, min(1.0, (similarity - UNRELATED) / (CLOSE - UNRELATED)))


@lru_cache(maxsize=64)
def _embed_profile(text: str) -> Vector:
    return embed(text)


@lru_cache(maxsize=1)
def _load() -> StaticVectors:
    # Import on first use, because most processes never compare texts.
    from .static_vectors import StaticVectors

    return StaticVectors()
