"""The metrics where paper and README say something else than the code does.

- Accuracy by memory type leaves distractors out (the code counts one that was stored as a success).
- Update ratios are over all annotated updates; one for which nothing was retrieved counts as an omission (the code
  moves it to the recall items).
- Target precision and F1 take the flag for what it says; the code drops a flag that is the JSON boolean true. They are
  given only when such a flag is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores
from judges.benchmarks.halumem.scoring import Facts, f1, judged
from judges.benchmarks.halumem.shapes import FLAG_FIELD
from judges.benchmarks.halumem.tallies import AccuracyBlock, IntegrityBlock, TypeBlock, update_block, without_script


class DescribedAccuracy(AccuracyBlock):
    """Target precision with the flag read for what it says."""

    def in_target(self, flag: Any) -> bool:
        return flag is True or super().in_target(flag)


def as_described(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """The metrics that differ, in the official nesting."""
    types = TypeBlock(count_distractors=False)
    update, integrity, accuracy = update_block(), IntegrityBlock(), DescribedAccuracy()
    boolean_flags = False
    for item, record in judged(items, facts):
        if item.task == "integrity":
            integrity.add(record, item)
            types.add(record, "memory_integrity_score", 2, item)
            if item.slices.get("kind") == "rerouted_update":
                update.add({"memory_update_type": "Omission"}, item)
        elif item.task == "update":
            update.add(record, item)
            types.add(record, "memory_update_type", "Correct", item)
        elif item.task == "accuracy":
            accuracy.add(record, item)
            boolean_flags = boolean_flags or record.get(FLAG_FIELD) is True
    scores: Scores = {"memory_update": update.scores(), "memory_type_accuracy": types.scores()}
    if boolean_flags:
        target = {name: value for name, value in accuracy.scores().items() if name.startswith("target_")}
        scores["memory_accuracy"] = target
        scores["memory_extraction_f1"] = f1(target["target_accuracy(all)"], integrity.scores()["recall(all)"])
    return without_script(scores)
