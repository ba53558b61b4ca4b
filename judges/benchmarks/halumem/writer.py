"""Writes a HaluMem run back: the stat_result with people's labels in it, and a list of what they changed.

A record that a person decided carries `overread`: the judge's own fields under `judge` (null when nobody judged it),
who decided, when, and the rest of the label. Without any decision the file has the value of the one that was read.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from judges.benchmarks.benchmark import NativeFile, ScoredItem, Scores, Undefined
from judges.benchmarks.halumem.items import restore_record
from judges.benchmarks.halumem.scoring import (
    Aggregation,
    Counted,
    Facts,
    is_changed,
    judges_of_files,
    label_fields,
    official_score,
    time_consuming,
    verdict_fields,
)
from judges.benchmarks.halumem.shapes import (
    FLAG_FIELD,
    MEMBER_OF_TASK,
    OVERREAD_FIELD,
    SESSION,
    TASK_OF_MEMBER,
    UUID,
    VALID_FIELD,
    VERDICT_FIELD,
)
from judges.benchmarks.native import CHANGES_ABOUT, References
from store.records import LabelState

INDENT = 4
OFFICIAL_NAME = "halumem_eval_stat_result.json"
SPOOLED_IN_MEMORY = 1 << 22
READ_CHARACTERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Layout:
    """How the file that was read looks.

    Attributes:
        members: names at the top in order. others: JSON text of those that are neither scores nor records.
        fields: fields seen by task; empty when no verdict file was read.
        valid_flags: records get `is_valid`, as the official aggregation adds it.
    """

    name: str
    members: tuple[str, ...]
    others: Mapping[str, str]
    fields: Mapping[str, frozenset[str]]
    valid_flags: bool


def write_native(
    items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
) -> Iterator[NativeFile]:
    """The patched stat_result and its `.changes.jsonl`; items are read once, in the order of their verdicts.

    Args:
        items: with `texts` holding the texts themselves and `extra` as the reader gave it. Items that have neither a
            verdict nor a person's decision are in no file.
        provenance: of the final labels by item id.
    """
    writing = _Writing(facts, provenance)
    for item in items:
        writing.add(item)
    yield NativeFile(writing.layout.name, writing.stat_result(), "the patched verdicts, with overall_score of them")
    changes = f"{writing.layout.name.removesuffix('.json')}.changes.jsonl"
    yield NativeFile(changes, writing.change_lines(), CHANGES_ABOUT)
    yield from writing.references.files()


class _Writing:
    """One export: records go to a spool by task, since the scores that come first need them all."""

    def __init__(self, facts: Facts, provenance: Mapping[str, Mapping[str, Any]]) -> None:
        self._facts, self._provenance = facts, provenance
        self._from_files = judges_of_files(facts)
        self._shapes = facts.get("record_shape", {})
        self._before, self._after = Aggregation(), Aggregation()
        self._spools = {task: _spool() for task in MEMBER_OF_TASK}
        self._written = Counter[str]()
        self._changes = _spool()
        self._judge_id = ""
        self._decisions = 0
        self.layout = _layout(facts)
        self.references = References(self.layout.name.removesuffix(".json"), provenance)

    def add(self, item: ScoredItem) -> None:
        judge = verdict_fields(item.task, item.verdict, self._from_files) if item.verdict else None
        record = self._original(item)
        if judge is not None:
            self._before.add(Counted(item, record | judge))
            self._judge_id = item.verdict.judge_id if item.verdict else ""
        patch = self._patch(item, judge)
        if judge is None and patch is None:
            return
        answer = (judge or {}) | (patch or {})
        self._after.add(Counted(item, record | answer))
        self._write_record(item, record, answer)
        if is_changed(item):
            self._write_change(item, answer)
        uuid, _, session = item.group.rpartition("/")
        self.references.add(item, {"uuid": uuid, "ssession_id": session})

    def _original(self, item: ScoredItem) -> dict[str, Any]:
        uuid, _, number = item.group.rpartition("/")
        shape = self._shapes[item.extra["shape"]]
        return restore_record(
            item.task,
            payload=item.payload,
            texts=item.texts,
            extra=item.extra,
            shape=shape,
            uuid=uuid,
            number=int(number),
        )

    def _patch(self, item: ScoredItem, judge: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """What a person's decision puts into the record; None when nobody decided."""
        label = item.label
        if label is None or not label.decided:
            return None
        self._decisions += 1
        patch: dict[str, Any] = {}
        if label.value is not None:
            patch = label_fields(item.task, label.value, label.parts, judge)
            if self.layout.valid_flags or VALID_FIELD in (judge or {}):
                patch[VALID_FIELD] = True
        elif judge is None:
            patch[VERDICT_FIELD[item.task]] = None
        return patch | {OVERREAD_FIELD: _decision(label, judge, self._provenance.get(item.item_id, {}))}

    def _write_record(self, item: ScoredItem, record: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        if self.layout.valid_flags and VALID_FIELD not in answer:
            answer = {**answer, VALID_FIELD: _is_valid(item.task, answer)}
        shape, fields = self._shapes[item.extra["shape"]], self.layout.fields.get(item.task)
        text = json.dumps(_in_order(item.task, record, answer, shape, fields), ensure_ascii=False, indent=INDENT)
        self._spools[item.task].write((",\n" if self._written[item.task] else "") + _indented(text, 2))
        self._written[item.task] += 1

    def _write_change(self, item: ScoredItem, answer: Mapping[str, Any]) -> None:
        uuid, _, number = item.group.rpartition("/")
        names = [name for name in (VERDICT_FIELD[item.task], FLAG_FIELD) if name in answer]
        line = {
            "item": item.item_id,
            "member": MEMBER_OF_TASK[item.task],
            UUID: uuid,
            SESSION: int(number),
            "person": {name: answer[name] for name in names},
            **answer[OVERREAD_FIELD],
        }
        self._changes.write(json.dumps(line, ensure_ascii=False) + "\n")

    # The files

    def stat_result(self) -> Iterator[str]:
        """The text of the stat_result in pieces; no line feed at the end, as in the official file."""
        opening = "{"
        for member in self.layout.members:
            yield f"{opening}\n{' ' * INDENT}{json.dumps(member, ensure_ascii=False)}: "
            if member in TASK_OF_MEMBER:
                yield from _array(self._spools[TASK_OF_MEMBER[member]], self._written[TASK_OF_MEMBER[member]])
            else:
                others = self.layout.others
                value = _jsonable(self._scores()) if member == "overall_score" else json.loads(others[member])
                yield _indented(json.dumps(value, ensure_ascii=False, indent=INDENT), 1).lstrip(" ")
            opening = ","
        yield "\n}"

    def change_lines(self) -> Iterator[str]:
        """One line a changed record, then one line a changed number."""
        yield from _drain(self._changes)
        if self._decisions:
            before = self._before.scores(time_consuming(self._facts, self._judge_id))
            for name, was, now in _moved(_jsonable(before), _jsonable(self._scores())):
                yield json.dumps({"score": name, "was": was, "now": now}, ensure_ascii=False) + "\n"

    def _scores(self) -> Mapping[str, Any]:
        """The file's own scores while nobody decided anything, else the official sums over the patched records."""
        official = official_score(self._facts, self._judge_id)
        if not self._decisions and official is not None:
            return _ordered_like(self._before.scores(time_consuming(self._facts, self._judge_id)), official)
        scores = self._after.scores(time_consuming(self._facts, self._judge_id))
        if official is not None and "memory_extraction_f1" not in official:
            del scores["memory_extraction_f1"]
        scores.pop("official_script", None)
        return scores


def _layout(facts: Facts) -> Layout:
    """The look of the verdict file that was read, or the official one when there were several or none."""
    files = list(facts.get("verdict_file", {}).values())
    fields: dict[str, frozenset[str]] = {}
    for file in files:
        for task, names in file["fields"].items():
            fields[task] = fields.get(task, frozenset()) | frozenset(names)
    members = ("overall_score", *TASK_OF_MEMBER)
    if len(files) == 1 and "overall_score" in files[0]["members"]:
        return Layout(files[0]["file"], tuple(files[0]["members"]), files[0]["others"], fields, valid_flags=False)
    return Layout(OFFICIAL_NAME, members, {}, fields, valid_flags=True)


def _decision(label: LabelState, judge: Mapping[str, Any] | None, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's own fields, who decided, and the label without what it leaves at its default."""
    empty = LabelState().as_json()
    said = {name: value for name, value in label.as_json().items() if value != empty[name]}
    return {"judge": dict(judge) if judge is not None else None, **provenance, **said}


def _is_valid(task: str, answer: Mapping[str, Any]) -> bool:
    value = answer.get(VERDICT_FIELD[task])
    if task == "update":
        return value in ("Correct", "Hallucination", "Omission", "Other")
    return value in ("Correct", "Hallucination", "Omission") if task == "qa" else value is not None


def _in_order(
    task: str,
    record: Mapping[str, Any],
    answer: Mapping[str, Any],
    shape: Iterable[str],
    fields: frozenset[str] | None,
) -> dict[str, Any]:
    """The fields that the file has, in its order; what that does not name stands where the official script puts it."""
    both = {**record, **answer}
    last = [VALID_FIELD, OVERREAD_FIELD]
    middle = [VERDICT_FIELD[task], FLAG_FIELD, *(name for name in both if name not in last)]
    names = dict.fromkeys([*shape, *middle, *last])
    return {name: both[name] for name in names if name in answer or (name in both and (not fields or name in fields))}


def _moved(was: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*was, *now]):
        old, new = was.get(name), now.get(name)
        here = f"{path}/{name}" if path else name
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _moved(old, new, here)
        elif old != new and name != "official_script":
            yield here, old, new


def _ordered_like(pattern: Mapping[str, Any], scores: Mapping[str, Any]) -> dict[str, Any]:
    """The scores in the official order, which a study does not keep; names it does not have come last."""
    names = [name for name in dict.fromkeys([*pattern, *scores]) if name in scores]
    return {
        name: _ordered_like(pattern[name] if isinstance(pattern.get(name), Mapping) else {}, scores[name])
        if isinstance(scores[name], Mapping)
        else scores[name]
        for name in names
    }


def _jsonable(scores: Scores | Mapping[str, Any]) -> dict[str, Any]:
    """Scores as JSON values: what is undefined is null, as no number may stand there."""
    return {
        name: _jsonable(value) if isinstance(value, Mapping) else None if isinstance(value, Undefined) else value
        for name, value in scores.items()
    }


def _spool() -> IO[str]:
    return tempfile.SpooledTemporaryFile(SPOOLED_IN_MEMORY, "w+", encoding="utf-8", newline="")


def _array(spool: IO[str], records: int) -> Iterator[str]:
    yield "[\n" if records else "["
    yield from _drain(spool)
    yield f"\n{' ' * INDENT}]" if records else "]"


def _drain(spool: IO[str]) -> Iterator[str]:
    """What was written; the spool is closed behind it."""
    with spool:
        spool.seek(0)
        while piece := spool.read(READ_CHARACTERS):
            yield piece


def _indented(text: str, depth: int) -> str:
    """JSON text with every line moved in; JSON strings hold no line feeds of their own."""
    blanks = " " * (INDENT * depth)
    return blanks + text.replace("\n", f"\n{blanks}")
