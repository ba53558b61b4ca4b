"""The audit of a study: labels and verdicts from the store, agreement from calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from judges.audit_columns import LabelledTask, labelled_tasks
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import decisions_of
from judges.calibration.audit import audit
from judges.calibration.audit_result import Audit, Settings
from judges.collect import task_definitions
from store.items import count_items
from store.study import Study

if TYPE_CHECKING:
    from judges.calibration.measured_result import PartAudit

EPSILON = 0.2
"""The margin of the alternative annotator test for experts (Calderon et al. 2025)."""

Depth = Literal["agreement", "brief", "whole"]
"""agreement: numbers of agreement only. brief: with danger, anchoring and the annotator test. whole: with everything
the judge may lean on."""


def audit_study(
    study: Study,
    *,
    task: str = "",
    judge: str = "",
    settings: Settings | None = None,
    depth: Depth = "agreement",
    epsilon: float = EPSILON,
) -> Audit:
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
    declared = {
        name: {part: replace(block, items=counts.get(name, 0)) for part, block in parts.items()}
        for name, parts in _declared(study, tasks, judge, found.settings).items()
    }
    found = replace(found, tasks=whole, declared=declared)
    return found if depth == "agreement" else _with_trust(study, found, tasks, labelled, depth, epsilon)


def _declared(
    study: Study, tasks: Mapping[str, TaskDefinition], judge: str, settings: Settings
) -> Mapping[str, Mapping[str, PartAudit]]:
    """Audits of the decisions of more than one key."""
    if not any(decision.is_long for task in tasks.values() for decision in decisions_of(task)):
        return {}
    from judges.part_audit import audit_parts

    return audit_parts(study, tasks, judge, settings)


def _with_trust(
    study: Study,
    found: Audit,
    tasks: Mapping[str, TaskDefinition],
    labelled: Mapping[str, LabelledTask],
    depth: Depth,
    epsilon: float,
) -> Audit:
    from judges.benchmarks.background import BackgroundBenchmark
    from judges.benchmarks.benchmark import get_benchmark
    from judges.trust import trust_of

    benchmark = get_benchmark(study.benchmark)
    trusted = {
        name: replace(
            result,
            trust=trust_of(
                study,
                tasks[name],
                labelled[name],
                found.settings,
                benchmark,
                epsilon=epsilon,
                complete=depth == "whole",
            ),
        )
        for name, result in found.tasks.items()
    }
    published = benchmark.published_agreement() if isinstance(benchmark, BackgroundBenchmark) else ()
    return replace(found, tasks=trusted, published=published)
