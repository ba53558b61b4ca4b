"""Reads HalBench: items, endpoints, drop list and leaderboard, then every model's replies and scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Source
from judges.benchmarks.halbench.corpus import (
    CorpusItem,
    WrongRowError,
    corpus_item,
    dropped_items,
    endpoints_of,
    leaderboard_rows,
)
from judges.benchmarks.halbench.notes import Notes
from judges.benchmarks.halbench.recognise import FileKind, kind_of_file
from judges.benchmarks.halbench.records import (
    ALL_MODELS,
    DEFAULT_JUDGE,
    Place,
    Reply,
    cells_of,
    judges,
    ranking_item,
    ranking_verdict,
    stance_item,
    stance_verdict,
)
from judges.benchmarks.halbench.rows import ResultRow, named_model, result_row
from judges.benchmarks.halbench.tasks import RANKING, STANCE
from judges.benchmarks.halbench.written import RankingRow, ranking_row
from judges.benchmarks.json_stream import Element, iter_objects
from judges.benchmarks.native import WrongPatchError, labels_of_patch
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

CHOICES = ("first", "last", "both")
KINDS: tuple[FileKind, ...] = ("item", "endpoints", "drops", "leaderboard", "rankings", "responses", "scores")
REMEDY = "correct the row"


def read(source: Source) -> Iterator[Record]:
    """The records of a source; nothing is raised for content or for files that cannot be read."""
    yield from _Reading(source).records()


class _Reading:
    """One import."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.corpus: dict[str, CorpusItem] = {}
        self.dropped: tuple[str, ...] | None = None
        self.endpoints: dict[str, dict[str, float]] = {}
        self.stated: list[tuple[tuple[str, ...], dict[str, float]]] = []
        self.rankings: dict[str, tuple[RankingRow, Problem]] = {}
        self.responses: dict[tuple[str, str], tuple[ResultRow, Path]] = {}
        self.model_of: dict[Path, str] = {}
        self.judges = judges(source.judge or DEFAULT_JUDGE)
        self.scored, self.asked = Repeats(source, CHOICES), Repeats(source, CHOICES)
        self.systems: dict[str, None] = {}
        self.texts: set[str] = set()
        self.replies: dict[str, dict[str, Reply]] = {}
        self.cells: dict[str, dict[str, str]] = {}
        self.scored_keys: set[tuple[str, str]] = set()
        self.position = 0
        self.notes = Notes()

    def records(self) -> Iterator[Record]:
        files: dict[FileKind, list[Path]] = {kind: [] for kind in (*KINDS, "")}
        for path in _files(self.source):
            try:
                files[kind_of_file(path)].append(path)
            except OSError as error:
                yield _unreadable(path, error)
        for path in files[""]:
            remedy = "give scores, responses, items, endpoints or the drop list"
            yield Problem(str(path), 0, 0, "this is no HalBench file", remedy)
        for kind in ("item", "endpoints", "drops", "leaderboard", "rankings"):
            for path in files[kind]:
                yield from self._about(kind, path)
        if files["scores"]:
            yield from self.judges.values()
        yield from self._count_repeats(files)
        yield from self._responses(files["responses"])
        for path in files["scores"]:
            yield from self._scores(path)
        yield from self._unscored()
        yield from self._rankings()
        yield from self._facts()
        yield from self.notes.problems(has_corpus=bool(self.corpus))

    # What there is beside the results

    def _about(self, kind: FileKind, path: Path) -> Iterator[Problem]:
        if kind == "leaderboard":
            self.stated += leaderboard_rows(e for e in _elements(path) if isinstance(e, Element))
            return
        for found in _elements(path):
            if isinstance(found, Problem):
                yield found
                continue
            try:
                self._take(kind, found.value, Problem(str(path), found.line, found.column, "", REMEDY))
            except WrongRowError as error:
                yield Problem(str(path), found.line, found.column, str(error), REMEDY)

    def _take(self, kind: FileKind, value: Any, place: Problem) -> None:
        if kind == "item":
            item = corpus_item(value)
            self.corpus[item.item_id] = item
        elif kind == "endpoints":
            self.endpoints = endpoints_of(value)
        elif kind == "drops":
            self.dropped = dropped_items(value)
        else:
            row = ranking_row(value)
            self.rankings[row.item_id] = (row, place)

    # Results

    def _count_repeats(self, files: dict[FileKind, list[Path]]) -> Iterator[Problem]:
        for kind, repeats in (("responses", self.asked), ("scores", self.scored)):
            for path in files[kind]:  # type: ignore[index]
                # A row of a failed call names no model; the others of its file do.
                self.model_of[path] = self.source.system or _model_named(path)
                for _, row, place in self._rows(path):
                    if isinstance(row, ResultRow):
                        says = hash(canonical_json(dict(row.plain)))
                        repeats.see((row.model, row.item_id), Seen(place.file, place.line, says))
        yield from self.scored.problems()
        if not files["scores"]:
            yield from self.asked.problems()

    def _rows(self, path: Path) -> Iterator[tuple[Element | None, ResultRow | Problem, Problem]]:
        for found in _elements(path):
            if isinstance(found, Problem):
                yield None, found, found
                continue
            place = Problem(str(path), found.line, found.column, "", REMEDY)
            try:
                yield found, result_row(found.value, path, self.model_of[path]), place
            except WrongRowError as error:
                yield found, _at(place, str(error)), place

    def _responses(self, paths: list[Path]) -> Iterator[Problem]:
        """Replies by model and item: what a scores row lacks, or all there is."""
        for path in paths:
            for _, row, place in self._rows(path):
                if isinstance(row, Problem):
                    yield row
                    continue
                key = (row.model, row.item_id)
                counts = self.asked.ordinal(key, place.file, place.line) == 0
                # Beside scores only texts are taken from here, and of two rows the one that has one.
                if counts or key not in self.responses or not self.responses[key][0].response:
                    self.responses[key] = (row, path)

    def _scores(self, path: Path) -> Iterator[Record]:
        for _, row, place in self._rows(path):
            if isinstance(row, Problem):
                yield row
                continue
            key = (row.model, row.item_id)
            ordinal = self.scored.ordinal(key, place.file, place.line)
            if ordinal is None:
                continue
            self.scored_keys.add(key)
            row = self._with_response(row)
            self.notes.add(row, place)
            yield from self._reply(row, path, ordinal, place)

    def _with_response(self, row: ResultRow) -> ResultRow:
        """The row with the reply of the responses file, where it has none itself."""
        found = self.responses.get((row.model, row.item_id))
        if found is None or "response_text" in row.plain:
            return row
        other, _ = found
        return ResultRow(
            row.item_id, row.cell_field, row.model, other.response, row.finish_reason or other.finish_reason,
            row.judged, row.plain, row.patch,
        )  # fmt: skip

    def _unscored(self) -> Iterator[Record]:
        for key, (row, path) in self.responses.items():
            if key in self.scored_keys:
                continue
            if row.response:
                yield from self._reply(row, path, 0, Problem(str(path), 0, 0, "", REMEDY))
            else:
                self.notes.nothing_to_judge += 1

    def _reply(self, row: ResultRow, path: Path, ordinal: int, place: Problem) -> Iterator[Record]:
        corpus = self.corpus.get(row.item_id)
        if corpus is None:
            self.notes.without_prompt += 1
        item, texts = stance_item(row, corpus, self.dropped, Place(path.name, self.position, ordinal))
        self.position += 1
        if row.model not in self.systems:
            self.systems[row.model] = None
            yield SystemRecord(row.model, row.model)
        yield from self._new_texts(texts)
        yield item
        if row.is_scored:
            yield stance_verdict(row, item, self.judges[STANCE.task])
        if row.patch is not None:
            yield from _labels(row.patch, item, place)
        score = None if row.is_anomaly else row.score
        self.replies.setdefault(row.item_id, {})[row.model] = Reply(row.model, row.response, score)
        self.cells[row.item_id] = cells_of(row)

    def _new_texts(self, texts: list[TextRecord]) -> Iterator[TextRecord]:
        for text in texts:
            if text.text_hash not in self.texts:
                self.texts.add(text.text_hash)
                yield text

    # Rankings

    def _rankings(self) -> Iterator[Record]:
        several = {name: list(by.values()) for name, by in self.replies.items() if len(by) > 1}
        if not several:
            self.notes.one_model = bool(self.replies)
            return
        yield SystemRecord(ALL_MODELS, ALL_MODELS, metadata={"about": "the replies of all models to one item"})
        for position, (name, replies) in enumerate(several.items()):
            item = ranking_item(name, replies, self.corpus.get(name), self.cells[name], position)
            yield item
            if self.scored_keys:
                yield ranking_verdict(item, replies, self.judges[RANKING.task])
            if name in self.rankings:
                row, place = self.rankings.pop(name)
                yield from self._ranking_labels(row, item, place)
        for row, place in self.rankings.values():
            yield _at(place, f"item {row.item_id} of a ranking is not among the replies")

    def _ranking_labels(self, row: RankingRow, item: ItemRecord, place: Problem) -> Iterator[Record]:
        try:
            yield from _labels(row.patch_for(item.extra["models"]), item, place)
        except WrongRowError as error:
            yield _at(place, str(error))

    # Facts

    def _facts(self) -> Iterator[Record]:
        judge = self.source.judge or DEFAULT_JUDGE
        judge_ids = {task: record.judge_id for task, record in self.judges.items()}
        for position, system in enumerate([*self.systems, ALL_MODELS]):
            about = {"judge": judge, "judge_ids": judge_ids}
            yield FactRecord(system, "halbench_judge", judge, about, position)
            for names, numbers in self.stated:
                if system in names:
                    yield FactRecord(system, "halbench_leaderboard", judge, {"judge": judge, "row": numbers}, position)
                    break
        if self.endpoints:
            yield FactRecord(ALL_MODELS, "halbench_endpoints", "endpoints", self.endpoints)


def _labels(patch: Any, item: ItemRecord, place: Problem) -> Iterator[Record]:
    try:
        yield from labels_of_patch(patch, item.item_id, item.content_hash)
    except WrongPatchError as error:
        yield _at(place, str(error))


def _model_named(path: Path) -> str:
    """The first model that a row of the file names; "" when none does."""
    rows = (found.value for found in _elements(path) if isinstance(found, Element))
    return next((name for row in rows if (name := named_model(row))), "")


def _elements(path: Path) -> Iterator[Element | Problem]:
    try:
        yield from iter_objects(path)
    except OSError as error:
        yield _unreadable(path, error)


def _at(place: Problem, what: str) -> Problem:
    return Problem(place.file, place.line, place.column, what, place.remedy)


def _files(source: Source) -> Iterator[Path]:
    for path in dict.fromkeys((*source.files, *source.answers)):
        if path.is_dir():
            yield from sorted(child for child in path.rglob("*") if child.suffix in (".json", ".jsonl"))
        else:
            yield path


def _unreadable(path: Path, error: OSError) -> Problem:
    return Problem(str(path), 0, 0, f"the file cannot be read: {error.strerror}", "check the path and its permissions")
