"""Reads one run's answers: items, verdicts, people's labels if wanted, and what scoring and writing need as facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from judges.benchmarks.benchmark import Source
from judges.benchmarks.medmemorybench.items import Built, Run, build_item
from judges.benchmarks.medmemorybench.personas import owners
from judges.benchmarks.medmemorybench.questions import Questions
from judges.benchmarks.medmemorybench.run_file import CONTEXTS, Placed, records
from judges.benchmarks.medmemorybench.runs import About
from judges.benchmarks.medmemorybench.shapes import (
    DEFAULT_JUDGE,
    OVERREAD_FIELD,
    RULE,
    TASK_OF_TYPE,
    as_judged,
    as_text,
    json_text,
    verdict_fields,
)
from judges.benchmarks.medmemorybench.verdict_labels import by_rule, rationale_of, read_label
from store.records import FactRecord, JudgeRecord, LabelRecord, LabelState, Problem, Record, VerdictRecord

NAMED = 5
CHOICES = ("first", "last")
QUERY_FILE, RESULT_FILE, SECOND_COPY, OFFICIAL = "query_file", "result_file", "second_copy", "official_score"
"""Kinds of facts."""


@dataclass(slots=True)
class Shared:
    """What the runs of one import share.

    Attributes:
        judges: by task the named judge, and by "task/rule" the string rule.
    """

    source: Source
    questions: Questions
    judges: Mapping[str, JudgeRecord]
    _texts: set[str] = field(default_factory=set)
    _judges: set[str] = field(default_factory=set)

    @property
    def judge_ids(self) -> list[str]:
        return sorted(judge.judge_id for judge in self.judges.values())

    def judge(self, key: str) -> Iterator[JudgeRecord]:
        """The judge, unless it was yielded before."""
        if key not in self._judges:
            self._judges.add(key)
            yield self.judges[key]

    def is_new(self, text_hash: str) -> bool:
        known = text_hash in self._texts
        self._texts.add(text_hash)
        return not known


class Slot(NamedTuple):
    """Where the copies of one query stand: (position, line) in file order."""

    copies: list[tuple[int, int]]


def read_answers(about: About, shared: Shared) -> Iterator[Record]:
    """The records of one run.

    Raises:
        OSError: the file cannot be read.
    """
    yield from _RunReader(about, shared).records()


class _RunReader:
    """One run while it is read."""

    def __init__(self, about: About, shared: Shared) -> None:
        self.about, self.shared = about, shared
        self.run, self.file = about.run, str(about.run.path)
        slices = {"regime": about.record.regime, "language": about.language}
        self.place = Run(about.record.system, {name: value for name, value in slices.items() if value})
        found = owners(self.run, shared.questions)
        if shared.questions.unnamed:
            shared.questions.place(self.run.rows, found.by_position)
            found = owners(self.run, shared.questions)
        self.persona_of, self.lost = found
        self.slots = self._slots()
        self.told = _Told()

    def records(self) -> Iterator[Record]:
        yield from self.lost
        yield from self._repeats()
        for placed in records(self.run.path):
            if isinstance(placed, Problem):
                yield placed
            else:
                yield from self._placed(placed)
        yield from self._facts()
        yield from self._told_at_the_end()

    # Copies

    def _slots(self) -> dict[tuple[str, str], Slot]:
        slots: dict[tuple[str, str], Slot] = defaultdict(lambda: Slot([]))
        for row in self.run.rows:
            if row.position in self.persona_of:
                slots[self.persona_of[row.position], row.query_id].copies.append((row.position, row.line))
        return dict(slots)

    @property
    def choice(self) -> str:
        return self.shared.source.options.get("duplicates", "")

    def _repeats(self) -> Iterator[Problem]:
        if self.choice and self.choice not in CHOICES:
            yield Problem(
                self.file,
                0,
                0,
                f"there is no choice {self.choice!r} of duplicates",
                "say --option duplicates=first or duplicates=last",
            )
        for (persona, query_id), slot in self.slots.items():
            if len(slot.copies) > 1:
                lines = " and ".join(str(line) for _, line in slot.copies)
                places = " and ".join(f"record {index + 1}" for index, _ in slot.copies)
                what = (
                    f"query {query_id} of persona {persona} is there {len(slot.copies)} times: {places}, lines {lines}"
                )
                if self.choice in CHOICES:
                    remedy = f"nothing; the {self.choice} is judged, as you chose; scores as coded count all"
                    yield Problem(self.file, slot.copies[0][1], 0, what, remedy, fatal=False)
                else:
                    remedy = "say which is judged: --option duplicates=first or duplicates=last; until then none is"
                    yield Problem(self.file, slot.copies[0][1], 0, what, remedy)

    def _is_chosen(self, index: int, slot: Slot) -> bool:
        if len(slot.copies) == 1:
            return True
        return self.choice in CHOICES and slot.copies[0 if self.choice == "first" else -1][0] == index

    # One record

    def _placed(self, placed: Placed) -> Iterator[Record]:
        fault = _fault(placed.record)
        if fault:
            yield Problem(self.file, placed.line, placed.column, fault, "correct the record, or ask the query again")
            return
        persona = self.persona_of.get(placed.position)
        if persona is None:
            return
        slot = self.slots[persona, placed.record["query_id"]]
        if self._is_chosen(placed.position, slot):
            yield from self._record(placed, persona)
        elif self.choice in CHOICES:
            payload = {"position": placed.position, "persona": persona, "record": json_text(placed.record)}
            others = [position for position, _ in slot.copies if not self._is_chosen(position, slot)]
            key = f"{persona}/{placed.record['query_id']}#{others.index(placed.position) + 1}"
            yield FactRecord(self.place.system, SECOND_COPY, key, payload, placed.position)

    def _record(self, placed: Placed, persona: str) -> Iterator[Record]:
        record, patched = as_judged(placed.record)
        query_id, task = record["query_id"], TASK_OF_TYPE[record["query_type"]]
        query = self.shared.questions.find(persona, query_id, as_text(record.get("question")))
        if query is None and self.shared.questions.has(persona, query_id):
            self.told.other_question.append(placed.line)
        built = build_item(self.place, task, persona, record, query, placed.position)
        if built.late:
            self.told.late.append(f"{query_id} of persona {persona}")
        yield from (text for text in built.texts if self.shared.is_new(text.text_hash))
        yield built.item
        self.told.items += 1
        self.told.joined += query is not None
        unlike = record.get("is_correct") is not None and not isinstance(record["is_correct"], bool)
        self.told.not_boolean += [placed.line] if unlike else []
        if verdict_fields(record):
            yield from self._verdict(built, record, placed.position)
        if patched:
            self.told.patched += 1
            yield from self._labels(built, placed.record[OVERREAD_FIELD])

    def _verdict(self, built: Built, record: Mapping[str, Any], position: int) -> Iterator[Record]:
        task, answer = built.item.task, built.answer
        read = read_label(task, answer)
        judge = f"{task}/{RULE}" if by_rule(task, answer) else task
        number = isinstance(answer.score, int | float) and not isinstance(answer.score, bool)
        yield from self.shared.judge(judge)
        yield VerdictRecord(
            item_id=built.item.item_id,
            content_hash=built.item.content_hash,
            judge_id=self.shared.judges[judge].judge_id,
            label=read.label,
            parts=read.parts,
            failure=read.failure,
            raw=json_text(verdict_fields(record)),
            route=read.route,
            score=float(answer.score) if number else None,
            rationale=rationale_of(task, answer),
            position=position,
        )

    def _labels(self, built: Built, patch: Mapping[str, Any]) -> Iterator[LabelRecord]:
        """The final label of a patched record, once for each person who gave it."""
        empty = LabelState().as_json()
        state = LabelState.from_json({name: patch.get(name, value) for name, value in empty.items()})
        mode, at = str(patch.get("mode", "")), str(patch.get("at", ""))
        for annotator in str(patch.get("annotator") or "").split(", "):
            if annotator:
                yield LabelRecord(built.item.item_id, built.item.content_hash, annotator, state, mode, at=at)

    # What is told at the end

    def _facts(self) -> Iterator[Record]:
        """The frames of the files, to write them again, and the scores they state of themselves."""
        run, system = self.run, self.place.system
        name = self.shared.source.judge or DEFAULT_JUDGE
        judge: dict[str, Any] = {"judge": name, "judge_ids": self.shared.judge_ids}
        frame = {
            "file": run.path.name,
            "kind": run.kind,
            "members": run.members,
            "others": json_text(run.others),
            "by_context": json_text(run.by_context),
        }
        yield FactRecord(system, QUERY_FILE, name, judge | frame)
        if isinstance(run.others.get("summary"), dict):
            stated = {"query_answer": run.others["summary"]} | _stated_contexts(run.contexts)
            yield FactRecord(system, OFFICIAL, f"{name}/answers", judge | {"overall_score": stated}, 0)
        if self.about.result is None:
            return
        members = self.about.result.members
        payload = judge | {"file": self.about.result.path.name, "members": json_text(members)}
        yield FactRecord(system, RESULT_FILE, name, payload)
        if isinstance(members.get("summary"), dict):
            stated = {"summary": members["summary"]}
            yield FactRecord(system, OFFICIAL, f"{name}/result", judge | {"overall_score": stated}, 1)

    def _told_at_the_end(self) -> Iterator[Problem]:
        listed = sum(len(context.query_ids) for context in self.run.contexts)
        if listed and listed != len(self.run.rows):
            what = f"by_context lists {listed} queries, but {len(self.run.rows)} records are there"
            yield Problem(self.file, 0, 0, what, "check that the file is whole", fatal=False)
        if not self.run.rows:
            yield Problem(self.file, 0, 0, "no record could be read", "give a run that has answered queries")
        for what, remedy in self.told.lines(has_questions=bool(self.shared.questions)):
            yield Problem(self.file, 0, 0, what, remedy, fatal=False)


def _stated_contexts(contexts: list[Any]) -> dict[str, Any]:
    stated = {c.persona: {"total": c.total, "correct": c.correct} for c in contexts if c.total is not None}
    return {CONTEXTS: stated} if stated else {}


@dataclass(slots=True)
class _Told:
    """What is told once per run."""

    items: int = 0
    joined: int = 0
    patched: int = 0
    late: list[str] = field(default_factory=list)
    other_question: list[int] = field(default_factory=list)
    not_boolean: list[int] = field(default_factory=list)

    def lines(self, *, has_questions: bool) -> Iterator[tuple[str, str]]:
        if self.not_boolean:
            what = f"is_correct is no JSON boolean in {len(self.not_boolean)} records (lines {_few(self.not_boolean)})"
            yield what, "nothing; such a verdict is unreadable, while scores as coded count any text as correct"
        if self.late:
            what = f"{len(self.late)} queries rest on key points of sessions after their checkpoint: {_few(self.late)}"
            yield what, "nothing; they ask for what the system had not been told, see the slice leakage"
        if self.other_question:
            lines = f"{len(self.other_question)} records (lines {_few(self.other_question)})"
            yield f"the query file has another question than {lines}", "give the query files of the run's language"
        if not has_questions:
            what = "without generated_queries.json there are no key points, chains and trap designs to judge by"
            yield what, "give the generated_queries.json of every persona with it"
        elif self.joined < self.items - len(self.other_question):
            what = f"{self.items - self.joined - len(self.other_question)} of {self.items} queries are in no query file"
            yield what, "give the generated_queries.json of every persona"
        if self.patched:
            what = f"{self.patched} records hold people's labels; they were read beside the judge's own verdicts"
            yield what, "nothing; what a person said at the desk outweighs what a file says of that person"


def _few(values: list[Any]) -> str:
    counted = list(Counter(map(str, values)))
    return ", ".join(counted[:NAMED]) + (" …" if len(counted) > NAMED else "")


def _fault(record: Any) -> str:
    """Why a record cannot be placed; "" when it can."""
    if not isinstance(record, dict):
        return "a record is not an object"
    if not isinstance(record.get("query_id"), str) or not record["query_id"]:
        return "a record has no text query_id"
    if as_text(record.get("query_type")) not in TASK_OF_TYPE:
        return f"query {record['query_id']} has a query_type that the benchmark does not have"
    return ""
