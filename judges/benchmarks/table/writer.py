"""Writes a table back: its own rows, people's labels among them, and under `final` what they come to.

A JSON file stays one, a CSV gets columns (`human:NAME`, `final`, `final_by`), a Parquet file becomes JSONL. The judges'
verdicts stay as they are. Read again, the file gives the same items, verdicts and labels.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judges.benchmarks.benchmark import NativeFile, ScoredItem
from judges.benchmarks.native import SideFiles, Spool, said
from judges.benchmarks.row_text import restored
from judges.benchmarks.table.columns import FINAL, HUMAN_PREFIX, JUDGE_PREFIX
from judges.benchmarks.table.entries import WrongEntryError, unpacked
from judges.benchmarks.table.reader import GOLD
from judges.benchmarks.table.scoring import Facts
from store.records import LabelState, VerdictRecord

FINAL_BY = "final_by"


def write_native(
    items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
) -> Iterator[NativeFile]:
    """The tables with people's labels, and the lists of changes and of wrong references beside each.

    Args:
        items: with `texts` holding the texts themselves and `extra` as the reader gave it; read once. Rows come in
            their order, those without a verdict of this judge last.
    """
    files: dict[str, _File] = {}
    for item in items:
        name = item.extra["file"]
        if name not in files:
            files[name] = _File(name, facts, provenance, after=next(iter(files.values()), None))
        files[name].add(item)
    for file in files.values():
        yield from file.files()


class _File:
    """One table while it is written."""

    def __init__(
        self, name: str, facts: Facts, provenance: Mapping[str, Mapping[str, Any]], after: _File | None = None
    ) -> None:
        self._layout = facts["table_file"][name]
        self._tasks = facts.get("table_task", {})
        self._provenance = provenance
        self._rows = Spool()
        self._columns: dict[str, None] = dict.fromkeys(self._layout.get("header", ()))
        is_parquet = self._layout["format"] == "parquet"
        own = f"{name.removesuffix('.parquet')}.jsonl" if is_parquet else name
        # A further file is named after the first, so that all of one export stand together.
        self.name = f"{after.stem}.{own}" if after else own
        self._side = SideFiles(self.stem, provenance)

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    def add(self, item: ScoredItem) -> None:
        row = restored(item.extra, item.payload, item.texts)
        if item.verdict is not None and item.verdict.judge_id not in self._layout["judges"]:
            self._add_verdict(row, item.verdict)
        if item.label is not None and item.label.decided:
            self._add_label(row, item, item.label)
        self._columns |= dict.fromkeys(row)
        self._rows.write_line(row)
        self._side.add(item, {"row": json.loads(item.extra["row"]).get(self._layout["id"])})

    def files(self) -> Iterator[NativeFile]:
        yield NativeFile(
            self.name,
            self._csv() if self._layout["format"] == "csv" else self._json(),
            "the table, with people's labels",
        )
        yield from self._side.files()

    # People

    def _add_label(self, row: dict[str, Any], item: ScoredItem, label: LabelState) -> None:
        who = self._provenance.get(item.item_id, {})
        value = said(label)
        names = [name for name in str(who.get("annotator", "")).split(", ") if name]
        for place, name in enumerate(names):
            if name != GOLD:
                # Tags and notes are those of the first who gave the value.
                own = label if place == 0 else LabelState(value=label.value)
                self._add_person(row, item.task, own, name, who)
        if self._is_flat:
            row[FINAL], row[FINAL_BY] = label.value or "", ", ".join(names)
            return
        about = {key: who[key] for key in ("annotator", "at", "mode") if who.get(key)}
        row[FINAL] = {"label": value.pop("value", None), **about, **value}

    def _add_person(self, row: dict[str, Any], task: str, label: LabelState, name: str, who: Mapping[str, Any]) -> None:
        columns = {annotator: column for column, annotator in self._layout["humans"].items()}
        column = columns.get(name, f"{HUMAN_PREFIX}{name}")
        if column in row or (self._is_flat and not self._holds_list(row)):
            if self._reads(task, row.get(column)) != label.value:
                row[column] = label.value or ""
            return
        entries = self._entries(row, self._layout["human"])
        for entry in entries:
            if entry.get("annotator") == name:
                if self._reads(task, entry.get("label")) != label.value or _says_more(label, entry):
                    entry |= _entry(label, who)
                break
        else:
            entries.append({"annotator": name, **_entry(label, who)})
        self._set_entries(row, self._layout["human"], entries)

    def _reads(self, task: str, text: Any) -> str | None:
        """The value of a label as the row spells it."""
        if text is None or text == "":
            return None
        spelled = text if isinstance(text, str) else json.dumps(text)
        reading: Mapping[str, str] = self._tasks.get(task, {}).get("reading", {})
        return reading.get(spelled, spelled)

    # Verdicts of a judge that the file does not have

    def _add_verdict(self, row: dict[str, Any], verdict: VerdictRecord) -> None:
        name = verdict.model_returned or f"judge-{verdict.judge_id[:8]}"
        if self._is_flat and not self._holds_list(row):
            row[f"{JUDGE_PREFIX}{name}"] = verdict.label or ""
            return
        entry: dict[str, Any] = {"judge": name, "label": verdict.label}
        entry |= {key: value for key in ("failure", "rationale") if (value := getattr(verdict, key))}
        entry |= {key: value for key in ("score", "confidence") if (value := getattr(verdict, key)) is not None}
        self._set_entries(row, self._layout["judge"], [*self._entries(row, self._layout["judge"]), entry])

    # Shapes

    @property
    def _is_flat(self) -> bool:
        return bool(self._layout["format"] == "csv")

    def _holds_list(self, row: Mapping[str, Any]) -> bool:
        """Whether a CSV keeps people's labels as JSON in one cell."""
        return str(row.get(self._layout["human"]) or "").lstrip().startswith("[")

    def _entries(self, row: Mapping[str, Any], column: str) -> list[dict[str, Any]]:
        try:
            value = unpacked(row.get(column), flat=True)
        except WrongEntryError:
            return []
        entries = value if isinstance(value, list) else [] if value in (None, "") else [value]
        who = "annotator" if column == self._layout["human"] else "judge"
        return [
            dict(entry) if isinstance(entry, Mapping) else {who: self._unnamed(who), "label": entry}
            for entry in entries
        ]

    def _unnamed(self, who: str) -> str:
        return "human" if who == "annotator" else str(self._layout["unnamed_judge"])

    def _set_entries(self, row: dict[str, Any], column: str, entries: list[dict[str, Any]]) -> None:
        row[column] = json.dumps(entries, ensure_ascii=False) if self._is_flat else entries

    # Text

    def _json(self) -> Iterator[str]:
        if not self._layout.get("array"):
            yield from self._rows.drain()
            return
        opening = "["
        for line in self._rows.drain_lines():
            yield f"{opening}\n{line}"
            opening = ","
        yield "\n]\n" if opening == "," else "[]\n"

    def _csv(self) -> Iterator[str]:
        columns, delimiter = list(self._columns), self._layout["delimiter"]
        yield _csv_line(columns, delimiter)
        for line in self._rows.drain_lines():
            row = json.loads(line)
            yield _csv_line(["" if row.get(name) is None else row[name] for name in columns], delimiter)


def _says_more(label: LabelState, entry: Mapping[str, Any]) -> bool:
    """Whether a label has a tag, a note or a mark that the row's own entry lacks."""
    return any(entry.get(name) != value for name, value in said(label).items() if name != "value")


def _entry(label: LabelState, who: Mapping[str, Any]) -> dict[str, Any]:
    fields = said(label)
    about = {key: who[key] for key in ("mode", "at") if who.get(key)}
    return {"label": fields.pop("value", None), **fields, **about}


def _csv_line(cells: list[str], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"  # so that older Pythons, too, quote a lone carriage return
