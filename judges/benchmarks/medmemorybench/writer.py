"""Writes a run back: its answers and results with people's labels in them, and a list of what they changed.

A record that a person decided carries `overread`: the judge's own fields under `judge` (null when nobody judged it),
who decided, when, and the rest of the label. The judge's reason moves there too, since it is no reason of the person's.
Without any decision the files have the value of those that were read.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from judges.benchmarks.benchmark import NativeFile, ScoredItem, Scores, Undefined
from judges.benchmarks.medmemorybench.answers import QUERY_FILE, RESULT_FILE, SECOND_COPY
from judges.benchmarks.medmemorybench.counted import (
    Counted,
    Facts,
    decided,
    is_changed,
    judged,
    label_answer,
    own_answer,
)
from judges.benchmarks.medmemorybench.items import restore_record
from judges.benchmarks.medmemorybench.run_file import CONTEXTS, QUERIES, RESULTS
from judges.benchmarks.medmemorybench.scoring import adder_of
from judges.benchmarks.medmemorybench.shapes import OVERREAD_FIELD, Answer, json_text
from judges.benchmarks.medmemorybench.summary import answer_summary, context_sums, official, result_summary
from judges.benchmarks.native import CHANGES_ABOUT, References
from store.records import LabelState

INDENT = 2
SPOOLED_IN_MEMORY = 1 << 22
ANSWER_MEMBERS = ("method_name", "model_name", "dataset_name", "summary", CONTEXTS, QUERIES)
NO_FILE: Mapping[str, Any] = {
    "file": "medmemorybench_query_answer.json",
    "kind": "answers",
    "members": list(ANSWER_MEMBERS),
    "others": json.dumps({"method_name": "", "model_name": "", "dataset_name": "medmemorybench", "summary": {}}),
    "by_context": "{}",
}
"""How the answers look when nothing tells."""


def write_native(
    items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]
) -> Iterator[NativeFile]:
    """The patched answers (or checkpoint), the patched results if they were read, and `.changes.jsonl`.

    Args:
        items: with `texts` holding the texts themselves and `extra` as the reader gave it, in any order, read once.
            Items that have neither a verdict nor a person's decision are in no file.
        provenance: of the final labels by item id.
    """
    writing = _Writing(items, facts, provenance)
    yield NativeFile(writing.name, writing.answers(), "the run's answers, patched")
    if writing.result is not None:
        yield NativeFile(writing.result["file"], writing.results(), "the run's results, its summary computed anew")
    stem = writing.name.removesuffix(".json")
    yield NativeFile(f"{stem}.changes.jsonl", writing.changes(), CHANGES_ABOUT)
    yield from writing.references.files()


@dataclass(frozen=True, slots=True)
class _Written:
    """A record in the spool: where it stands in the file, whose it is, and from where to where its text lies."""

    position: int
    persona: str
    query_id: str
    start: int
    end: int


class _Writing:
    """One export: records go to a spool, since the sums that come first need them all."""

    def __init__(self, items: Iterable[ScoredItem], facts: Facts, provenance: Mapping[str, Mapping[str, Any]]) -> None:
        self._facts, self._provenance = facts, provenance
        self._spool = _spool()
        self._written: list[_Written] = []
        self._changes: list[tuple[int, dict[str, Any]]] = []
        self._decisions = 0
        light = [self._add(item) for item in items]
        for payload in facts.get(SECOND_COPY, {}).values():
            record = json.loads(payload["record"])
            self._keep(int(payload["position"]), str(payload["persona"]), record)
        self._written.sort(key=lambda written: written.position)
        self._before, self._after = judged(light, facts), decided(light, facts)
        self._add_up = adder_of(self._before, facts)
        self.frame = _of_judge(facts, QUERY_FILE, self._before) or NO_FILE
        self.result = _of_judge(facts, RESULT_FILE, self._before)
        self.name = str(self.frame["file"])
        self.references = References(self.name.removesuffix(".json"), provenance)
        for item in light:
            self.references.add(item, {"persona": item.cluster, "query_id": item.extra["query_id"]})

    # Records

    def _add(self, item: ScoredItem) -> ScoredItem:
        """Spool the record of an item; the item without its long texts."""
        own = own_answer(item, self._facts)
        fields = _fields(item, own)
        if item.label is not None and item.label.decided:
            self._decisions += 1
            decision = _decision(item.label, fields, self._provenance.get(item.item_id, {}))
            fields = {**(_patched(item, own) or fields or {}), OVERREAD_FIELD: decision}
        if fields is not None:
            record = restore_record(payload=item.payload, texts=item.texts, extra=item.extra, answer=fields)
            self._keep(int(item.extra["position"]), item.cluster, record)
            self._note_change(item, fields)
        return replace(item, texts={})

    def _keep(self, position: int, persona: str, record: Mapping[str, Any]) -> None:
        start = self._spool.tell()
        self._spool.write(json.dumps(record, ensure_ascii=False, indent=INDENT).encode("utf-8", "surrogatepass"))
        self._written.append(_Written(position, persona, record["query_id"], start, self._spool.tell()))

    def _note_change(self, item: ScoredItem, fields: Mapping[str, Any]) -> None:
        wrong = item.label is not None and item.label.reference_wrong
        if not wrong and not is_changed(item, self._facts):
            return
        line = {
            "item": item.item_id,
            "query_id": item.extra["query_id"],
            "persona": item.cluster,
            "person": {name: fields.get(name) for name in ("is_correct", "score")},
            **fields[OVERREAD_FIELD],
        }
        self._changes.append((int(item.extra["position"]), line))

    def _texts(self, written: Iterable[_Written], depth: int) -> Iterator[str]:
        for entry in written:
            self._spool.seek(entry.start)
            text = self._spool.read(entry.end - entry.start).decode("utf-8", "surrogatepass")
            yield _indented(text, depth)

    # Files

    def answers(self) -> Iterator[str]:
        """The text of the answers in pieces; no line feed at the end, as in the official file."""
        others = json.loads(self.frame["others"])
        opening = "{"
        for member in self.frame["members"]:
            yield f"{opening}\n{' ' * INDENT}{json.dumps(member, ensure_ascii=False)}: "
            if member == QUERIES:
                yield from _array(self._texts(self._written, 2), 1)
            elif member == RESULTS:
                yield from self._by_persona()
            else:
                value = self._contexts() if member == CONTEXTS else self._member(member, others[member])
                yield _indented(json.dumps(value, ensure_ascii=False, indent=INDENT), 1).lstrip(" ")
            opening = ","
        yield "\n}"

    def _by_persona(self) -> Iterator[str]:
        groups: dict[str, list[_Written]] = {}
        for entry in self._written:
            groups.setdefault(entry.persona, []).append(entry)
        opening = "{"
        for persona, written in groups.items():
            yield f"{opening}\n{' ' * INDENT * 2}{json.dumps(persona, ensure_ascii=False)}: "
            yield from _array(self._texts(written, 3), 2)
            opening = ","
        yield f"\n{' ' * INDENT}}}" if groups else "{}"

    def _member(self, name: str, value: Any) -> Any:
        if name != "summary" or not self._decisions or not isinstance(value, dict):
            return value
        return value | _jsonable(answer_summary(self._after, self._add_up))

    def _contexts(self) -> Any:
        """`by_context` in step with the records that are there."""
        value = json.loads(self.frame["by_context"])
        if not isinstance(value, dict):
            return value
        ids: dict[str, list[str]] = {persona: [] for persona in value}
        for entry in self._written:
            ids.setdefault(entry.persona, []).append(entry.query_id)
        if not self._decisions and all(_as_dict(value.get(p)).get("query_ids") == listed for p, listed in ids.items()):
            return value
        sums = context_sums(self._after)
        return {
            persona: {
                **_as_dict(value.get(persona)),
                **sums.get(persona, {"total": 0, "correct": 0}),
                "query_ids": listed,
            }
            for persona, listed in ids.items()
        }

    def results(self) -> Iterator[str]:
        """The text of the result file, its summary computed anew once somebody decided something."""
        members = json.loads(self.result["members"]) if self.result else {}
        if self._decisions and isinstance(members.get("summary"), dict):
            members["summary"] |= _jsonable(result_summary(self._after, self._add_up))
        yield json.dumps(members, ensure_ascii=False, indent=INDENT)

    def changes(self) -> Iterator[str]:
        """One line a changed record or wrong reference, then one line a changed number."""
        for _, line in sorted(self._changes, key=lambda change: change[0]):
            yield json_text(line) + "\n"
        if self._decisions:
            was, now = official(self._before, self._add_up), official(self._after, self._add_up)
            for name, old, new in _moved(_jsonable(was), _jsonable(now)):
                yield json_text({"score": name, "was": old, "now": new}) + "\n"


def _fields(item: ScoredItem, own: Answer | None) -> dict[str, Any] | None:
    """The scorer's fields of the record: as they were read, or made of another judge's label."""
    if own is None:
        return None
    raw = item.extra.get("rule", "") if item.verdict is None else item.verdict.raw
    fields: dict[str, Any] = json.loads(raw) if raw.startswith("{") else {}
    if "is_correct" in fields:
        return fields
    return {"is_correct": own.is_correct, "score": own.score, own.key: dict(own.details)}


def _patched(item: ScoredItem, own: Answer | None) -> dict[str, Any] | None:
    """A person's value as fields of the record; None when the person could not judge."""
    if item.label is None or item.label.value is None:
        return None
    answer = label_answer(item, item.label, own)
    return {"is_correct": answer.is_correct, "score": answer.score, answer.key: dict(answer.details)}


