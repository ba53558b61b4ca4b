"""The metrics where paper and README say something else than the code does.

- Accuracy by memory type leaves distractors out (the code counts one that was stored as a success).
- Update ratios are over all annotated updates; one for which nothing was retrieved counts as an omission (the code
  moves it to the recall items).
- Target precision and F1 take the flag for what it says; the code drops a flag that is the JSON boolean true. They are
  given only when such a flag is there.
- What was extracted has no score when the system does not offer it (the code gives 0 to every point, and to every
  distractor the credit of having been resisted). Accuracy by memory type is then over updates alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halumem.scoring import Facts, f1, judged
from judges.benchmarks.halumem.sessions import extraction_not_offered
from judges.benchmarks.halumem.shapes import FLAG_FIELD
from judges.benchmarks.halumem.tallies import AccuracyBlock, IntegrityBlock, TypeBlock, update_block, without_script


class DescribedAccuracy(AccuracyBlock):
    """Target precision with the flag read for what it says."""

    def in_target(self, flag: Any) -> bool:
        return flag is True or super().in_target(flag)


def as_described(items: Iterable[ScoredItem], facts: Facts) -> Scores:
    """The metrics that differ, in the official nesting."""
    described = Described(extraction_not_offered(facts))
    for item, record in judged(items, facts):
        described.add(item, record)
    return described.scores()


class Described:
    """One run of the aggregation as described; holds counts only.

    Args:
        not_offered: why nothing can be said of what was extracted.
    """

    def __init__(self, not_offered: Undefined | None = None) -> None:
        self._not_offered = not_offered
        self._types = TypeBlock(count_distractors=False)
        self._update, self._integrity, self._accuracy = update_block(), IntegrityBlock(), DescribedAccuracy()
        self._boolean_flags = False

    def add(self, item: ScoredItem, record: Mapping[str, Any]) -> None:
        if item.task == "integrity":
            self._integrity.add(record, item)
            if self._not_offered is None:
                self._types.add(record, "memory_integrity_score", 2, item)
            if item.slices.get("kind") == "rerouted_update":
                self._update.add({"memory_update_type": "Omission"}, item)
        elif item.task == "update":
            self._update.add(record, item)
            self._types.add(record, "memory_update_type", "Correct", item)
        elif item.task == "accuracy":
            self._accuracy.add(record, item)
            self._boolean_flags = self._boolean_flags or record.get(FLAG_FIELD) is True

    def update(self) -> Scores:
        """Update ratios over all annotated updates."""
        return without_script(self._update.scores())

    def types(self) -> Scores:
        """Accuracy by memory type without distractors."""
        types = self._types.scores()
        if self._not_offered is not None:
            for block in types.values():
                block |= dict.fromkeys(("memory_integrity_acc", "memory_acc"), self._not_offered)
        return without_script(types)

    def scores(self) -> Scores:
        """The metrics that differ from `as_coded`."""
        scores: Scores = {"memory_update": self.update(), "memory_type_accuracy": self.types()}
        integrity, accuracy = self._integrity.scores(), self._accuracy.scores()
        if self._not_offered is not None:
            kept = {name: self._not_offered for name in integrity if not name.startswith("interference_")}
            resisted = {name: self._not_offered for name in integrity if name.startswith("interference_")}
            gone = dict.fromkeys([*resisted, *accuracy], self._not_offered)
            scores |= {"memory_integrity": kept, "memory_accuracy": gone, "memory_extraction_f1": self._not_offered}
        elif self._boolean_flags:
            target = {name: value for name, value in accuracy.items() if name.startswith("target_")}
            scores["memory_accuracy"] = target
            scores["memory_extraction_f1"] = f1(target["target_accuracy(all)"], integrity["recall(all)"])
        return without_script(scores)
