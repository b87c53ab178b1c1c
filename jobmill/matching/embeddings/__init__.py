"""Compare the meaning of texts with a small embedding model that runs locally."""

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
"""A vector of length 1."""

MODEL = "all-MiniLM-L6-v2, 128 tokens"
"""Stored with every vector: vectors of another model or token limit are not compared."""
UNRELATED, CLOSE = 0.2, 0.6
"""Similarity of an unrelated and of a close pair of posting and profile. Of real postings, most
related pairs are around 0.5 and unrelated ones around 0.3."""

# One text at a time, to keep the default thread pool free for other work.
_thread = ThreadPoolExecutor(1, "meaning")


async def embed(texts: Sequence[str]) -> list[Vector]:
    """Compute the vector of each text in a thread."""
    return await asyncio.get_running_loop().run_in_executor(_thread, _embed, tuple(texts))


def similarity(first: Vector, second: Vector) -> float:
    """The cosine of two vectors, from -1 to 1."""
    return max(-1.0, min(1.0, float(first @ second)))


def scaled_similarity(similarity: float) -> float:
    """Scale a similarity to 0 (unrelated) to 1 (close), over the range of real pairs."""
    return max(0.0, min(1.0, (similarity - UNRELATED) / (CLOSE - UNRELATED)))


def _embed(texts: Sequence[str]) -> list[Vector]:
    model = _model()
    return [model.embed(text) for text in texts]


@lru_cache(maxsize=1)
def _model() -> MiniLM:
    # Import on first use, because most processes never compare texts.
    from .minilm import MiniLM

    return MiniLM()
