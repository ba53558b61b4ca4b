"""HaluMem's scores by user and by question type, both variants of two metrics, and what repeats and time do to them.

Every table is {row: {variant: scores in the official nesting}}, or {row: counts}. Variants: `as_coded`, `as_described`
and, where a person labelled something, `overridden` and `overridden_as_described`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.halumem.described import Described
from judges.benchmarks.halumem.scoring import Aggregation, Counted, Facts, counted
from judges.benchmarks.halumem.sessions import UserSessions, extraction_not_offered, padded_groups, users_of
from judges.benchmarks.halumem.tallies import MEMORY_TYPES, ClassBlock, Metric, qa_block, timings, without_script

QUESTION_TYPES = (
    "Basic Fact Recall", "Multi-hop Inference", "Dynamic Update", "Memory Boundary", "Generalization & Application",
    "Memory Conflict",
)  # fmt: skip

HEADLINE: Mapping[str, str] = {
    "memory_integrity / recall(all)": "R",
    "memory_integrity / weighted_recall(all)": "WR",
    "memory_integrity / memory_num": "R n",
    "memory_accuracy / target_accuracy(all)": "Target P",
    "memory_accuracy / target_memory_num": "P n",
    "memory_accuracy / weighted_accuracy(all)": "Acc.",
    "memory_accuracy / interference_accuracy(all)": "FMR",
    "memory_extraction_f1": "F1",
    "memory_update / correct_update_memory_ratio(all)": "Upd C",
    "memory_update / hallucination_update_memory_ratio(all)": "Upd H",
    "memory_update / omission_update_memory_ratio(all)": "Upd O",
    "memory_update / update_memory_num": "Upd n",
    "question_answering / correct_qa_ratio(all)": "QA C",
    "question_answering / hallucination_qa_ratio(all)": "QA H",
    "question_answering / omission_qa_ratio(all)": "QA O",
    "question_answering / qa_num": "QA n",
}
"""Paths of the metrics that a table shows when it cannot show all, and the paper's short names of them."""

ALL, NO_REPEATS = "all", "without padded sessions"
NO_SHEET = Undefined("no_answer_sheet", "sessions are in the answer sheet, which was not given with this import")


def breakdowns(items: Iterable[ScoredItem], facts: Facts) -> dict[str, Scores]:
    """All tables by name; items are read once, in verdict order."""
    coded, with_labels = _Tables(facts), None
    for item, judged, decided in counted(items, facts):
        if with_labels is None and judged is not decided:
            with_labels = copy.deepcopy(coded)
        if judged is not None:
            coded.add(Counted(item, judged))
        if with_labels is not None and decided is not None:
            with_labels.add(Counted(item, decided))
    tables = {"as_coded": coded} | ({} if with_labels is None else {"overridden": with_labels})
    beside: dict[str, Scores] = {}
    for variant, found in tables.items():
        for name, row, kind, scores in found.rows():
            called = variant if kind == "as_coded" else "as_described" if variant == "as_coded" else f"{variant}_{kind}"
            beside.setdefault(name, {}).setdefault(row, {})[called] = scores
    return beside | {"padding": _padding(facts), "padded_sessions": _padded(facts), "time": _time(facts)}


Row = tuple[str, str, Literal["as_coded", "as_described"], Scores]
"""Table, row, kind of variant, scores."""


