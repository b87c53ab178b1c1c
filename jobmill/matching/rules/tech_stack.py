"""Find the technologies that a company's texts name, and whether it focuses on machine learning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..posting_facts import skills

# The names that company records use. Never remove any of the first five lines.
_NAMES = (
    ("Python", "JavaScript", "Java", "Go", "Rust", "Ruby", "PHP", "C#"),
    ("React", "Vue", "Angular", "Svelte"),
    ("Docker", "Kubernetes", "AWS", "Azure"),
    ("PostgreSQL", "MySQL", "MongoDB", "Redis"),
    ("TensorFlow", "PyTorch", "Machine learning"),
    ("TypeScript", "C++", "Kotlin", "Scala", "Swift", "Elixir", "Clojure", "Haskell", "Erlang"),
    ("Perl", "Solidity", "Objective-C", "MATLAB", ".NET", "Dart", "Julia", "SQL"),
    ("Node.js", "Next.js", "React Native", "Flutter", "Redux", "jQuery", "GraphQL", "gRPC"),
    ("Django", "Flask", "FastAPI", "Ruby on Rails", "Laravel", "Symfony", "Spring Boot"),
    ("Spring Framework", "Terraform", "Ansible", "Jenkins", "Linux", "Kafka", "RabbitMQ"),
    ("Elasticsearch", "Cassandra", "DynamoDB", "Snowflake", "Databricks", "BigQuery"),
    ("Apache Spark", "Hadoop", "Airflow", "dbt", "ClickHouse", "SQLite", "Android", "iOS"),
    ("Deep learning", "Computer vision", "NLP", "LLM", "Generative AI", "scikit-learn", "Keras"),
    ("pandas", "NumPy", "CUDA", "WebAssembly", "FPGA", "ROS 2", "Unity3D", "Unreal Engine"),
)
STACK = {name: name.lower() for line in _NAMES for name in line} | {"Google Cloud": "gcp"}
"""Maps names of `skills` to names of a tech stack."""

# Also everyday words: they count only next to another technology or to technical vocabulary.
_EVERYDAY = frozenset({"react", "vue", "angular", "azure", "java", "redux", "swift", "dart"})
_TRADE = re.compile(
    r"engineer|develop|\bstack\b|\bcod(?:e|ing)|framework|cloud|back-?end|front-?end|software"
    r"|programm|written in|built (?:with|on|in)|\bapis?\b|librar|databas|microsoft|certif|migrat",
    re.IGNORECASE,
)
_REACH = 60

_AI = re.compile(
    r"\b(?:artificial intelligence|machine[ -]learning|deep[ -]learning|neural networks?"
    r"|computer vision|natural language processing|large language models?|reinforcement learning"
    r"|generative ai|maschinelle\w* lernen|künstliche\w* intelligenz"
    r"|intelligence artificielle)\b",
    re.IGNORECASE,
)
_AI_SHORT = re.compile(r"\b(?:AI|A\.I\.|ML|LLMs?|GenAI|NLP|KI)\b(?!\s*(?:\d|[A-Z]{2}\b))")
_MIN_MENTIONS = 3
"""Minimum mentions on a site for a focus on machine learning."""


@dataclass(frozen=True, slots=True)
class TechStack:
    names: tuple[str, ...] = ()
    """In lower case, in order of appearance."""
    ai_ml: tuple[str, ...] = ()
    """The words that show a focus on machine learning; empty without such a focus."""


def find_tech_stack(about: str, texts: Iterable[str]) -> TechStack:
    """Find the technologies in a site's texts; `about` is the company's short description of
    itself."""
    all_texts = [about, *texts]
    return TechStack(names=_names_in(all_texts), ai_ml=_ai_focus(about, all_texts))


def stack_name(name: str) -> str | None:
    """The tech stack's name for a profile's skill; None if stacks do not contain it."""
    return STACK.get(skills.canonical_name(name))


def _names_in(texts: Iterable[str]) -> tuple[str, ...]:
    lines = (line for text in texts for line in text.splitlines())
    return tuple(dict.fromkeys(name for line in lines for name in _in_line(line)))


def _in_line(line: str) -> list[str]:
    hits = [hit for hit in skills.find_skills(line) if hit.name in STACK]
    certain = {hit.name for hit in hits if line[hit.start : hit.end].casefold() not in _EVERYDAY}
    return [STACK[hit.name] for hit in hits if hit.name in certain or _is_meant(line, hit, certain)]


def _is_meant(line: str, hit: skills.SkillHit, certain: set[str]) -> bool:
    """Whether an everyday word means a technology here."""
    around = line[max(0, hit.start - _REACH) : hit.end + _REACH]
    return line[hit.start].isupper() and bool(certain or _TRADE.search(around))


def _ai_focus(about: str, texts: list[str]) -> tuple[str, ...]:
    about_words = _ai_words(about)
    if about_words:
        return about_words
    words = [word for text in texts for word in _ai_words(text)]
    return tuple(dict.fromkeys(words)) if len(words) >= _MIN_MENTIONS else ()


def _ai_words(text: str) -> tuple[str, ...]:
    return tuple(match[0] for match in (*_AI.finditer(text), *_AI_SHORT.finditer(text)))
