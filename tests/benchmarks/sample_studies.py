"""The demo studies of all benchmarks, made by the real command, and what is in a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotate.sample import sample_folder, sample_of
from judges.benchmarks.benchmark import ComparingBenchmark, get_benchmark
from judges.collect import final_labels, scored_items
from judges.judge_sets import judge_sets
from judges.scoring import plain
from store.events import EventDraft
from store.items import facts_of, systems
from store.records import LabelState
from store.study import Study
from tests.commands import Overread

BENCHMARKS = ("halbench", "halumem", "medmemorybench", "mist", "table")
WRONG = LabelState(
    "", note="the record says otherwise", tags=("fabrication",), reference_wrong=True, right_answer="what stands there"
)
"""What the second annotator marks on one item of each system; the value is the item's own."""


def make_demo(folder: Path, benchmark: str) -> Path:
    """The study that `demo` makes, labelled with the sample's truth."""
    outcome = Overread()("demo", "--benchmark", benchmark, "--no-tui", cwd=folder)
    assert outcome.exit_code == 0, outcome
    (study,) = folder.glob("*.duckdb")
    return study


def mark_references(path: Path) -> int:
    """One label of each system also says that the reference is wrong; returns how many."""
    with Study.open(path) as study:
        rows = study.rows(
            """SELECT i.system, min(i.item_id) FROM current_items i JOIN all_current_labels l USING (item_id)
            WHERE l.value IS NOT NULL GROUP BY i.system"""
        )
        labels = final_labels(study)
        contents = dict(study.rows("SELECT item_id, content_hash FROM current_items"))
        drafts = []
        for _, item in rows:
            if item in labels:
                state = labels[item].state.as_json() | {
                    name: value for name, value in WRONG.as_json().items() if value and name != "value"
                }
                drafts += [
                    EventDraft(
                        kind="label", annotator=who, item_id=item, content_hash=contents[item], mode="blind",
                        state=LabelState.from_json(state),
                    )
                    for who in labels[item].annotators
                ]  # fmt: skip
        study.append(drafts)
        return len({draft.item_id for draft in drafts})


def verdicts_of(path: Path) -> dict[tuple[str, str], Any]:
    """(item, judge) → what the verdict says."""
    with Study.open(path) as study:
        rows = study.rows(
            """SELECT v.item_id, j.name, v.label, v.parts, v.failure, v.score, v.rationale FROM verdicts v
            JOIN judges j USING (judge_id) JOIN (SELECT item_id, content_hash FROM current_items) i
            USING (item_id, content_hash)"""
        )
    return {(row[0], row[1]): row[2:] for row in rows}


def labels_of(path: Path) -> dict[str, Any]:
    """Item → final label: its state, who gave it, and in which mode."""
    with Study.open(path) as study:
        return {item: (one.state, one.annotators, one.mode) for item, one in final_labels(study).items()}


def scores_of(path: Path) -> dict[str, Any]:
    """Judges → system → scores as coded, as described and overridden, and what compares systems; no corrected ones."""
    with Study.open(path) as study:
        return {one.title: _scores(study, one.names) for one in judge_sets(study)}


def _scores(study: Study, judges: tuple[str, ...]) -> dict[str, Any]:
    benchmark, labels, names = get_benchmark(study.benchmark), final_labels(study), systems(study)
    facts = {name: facts_of(study, name) for name in names}
    verdicts = {name: list(scored_items(study, name, judges)) for name in names}
    decided = {name: list(scored_items(study, name, judges, labels)) for name in names}
    found = {
        name: [
            plain(benchmark.as_coded(verdicts[name], facts[name])),
            plain(benchmark.as_described(verdicts[name], facts[name])),
            plain(benchmark.overridden(decided[name], facts[name])),
        ]
        for name in names
    }
    if not isinstance(benchmark, ComparingBenchmark):
        return found
    compared = [benchmark.compared(verdicts, facts), benchmark.compared(decided, facts, overridden=True)]
    return {**found, "side by side": [plain(one) for one in compared]}


def beside(benchmark: str) -> list[Path]:
    """The sample's files that a native export does not replace: what was asked, not what was answered."""
    files = [path for source in sample_of(benchmark).sources for path in source.files]
    wanted = {
        "halbench": lambda path: path.name in ("items.jsonl", "calibration_endpoints.json", "drop_list.json",
                                               "leaderboard.json"),
        "halumem": lambda path: path.name.endswith("_eval_results.jsonl"),
        "medmemorybench": lambda path: path.name == "generated_queries.json",
        "mist": lambda path: False,
        "table": lambda path: False,
    }[benchmark]  # fmt: skip
    return [path for path in files if wanted(path)]


def task_file() -> Path:
    """The table sample's."""
    return sample_folder("table") / "tasks.toml"
