from __future__ import annotations

import pytest

from jobmill.matching.rules import tech_stack

WANTED = (
    "python javascript java go rust ruby php c# react vue angular svelte docker kubernetes aws gcp "
    "azure postgresql mysql mongodb redis tensorflow pytorch"
)


def names(text: str) -> set[str]:
    return set(tech_stack.find_tech_stack("", [text]).names)


def test_everything_that_must_be_found_is_found() -> None:
    text = (
        "Our stack: Python, JavaScript, Java, Go, Rust, Ruby, PHP, C#, React, Vue, Angular, Svelte, Docker, "
        "Kubernetes, AWS, GCP, Azure, PostgreSQL, MySQL, MongoDB, Redis, TensorFlow, PyTorch."
    )
    assert set(WANTED.split()) <= names(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We write JavaScript.", {"javascript"}),
        ("Our backend is written in Java.", {"java"}),
        ("We go to the sea and rust in the rain.", set[str]()),
        ("Go to our careers page.", set[str]()),
        ("We react quickly to what customers say.", set[str]()),
        ("React fast when it rains.", set[str]()),
        ("React and TypeScript in front.", {"react", "typescript"}),
        ("Swim in azure water.", set[str]()),
        ("We run on Microsoft Azure.", {"azure"}),
        ("Un point de vue.", set[str]()),
        ("Node.js services on k8s, Postgres", {"node.js", "kubernetes", "postgresql"}),
        ("Google Cloud Platform", {"gcp"}),
        ("Agile, SEO and project management", set[str]()),
    ],
)
def test_everyday_words_count_as_technologies_only_in_context(
    text: str, expected: set[str]
) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("about", "text", "focus"),
    [
        ("We build machine learning for farms.", "", True),
        ("We bring AI to hospitals.", "", True),
        ("We bake bread.", "Our chat uses AI.", False),
        ("We bake bread.", "AI here, deep learning there, LLMs everywhere.", True),
        ("We paint ships.", "Said the maiden, aim high, email us.", False),
    ],
)
def test_a_focus_on_machine_learning(about: str, text: str, focus: bool) -> None:
    assert bool(tech_stack.find_tech_stack(about, [text]).ai_ml) is focus
