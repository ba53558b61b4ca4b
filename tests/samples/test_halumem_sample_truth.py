"""The planted errors of the HaluMem sample, and every number its README derives from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest
from halumem_sample_files import (
    CHINESE_USERS,
    LABELS,
    SYSTEMS,
    TASKS,
    Json,
    Row,
    names,
    readme_tables,
    records,
    result,
    rows_with_records,
    sheet,
    truth,
    truth_of,
)
from sklearn.metrics import cohen_kappa_score

# --- the truth -------------------------------------------------------------------------------------------------------


def test_truth_rows_name_their_records_and_repeat_the_judges_labels() -> None:
    keys = {"integrity": "index", "update": "index", "accuracy": "memory_content", "qa": "question"}
    for row, record in rows_with_records():
        label = record[TASKS[row["task"]][1]]
        assert row["key"] == str(record[keys[row["task"]]])
        assert (row["uuid"], row["ssession_id"]) == (record["uuid"], str(record["ssession_id"]))
        assert row["judge"] == ("" if label is None else str(label))
        assert row["judge_flag"] == record.get("is_included_in_golden_memories", "")
        assert row["truth"] in LABELS[row["task"]]
    identities = [(row["system"], row["task"], row["uuid"], row["ssession_id"], row["key"]) for row in truth()]
    assert len(set(identities)) == len(identities)


def test_the_judge_is_wrong_exactly_where_an_error_is_planted() -> None:
    for row in truth():
        wrong = row["judge"] != "" and (row["judge"], row["judge_flag"]) != (row["truth"], row["truth_flag"])
        assert wrong == (row["error"] != ""), row


def test_the_readme_lists_every_planted_error() -> None:
    head, *rows = readme_tables("Every planted error")[0]
    listed = sorted((kind, task, system, place, change) for _, kind, task, system, place, _, change in rows)
    planted = []
    for row in truth():
        if row["error"]:
            place = f"{names()[row['uuid']]}, {row['ssession_id']}"
            labels, flags = (
                f"{row[judge]} → {row[true]}" for judge, true in (("judge", "truth"), ("judge_flag", "truth_flag"))
            )
            change = labels if row["judge"] != row["truth"] else f"flag {flags}"
            planted.append((row["error"], row["task"], row["system"], place, change))

    assert head[1:] == ["kind", "task", "system", "user, session", "about", "judge → truth"]
    assert listed == sorted(planted)
    assert [row[0] for row in rows] == [str(number) for number in range(1, len(planted) + 1)]


def chinese(row: Row) -> bool:
    return names()[row["uuid"]] in CHINESE_USERS


def right(row: Row, record: Json) -> bool:
    return row["truth"] in ("2", "Correct") and record.get("memory_source") != "interference"


COULD: dict[str, Callable[[Row, Json], bool]] = {
    "half_called_whole": lambda row, record: row["truth"] == "1" and record["memory_source"] != "interference",
    "topic_called_stored": lambda row, record: (
        row["truth"] == "0" and record["memory_source"] == "interference" and "rationale" in record
    ),
    "wrong_number_passed": lambda row, record: row["truth"] == "1",
    "flag_too_wide": lambda row, record: row["truth_flag"] == "false",
    "incomplete_called_correct": lambda row, record: row["truth"] == "Omission",
    "wrong_value_passed": lambda row, record: row["truth"] == "Hallucination",
    "correct_called_omission": lambda row, record: right(row, record) and not chinese(row),
    "confident_claim_passed": lambda row, record: row["truth"] == "Hallucination",
    "partial_passed": lambda row, record: row["truth"] == "Omission",
    "paraphrase_called_omission": lambda row, record: right(row, record) and not chinese(row),
    "strict_on_chinese": lambda row, record: right(row, record) and chinese(row),
}


def test_planted_rates_are_those_of_the_readme() -> None:
    kinds, rates, _ = readme_tables("Planted errors")
    assert [row[0] for row in kinds[1:]] == list(COULD)
    assert {row["error"] for row in truth()} - {""} == set(COULD)

    for kind, task, *cells in rates[1:]:
        pairs = [pair for pair in rows_with_records() if pair[0]["task"] == task and COULD[kind](*pair)]
        for systems, cell in zip((SYSTEMS[:1], SYSTEMS[1:], SYSTEMS), cells, strict=True):
            could = [row for row, _ in pairs if row["system"] in systems]
            planted = [row for row in could if row["error"] == kind]
            assert cell.split(" (")[0] == f"{len(planted)} of {len(could)}"
        assert len([row for row in truth() if row["error"] == kind and row["task"] == task]) == int(cells[2].split()[0])


def test_error_rates_are_those_of_the_readme() -> None:
    for task, *cells in readme_tables("Planted errors")[2][1:]:
        for systems, cell in zip((SYSTEMS[:1], SYSTEMS[1:], SYSTEMS), cells, strict=True):
            rows = [row for row in truth() if row["task"] == task and row["system"] in systems]
            wrong = sum(row["error"] != "" for row in rows)
            assert cell == f"{wrong} of {len(rows)} ({100 * wrong / len(rows):.0f} %)"


# --- numbers ---------------------------------------------------------------------------------------------------------


def share(part: int | Fraction, whole: int | Fraction) -> float:
    """One division of exact numbers, rounded once: what the official float operations give on quarters."""
    return float(Fraction(part) / whole)


def recomputed(arrays: dict[str, list[Json]], users: list[Json]) -> Json:
    """`overall_score` written down once more, from the published formulas, sharing nothing with the build."""
    integrity, cards, updates, answers = (arrays[array] for array, _ in TASKS.values())
    gold = [
        (r["memory_integrity_score"], Fraction(r["importance"]))
        for r in integrity
        if r["memory_source"] != "interference"
    ]
    fooled = [r["memory_integrity_score"] for r in integrity if r["memory_source"] == "interference"]
    scores = [r["memory_accuracy_score"] for r in cards]
    targets = [r["memory_accuracy_score"] for r in cards if r["is_included_in_golden_memories"] == "true"]
    weight = sum(w for _, w in gold)
    recall = share(sum(s == 2 for s, _ in gold), len(gold))
    weighted = share(sum(s * w for s, w in gold), 2 * weight)
    precision = share(sum(targets), 2 * len(targets))
    sessions = [session for user in users for session in user["sessions"]]
    adding = sum(session["add_dialogue_duration_ms"] for session in sessions)
    searching = sum(q["search_duration_ms"] for session in sessions for q in session.get("questions", []))

    def both(name: str, value: float, valid: float | None = None) -> Json:
        return {f"{name}(all)": value, f"{name}(valid)": value if valid is None else valid}

    def ratios(rows: list[Json], field: str, labels: list[str], name: str) -> Json:
        given = [row[field] for row in rows if row[field] is not None]
        counted: Json = {}
        for label in labels:
            count = given.count(label)
            counted |= both(f"{label.lower()}_{name}_ratio", share(count, len(rows)), share(count, len(given)))
        return {**counted, f"{name}_valid_num": len(given), f"{name}_num": len(rows)}

    def of_type(kind: str) -> Json:
        stored = [r["memory_integrity_score"] == 2 for r in integrity if r["memory_type"] == kind]
        changed = [r["memory_update_type"] == "Correct" for r in updates if r["memory_type"] == kind]
        total = len(stored) + len(changed)
        parts = [share(sum(stored), total), share(sum(changed), total)]
        names = ("memory_integrity_acc", "memory_update_acc", "total_num", "memory_acc")
        return dict(zip(names, (*parts, total, sum(parts)), strict=True))

    return {
        "memory_integrity": {
            **both("recall", recall),
            **both("weighted_recall", weighted),
            "memory_valid_importance_sum": float(weight),
            "memory_importance_sum": float(weight),
            "memory_valid_num": len(gold),
            "memory_num": len(gold),
        },
        "memory_accuracy": {
            **both("interference_accuracy", share(fooled.count(0), len(fooled))),
            "interference_memory_valid_num": len(fooled),
            "interference_memory_num": len(fooled),
            **both("target_accuracy", precision),
            "target_memory_valid_num": len(targets),
            "target_memory_num": len(targets),
            **both("weighted_accuracy", share(sum(scores), 2 * len(scores))),
            "memory_valid_num": len(scores),
            "memory_num": len(scores),
        },
        "memory_extraction_f1": 2 * precision * recall / (precision + recall),
        "memory_update": ratios(updates, "memory_update_type", LABELS["update"], "update_memory"),
        "question_answering": ratios(answers, "result_type", LABELS["qa"], "qa"),
        "memory_type_accuracy": {
            kind: of_type(kind) for kind in ("Event Memory", "Persona Memory", "Relationship Memory")
        },
        "time_consuming": {
            "add_dialogue_duration_time": adding / 1000 / 60,
            "search_memory_duration_time": searching / 1000 / 60,
            "total_duration_time": adding / 1000 / 60 + searching / 1000 / 60,
        },
    }


def true_arrays(system: str) -> dict[str, list[Json]]:
    """The record arrays with the labels of truth.csv in the judge's place."""
    arrays: dict[str, list[Json]] = {}
    for task, (array, verdict) in TASKS.items():
        arrays[array] = []
        for row, record in zip(truth_of(system, task), records(system, task), strict=True):
            label = int(row["truth"]) if row["truth"].isdigit() else row["truth"]
            flag = {"is_included_in_golden_memories": row["truth_flag"]} if task == "accuracy" else {}
            arrays[array].append({**record, verdict: label, **flag})
    return arrays


