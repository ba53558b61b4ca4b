"""Writing exports: stable order, temporary file, fsync, rename."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from annotate.exchange.entries import LabelEntry, label_entries
from annotate.exchange.flat import COLUMNS, row_of_entry
from annotate.exchange.own_exports import MARK, VERSION
from judges.gate.full_run import forced_judges
from store.files import write_atomically
from store.items import StoredItem, StoredVerdict, stream_with_verdicts
from store.study import Study

BOM = "\ufeff"


def export_jsonl(study: Study, path: Path) -> int:
    """One line an item: what was judged, every verdict, every label. Returns the number of lines."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        forced = forced_judges(study)
        for item, verdicts, entries in _items_with_labels(study):
            count += 1
            yield json.dumps(_line(study, item, verdicts, entries, forced), ensure_ascii=False) + "\n"

    write_atomically(path, lines())
    return count


def export_csv(study: Study, path: Path, *, excel: bool = False) -> int:
    """One row a label. `excel` begins the file with a byte-order mark. Returns the number of rows."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        yield (BOM if excel else "") + csv_line(list(COLUMNS))
        forced = forced_judges(study)
        for item, verdicts, entries in _items_with_labels(study):
            for entry in entries:
                count += 1
                yield csv_line(row_of_entry(entry, _item_cells(item), _verdict_cells(verdicts, forced)))

    write_atomically(path, lines())
    return count


def _items_with_labels(study: Study) -> Iterator[tuple[StoredItem, list[StoredVerdict], list[LabelEntry]]]:
    """Items with verdicts and labels; both come in one order, so that memory holds one item and not the study."""
    labels = groupby(label_entries(study), key=lambda entry: entry.item_id)
    item_id, entries = next(labels, ("", iter(())))
    for item, verdicts in stream_with_verdicts(study):
        if item.item_id == item_id:
            yield item, verdicts, list(entries)
            item_id, entries = next(labels, ("", iter(())))
        else:
            yield item, verdicts, []
    if item_id:
        raise AssertionError(f"labels of item {item_id} come in another order than items")


def _line(
    study: Study, item: StoredItem, verdicts: list[StoredVerdict], entries: list[LabelEntry], forced: Mapping[str, str]
) -> dict[str, Any]:
    return {
        MARK: VERSION, "benchmark": study.benchmark, "item_id": item.item_id, "content_hash": item.content_hash,
        "task": item.task, "system": item.system, "key": json.loads(item.natural_key), "cluster": item.cluster,
        "group": item.group, "slices": dict(item.slices), "payload": dict(item.payload),
        "judge": [_verdict_json(verdict, forced) for verdict in verdicts],
        "human": [entry.as_json() for entry in entries],
    }  # fmt: skip


def _verdict_json(verdict: StoredVerdict, forced: Mapping[str, str]) -> dict[str, Any]:
    record = verdict.record
    return {
        "judge": verdict.judge, "repetition": record.repetition, "label": record.label, "parts": dict(record.parts),
        "score": record.score, "confidence": record.confidence, "failure": record.failure or None,
        "route": record.route, "rationale": record.rationale, "raw": record.raw,
        **({"forced": forced[record.judge_id]} if record.judge_id in forced else {}),
    }  # fmt: skip


def _item_cells(item: StoredItem) -> dict[str, str]:
    return {"task": item.task, "system": item.system, "key": item.natural_key}


def _verdict_cells(verdicts: list[StoredVerdict], forced: Mapping[str, str]) -> dict[str, str]:
    if not verdicts:
        return {}
    first = verdicts[0]
    return {
        "judge": first.judge, "judge_label": first.record.label or "", "judge_failure": first.record.failure,
        "judge_parts": json.dumps(dict(first.record.parts), ensure_ascii=False),
        "judge_rationale": first.record.rationale, "judge_forced": forced.get(first.record.judge_id, ""),
    }  # fmt: skip


def csv_line(cells: list[str]) -> str:
    """A row as text. With this line end the writer of every Python version also quotes a lone carriage return."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"
