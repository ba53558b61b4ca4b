"""What the paper reports and its code does not compute, and what a reader needs beside it. Definitions are ours.

- `mean_of_six`: unweighted mean of the six type accuracies, the paper's average; the code pools.
- `strict`: only JSON booleans are verdicts; failed and unreadable ones are left out and counted.
- `by_published_rule`: deductions by the thresholds of the judge's prompt, over the judge's own scores.
- `rule_scoring`: entity match and multiple choice read better (`rules`).
- `checkpoints`: accuracy by session of asking.
- `hallucination`: incorrect answers that do not abstain / incorrect answers.
- `retrieval`: recall over unique session ids, of queries whose memories all name their session.
- `overlap`: token F1 and ROUGE-L (`overlap`) of open answers; options of a multiple choice are letters.
- `traps`: accuracy by kind of trap. `leakage`: key points of sessions after the checkpoint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.medmemorybench.abstention import abstains
from judges.benchmarks.medmemorybench.chain import judge_ruling
from judges.benchmarks.medmemorybench.counted import Counted
from judges.benchmarks.medmemorybench.doubts import NO_DOUBT, kind_of_doubt
from judges.benchmarks.medmemorybench.overlap import rouge_l, token_f1
from judges.benchmarks.medmemorybench.rules import choice_read_better, entity_read_better
from judges.benchmarks.medmemorybench.shapes import RULE_TASKS, TASK_OF_TYPE, TYPE_OF_TASK
from judges.benchmarks.medmemorybench.shares import share
from judges.benchmarks.medmemorybench.summary import NOTHING, Metric
from judges.benchmarks.medmemorybench.verdict_labels import read_label

SIX = tuple(TASK_OF_TYPE)
Group = Mapping[str, Sequence[Counted]]


def described(rows: Sequence[Counted]) -> Scores:
    """All of the above over one run's records, each query once."""
    once = [row for row in rows if row.item is not None]
    scores: Scores = {"mean_of_six": mean_of_six(once)}
    if len(once) < len(rows):
        scores["each_query_once"] = {"overall_accuracy": accuracy(once), "repeats_left_out": len(rows) - len(once)}
    return scores | {
        "strict": strict(once),
        "by_published_rule": by_published_rule(once),
        "rule_scoring": rule_scoring(once),
        "checkpoints": checkpoints(once),
        "hallucination": hallucination(once),
        "retrieval": retrieval(once),
        "overlap": overlap(once),
        "traps": traps(once),
        "leakage": leakage(once),
    }


def accuracy(rows: Sequence[Counted]) -> Metric:
    if not rows:
        return Undefined(NOTHING, "there is no record")
    return sum(bool(row.answer.is_correct) for row in rows) / len(rows)


def mean_of_six(rows: Sequence[Counted]) -> Metric:
    """Undefined when a type has no record: the paper's mean is over all six."""
    groups = {name: [row for row in rows if row.query_type == name] for name in SIX}
    missing = [TASK_OF_TYPE[name].upper() for name, group in groups.items() if not group]
    if missing:
        return Undefined(NOTHING, f"there is no record of {', '.join(missing)}")
    return sum(sum(bool(r.answer.is_correct) for r in group) / len(group) for group in groups.values()) / len(SIX)


def strict(rows: Sequence[Counted]) -> Scores:
    """Pooled and by type over verdicts that can be read; `left_out` by failure, or by the route of a missing one."""
    read = [(row, read_label(TASK_OF_TYPE[row.query_type], row.answer)) for row in rows]
    valid = [row for row, label in read if label.label is not None]
    left_out = Counter(_why(label.failure, label.route) for _, label in read if label.label is None)
    return {
        "overall_accuracy": accuracy(valid),
        "by_type": {name: accuracy(group) for name, group in _by(valid, lambda row: row.query_type).items()},
        "read": len(valid),
        "left_out": dict(left_out),
    }


def _why(failure: str, route: str) -> str:
    return route if failure == "missing" and route not in ("judged", "rule") else failure


def by_published_rule(rows: Sequence[Counted]) -> Scores:
    """Deductions by the rule; partial has no label in the benchmark and is not correct. `n` have readable scores."""
    found = [(row, ruled) for row in rows if row.query_type == TYPE_OF_TASK["mcd"]
             if (ruled := judge_ruling(row.answer.details)) is not None]  # fmt: skip
    counts = Counter(ruled.verdict for _, ruled in found)
    passed = sum(bool(row.answer.is_correct) and ruled.verdict != "correct" for row, ruled in found)
    value: Metric = counts["correct"] / len(found) if found else Undefined(NOTHING, "no deduction has readable scores")
    return {
        "accuracy": value,
        **{verdict: counts[verdict] for verdict in ("correct", "partial", "incorrect")},
        "passed_below_thresholds": passed,
        "n": len(found),
    }


def rule_scoring(rows: Sequence[Counted]) -> Scores:
    """By rule-scored type: accuracy as stored and read better, over records whose gold answer is known."""
    scores: Scores = {}
    for task in RULE_TASKS:
        found = [
            row for row in rows if row.query_type == TYPE_OF_TASK[task] and row.item and row.item.extra.get("gold")
        ]
        better = [_read_better(task, row.item) for row in found if row.item]
        doubts = [row for row in found if row.item and kind_of_doubt(row.item) != NO_DOUBT]
        scores[TYPE_OF_TASK[task]] = {
            "as_coded": accuracy(found),
            "read_better": sum(better) / len(better) if better else Undefined(NOTHING, "no gold answer is known"),
            "doubtful": len(doubts),
            "n": len(found),
        }
    return scores


