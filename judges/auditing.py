"""The audit of a study: labels and verdicts from the store, agreement from calibration."""

from __future__ import annotations

from dataclasses import replace

from judges.calibration.audit import audit
from judges.calibration.audit_result import Audit, Settings
from judges.collect import audit_records, task_definitions
from judges.part_audit import audit_parts
from store.items import count_items
from store.study import Study


def audit_study(study: Study, *, task: str = "", judge: str = "", settings: Settings | None = None) -> Audit:
    """Audit all tasks (or one) and all judges (or one)."""
    tasks = {name: definition for name, definition in task_definitions(study).items() if task in ("", name)}
    found = audit(audit_records(study, tasks, judge), study.path.name, settings)
    counts = count_items(study)
    whole = {
        name: replace(
            result, items=counts.get(name, 0),
            parts={part: replace(block, items=counts.get(name, 0)) for part, block in result.parts.items()},
        )
        for name, result in found.tasks.items()
    }  # fmt: skip
    declared = {
        name: {part: replace(block, items=counts.get(name, 0)) for part, block in parts.items()}
        for name, parts in audit_parts(study, tasks, judge, found.settings).items()
    }
    return replace(found, tasks=whole, declared=declared)
