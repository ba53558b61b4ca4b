"""Which items a judge's prompt was tuned or chosen on: what it says of them says nothing of how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.splits import current_split, split_items

if TYPE_CHECKING:
    from store.study import Study

CANDIDATE = "retune_candidate"
"""Type of the journal's record of a prompt that a search tried."""


def tuned_items(study: Study, task: str, prompt_version: str) -> frozenset[str]:
    """Items of train and val, where the prompt came out of a search on them; else none."""
    tried = study.journal_records(CANDIDATE)
    versions = {one["prompt_version"] for one in tried if one["origin"] != "base"}
    split = current_split(study, task) if prompt_version in versions else None
    if split is None:
        return frozenset()
    return frozenset(place.item_id for place in split_items(study, split.split_id).values() if place.part != "test")


def tuned_judges(study: Study, task: str) -> tuple[list[str], str]:
    """The judges of a task whose prompt came out of a search, and the split it was made on ("" without any)."""
    versions = {one["prompt_version"] for one in study.journal_records(CANDIDATE) if one["origin"] != "base"}
    split = current_split(study, task) if versions else None
    if split is None:
        return [], ""
    rows = study.rows("SELECT judge_id, prompt_version FROM judges WHERE task = ? ORDER BY rowid", [task])
    found = [judge_id for judge_id, version in rows if version in versions]
    return found, split.split_id if found else ""


def tuned_for(study: Study, judge: str) -> frozenset[str]:
    """The same over all tasks of the judges that bear a name."""
    rows = study.rows("SELECT DISTINCT task, prompt_version FROM judges WHERE name = ?", [judge])
    return frozenset(item for task, version in rows for item in tuned_items(study, task, version))
