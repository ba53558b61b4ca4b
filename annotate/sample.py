"""The sample data that ships with the program, and its known truth as labels."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from judges.benchmarks.benchmark import Sample, SampledBenchmark, benchmark_names, get_benchmark
from store.events import EventDraft
from store.records import LabelState
from store.study import Study

TRUTH = "sample-truth"
"""The annotator under whose name the sample's truth is given."""
FIRST = "halumem"
"""The benchmark whose sample is shown when none is named."""
_BATCH = 200


class SampleRun(NamedTuple):
    """One system's files."""

    system: str
    files: tuple[Path, ...]


def sampled_benchmarks() -> list[str]:
    """The benchmarks that ship a sample."""
    return [name for name in benchmark_names() if isinstance(get_benchmark(name), SampledBenchmark)]


def sample_folder(benchmark: str = FIRST) -> Path:
    """Where a sample lies: inside the installed package, or beside it in a checkout."""
    installed = Path(str(resources.files("annotate"))) / "sample_data" / benchmark
    return installed if installed.is_dir() else Path(__file__).resolve().parent.parent / "sample_data" / benchmark


def sample_of(benchmark: str = FIRST) -> Sample:
    """A benchmark's sample.

    Raises:
        KeyError: it ships none.
    """
    found = get_benchmark(benchmark)
    if not isinstance(found, SampledBenchmark):
        raise KeyError(benchmark)
    return found.sample(sample_folder(benchmark))


def sample_runs() -> list[SampleRun]:
    """The systems of the first sample, by name."""
    return [SampleRun(source.system, source.files) for source in sample_of().sources]


def label_sample(study: Study) -> int:
    """Give every sample item its true label, once; returns how many items have one."""
    truth = truth_of(study)
    contents = dict(study.rows("SELECT item_id, content_hash FROM current_items"))
    done = {row[0] for row in study.rows("SELECT item_id FROM current_labels WHERE annotator = ?", [TRUTH])}
    drafts = [
        EventDraft(
            kind="import", annotator=TRUTH, item_id=item_id, content_hash=contents[item_id], state=state, mode="blind"
        )
        for item_id, state in truth.items()
        if item_id not in done
    ]
    for start in range(0, len(drafts), _BATCH):
        study.append(drafts[start : start + _BATCH])
    return len(truth)


def truth_of(study: Study) -> dict[str, LabelState]:
    """The true label of each sample item of a study, by item id; {} where the sample's files carry the labels."""
    truth = sample_of(study.benchmark).truth
    if truth is None:
        return {}
    rows = study.rows("SELECT item_id, system, task, natural_key, extra FROM current_items ORDER BY item_id")
    found = {
        item_id: truth(system, task, json.loads(key), json.loads(extra)) for item_id, system, task, key, extra in rows
    }
    return {item_id: state for item_id, state in found.items() if state is not None}
