"""Makes items and verdicts of a result row: the answer, the memories that were stored, the usability of the question.

Questions are items of a system of their own (`ITEMS_SYSTEM`): whether a question is usable is one question, whoever
answered it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from judges.benchmarks.mist.columns import Mapped
from judges.benchmarks.mist.parser import VERSION, Parsed, parse_answer, parse_reply
from judges.benchmarks.mist.questions import Question, WrongRowError
from judges.benchmarks.mist.shapes import (
    CHAT_HISTORY,
    ZERO_SHOT,
    condition_name,
    regime_name,
)
from judges.benchmarks.mist.tasks import ANSWER, FIRST_PASS, MEMORY, VALIDITY
from judges.benchmarks.row_text import packed
from store.records import (
    ItemRecord,
    JudgeRecord,
    SystemRecord,
    TextRecord,
    VerdictRecord,
    canonical_json,
    item_id,
)

BENCHMARK_NAME = "mist"
ITEMS_SYSTEM = "MIST items"
DEFAULT_JUDGE = "answer-parser"
_MEMORY_FIELDS = ("memory", "text", "content", "fact")
_SEEN = {"response": "response", "first_pass_response": "first_response", "memories": "memories"}


@dataclass(frozen=True, slots=True)
class Run:
    """What one row was made by. `condition` names the memory system, `mitigation` what was done against sycophancy."""

    model: str
    condition: str
    mitigation: str
    regime: str
    run: str

    @property
    def system(self) -> str:
        return f"{self.model} / {self.setting} / {self.regime} / run {self.run}"

    @property
    def setting(self) -> str:
        return f"{self.condition}+{self.mitigation}" if self.mitigation else self.condition

    @property
    def has_memory(self) -> bool:
        return self.condition not in (ZERO_SHOT, CHAT_HISTORY)

    def record(self) -> SystemRecord:
        metadata = {"mitigation": self.mitigation} if self.mitigation else {}
        return SystemRecord(self.system, self.model, self.run, self.setting, self.regime, metadata)

    def as_json(self) -> dict[str, str]:
        return {
            "model": self.model,
            "condition": self.condition,
            "mitigation": self.mitigation,
            "regime": self.regime,
            "run": self.run,
        }


class Reading(NamedTuple):
    """A letter or None, the failure that stands instead, and how it was found."""

    letter: str | None
    failure: str
    words: str


class Readings(NamedTuple):
    """Of the answer, and of the first answer."""

    answer: Reading
    first: Reading


class Answered(NamedTuple):
    """An answer item with its long texts, and the verdict on it."""

    item: ItemRecord
    texts: list[TextRecord]
    verdict: VerdictRecord
    parser_differs: bool


def run_of(row: Mapping[str, Any], mapped: Mapped, model: str) -> Run:
    """Who answered, and how.

    Args:
        model: stands where the row names none.

    Raises:
        WrongRowError: the condition is missing.
    """
    condition = mapped.result(row, "condition")
    if not isinstance(condition, str) or not condition.strip():
        raise WrongRowError("a result has no condition")
    name, _, added = condition_name(condition).partition("+")
    mitigation = mapped.result(row, "mitigation") or added
    run = mapped.result(row, "run")
    return Run(
        model=str(mapped.result(row, "model") or model),
        condition=name,
        mitigation=condition_name(str(mitigation)),
        regime=regime_name(str(mapped.result(row, "regime") or "")),
        run="1" if run is None else str(run),
    )


def judges(name: str) -> dict[str, JudgeRecord]:
    """The rule that reads answers and tells leaking items, by task."""
    parameters = {"parser": VERSION}
    return {task.task: JudgeRecord(task.task, name, parameters=parameters) for task in (ANSWER, VALIDITY)}


def answer_item(
    row: Mapping[str, Any], run: Run, question: Question, mapped: Mapped, judge: JudgeRecord, place: tuple[str, int]
) -> Answered:
    """The item of a result row and the verdict on it.

    Args:
        place: name of the file, and place among all rows.

    Raises:
        WrongRowError: a field has a wrong type.
    """
    texts = {name: _text(mapped.result(row, source), source) for source, name in _SEEN.items() if source != "memories"}
    parsed = {name: _parsed(text, question) for name, text in texts.items()}
    readings = Readings(
        _reading(row, mapped, "answer", parsed["response"], question),
        _reading(row, mapped, "first_pass_answer", parsed["first_response"], question),
    )
    history = _history(run, question)
    item = ItemRecord(
        item_id=item_id(BENCHMARK_NAME, ANSWER.task, run.system, [question.item_id]),
        task=ANSWER.task,
        system=run.system,
        natural_key=canonical_json([question.item_id]),
        cluster=question.item_id,
        group=f"{question.item_id}/{run.regime}",
        payload=(payload := _payload(question, texts, memories_of(mapped.result(row, "memories")))),
        texts={"dialogue": history.text_hash} if history else {},
        slices={"dataset": question.dataset, "source": question.source},
        extra={**_extra(question, run, parsed), "file": place[0], **packed(row, _seen(row, payload))},
        position=place[1],
    )
    verdict = _verdict(item, readings, judge, _published(row, mapped))
    return Answered(item, [history] if history else [], verdict, _differs(row, mapped, parsed, readings))


def _payload(question: Question, texts: Mapping[str, str | None], memories: list[str]) -> dict[str, Any]:
    payload: dict[str, Any] = {"question": question.text, "options": question.lettered, "key": question.key}
    payload |= {name: text for name, text in texts.items() if text is not None}
    return payload | ({"memories": memories} if memories else {})


def _extra(question: Question, run: Run, parsed: Mapping[str, Parsed | None]) -> dict[str, Any]:
    return {
        "question": question.item_id,
        "truth": question.truth,
        "biased": question.biased,
        "dataset": question.dataset,
        "source": question.source,
        "regime": run.regime,
        "parsed": {name: found.letter if found else None for name, found in parsed.items()},
    }


def _verdict(item: ItemRecord, readings: Readings, judge: JudgeRecord, published: Mapping[str, Any]) -> VerdictRecord:
    answer, first = readings
    return VerdictRecord(
        item_id=item.item_id,
        content_hash=item.content_hash,
        judge_id=judge.judge_id,
        label=answer.letter,
        parts={FIRST_PASS: first.letter} if first.letter else {},
        failure=answer.failure,
        raw=json.dumps(published, ensure_ascii=False),
        rationale=f"{answer.words}. First reply: {first.words}.",
        position=item.position,
    )


def memory_items(
    row: Mapping[str, Any], run: Run, question: Question, mapped: Mapped, start: int
) -> Iterator[ItemRecord]:
    """An item for each memory that was put before the question; the same text twice is two.

    Args:
        start: place of the first one.
    """
    if not run.has_memory:
        return
    seen: dict[str, int] = {}
    history = _history(run, question)
    for place, memory in enumerate(memories_of(mapped.result(row, "memories"))):
        occurrence = seen[memory] = seen.get(memory, -1) + 1
        key = [question.item_id, memory, occurrence]
        yield ItemRecord(
            item_id=item_id(BENCHMARK_NAME, MEMORY.task, run.system, key),
            task=MEMORY.task,
            system=run.system,
            natural_key=canonical_json(key),
            cluster=question.item_id,
            group=f"{question.item_id}/{run.regime}",
            payload={
                "memory": memory,
                "misconception": question.misconception,
                "question": question.text,
                "options": question.lettered,
            },
            texts={"dialogue": history.text_hash} if history else {},
            slices={"dataset": question.dataset, "source": question.source},
            extra={"question": question.item_id, "place": place},
            position=start + place,
        )


def validity_item(question: Question, judge: JudgeRecord, position: int) -> tuple[ItemRecord, VerdictRecord]:
    """The question as an item of its own, and what the rule "argued for = right" says of it."""
    key = [question.item_id]
    item = ItemRecord(
        item_id=item_id(BENCHMARK_NAME, VALIDITY.task, ITEMS_SYSTEM, key),
        task=VALIDITY.task,
        system=ITEMS_SYSTEM,
        natural_key=canonical_json(key),
        cluster=question.item_id,
        group="",
        payload={"question": question.text, "options": question.lettered, "key": question.key},
        slices={"dataset": question.dataset, "source": question.source},
        extra={"question": question.item_id, "row": question.row, "seen": {}},
        position=position,
    )
    label = "leak" if question.leaks else "valid"
    verdict = VerdictRecord(
        item_id=item.item_id,
        content_hash=item.content_hash,
        judge_id=judge.judge_id,
        label=label,
        rationale="The option that the chat argues for is the keyed one." if question.leaks else "",
        route="rule",
        position=position,
    )
    return item, verdict


def memories_of(value: Any) -> list[str]:
    """The memories as texts: a list of texts, or of objects with the text under a usual name.

    Raises:
        WrongRowError: it is something else.
    """
    if value is None or value == "":
        return []
    entries = value if isinstance(value, list) else [value]
    return [_memory(entry) for entry in entries]


def _memory(entry: Any) -> str:
    if isinstance(entry, Mapping):
        entry = next((entry[name] for name in _MEMORY_FIELDS if isinstance(entry.get(name), str)), None)
    if not isinstance(entry, str):
        raise WrongRowError("the memories of a result are not a list of texts")
    return entry


def _text(value: Any, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise WrongRowError(f"{name} of a result is not a text")
    return value


def _history(run: Run, question: Question) -> TextRecord | None:
    turns = question.histories.get(run.regime)
    return TextRecord.of(turns) if turns is not None and run.condition != ZERO_SHOT else None


def _seen(row: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, str]:
    """Columns whose values the payload has as they are."""
    return {column: name for column, name in _SEEN.items() if name in payload and row.get(column) == payload[name]}


def _parsed(text: str | None, question: Question) -> Parsed | None:
    return None if text is None else parse_reply(text, question.options, question.labels)


def _reading(
    row: Mapping[str, Any], mapped: Mapped, published: str, parsed: Parsed | None, question: Question
) -> Reading:
    """The file's own answer where it has one, else the declared parser's."""
    if mapped.has_result(row, published):
        return _own(mapped.result(row, published), question)
    if parsed is None:
        return Reading(None, "missing", "no reply in the file")
    return Reading(parsed.letter, "" if parsed.letter else "malformed", parsed.words)


def _own(value: Any, question: Question) -> Reading:
    if value is None or value == "":
        return Reading(None, "missing", "the file has no answer")
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    parsed = parse_answer(text, question.options, question.labels)
    words = f"the file has {parsed.found!r}"
    return Reading(parsed.letter, "" if parsed.letter else "malformed", words)


def _published(row: Mapping[str, Any], mapped: Mapped) -> dict[str, Any]:
    names = ("answer", "first_pass_answer")
    return {name: mapped.result(row, name) for name in names if mapped.has_result(row, name)}


def _differs(row: Mapping[str, Any], mapped: Mapped, parsed: Mapping[str, Parsed | None], readings: Readings) -> bool:
    """Whether the file's own answer is not what the declared parser reads in the reply."""
    published = ("answer", "first_pass_answer")
    return any(
        found is not None and mapped.has_result(row, name) and found.letter != reading.letter
        for name, found, reading in zip(published, parsed.values(), readings, strict=True)
    )
