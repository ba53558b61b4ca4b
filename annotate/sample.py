"""The sample data that ships with the program, and its known truth as labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from store.events import EventDraft
from store.records import LabelState
from store.study import Study

TRUTH = "sample-truth"
"""The annotator under whose name the sample's truth is given."""
_BATCH = 200


class SampleRun(NamedTuple):
    """One system's files."""

    system: str
    files: tuple[Path, ...]


def sample_folder() -> Path:
    """Where the sample lies: inside the installed package, or beside it in a checkout."""
    installed = Path(str(resources.files("annotate"))) / "sample_data" / "halumem"
    return installed if installed.is_dir() else Path(__file__).resolve().parent.parent / "sample_data" / "halumem"


def sample_runs() -> list[SampleRun]:
    """The systems of the sample, by name."""
    folder = sample_folder()
    results = sorted(folder.glob("*_eval_stat_result.json"))
    return [
        SampleRun(name, (path, folder / f"{name}_eval_results.jsonl"))
        for path in results
        for name in [path.name.removesuffix("_eval_stat_result.json")]
    ]


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
    """The true label of each sample item of a study, by item id."""
    truth = _truth()
    rows = study.rows("SELECT item_id, system, task, natural_key FROM current_items ORDER BY item_id")
    found = {item_id: truth.get((system, task, _key(key))) for item_id, system, task, key in rows}
    return {item_id: state for item_id, state in found.items() if state is not None}


def _truth() -> Mapping[tuple[str, str, str], LabelState]:
    with (sample_folder() / "truth.csv").open(encoding="utf-8", newline="") as source:
        return {(row["system"], row["task"], _row_key(row)): _state(row) for row in csv.DictReader(source)}


def _state(row: Mapping[str, str]) -> LabelState:
    return LabelState(value=row["truth"], parts={"included": row["truth_flag"]} if row["truth_flag"] else {})


def _row_key(row: Mapping[str, str]) -> str:
    return f"{row['uuid']}/{row['ssession_id']}/{row['key']}"


def _key(natural_key: str) -> str:
    uuid, session, key, *_ = json.loads(natural_key)
    return f"{uuid}/{session}/{key}"
