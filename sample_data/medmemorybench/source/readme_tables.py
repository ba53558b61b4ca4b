"""The tables of the sample's README, computed from its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from verdicts import REGIMES, SYSTEMS, TYPES, Run, Verdict

TASKS = tuple(TYPES)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of planted error: what the scorer does, and to which answers it could have happened."""

    name: str
    does: str
    among: str
    could: Callable[[Verdict], bool]


def _wrong(*tasks: str, fault: str = "") -> Callable[[Verdict], bool]:
    return lambda v: v.task in tasks and not v.truth and v.judge is not None and fault in ("", v.fault)


def _right(*tasks: str) -> Callable[[Verdict], bool]:
    return lambda v: v.task in tasks and v.truth and v.judge is not None


KINDS = (
    Kind("trap_passed", "the judge passes an answer that fell into the trap", "ig that fell into it",
         _wrong("ig", fault="trap")),
    Kind("stale_passed", "the judge passes a state that no longer holds", "sua with a stale state",
         _wrong("sua", fault="stale")),
    Kind("generic_passed", "the judge passes general advice without the patient's facts", "general sua and ig",
         _wrong("sua", "ig", fault="generic")),
    Kind("relative_passed", "the judge passes a fact of a relative", "tla, sua and ig with one",
         _wrong("tla", "sua", "ig", fault="relative")),
    Kind("notation_failed", "the judge fails a right date in another notation", "right tla", _right("tla")),
    Kind("paraphrase_failed", "the judge fails a right answer in other words", "right sua and ig", _right("sua", "ig")),
    Kind("below_threshold_passed", "the judge passes a deduction that the published rule fails", "wrong mcd",
         _wrong("mcd")),
    Kind("strict_chain_failed", "the judge fails a deduction that has the whole chain", "right mcd", _right("mcd")),
    Kind("number_cut", "the rule finds the value inside another number", "wrong eem", _wrong("eem")),
    Kind("negation_passed", "the rule finds the answer though it is denied", "wrong eem", _wrong("eem")),
    Kind("spelling_failed", "the rule misses the same value in another spelling", "right eem", _right("eem")),
    Kind("letters_missed", "the rule reads no letter where some are chosen", "right mq", _right("mq")),
    Kind("letters_extra", "the rule reads letters that are only discussed", "right mq", _right("mq")),
)  # fmt: skip


