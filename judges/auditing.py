"""The audit of a study: labels and verdicts from the store, agreement from calibration."""

from __future__ import annotations

from dataclasses import replace

from judges.audit_columns import labelled_tasks
from judges.calibration.audit import audit
from judges.calibration.audit_result import Audit, Settings
from judges.collect import task_definitions
from store.items import count_items
from store.study import Study


def audit_study(study: Study, *, task: str = "", judge: str = "", settings: Settings | None = None) -> Audit:
    """Audit all tasks (or one) and all judges (or one)."""
    tasks = {name: definition for name, definition in task_definitions(study).items() if task in ("", name)}
    labelled = labelled_tasks(study, tasks, judge)
    found = audit([one.columns for one in labelled.values()], study.path.name, settings)
    counts = count_items(study)
    whole = {
        name: replace(
            result, items=counts.get(name, 0),
            parts={part: replace(block, items=counts.get(name, 0)) for part, block in result.parts.items()},
        )
        for name, result in found.tasks.items()
    }  # fmt: skip
    return replace(found, tasks=whole)