def flat(scores: Json, prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in scores.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


@pytest.mark.parametrize("system", SYSTEMS)
def test_official_scores_equal_a_plain_recomputation(system: str) -> None:
    given = result(system)

    assert recomputed(given, sheet(system)) == given["overall_score"]
    assert [name for name, _ in flat(recomputed(given, sheet(system)))] == [
        name for name, _ in flat(given["overall_score"])
    ]


def test_readme_scores_are_those_of_the_judge_and_of_the_truth() -> None:
    head, *rows = readme_tables("Official scores")[0]
    columns = [
        dict(flat(recomputed(arrays, sheet(system))))
        for system in SYSTEMS
        for arrays in (result(system), true_arrays(system))
    ]

    assert [cell.replace("`", "") for cell in head[1:]] == [
        f"{s} {which}" for s in SYSTEMS for which in ("judge", "truth")
    ]
    assert [row[0] for row in rows] == [name for name in columns[0] if not name.endswith(("_num", "_sum"))]
    for name, *cells in rows:
        assert cells == [f"{column[name]:.6f}" for column in columns], name


def test_the_judge_sees_no_difference_in_answers_where_there_is_a_large_one() -> None:
    name = "question_answering.correct_qa_ratio(all)"
    judged = [dict(flat(recomputed(result(system), sheet(system))))[name] for system in SYSTEMS]
    true = [dict(flat(recomputed(true_arrays(system), sheet(system))))[name] for system in SYSTEMS]

    assert judged[0] == judged[1]
    assert true[0] - true[1] > 0.3


def readable(task: str, systems: Sequence[str], *, flag: bool = False) -> tuple[list[str], list[str]]:
    rows = [row for row in truth() if row["task"] == task and row["system"] in systems and row["judge"] != ""]
    suffix = "_flag" if flag else ""
    return [row[f"truth{suffix}"] for row in rows], [row[f"judge{suffix}"] for row in rows]


def test_readme_confusion_tables_count_the_verdicts() -> None:
    *tables, _ = readme_tables("Judge and truth")
    cases = [*((task, LABELS[task], False) for task in TASKS), ("accuracy", ["true", "false"], True)]

    for table, (task, labels, flag) in zip(tables, cases, strict=True):
        pairs = list(zip(*readable(task, SYSTEMS, flag=flag), strict=True))
        assert table[0][1:] == [f"judge {label}" for label in labels]
        for row, true in zip(table[1:], labels, strict=True):
            assert row == [f"truth {true}", *(str(pairs.count((true, judge))) for judge in labels)]


def test_readme_agreement_is_what_scikit_learn_finds() -> None:
    table = readme_tables("Judge and truth")[-1][1:]
    assert len(table) == 3 * (len(TASKS) + 1)

    for name, system, n, raw, *kappas in table:
        task, flag = name.split(",")[0], name.endswith("flag")
        labels = ["true", "false"] if flag else LABELS[task]
        true, judge = readable(task, SYSTEMS if system == "both" else (system,), flag=flag)
        same = sum(a == b for a, b in zip(true, judge, strict=True))
        ordinal = labels == ["2", "1", "0"]
        expected = [cohen_kappa_score(true, judge, labels=labels, weights=w) for w in (None, "linear", "quadratic")]
        assert (n, raw) == (str(len(true)), f"{same}/{len(true)} = {same / len(true):.4f}")
        assert kappas == [f"{k:.4f}" if w == 0 or ordinal else "" for w, k in enumerate(expected)]
