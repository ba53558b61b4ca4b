"""The tables of the sample's README, so that no number in it is typed by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from verdicts import TASKS, Json, Run, Task, Verdict

Condition = Callable[[Verdict], bool]

SCORE_LABELS = ("2", "1", "0")
LABELS: dict[Task, tuple[str, ...]] = {
    "integrity": SCORE_LABELS,
    "accuracy": SCORE_LABELS,
    "update": ("Correct", "Hallucination", "Omission", "Other"),
    "qa": ("Correct", "Hallucination", "Omission"),
}
"""The label sets, best first."""

FLAGS = ("true", "false")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of planted error: where it occurs, what it is, and which verdicts could have had it."""

    name: str
    tasks: tuple[Task, ...]
    what: str
    among: str
    could: Condition


def _best(v: Verdict) -> bool:
    return str(v.truth) == LABELS[v.task][0] and not v.distractor


KINDS = (
    Kind(
        "half_called_whole",
        ("integrity",),
        "the judge gives 2 although only part of a compound point is covered, or part of it is wrong",
        "expected points whose truth is 1",
        lambda v: v.truth == 1 and not v.distractor,
    ),
    Kind(
        "topic_called_stored",
        ("integrity",),
        "the judge gives 1 for a distractor because its topic occurs in a memory",
        "distractors that were not stored (truth 0), where the judge was asked",
        lambda v: v.truth == 0 and v.distractor and v.called,
    ),
    Kind(
        "wrong_number_passed",
        ("accuracy",),
        "the judge gives 2 to a memory with a wrong number or date beside a true fact",
        "memories whose truth is 1",
        lambda v: v.truth == 1,
    ),
    Kind(
        "flag_too_wide",
        ("accuracy",),
        "the score is right, but the judge says that the memory's fields are in the gold list when they are not",
        "memories whose true flag is false",
        lambda v: v.truth_flag == "false",
    ),
    Kind(
        "incomplete_called_correct",
        ("update",),
        "the judge says Correct although the new version, or a key part of it, was not retrieved",
        "updates whose truth is Omission",
        lambda v: v.truth == "Omission",
    ),
    Kind(
        "wrong_value_passed",
        ("update",),
        "the judge says Correct although the retrieved new value is wrong",
        "updates whose truth is Hallucination",
        lambda v: v.truth == "Hallucination",
    ),
    Kind(
        "correct_called_omission",
        ("update",),
        "the judge says Omission because the old version is not repeated",
        "updates whose truth is Correct, users who do not write Chinese",
        lambda v: _best(v) and v.language != "zh",
    ),
    Kind(
        "confident_claim_passed",
        ("qa",),
        "the judge says Correct to a wrong answer that is stated with confidence",
        "answers whose truth is Hallucination",
        lambda v: v.truth == "Hallucination",
    ),
    Kind(
        "partial_passed",
        ("qa",),
        "the judge says Correct to an answer that lacks a part; it does so for one system only",
        "answers whose truth is Omission",
        lambda v: v.truth == "Omission",
    ),
    Kind(
        "paraphrase_called_omission",
        ("qa",),
        "the judge says Omission to a right answer in other words",
        "answers whose truth is Correct, users who do not write Chinese",
        lambda v: _best(v) and v.language != "zh",
    ),
    Kind(
        "strict_on_chinese",
        TASKS,
        "the judge marks down what is right because the Chinese wording differs or an evidenced detail is added",
        "verdicts of Chinese users whose truth is the best label, distractors aside",
        lambda v: _best(v) and v.language == "zh",
    ),
)


def readme_tables(runs: Sequence[Run]) -> dict[str, str]:
    """Placeholder of the template → Markdown."""
    verdicts = [verdict for run in runs for verdict in run.verdicts]
    return {
        "total": str(len(verdicts)),
        "counts": _counts(runs),
        "kinds": _kinds(),
        "rates": _rates(runs),
        "error_rates": _error_rates(runs),
        "errors": _errors(verdicts),
        "scores": _scores(runs),
        "confusion": "\n\n".join(_confusions(verdicts)),
        "agreement": _agreements(runs, verdicts),
    }


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers_from: int) -> str:
    """A Markdown table; columns from `numbers_from` on are set to the right."""
    rule = ["---" if column < numbers_from else "---:" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in (head, rule, *rows))


def _of(run: Run, task: Task) -> list[Verdict]:
    return [verdict for verdict in run.verdicts if verdict.task == task]


def _counts(runs: Sequence[Run]) -> str:
    counts = {f"`{run.system}`": [len(_of(run, task)) for task in TASKS] for run in runs}
    counts["both"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    return _table(("system", *TASKS, "all"), ((name, *row, sum(row)) for name, row in counts.items()), 1)


def _kinds() -> str:
    rows = ((f"`{kind.name}`", kind.what, kind.among) for kind in KINDS)
    return _table(("kind", "what the judge does", "could have happened to"), rows, 9)


def _rates(runs: Sequence[Run]) -> str:
    rows = []
    for kind in KINDS:
        for task in kind.tasks:
            cells = [_rate(kind, _of(run, task)) for run in runs]
            both = _rate(kind, [verdict for run in runs for verdict in _of(run, task)])
            rows.append((f"`{kind.name}`", task, *cells, both))
    return _table(("kind", "task", *(f"`{run.system}`" for run in runs), "both"), rows, 2)


def _rate(kind: Kind, verdicts: Iterable[Verdict]) -> str:
    could = [verdict for verdict in verdicts if kind.could(verdict)]
    return _share(sum(verdict.error == kind.name for verdict in could), len(could))


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.0f} %)" if of else "0 of 0"