def _read_better(task: str, item: ScoredItem) -> bool:
    gold, output = item.extra["gold"], str(item.payload.get("response", ""))
    return entity_read_better(gold, output) if task == "eem" else choice_read_better(frozenset(gold), output)


def checkpoints(rows: Sequence[Counted]) -> Scores:
    """Accuracy by session of asking, in order, with an interval clustered by persona where that can be had."""
    groups = _by([row for row in rows if _slice(row, "checkpoint").isdecimal()], lambda row: _slice(row, "checkpoint"))
    return {
        name: share([(row.persona, bool(row.answer.is_correct)) for row in groups[name]]).as_scores()
        for name in sorted(groups, key=int)
    }


def hallucination(rows: Sequence[Counted], says: Callable[[Counted], bool] | None = None) -> Scores:
    """Incorrect answers that do not abstain / incorrect answers, pooled over the types and for each.

    Args:
        says: whether an answer abstains; by default the declared rule (`abstention`).
    """
    said = says or abstains_by_rule
    return {
        **_confident(rows, said),
        "by_type": {name: _confident(group, said) for name, group in _by(rows, lambda row: row.query_type).items()},
    }


def abstains_by_rule(row: Counted) -> bool:
    return abstains(str(row.item.payload.get("response", ""))) if row.item else False


def _confident(rows: Sequence[Counted], says: Callable[[Counted], bool]) -> Scores:
    wrong = [row for row in rows if not row.answer.is_correct]
    confident = sum(not says(row) for row in wrong)
    rate: Metric = confident / len(wrong) if wrong else Undefined(NOTHING, "no answer is incorrect")
    return {"rate": rate, "confident": confident, "incorrect": len(wrong)}


def retrieval(rows: Sequence[Counted]) -> Scores:
    """Mean recall of the key points' sessions among all memories of a query; number and length of memories.

    A run of which no memory names a session has no recall, also where a query retrieved nothing.
    """
    memories = [row.item.extra["retrieval"] for row in rows if row.item and "retrieval" in row.item.extra]
    lengths = [length for listed in memories for _, length, _ in listed]
    named = any(sessions for listed in memories for sessions, _, _ in listed)
    recalls = [value for row in rows if named and row.item if (value := recall(row.item)) is not None]
    with_gold = sum(bool(row.item and row.item.extra.get("evidence")) for row in rows)
    why = "no query has both key points and memories that name their session"
    return {
        "recall_at_k": sum(recalls) / len(recalls) if recalls else Undefined("unavailable", why),
        "recall_n": len(recalls),
        "without_ids": with_gold - len(recalls),
        "mean_memories": sum(map(len, memories)) / len(memories) if memories else Undefined(NOTHING, "no memories"),
        "mean_characters": sum(lengths) / len(lengths) if lengths else Undefined(NOTHING, "no memories"),
    }


def recall(item: ScoredItem) -> float | None:
    """|sessions of the memories ∩ sessions of the key points| / |sessions of the key points|, unique sessions.

    None where there are no key points, or a memory names no session. A memory of noise names none that is gold.
    """
    gold, memories = set(item.extra.get("evidence", ())), item.extra.get("retrieval")
    if not gold or memories is None or any(not sessions and not noise for sessions, _, noise in memories):
        return None
    found = {session for sessions, _, _ in memories for session in sessions}
    return len(found & gold) / len(gold)


def overlap(rows: Sequence[Counted]) -> Scores:
    """Mean token F1 and ROUGE-L of open answers against the reference."""
    pairs = [
        (str(row.item.payload.get("response", "")), str(row.item.payload.get("reference", "")))
        for row in rows
        if row.item and row.item.task != "mq"
    ]
    if not pairs:
        return dict.fromkeys(("token_f1", "rouge_l"), Undefined(NOTHING, "there is no open answer")) | {"n": 0}
    return {
        "token_f1": sum(token_f1(*pair) for pair in pairs) / len(pairs),
        "rouge_l": sum(rouge_l(*pair) for pair in pairs) / len(pairs),
        "n": len(pairs),
    }


def traps(rows: Sequence[Counted]) -> Scores:
    """Accuracy and number of queries by kind of trap; no kind is left out for being good."""
    groups = _by([row for row in rows if _slice(row, "trap_kind")], lambda row: _slice(row, "trap_kind"))
    return {kind: {"accuracy": accuracy(groups[kind]), "n": len(groups[kind])} for kind in sorted(groups)}


def leakage(rows: Sequence[Counted]) -> Scores:
    """Queries whose key points were checked against their checkpoint, and those that rest on a later session."""
    found = Counter(_slice(row, "leakage") for row in rows)
    return {"checked": found["yes"] + found["no"], "violations": found["yes"]}


def _slice(row: Counted, name: str) -> str:
    return row.item.slices.get(name, "") if row.item else ""


def _by(rows: Iterable[Counted], key: Callable[[Counted], str]) -> dict[str, list[Counted]]:
    groups: dict[str, list[Counted]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
