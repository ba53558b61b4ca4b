"""Reads MIST: the items, then the results of every condition, regime and run, as one stream of records."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Source
from judges.benchmarks.json_stream import Element, iter_objects
from judges.benchmarks.mist.columns import Mapped, read_mapping
from judges.benchmarks.mist.parser import parse_answer, parse_reply
from judges.benchmarks.mist.questions import Question, WrongRowError, question_of, read_questions
from judges.benchmarks.mist.recognise import FileKind, kind_of_file
from judges.benchmarks.mist.records import (
    DEFAULT_JUDGE,
    ITEMS_SYSTEM,
    Run,
    answer_item,
    judges,
    memory_items,
    run_of,
    validity_item,
)
from judges.benchmarks.mist.shapes import FACT_RECALL, source_name
from judges.benchmarks.mist.tasks import ANSWER, VALIDITY
from judges.benchmarks.native import PATCH_FIELD, WrongPatchError, labels_of_patch
from judges.benchmarks.repeats import Repeats, Seen
from store.records import (
    FactRecord,
    ItemRecord,
    Problem,
    Record,
    SystemRecord,
    TextRecord,
    canonical_json,
)

CHOICES = ("first", "last")
PUBLISHED = ("answer", "first_pass_answer")


def read(source: Source) -> Iterator[Record]:
    """The records of a source; nothing is raised for content or for files that cannot be read."""
    named = source.options.get("columns", "")
    mapped = read_mapping(Path(named)) if named else Mapped()
    yield from mapped.faults
    if not mapped.faults:
        yield from _Reading(source, mapped).records()


class _Reading:
    """One import."""

    def __init__(self, source: Source, mapped: Mapped) -> None:
        self.source, self.mapped = source, mapped
        self.questions: dict[str, Question] = {}
        self.inline: dict[str, None] = {}
        self.judges = judges(source.judge or DEFAULT_JUDGE)
        self.repeats = Repeats(source, CHOICES)
        self.systems: dict[str, Run] = {}
        self.texts: set[str] = set()
        self.answers = self.memories = self.validity = 0
        self.differing: dict[str, list[int]] = {}
        self.unknown: dict[str, list[int]] = {}

    def records(self) -> Iterator[Record]:
        files: dict[FileKind, list[Path]] = {"items": [], "results": [], "": []}
        for path in _files(self.source):
            try:
                files[kind_of_file(path, self.mapped)].append(path)
            except OSError as error:
                yield _unreadable(path, error)
        for path in files[""]:
            remedy = "give the items, or results with condition and first answer; or a column mapping (columns)"
            yield Problem(str(path), 0, 0, "this is no MIST file: neither items nor results", remedy)
        for path in files["items"]:
            yield from self._items(path)
        if files["results"]:
            yield from self.judges.values()
        elif self.questions:
            yield self.judges[VALIDITY.task]
        yield from self._validity(self.questions.values())
        for path in files["results"]:
            self._count_repeats(path)
        yield from self.repeats.problems()
        for path in files["results"]:
            yield from self._results(path)
        yield from self._validity([self.questions[name] for name in self.inline])
        yield from self._facts()
        yield from self._notes()

    # Items

    def _items(self, path: Path) -> Iterator[Problem]:
        try:
            for found in read_questions(path, self.mapped):
                if isinstance(found, Problem):
                    yield found
                    continue
                line, question = found
                if self.questions.setdefault(question.item_id, question).row != question.row:
                    what = "an item of this id is there before, and says something else"
                    yield Problem(str(path), line, 0, what, "keep one of the two")
        except OSError as error:
            yield _unreadable(path, error)

    def _validity(self, questions: Collection[Question]) -> Iterator[Record]:
        if questions and not self.validity:
            yield SystemRecord(ITEMS_SYSTEM, ITEMS_SYSTEM, metadata={"about": "the items themselves"})
        for question in questions:
            item, verdict = validity_item(question, self.judges[VALIDITY.task], self.validity)
            self.validity += 1
            yield from (item, verdict)
            if question.patch is not None:
                yield from _labels(question.patch, item, Problem("", 0, 0, "", f"correct item {question.item_id}"))

    # Results

    def _count_repeats(self, path: Path) -> None:
        for element in self._rows(path):
            if isinstance(element, Element):
                try:
                    key = self._key(path, element.value)
                except WrongRowError:
                    continue
                plain = {name: value for name, value in element.value.items() if name != PATCH_FIELD}
                self.repeats.see(key, Seen(str(path), element.line, hash(canonical_json(plain))))

    def _key(self, path: Path, row: Mapping[str, Any]) -> tuple[str, str]:
        return self._run(path, row).system, self._item_id(row)

    def _run(self, path: Path, row: Mapping[str, Any]) -> Run:
        return run_of(row, self.mapped, self.source.system or path.stem)

    def _item_id(self, row: Mapping[str, Any]) -> str:
        value = self.mapped.result(row, "item_id")
        if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
            raise WrongRowError("a result has no item_id")
        return str(value)

    def _rows(self, path: Path) -> Iterator[Element | Problem]:
        try:
            yield from iter_objects(path)
        except OSError as error:
            yield _unreadable(path, error)

    def _results(self, path: Path) -> Iterator[Record]:
        for found in self._rows(path):
            if isinstance(found, Problem):
                yield found
                continue
            place = Problem(str(path), found.line, found.column, "", "correct the row, or the column mapping")
            try:
                records = list(self._row(path, found, place))
            except WrongRowError as error:
                yield _at(place, str(error))
            else:
                yield from records

    def _row(self, path: Path, element: Element, place: Problem) -> Iterator[Record]:
        row, patch = _unpatched(element.value, self.mapped)
        run, name = self._run(path, row), self._item_id(row)
        if self.repeats.ordinal((run.system, name), str(path), element.line) is None:
            return
        if source_name(str(self.mapped.result(row, "source") or "")) == FACT_RECALL:
            yield from self._system(run)
            yield FactRecord(run.system, "fact_recall", name, self._recalled(row), element.index)
            return
        question = self._question(row, name)
        if question is None:
            self.unknown.setdefault(str(path), []).append(element.line)
            return
        answered = answer_item(row, run, question, self.mapped, self.judges[ANSWER.task], (path.name, self.answers))
        memories = list(memory_items(row, run, question, self.mapped, self.memories))
        self.answers += 1
        self.memories += len(memories)
        if answered.parser_differs:
            self.differing.setdefault(str(path), []).append(element.line)
        yield from self._system(run)
        for text in answered.texts:
            yield from self._text(text)
        yield answered.item
        yield answered.verdict
        yield from memories
        if patch is not None:
            yield from _labels(patch, answered.item, place)
            yield from _memory_labels(patch, memories, place)

    def _question(self, row: Mapping[str, Any], name: str) -> Question | None:
        """The item of a row: of the items file, or the row itself where it holds one."""
        if name in self.questions or name in self.inline:
            return self.questions[name]
        if self.mapped.item(row, "ground_truth") is None and self.mapped.item(row, "moral_action") is None:
            return None
        self.questions[name] = question_of({**row, "item_id": name}, self.mapped)
        self.inline[name] = None
        return self.questions[name]

    def _system(self, run: Run) -> Iterator[Record]:
        if run.system not in self.systems:
            self.systems[run.system] = run
            yield run.record()

    def _text(self, text: TextRecord) -> Iterator[Record]:
        if text.text_hash not in self.texts:
            self.texts.add(text.text_hash)
            yield text

    def _recalled(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Whether a question about a stored fact was answered right.

        Raises:
            WrongRowError: the row does not say.
        """
        correct, text = self.mapped.result(row, "correct"), json.dumps(dict(row), ensure_ascii=False)
        if isinstance(correct, bool):
            return {"correct": correct, "row": text}
        truth, options = self.mapped.item(row, "ground_truth"), self.mapped.item(row, "options")
        if not isinstance(truth, str) or not isinstance(options, list):
            raise WrongRowError("a fact question says neither whether it is correct nor what is right")
        answer, response = self.mapped.result(row, "answer"), self.mapped.result(row, "response")
        found = parse_answer(answer, options) if isinstance(answer, str) else parse_reply(str(response or ""), options)
        right = found.letter is not None and found.letter == parse_answer(truth, options).letter
        return {"correct": right, "row": text}

    # What is told at the end

    def _facts(self) -> Iterator[Record]:
        results = dict(self.mapped.results)
        for position, (system, run) in enumerate(self.systems.items()):
            yield FactRecord(system, "mist_system", "system", run.as_json(), position)
            yield FactRecord(system, "mist_columns", "results", results, position)

    def _notes(self) -> Iterator[Problem]:
        for file, lines in self.unknown.items():
            what = f"{len(lines)} results are of items that are not there, the first here"
            yield Problem(file, lines[0], 0, what, "give the items file with the results")
        for file, lines in self.differing.items():
            what = (
                f"in {len(lines)} rows the file's own answer is not what the declared parser reads in the reply, the "
                "first here"
            )
            yield Problem(file, lines[0], 0, what, "compare `as coded` with `as described`", fatal=False)


