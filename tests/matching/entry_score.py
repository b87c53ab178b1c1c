"""Compare the entries read from resumes with what a person reads in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from jobmill.matching import resumes
from jobmill.matching.master_resume import MasterResume
from tests.matching.resumes import TODAY

FOLDER = Path(__file__).parent / "entry_resumes"
KINDS = {"C": "contact", "X": "experience", "E": "education", "L": "licences", "S": "languages"}

Row = tuple[str, ...]


@dataclass(slots=True)
class EntryScore:
    fields: Counter[str] = field(default_factory=Counter[str])
    right: Counter[str] = field(default_factory=Counter[str])
    invented: list[str] = field(default_factory=list[str])
    """Entries that the resume does not have."""
    problems: list[str] = field(default_factory=list[str])

    def share(self, kind: str | None = None) -> float:
        kinds = [kind] if kind else list(self.fields)
        return sum(self.right[name] for name in kinds) / sum(self.fields[name] for name in kinds)


def score_folder(name: str) -> EntryScore:
    score = EntryScore()
    for path in sorted((FOLDER / name).glob("*.txt")):
        text, _, truth = path.read_text().partition("=====\n")
        resume = resumes.read_resume(text.encode(), path.name, today=TODAY).profile.resume
        _score_resume(score, path.name, truth, rows_of(resume))
    return score


def _score_resume(score: EntryScore, file: str, truth: str, read: dict[str, list[Row]]) -> None:
    for letter, kind in KINDS.items():
        expected = [tuple(part.strip() for part in line[2:].split(" | ")) for line in truth.splitlines() if line.startswith(f"{letter} ")]  # fmt: skip
        left = list(read[letter])
        for row in expected:
            best = max(left, key=lambda other: _same_fields(row, other), default=None)
            if best and _same_fields(row, best):
                left.remove(best)
            else:
                best = None
            same = _same_fields(row, best) if best else 0
            score.fields[kind] += len(row)
            score.right[kind] += same
            if same < len(row):
                score.problems.append(f"{file} {letter}\n    is   {row}\n    read {best}")
        if letter != "C":
            score.invented += [f"{file} {letter} {row}" for row in left]


def _same_fields(first: Row, second: Row) -> int:
    return sum(a == b for a, b in zip(first, second, strict=True))


def rows_of(resume: MasterResume) -> dict[str, list[Row]]:
    contact = resume.contact
    rows = {
        "C": [(contact.email, contact.phone, contact.address, str(len(contact.links)))],
        "X": [(job.title, job.employer, job.location, job.start, job.end, str(len(job.highlights))) for job in resume.experience],
        "E": [(school.institution, school.degree, school.field, school.start, school.end) for school in resume.education],
        "L": [(licence.name, licence.issuer, licence.number, licence.issued, licence.expires) for licence in resume.licences],
        "S": [(language.name, language.level) for language in resume.languages],
    }  # fmt: skip
    return {kind: [tuple(value or "-" for value in row) for row in group] for kind, group in rows.items()}  # fmt: skip


if __name__ == "__main__":
    import sys

    result = score_folder(sys.argv[1])
    print("\n".join(result.problems))
    print("invented:", *result.invented, sep="\n  ")
    for name in result.fields:
        print(
            f"{name:12} {result.right[name]:4} of {result.fields[name]:4}  {result.share(name):.1%}"
        )
    print(f"{'all':12} {result.share():.1%}")
