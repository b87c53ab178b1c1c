from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from jobmill.matching import embeddings
from jobmill.matching.embeddings import static_vectors


def test_texts_with_closer_meaning_are_more_similar() -> None:
    nurse, ward, welder = map(
        embeddings.embed,
        [
            "Pediatric nurse\nCares for sick children in a hospital",
            "Ward assistant\nLook after ill kids, help doctors and give medicine in our clinic",
            "Pipe welder\nWeld steel pipes and read drawings in our plant",
        ],
    )
    assert embeddings.similarity(nurse, ward) > embeddings.similarity(nurse, welder) + 0.4
    assert embeddings.similarity(nurse, nurse) == pytest.approx(1)
    assert embeddings.similarity(nurse, -nurse) >= -1
    assert np.linalg.norm(nurse) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("similarity", "likeness"), [(-1, 0), (0.34, 0), (0.535, 0.5), (0.73, 1), (1, 1)]
)
def test_similarity_is_scaled_to_the_range_of_real_pairs(
    similarity: float, likeness: float
) -> None:
    assert embeddings.scale_similarity(similarity) == pytest.approx(likeness)


def test_the_files_of_the_vectors_belong_together() -> None:
    tokens = (static_vectors.DATA / static_vectors.TOKENS).read_text(encoding="utf-8").split("\n")
    numbers = np.load(static_vectors.DATA / static_vectors.VECTORS)
    scales = np.load(static_vectors.DATA / static_vectors.SCALES)
    assert numbers.shape == (len(tokens), static_vectors.SIZE)
    assert (numbers.dtype, scales.shape) == (np.int8, (len(tokens),))
    assert len(set(tokens)) == len(tokens)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("C++, C# and Node.js", ["c++", "c#", "and", "node", "js"]),
        ("Ingénieur (m/w) - Zürich_2", ["ingenieur", "m", "w", "zurich", "2"]),
        ("", []),
    ],
)
def test_words_are_split_without_accents_and_punctuation(text: str, words: list[str]) -> None:
    assert list(static_vectors.split_words(text)) == words


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("welding", ["weld", "##ing"]),
        ("welder", ["weld", "##er"]),
        ("xing", []),
        ("weldingx" * 10, []),
    ],
)
def test_unknown_words_are_split_into_known_pieces(word: str, pieces: list[str]) -> None:
    known = {token: id for id, token in enumerate(["weld", "##ing", "##er", "##e"])}
    assert static_vectors.split_pieces(word, known) == pieces


def test_the_heading_counts_as_much_as_the_rest() -> None:
    nurse, welder, text = map(
        embeddings.embed,
        ["nurse", "welder of steel pipes", "nurse\n" + "welder of steel pipes " * 50],
    )
    assert embeddings.similarity(text, nurse) == pytest.approx(
        embeddings.similarity(text, welder), abs=1e-3
    )


def test_a_text_without_known_words_is_like_nothing() -> None:
    assert embeddings.similarity(embeddings.embed("\u4eba"), embeddings.embed("nurse")) == 0
    assert embeddings.compare_texts("", "nurse") == 0


def test_only_processes_that_compare_texts_load_the_model() -> None:
    program = "import sys, jobmill.matching.local_verdict; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