def _unpatched(row: Mapping[str, Any], mapped: Mapped) -> tuple[dict[str, Any], Any]:
    """The row as the benchmark wrote it, and what a person's decision put into it."""
    plain = {name: value for name, value in row.items() if name != PATCH_FIELD}
    patch = row.get(PATCH_FIELD)
    if not isinstance(patch, Mapping) or not isinstance(patch.get("judge"), Mapping):
        return plain, patch
    for name in PUBLISHED:
        if name in patch["judge"]:
            mapped.put(plain, name, patch["judge"][name])
        elif _replaced(patch):
            mapped.drop(plain, name)
    return plain, patch


def _replaced(patch: Mapping[str, Any]) -> bool:
    """Whether the person's value stands in the judge's place: "cannot judge" replaces nothing."""
    return isinstance(patch.get("value"), str)


def _labels(patch: Any, item: ItemRecord, place: Problem) -> Iterator[Record]:
    try:
        yield from labels_of_patch(patch, item.item_id, item.content_hash)
    except WrongPatchError as error:
        yield _at(place, str(error))


def _memory_labels(patch: Any, items: list[ItemRecord], place: Problem) -> Iterator[Record]:
    entries = patch.get("memories", []) if isinstance(patch, Mapping) else []
    by_place = {item.extra["place"]: item for item in items}
    for entry in entries if isinstance(entries, list) else []:
        item = by_place.get(entry.get("place")) if isinstance(entry, Mapping) else None
        if item is None:
            yield _at(place, f"a memory in {PATCH_FIELD} is not one of the row")
        else:
            yield from _labels(entry, item, place)


def _at(place: Problem, what: str) -> Problem:
    return Problem(place.file, place.line, place.column, what, place.remedy)


def _files(source: Source) -> Iterator[Path]:
    for path in dict.fromkeys((*source.files, *source.answers)):
        if path.is_dir():
            yield from sorted(child for child in path.iterdir() if child.suffix in (".json", ".jsonl"))
        else:
            yield path


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(str(path), 0, 0, f"the file cannot be read: {error.strerror}", "check the path and its permissions")
