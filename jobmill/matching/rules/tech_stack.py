"""Which technologies a company's texts name, and whether it is about machine learning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..posting_facts import skills

# What each is called in a company's record. The first five lines must never be shorter.
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
"""From the names of `skills` to those of a stack."""

# Words of everyday language, too: they count beside another technology or the trade's own words.
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
"""So often a site must speak of it before it is what the company is about."""


@dataclass(frozen=True, slots=True)
class TechStack:
    names: tuple[str, ...] = ()
    """In small letters, in the order in which they come."""
    ai_ml: tuple[str, ...] = ()
    """The words that show a focus on machine learning; none where there is no such focus."""


def find_tech_stack(about: str, texts: Iterable[str]) -> TechStack:
    """What the texts of a site name; `about` is what the company says of itself in short."""
    whole = [about, *texts]
    return TechStack(names=_names_in(whole), ai_ml=_ai_focus(about, whole))


def stack_name(name: str) -> str | None:
    """How a stack calls a skill of a profile; None for what no stack tells."""
    return STACK.get(skills.canonical_name(name))


def _names_in(texts: Iterable[str]) -> tuple[str, ...]:
    lines = (line for text in texts for line in text.splitlines())
    return tuple(dict.fromkeys(name for line in lines for name in _in_line(line)))


def _in_line(line: str) -> list[str]:
    hits = [hit for hit in skills.find_skills(line) if hit.name in STACK]
    sure = {hit.name for hit in hits if line[hit.start : hit.end].casefold() not in _EVERYDAY}
    return [STACK[hit.name] for hit in hits if hit.name in sure or _is_meant(line, hit, sure)]


def _is_meant(line: str, hit: skills.SkillHit, sure: set[str]) -> bool:
    """Whether a word that is no name to most people is one here."""
    around = line[max(0, hit.start - _REACH) : hit.end + _REACH]
    return line[hit.start].isupper() and bool(sure or _TRADE.search(around))


def _ai_focus(about: str, texts: list[str]) -> tuple[str, ...]:
    told = _ai_words(about)
    if told:
        return told
    said = [word for text in texts for word in _ai_words(text)]
    return tuple(dict.fromkeys(said)) if len(said) >= _MIN_MENTIONS else ()


def _ai_words(text: str) -> tuple[str, ...]:
    return tuple(found[0] for found in (*_AI.finditer(text), *_AI_SHORT.finditer(text)))