class _Tables:
    """The tables under one reading of the verdicts; holds counts only."""

    def __init__(self, facts: Facts) -> None:
        self._clocks: dict[str, list[Any]] = {}
        for payload in facts.get("timings", {}).values():
            self._clocks.setdefault(payload["uuid"], []).append(payload)
        self._padded = padded_groups(facts)
        self._users: dict[str, Aggregation] = {}
        self._kinds: dict[str, ClassBlock] = {}
        self._all, self._unpadded = Aggregation(), Aggregation()
        self._described = Described(extraction_not_offered(facts))

    def add(self, counted: Counted) -> None:
        item, record = counted
        self._users.setdefault(item.cluster, Aggregation()).add(counted)
        self._all.add(counted)
        self._described.add(item, record)
        if item.group not in self._padded:
            self._unpadded.add(counted)
        if item.task == "qa":
            self._kinds.setdefault(item.slices.get("question_type", ""), qa_block()).add(record, item)

    def rows(self) -> Iterator[Row]:
        for kind in sorted(self._kinds, key=_type_order):
            block = {"question_answering": without_script(self._kinds[kind].scores())}
            yield "qa_by_question_type", kind, "as_coded", block
        for uuid, aggregation in self._users.items():
            yield "by_user", uuid, "as_coded", aggregation.scores(timings(self._clocks.get(uuid, [])))
        types, described = without_script(self._all.types.scores()), self._described.types()
        for kind in MEMORY_TYPES:
            yield "type_accuracy", kind, "as_coded", types[kind]
            yield "type_accuracy", kind, "as_described", described[kind]
        yield "update", ALL, "as_coded", {"memory_update": without_script(self._all.update.scores())}
        yield "update", ALL, "as_described", {"memory_update": self._described.update()}
        if self._padded:
            yield "without_padded_sessions", ALL, "as_coded", _timeless(self._all)
            yield "without_padded_sessions", NO_REPEATS, "as_coded", _timeless(self._unpadded)


def _type_order(kind: str) -> tuple[int, str]:
    """The paper's types first, in its order."""
    return QUESTION_TYPES.index(kind) if kind in QUESTION_TYPES else len(QUESTION_TYPES), kind


def _timeless(aggregation: Aggregation) -> Scores:
    """Scores without durations, which are known by user and not by session."""
    scores = aggregation.scores({})
    scores.pop("official_script", None)
    del scores["time_consuming"]
    return without_script(scores)


# What the sheet tells


def _padding(facts: Facts) -> Scores:
    """Messages of each user, how many are distinct within their session, and sessions that repeat some."""
    users = list(users_of(facts))
    return {user.uuid: _padding_of(user) for user in users} if users else {ALL: NO_SHEET}


def _padding_of(user: UserSessions) -> Scores:
    share = user.distinct_share
    return {
        "sessions": len(user.sessions),
        "padded_sessions": len(user.padded),
        "messages": sum(session.messages for session in user.sessions),
        "distinct": sum(session.distinct for session in user.sessions),
        "distinct_share": Undefined("undefined_nothing_to_count", "no message") if share is None else share,
    }


def _padded(facts: Facts) -> Scores:
    """Each session that repeats messages, the worst first."""
    rows = [
        (counts.distinct / counts.messages, f"{user.uuid}/{counts.number}", counts)
        for user in users_of(facts) for counts in user.sessions if counts.padded
    ]  # fmt: skip
    return {
        group: {"messages": counts.messages, "distinct": counts.distinct, "distinct_share": share}
        for share, group, counts in sorted(rows)
    }


def _time(facts: Facts) -> Scores:
    """Minutes of writing and of reading over the run, and seconds for each call that was timed."""
    clocks = list(facts.get("timings", {}).values())
    if not clocks:
        return {ALL: NO_SHEET}
    spent = timings(clocks)
    write, read = spent["add_dialogue_duration_time"], spent["search_memory_duration_time"]
    writes = sum(len(payload["add_dialogue_duration_ms"]) for payload in clocks)
    reads = sum(len(payload["search_duration_ms"]) for payload in clocks)
    return {
        ALL: {
            "write_minutes": write, "write_calls": writes, "seconds_a_write": _seconds(write, writes),
            "read_minutes": read, "read_calls": reads, "seconds_a_read": _seconds(read, reads),
        }
    }  # fmt: skip


def _seconds(minutes: Metric, calls: int) -> Metric:
    if isinstance(minutes, Undefined):
        return minutes
    return 60 * minutes / calls if calls else Undefined("undefined_nothing_to_count", "no call was timed")
