"""How near two texts are in meaning, by a small model that runs here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .minilm import MiniLM

Vector: TypeAlias = "npt.NDArray[np.float32]"
"""Of length 1."""

MODEL = "all-MiniLM-L6-v2, 128 tokens"
"""What vectors are kept under: those of another model, or of more tokens, are not compared."""
UNRELATED, CLOSE = 0.2, 0.6
"""The similarity of a posting and a profile that have nothing in common, and of a close pair: of
real postings most that belong together lie between, around 0.5, and others around 0.3."""

# One text at a time: the pool for other work stays free.
_thread = ThreadPoolExecutor(1, "meaning")


async def embed(texts: Sequence[str]) -> list[Vector]:
    """The vector of each text; the loop goes on meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(_thread, _embed, tuple(texts))


def similarity(one: Vector, other: Vector) -> float:
    """From -1 to 1: the cosine of two vectors."""
    return max(-1.0, min(1.0, float(one @ other)))


def scaled_similarity(similarity: float) -> float:
    """From 0, nothing in common, to 1, close: the similarity spread over the range that real pairs
    have."""
    return max(0.0, min(1.0, (similarity - UNRELATED) / (CLOSE - UNRELATED)))


def _embed(texts: Sequence[str]) -> list[Vector]:
    model = _model()
    return [model.embed(text) for text in texts]


@lru_cache(maxsize=1)
def _model() -> MiniLM:
    # Only a process that compares loads it.
    from .minilm import MiniLM

    return MiniLM()