def _decision(label: LabelState, judge: Mapping[str, Any] | None, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's own fields, who decided, and the label without what it leaves at its default."""
    empty = LabelState().as_json()
    said = {name: value for name, value in label.as_json().items() if value != empty[name]}
    return {"judge": dict(judge) if judge is not None else None, **provenance, **said}


def _of_judge(facts: Facts, kind: str, rows: Sequence[Counted]) -> Mapping[str, Any] | None:
    """The file that came with the verdicts of these rows; else the last one that was read."""
    judges = {row.item.verdict.judge_id for row in rows if row.item and row.item.verdict}
    files = list(facts.get(kind, {}).values())
    return next((file for file in files if judges & set(file["judge_ids"])), files[-1] if files else None)


def _as_dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _moved(was: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*was, *now]):
        old, new = was.get(name), now.get(name)
        here = f"{path} / {name}" if path else name
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _moved(old, new, here)
        elif old != new:
            yield here, old, new


def _jsonable(scores: Scores | Mapping[str, Any]) -> dict[str, Any]:
    """Scores as JSON values: what is undefined is null, as no number may stand there."""
    return {
        name: _jsonable(value) if isinstance(value, Mapping) else None if isinstance(value, Undefined) else value
        for name, value in scores.items()
    }


def _spool() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(SPOOLED_IN_MEMORY, "w+b")


def _array(texts: Iterable[str], depth: int) -> Iterator[str]:
    opening = "["
    for text in texts:
        yield f"{opening}\n{text}"
        opening = ","
    yield f"\n{' ' * INDENT * depth}]" if opening == "," else "[]"


def _indented(text: str, depth: int) -> str:
    """JSON text with every line moved in; JSON strings hold no line feeds of their own."""
    blanks = " " * (INDENT * depth)
    return blanks + text.replace("\n", f"\n{blanks}")