def readme_tables(runs: Sequence[Run]) -> dict[str, str]:
    verdicts = [verdict for run in runs for verdict in run.verdicts]
    return {
        "total": str(len(verdicts)),
        "counts": _counts(runs),
        "kinds": _kinds(),
        "rates": _rates(verdicts),
        "scores": _scores(runs),
        "losses": _losses(runs),
        "traps": _traps(verdicts),
        "confusions": _confusions(verdicts),
        "failures": _failures(verdicts),
        "errors": _errors(verdicts),
    }


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], words: int) -> str:
    """A Markdown table whose first `words` columns are flush left."""
    rules = ["---" if place < words else "---:" for place in range(len(head))]
    lines = [head, rules, *([str(cell).replace("\n", " ") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def _counts(runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        counts = [sum(v.task == task for v in run.verdicts) for task in TASKS]
        rows.append((f"`{run.system}`", run.regime, run.language, *counts, sum(counts)))
    totals = [sum(v.task == task for run in runs for v in run.verdicts) for task in TASKS]
    rows.append(("all", "", "", *totals, sum(totals)))
    return _table(("system", "regime", "language", *TASKS, "all"), rows, 3)


def _kinds() -> str:
    return _table(("kind", "what goes wrong", "could have happened to"),
                  [(f"`{kind.name}`", kind.does, kind.among) for kind in KINDS], 3)  # fmt: skip


def _rates(verdicts: Sequence[Verdict]) -> str:
    rows = []
    for kind in KINDS:
        cells = []
        for system in (*SYSTEMS.values(), ""):
            found = [v for v in verdicts if system in ("", v.system) and kind.could(v)]
            cells.append(_share(sum(v.error == kind.name for v in found), len(found)))
        rows.append((f"`{kind.name}`", *cells))
    return _table(("kind", *(f"`{system}`" for system in SYSTEMS.values()), "both"), rows, 1)


def accuracy(verdicts: Sequence[Verdict], *, true: bool) -> float:
    """As coded (whatever is truthy is correct), or of the truth."""
    return sum(v.truth if true else bool(v.record["is_correct"]) for v in verdicts) / len(verdicts)


def mean_of_six(verdicts: Sequence[Verdict], *, true: bool) -> float:
    return sum(accuracy([v for v in verdicts if v.task == task], true=true) for task in TASKS) / len(TASKS)


def _scores(runs: Sequence[Run]) -> str:
    rows = [
        (f"`{run.system}`", run.regime, run.language, len(run.verdicts),
         *(f"{measure(run.verdicts, true=true):.6f}" for measure in (accuracy, mean_of_six) for true in (False, True)))
        for run in runs
    ]  # fmt: skip
    head = ("system", "regime", "language", "n", "overall_accuracy", "truth", "mean of six", "truth")
    return _table(head, rows, 3)


def _losses(runs: Sequence[Run]) -> str:
    by_run = {(run.system, run.regime, run.language): run.verdicts for run in runs}
    rows = []
    for system, language in dict.fromkeys((run.system, run.language) for run in runs):
        both = [by_run[system, regime, language] for regime in REGIMES.values()]
        cells = []
        for true in (False, True):
            first, second = ([v.truth if true else bool(v.record["is_correct"]) for v in group] for group in both)
            lost = sum(a and not b for a, b in zip(first, second, strict=True))
            won = sum(b and not a for a, b in zip(first, second, strict=True))
            cells += [lost, won, f"{(lost - won) / len(first):.6f}"]
        rows.append((f"`{system}`", language, len(both[0]), *cells))
    head = ("system", "language", "n", "lost", "won", "loss", "lost in truth", "won in truth", "loss in truth")
    return _table(head, rows, 2)


def _traps(verdicts: Sequence[Verdict]) -> str:
    rows = []
    trapped = [v for v in verdicts if v.trap]
    for kind in (*dict.fromkeys(v.trap for v in trapped), "all"):
        found = [v for v in trapped if kind in ("all", v.trap)]
        wrong = [v for v in found if not v.truth]
        rows.append((kind, sum(bool(v.record["is_correct"]) for v in wrong), len(wrong), len(found)))
    return _table(("trap_type", "passed as right", "wrong", "n"), rows, 1)


def _confusions(verdicts: Sequence[Verdict]) -> str:
    rows = []
    for task in TASKS:
        pairs = Counter((v.truth, v.judge) for v in verdicts if v.task == task and v.judge is not None)
        n, agreed = sum(pairs.values()), pairs[True, True] + pairs[False, False]
        kappa = cohen_kappa(pairs)
        cells = [pairs[truth, judge] for truth in (True, False) for judge in (True, False)]
        rows.append((task, *cells, n, f"{agreed}/{n} = {agreed / n:.4f}", f"{kappa:.4f}"))
    head = ("task", "right, passed", "right, failed", "wrong, passed", "wrong, failed", "n", "raw agreement", "κ")
    return _table(head, rows, 1)


def cohen_kappa(pairs: Counter[tuple[bool, bool | None]]) -> float:
    """Cohen's κ of (truth, judge) counts (Cohen 1960).

    Raises:
        ZeroDivisionError: there is no pair, or one label stands everywhere.
    """
    n = sum(pairs.values())
    observed = (pairs[True, True] + pairs[False, False]) / n
    truth = (pairs[True, True] + pairs[True, False]) / n
    judge = (pairs[True, True] + pairs[False, True]) / n
    expected = truth * judge + (1 - truth) * (1 - judge)
    return (observed - expected) / (1 - expected)


def _failures(verdicts: Sequence[Verdict]) -> str:
    rows = []
    for v in (v for v in verdicts if v.judge is None):
        details = v.record["evaluation_details"]
        what = 'the text "false"' if v.record["is_correct"] == "false" else details.get("judge_reason", "API error")
        rows.append((what, f"`{v.system}`", v.regime, v.persona, v.query_id))
    return _table(("what the file says", "system", "regime", "persona", "query"), rows, 5)


def _errors(verdicts: Sequence[Verdict]) -> str:
    order = [kind.name for kind in KINDS]
    planted = sorted((v for v in verdicts if v.error), key=lambda v: order.index(v.error))
    words = {True: "right", False: "wrong"}
    rows = [
        (number, f"`{v.error}`", v.task, f"`{v.system}`", v.regime, v.persona, v.query_id, words[v.truth])
        for number, v in enumerate(planted, start=1)
    ]
    return _table(("", "kind", "task", "system", "regime", "persona", "query", "in truth"), rows, 8)
