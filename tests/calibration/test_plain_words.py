"""The audit in plain words: what the judge misses, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judges.calibration.audit import audit
from judges.calibration.audit_records import AuditItem, HumanLabel, JudgeVerdict, LabelSet, TaskRecords
from judges.calibration.audit_result import Settings
from judges.calibration.plain_words import plain_words

QA = LabelSet(("Correct", "Hallucination", "Omission"))
QUICK = Settings(resamples=50)


def items(table: Mapping[tuple[str, str | None], int], unlabelled: int = 0, judge: str = "gpt-4o") -> list[AuditItem]:
    rows = [pair for pair, count in table.items() for _ in range(count)]
    labelled = [
        AuditItem(
            f"i{k}", {"A": HumanLabel(people)}, {judge: JudgeVerdict(said, "" if said is not None else "malformed")}
        )
        for k, (people, said) in enumerate(rows)
    ]
    return labelled + [AuditItem(f"u{k}", {}, {judge: JudgeVerdict("Correct")}) for k in range(unlabelled)]


def words(rows: Sequence[AuditItem], label_set: LabelSet = QA, **more: Any) -> list[str]:
    return plain_words(audit([TaskRecords("qa", label_set, rows, **more)], settings=QUICK))


def test_the_label_missed_most_often_comes_first() -> None:
    rows = items(
        {
            ("Correct", "Correct"): 38,
            ("Correct", "Hallucination"): 2,
            ("Hallucination", "Hallucination"): 7,
            ("Hallucination", "Correct"): 2,
            ("Hallucination", "Omission"): 1,
        },
        unlabelled=150,
    )
    assert words(rows) == [
        "The judge misses 3 of 10 Hallucination items (people called 10 items Hallucination; "
        "the judge agreed on 7 and called 2 Correct and 1 Omission)",
        "n = 50 of 50 labelled (200 items in all); nothing left out; "
        "counted are blind labels of the stream estimate on items with a readable verdict",
    ]


def test_a_label_with_fewer_than_five_items_is_not_spoken_of() -> None:
    rows = items({("Correct", "Correct"): 40, ("Correct", "Omission"): 2, ("Hallucination", "Correct"): 4})
    assert words(rows)[0].startswith("The judge misses 2 of 42 Correct items")


def test_misses_only_of_labels_too_rare_to_say() -> None:
    rows = items({("Correct", "Correct"): 40, ("Hallucination", "Correct"): 4})
    assert words(rows)[0] == "The judge agreed with people on 40 of 44 items"


def test_a_judge_that_finds_none() -> None:
    rows = items({("Correct", "Correct"): 40, ("Hallucination", "Correct"): 6})
    assert "agreed on none and called 6 Correct" in words(rows)[0]


def test_no_disagreement() -> None:
    rows = items({("Correct", "Correct"): 15, ("Hallucination", "Hallucination"): 10})
    assert words(rows)[0] == "The judge agreed with people on all 25 items"


def test_too_few_labels() -> None:
    rows = items({("Correct", "Correct"): 10, ("Hallucination", "Correct"): 2}, unlabelled=188)
    assert words(rows)[0] == (
        "Too few labels to say: 12 of 200 labelled; the judge agreed with people on 10 of 12 items; "
        "8 more labels would give a first answer"
    )


def test_singular() -> None:
    rows = items({("Correct", "Correct"): 1}, unlabelled=40)
    assert words(rows)[0] == (
        "Too few labels to say: 1 of 41 labelled; the judge agreed with people on 1 of 1 item; "
        "19 more labels would give a first answer"
    )
    nineteen = items({("Correct", "Correct"): 19}, unlabelled=1)
    assert words(nineteen)[0].endswith("1 more label would give a first answer")


def test_no_labels_and_no_more_items() -> None:
    assert words(items({}, unlabelled=200))[0] == (
        "Too few labels to say: 0 of 200 labelled; 20 more labels would give a first answer"
    )
    assert words(items({("Correct", "Correct"): 3}))[0] == (
        "Too few labels to say: 3 of 3 labelled; the judge agreed with people on 3 of 3 items"
    )


def test_unreadable_verdicts_and_not_labels_are_missing() -> None:
    rows = items({("Correct", "Correct"): 3, ("Correct", None): 30})
    assert words(rows)[0] == (
        "Too few readable verdicts to say: 3 on 33 labelled items; the judge agreed with people on 3 of 3 items"
    )


def test_what_was_left_out_and_what_the_rule_changes() -> None:
    rows = items({("Correct", "Correct"): 38, ("Hallucination", "Correct"): 10, ("Correct", None): 2})
    both = {"A": HumanLabel("Correct"), "B": HumanLabel("Omission")}
    rows.append(AuditItem("tie", both, {"gpt-4o": JudgeVerdict("Correct")}))
    rows.append(AuditItem("unable", {"A": HumanLabel(None)}, {"gpt-4o": JudgeVerdict("Correct")}))
    rows.append(AuditItem("alone", {"A": HumanLabel("Correct")}))
    basis = words(rows, not_blind=4)[1]
    assert basis == (
        "n = 48 of 53 labelled (53 items in all); left out: 2 unreadable verdicts, 1 item without a verdict, "
        "1 item on which people disagree, 1 item people cannot judge, 4 labels given after a verdict was seen; "
        "counted are blind labels of the stream estimate on items with a readable verdict; "
        "with unreadable verdicts counted as disagreement, agreement is 76.0% instead of 79.2%, "
        "80.0% as Correct, 76.0% as Hallucination, 76.0% as Omission"
    )


def test_titles_stand_for_label_values() -> None:
    grades = LabelSet(("2", "1", "0"), "ordinal", {"2": "Complete", "1": "Partial", "0": "Missed"})
    rows = items({("2", "2"): 30, ("0", "0"): 4, ("0", "1"): 6})
    assert words(rows, grades)[0] == (
        "The judge misses 6 of 10 Missed items "
        "(people called 10 items Missed; the judge agreed on 4 and called 6 Partial)"
    )


def test_bare_numbers_are_quoted() -> None:
    rows = items({("2", "2"): 30, ("0", "0"): 4, ("0", "1"): 6})
    assert words(rows, LabelSet(("2", "1", "0"), "ordinal"))[0] == (
        'The judge misses 6 of 10 "0" items (people called 10 items "0"; the judge agreed on 4 and called 6 "1")'
    )


def test_tasks_parts_and_judges_are_named_where_there_are_several() -> None:
    rows = [
        AuditItem(
            f"i{k}",
            {"A": HumanLabel("Correct", {"flag": "yes"})},
            {name: JudgeVerdict("Correct", parts={"flag": "yes"}) for name in ("a", "b")},
        )
        for k in range(20)
    ]
    lines = plain_words(
        audit(
            [TaskRecords("accuracy", QA, rows, {"flag": LabelSet(("yes", "no"))}), TaskRecords("qa", QA, [])],
            settings=QUICK,
        )
    )
    assert [line.split(": ")[0] for line in lines] == [
        "accuracy · a",
        "accuracy · a",
        "accuracy · b",
        "accuracy · b",
        "accuracy / flag · a",
        "accuracy / flag · a",
        "accuracy / flag · b",
        "accuracy / flag · b",
        "qa",
    ]
    assert lines[-1] == "qa: No verdicts yet: 0 of 0 items labelled"
