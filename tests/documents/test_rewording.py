"""Rewordings of a model: what claims no more than the fact is kept, everything else is dropped and counted."""

from __future__ import annotations

import pytest

from evaluation import documents as evaluation
from jobmill.documents import rewording, text_file
from jobmill.documents.document import edit_line, map_lines
from jobmill.documents.rewording import RewordedLine, RewordingAnswer, is_supported
from tests.documents.samples import ASSISTED, POSTING, TRAINED, make_resume

KEY = "resume.experience.0.highlights.1"


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (TRAINED, "Trained 12 nurses in ventilator management"),
        (TRAINED, "In ventilator management, trained 12 new nurses"),
        ("Grew sales by 20%", "Sales grew 20%"),
        ("Built APIs in Python and Go", "Python: built APIs"),
    ],
)
def test_a_rewording_may_shorten_and_reorder(fact: str, text: str) -> None:
    assert is_supported(text, fact)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (TRAINED, "Trained 15 new nurses in ventilator management"),
        (TRAINED, "Trained 12 new doctors in ventilator management"),
        (TRAINED, "Trained 12 new nurses in ventilator management at Mayo Clinic"),
        (TRAINED, "Trained 12 new nurses in ventilator management, MSc"),
        (TRAINED, "Trained twelve dozen new nurses in ventilator management"),
        (ASSISTED, "Lead surgeon in 40 operations"),
        ("Led 5 nurses who cared for 300 patients", "Led 300 nurses who cared for 5 patients"),
        (
            "Led two nurses who cared for three patients",
            "Led three nurses who cared for two patients",
        ),
        ("Grew sales by 20%", "Grew sales by 20 times"),
        ("Sold 20 cars", "Sold 20% cars"),
        ("Built APIs in Python", "Built APIs in Python and Django"),
        ("Worked without a licence", "Worked with a licence"),
        ("Planned a migration", "Migration"),
        ("Sold 20 cars", "Sold 20 cars and 20 cars"),
        (TRAINED, ""),
    ],
)
def test_a_rewording_that_says_more_is_refused(fact: str, text: str) -> None:
    assert not is_supported(text, fact)


def test_dropped_rewordings_are_counted_and_the_persons_words_stay() -> None:
    document = make_resume()
    answer = RewordingAnswer(
        lines=[
            RewordedLine(key=f"[{KEY}]", text="Trained 12 nurses in ventilator management"),
            RewordedLine(key="summary", text="Nurse with a PhD who keeps calm."),
            RewordedLine(key="resume.education.0", text="MSc, Nursing, Boise State"),
            RewordedLine(key="person.name", text="Dr. Maria Santos"),
        ]
    )
    checked = rewording.check_answer(document, answer)
    assert (list(checked.texts), len(checked.dropped)) == ([KEY], 3)
    changed = rewording.apply_rewording(document, checked, "stand-in")
    text = text_file.write_text(changed)
    assert "Trained 12 nurses in" in text
    assert not any(words in text for words in ("PhD", "MSc", "Dr."))
    edited = map_lines(document, lambda line: edit_line(line, "Mine") if line.key == KEY else line)
    kept = rewording.apply_rewording(edited, checked, "stand-in")
    assert "Mine" in text_file.write_text(kept), "an edit of the person is newer than the question"


def test_the_question_holds_lines_and_the_posting_and_nothing_else_about_the_person() -> None:
    text = rewording.build_question(make_resume(), POSTING).text
    assert TRAINED in text
    assert "BLS and ACLS" in text
    for private in ("Maria", "Santos", "maria@", "555", "Alder Valley", "Boise", "N-48213"):
        assert private not in text


def test_a_sample_of_the_evaluation_finds_nothing_invented_lost_or_too_long() -> None:
    counts = evaluation.measure(3)
    assert counts.documents == 24
    assert (counts.foreign, counts.lost, counts.misquoted) == ([], [], 0)
    assert (counts.printed_inventions, counts.too_long, counts.out_of_order) == (0, 0, 0)
    assert counts.dropped == counts.invented > 0
    assert counts.reworded == counts.offered
