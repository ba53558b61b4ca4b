"""Labels that come with a file: taken once, never changed by an import, outweighed by the person's own act here."""

from __future__ import annotations

from dataclasses import replace

from store_makers import act, item, run_of, take

from store.records import LabelRecord, LabelState
from store.study import Study


def said(key: str, value: str | None, who: str = "a1", **more: object) -> LabelRecord:
    record = item(key)
    return LabelRecord(record.item_id, record.content_hash, who, LabelState(value=value), **more)  # type: ignore[arg-type]


def test_labels_of_a_file_are_new_then_the_same_and_never_changed(study: Study) -> None:
    records = run_of([item("k1"), item("k2")])
    first = take(study, [*records, said("k1", "Correct"), said("k2", None)])
    assert first.labels.as_json() == {"new": 2, "same": 0, "changed": 0, "rejected": 0}
    again = take(study, [*records, said("k1", "Omission"), said("k2", None)])
    assert again.labels.as_json() == {"new": 0, "same": 1, "changed": 0, "rejected": 1}
    assert "never changed by an import" in again.problems[0].remedy
    assert study.rows("SELECT value FROM file_labels ORDER BY value") == [("Correct",), (None,)]


def test_a_label_of_unstated_mode_is_blind_and_a_revised_one_is_not(study: Study) -> None:
    labels = [said("k1", "Correct"), said("k1", "Omission", "a2", mode="revised")]
    take(study, [*run_of([item("k1")]), *labels])
    assert study.rows("SELECT annotator, value FROM all_blind_labels") == [("a1", "Correct")]
    assert len(study.rows("SELECT * FROM all_current_labels")) == 2


def test_the_persons_own_act_outweighs_the_file(study: Study) -> None:
    take(study, [*run_of([item("k1")]), said("k1", "Correct", "dr.li")])
    record = item("k1")
    study.append([replace(act(of=record.item_id, value="Omission"), content_hash=record.content_hash)])
    assert study.rows("SELECT value FROM all_current_labels") == [("Omission",)]
