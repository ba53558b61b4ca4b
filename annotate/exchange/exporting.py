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
from store.items import ITEM_COLUMNS, VERDICT_COLUMNS, StoredItem, StoredVerdict, item_of_row, verdict_of_row
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


def items_with_verdicts(study: Study) -> Iterator[tuple[StoredItem, list[StoredVerdict]]]:
    """All items in stable order (system, task, the benchmark's own order), each with all verdicts on it."""
    items = ", ".join(f"i.{name.strip()}" for name in ITEM_COLUMNS.split(","))
    verdicts = ", ".join(f"v.{name.strip()}" for name in VERDICT_COLUMNS.split(","))
    width = len(ITEM_COLUMNS.split(","))
    current: StoredItem | None = None
    found: list[StoredVerdict] = []
    for row in study.stream(
        f"""SELECT {items}, {verdicts}, j.name FROM current_items i
        LEFT JOIN verdicts v ON v.item_id = i.item_id AND v.content_hash = i.content_hash
        LEFT JOIN judges j ON j.judge_id = v.judge_id
        ORDER BY i.system, i.task, i.position, i.item_id, j.name, v.repetition"""
    ):
        if current is None or row[0] != current.item_id:
            if current is not None:
                yield current, found
            current, found = item_of_row(row[:width]), []
        if row[width] is not None:
            found.append(StoredVerdict(row[-1], verdict_of_row(row[width:-1])))
    if current is not None:
        yield current, found


def _items_with_labels(study: Study) -> Iterator[tuple[StoredItem, list[StoredVerdict], list[LabelEntry]]]:
    """Items with verdicts and labels; both come in one order, so that memory holds one item and not the study."""
    labels = groupby(label_entries(study), key=lambda entry: entry.item_id)
    item_id, entries = next(labels, ("", iter(())))
    for item, verdicts in items_with_verdicts(study):
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
