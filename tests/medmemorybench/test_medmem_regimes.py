"""From Efficient to Mixed: the paired loss on shared queries, by type and by noise; measures side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from medmem_records import TYPES, Imported, Json, read, record_of, run_of, write

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.medmemorybench.regimes import Loss, noise_loss, rank_correlations, side_by_side


def run(folder: Path, regime: str, verdicts: dict[tuple[str, str, int], bool], **fields: Json) -> Imported:
    """One record a (task, persona, checkpoint)."""
    order = sorted(verdicts, key=lambda key: key[1])
    records = [
        (persona, {**record_of(task, at), **fields.get(persona, {}), "is_correct": verdicts[task, persona, at]})
        for task, persona, at in order
    ]
    return read(write(folder / regime, run_of(records)), regime=regime)


def loss_of(efficient: Imported, mixed: Imported, *, with_labels: bool = False) -> Loss:
    return noise_loss(
        efficient.scored(), efficient.facts(), mixed.scored(), mixed.facts(), with_labels=with_labels
    ).overall


def test_the_loss_is_paired_on_shared_queries_alone(tmp_path: Path) -> None:
    efficient = {("ig", "1", 10): True, ("ig", "1", 20): True, ("sua", "1", 10): True, ("sua", "2", 10): False,
                 ("ig", "9", 10): True}  # fmt: skip
    mixed = {("ig", "1", 10): True, ("ig", "1", 20): False, ("sua", "1", 10): False, ("sua", "2", 10): True,
             ("ig", "8", 10): False, ("ig", "7", 10): False}  # fmt: skip
    found = loss_of(run(tmp_path, "Efficient", efficient), run(tmp_path, "Mixed", mixed))
    assert (found.first, found.second, found.loss) == (0.75, 0.5, 0.25)
    assert (found.lost, found.won, found.n) == (2, 1, 4)
    assert (found.only_first, found.only_second) == (1, 2)
    assert found.low is None, "two personas are too few for an interval"
    assert isinstance(found.as_scores()["low"], Undefined)


def test_by_type_and_by_the_noise_that_was_retrieved(tmp_path: Path) -> None:
    keys = [("ig", persona, 10) for persona in "1234"] + [("tla", "1", 20)]
    memories = {
        "1": {"retrieved_memories": [{"memory": "a", "noise_family_id": 1}]},
        "2": {"retrieved_memories": [{"memory": "a", "noise_id": 1}]},
        "3": {"retrieved_memories": [{"memory": "a", "session_id": 4}]},
        "4": {"retrieved_memories": [{"memory": "a"}]},
    }
    efficient = run(tmp_path, "Efficient", dict.fromkeys(keys, True))
    mixed = run(tmp_path, "Mixed", {key: key[1] in "34" for key in keys}, **memories)
    found = noise_loss(efficient.scored(), efficient.facts(), mixed.scored(), mixed.facts())
    assert {noise: (loss.loss, loss.n) for noise, loss in found.by_noise.items()} == {
        "family": (1.0, 2), "health": (1.0, 1), "none": (0.0, 1), "unsaid": (0.0, 1),
    }  # fmt: skip
    by_type = {name: loss.n for name, loss in found.by_type.items()}
    assert by_type == {TYPES[task]: n for task, n in
                       (("eem", 0), ("tla", 1), ("sua", 0), ("mq", 0), ("ig", 4), ("mcd", 0))}  # fmt: skip
    assert all(loss.only_first == loss.only_second == 0 for loss in found.by_type.values()), "told once, overall"
    scores = found.as_scores()
    assert isinstance(scores["by_type"]["state_update"]["loss"], Undefined)
    assert scores["overall"]["loss"] == 3 / 5


def test_with_enough_personas_the_interval_is_clustered(tmp_path: Path) -> None:
    keys = [("ig", str(persona), at) for persona in range(1, 9) for at in (10, 20)]
    efficient = run(tmp_path, "Efficient", dict.fromkeys(keys, True))
    mixed = run(tmp_path, "Mixed", {key: int(key[1]) > 3 for key in keys})
    found = loss_of(efficient, mixed)
    assert found.loss == 6 / 16
    assert found.low is not None and found.high is not None
    assert found.low < 6 / 16 < found.high
    assert found.high - found.low > 2 * 1.96 * (0.375 * 0.625 / 16) ** 0.5, "wider than if queries were independent"


def test_peoples_labels_can_stand_in_the_verdicts_place(tmp_path: Path) -> None:
    keys = [("ig", "1", 10), ("ig", "2", 10)]
    efficient = run(tmp_path, "Efficient", dict.fromkeys(keys, True))
    mixed = run(tmp_path, "Mixed", dict.fromkeys(keys, True))
    mixed.label(mixed.find("ig", "2"), "incorrect")
    assert loss_of(efficient, mixed).loss == 0.0
    assert loss_of(efficient, mixed, with_labels=True).loss == 0.5


def test_no_shared_query_gives_no_number(tmp_path: Path) -> None:
    found = loss_of(
        run(tmp_path, "Efficient", {("ig", "1", 10): True}), run(tmp_path, "Mixed", {("ig", "2", 10): True})
    )
    assert (found.n, found.loss) == (0, None)
    assert isinstance(found.as_scores()["loss"], Undefined)


def scores(rate: float | None, recall: float | None, f1: float) -> Json:
    missing = Undefined("unavailable", "none")
    return {
        "hallucination": {"rate": missing if rate is None else rate},
        "retrieval": {"recall_at_k": missing if recall is None else recall},
        "overlap": {"token_f1": f1, "rouge_l": 0.5},
    }


def test_hallucination_beside_the_other_measures_and_how_they_go_together() -> None:
    described = {"a": scores(0.9, 0.2, 0.1), "b": scores(0.6, 0.4, 0.3), "c": scores(0.7, None, 0.2),
                 "d": scores(None, 0.9, 0.9)}  # fmt: skip
    table = side_by_side(described)
    assert table["a"] == {"hallucination": 0.9, "recall_at_k": 0.2, "token_f1": 0.1, "rouge_l": 0.5}
    found = rank_correlations(table)
    assert found["recall_at_k"] == pytest.approx(-1.0), "over a and b"
    assert found["token_f1"] == pytest.approx(-1.0), "over a, b and c"
    constant = found["rouge_l"]
    assert isinstance(constant, Undefined) and "3 systems have both" in constant.why
    assert isinstance(rank_correlations({})["token_f1"], Undefined)