def _error_rates(runs: Sequence[Run]) -> str:
    rows = []
    for task in TASKS:
        cells = [_share(sum(v.error != "" for v in _of(run, task)), len(_of(run, task))) for run in runs]
        both = [v for run in runs for v in _of(run, task)]
        rows.append((task, *cells, _share(sum(v.error != "" for v in both), len(both))))
    return _table(("task", *(f"`{run.system}`" for run in runs), "both"), rows, 1)


def _errors(verdicts: Iterable[Verdict]) -> str:
    order = [kind.name for kind in KINDS]
    planted = sorted((v for v in verdicts if v.error), key=lambda v: order.index(v.error))
    rows = ((number, *_error(verdict)) for number, verdict in enumerate(planted, start=1))
    return _table(("", "kind", "task", "system", "user, session", "about", "judge → truth"), rows, 9)


def _error(v: Verdict) -> tuple[str, ...]:
    about = v.content["question" if v.task == "qa" else "memory_content"]
    change = f"{v.judge} → {v.truth}" if v.judge != v.truth else f"flag {v.judge_flag} → {v.truth_flag}"
    return (f"`{v.error}`", v.task, f"`{v.system}`", f"{v.user}, {v.session}", about, change)


def _scores(runs: Sequence[Run]) -> str:
    """The metrics of `overall_score`, counts aside: as the judge has it, and with the truth in the judge's place."""
    columns = [dict(_flat(run.scores(true=true))) for run in runs for true in (False, True)]
    ratios = [name for name in columns[0] if not name.endswith(("_num", "_sum"))]
    rows = [(f"`{name}`", *(f"{column[name]:.6f}" for column in columns)) for name in ratios]
    head = [f"`{run.system}` {which}" for run in runs for which in ("judge", "truth")]
    return _table(("metric", *head), rows, 1)


def _flat(scores: Json, prefix: str = "") -> Iterable[tuple[str, float]]:
    for name, value in scores.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _confusions(verdicts: Sequence[Verdict]) -> Iterable[str]:
    for task in TASKS:
        pairs = _pairs(verdicts, task)
        yield f"**{task}**, {len(pairs)} verdicts\n\n{_confusion(pairs, LABELS[task])}"
    flags = _flag_pairs(verdicts)
    yield f"**accuracy, flag**, {len(flags)} verdicts\n\n{_confusion(flags, FLAGS)}"


def _pairs(verdicts: Iterable[Verdict], task: Task) -> list[tuple[str, str]]:
    """(truth, judge) of the verdicts that can be read."""
    return [(str(v.truth), str(v.judge)) for v in verdicts if v.task == task and v.judge is not None]


def _flag_pairs(verdicts: Iterable[Verdict]) -> list[tuple[str, str]]:
    return [(v.truth_flag, v.judge_flag) for v in verdicts if v.task == "accuracy" and v.judge is not None]


def _confusion(pairs: Iterable[tuple[str, str]], labels: Sequence[str]) -> str:
    counts = Counter(pairs)
    rows = [(f"truth {truth}", *(counts[truth, judge] for judge in labels)) for truth in labels]
    return _table(("", *(f"judge {label}" for label in labels)), rows, 1)


def _agreements(runs: Sequence[Run], verdicts: Sequence[Verdict]) -> str:
    groups: list[tuple[str, Sequence[Verdict]]] = [(f"`{run.system}`", run.verdicts) for run in runs]
    groups.append(("both", verdicts))
    rows = [
        (task, name, *_agreement(_pairs(group, task), LABELS[task], ordinal=LABELS[task] == SCORE_LABELS))
        for task in TASKS
        for name, group in groups
    ]
    flags = [("accuracy, flag", name, *_agreement(_flag_pairs(group), FLAGS, ordinal=False)) for name, group in groups]
    return _table(("task", "system", "n", "raw agreement", "κ", "κ linear", "κ quadratic"), (*rows, *flags), 2)


def _agreement(pairs: Sequence[tuple[str, str]], labels: Sequence[str], *, ordinal: bool) -> tuple[str, ...]:
    same = sum(truth == judge for truth, judge in pairs)
    raw = f"{same}/{len(pairs)} = {same / len(pairs):.4f}"
    weighted = [f"{cohen_kappa(pairs, labels, power):.4f}" if ordinal else "" for power in (1, 2)]
    return (str(len(pairs)), raw, f"{cohen_kappa(pairs, labels):.4f}", *weighted)


def cohen_kappa(pairs: Sequence[tuple[str, str]], labels: Sequence[str], power: int = 0) -> float:
    """Cohen's κ of (truth, judge) pairs: 1 − observed / expected disagreement (Cohen 1960, 1968).

    Args:
        power: 0 for unweighted, 1 for linear, 2 for quadratic weights over the places in `labels`.

    Raises:
        ZeroDivisionError: there is no pair, or one label stands everywhere.
    """
    rank = {label: place for place, label in enumerate(labels)}

    def distance(one: str, other: str) -> float:
        return abs(rank[one] - rank[other]) ** power if one != other else 0.0

    truths, judged = (Counter(column) for column in zip(*pairs, strict=True))
    observed = sum(distance(*pair) for pair in pairs) / len(pairs)
    expected = sum(truths[one] * judged[other] * distance(one, other) for one in labels for other in labels)
    return 1 - observed / (expected / len(pairs) ** 2)
