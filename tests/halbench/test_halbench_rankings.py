"""Rankings with ties, Kendall's τ-b, and models side by side."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from halbench_files import JUDGE, find, label, read, row
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.halbench import BENCHMARK
from judges.benchmarks.halbench.rankings import ranking_of_scores, ranks
from judges.calibration.agreement.tau_of_rankings import tau_of_rankings
from store.records import LabelState
from tests.imported import Imported

NAMES = ["A1_GC__synth_0001", "A1_SK__synth_0002", "C3_GC__synth_0003", "D1_PC__synth_0004"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6))
def test_tau_b_is_scipy_s_where_there_is_one(pairs: list[tuple[int, int]]) -> None:
    first, second = ({f"r{n}": pair[side] for n, pair in enumerate(pairs)} for side in (0, 1))
    expected = float(stats.kendalltau(*zip(*pairs, strict=True), variant="b").statistic)
    tau = tau_of_rankings(first, second)
    assert tau is None if math.isnan(expected) else tau == pytest.approx(expected)


def test_four_untied_entries_have_one_of_seven_taus() -> None:
    one = ranks('[["a"], ["b"], ["c"], ["d"]]')
    orders = ["abcd", "abdc", "adbc", "dabc", "dcba"]
    taus = [tau_of_rankings(one, {entry: place for place, entry in enumerate(order)}) for order in orders]
    assert taus == pytest.approx([1, 2 / 3, 1 / 3, 0, -1])


def test_rankings_are_canonical_with_ties_together() -> None:
    assert ranking_of_scores({"r2": 0.5, "r1": 0.5, "r3": 0.9}) == '[["r3"],["r1","r2"]]'
    assert ranking_of_scores({"r1": 0.0, "r2": None}) is None
    assert ranks('[["r3"],["r1","r2"]]') == {"r3": 0, "r1": 1, "r2": 1}
    with pytest.raises(ValueError, match="list of lists"):
        ranks('["r1"]')


def models(scores: dict[str, list[float]]) -> list[list[dict[str, Any]]]:
    """A file a model: its score on each of `NAMES`."""
    return [
        [row(name, [value, value], model=model) for name, value in zip(NAMES, values, strict=True)]
        for model, values in scores.items()
    ]


FOUR = {"a": [0.9, 0.9, 0.5, 0.1], "b": [0.7, 0.7, 0.5, 0.3], "c": [0.5, 0.5, 0.5, 0.5], "d": [0.3, 0.3, 0.5, 0.7]}


def rank(found: Imported, name: str, order: str) -> str:
    """Label a ranking: "ab=cd" ties b and c."""
    key = find(found, name, "ranking")
    ids = {model: entry for entry, model in found.items[key].extra["models"].items()}
    groups: list[list[str]] = []
    for place, model in enumerate(order):
        if model == "=":
            continue
        if place and order[place - 1] == "=":
            groups[-1] = sorted([*groups[-1], ids[model]])
        else:
            groups.append([ids[model]])
    found.final[key] = LabelState(value=json.dumps(groups, separators=(",", ":")))
    return key


def test_tau_per_item_its_mean_its_shares_and_the_ties(tmp_path: Path) -> None:
    found = read(tmp_path, *models(FOUR))
    for name, order in zip(NAMES, ("abcd", "abdc", "abcd", "a=b=c=d"), strict=True):
        rank(found, name, order)
    scores = found.overridden(JUDGE, "all models")
    ranking = scores["ranking"]
    assert (ranking["items"], ranking["labelled"], ranking["n"]) == (4, 4, 2)
    assert (ranking["judge_tied_all"], ranking["people_tied_all"], ranking["with_ties"]) == (1, 1, 2)
    assert ranking["mean"] == pytest.approx((1 + 2 / 3) / 2)
    low, high = stats.t.interval(0.95, 1, loc=ranking["mean"], scale=stats.sem([1, 2 / 3]))
    assert (ranking["low"], ranking["high"]) == pytest.approx((low, high))
    assert (ranking["share_at_least_0.5"], ranking["share_above_0"], ranking["share_at_most_-0.5"]) == (1.0, 1.0, 0.0)
    assert ranking["by_cell"]["A1"] == {"mean": pytest.approx(5 / 6), "n": 2}
    assert ranking["heat_map"]["A1"]["SK"] == {"mean": pytest.approx(2 / 3), "n": 1}
    assert isinstance(ranking["by_cell"]["C3"]["mean"], Undefined)
    assert scores["people"]["ranking"]["labelled"] == 4


def test_without_rankings_there_is_only_their_number(tmp_path: Path) -> None:
    found = read(tmp_path, *models(FOUR))
    assert found.overridden(JUDGE, "all models")["ranking"] == {"items": 4}
    assert found.as_coded(JUDGE, "all models") == {"ranking": {"items": 4}}


def test_a_ranking_that_the_judge_has_none_for_is_counted(tmp_path: Path) -> None:
    files = models(FOUR)
    files[0][0] = row(NAMES[0], response_text="", model="a")
    found = read(tmp_path, *files)
    rank(found, NAMES[0], "abcd")
    ranking = found.overridden(JUDGE, "all models")["ranking"]
    assert (ranking["labelled"], ranking["no_verdict"], ranking["n"]) == (1, 1, 0)


# --- models side by side ---


def compared(found: Imported, overridden: bool = False) -> Any:
    systems = {name: list(found.scored(JUDGE, name)) for name in found.systems}
    return BENCHMARK.compared(systems, found.facts, overridden=overridden)


def many(seed: int = 3, n: int = 24) -> tuple[list[list[dict[str, Any]]], dict[str, np.ndarray]]:
    chance = np.random.default_rng(seed)
    names = [f"{cell}_{field}__synth_{k:04d}" for k in range(n // 8) for cell in ("A1", "B2") for field in
             ("GC", "GK", "PC", "SK")]  # fmt: skip
    weights = {"a": 1.0, "b": 0.8, "c": 0.6}
    scores = {model: np.round(chance.uniform(0, 1, len(names)) * weight, 4) for model, weight in weights.items()}
    files = [
        [row(name, [value, value], model=model) for name, value in zip(names, values.tolist(), strict=True)]
        for model, values in scores.items()
    ]
    return files, scores


def test_pairs_are_tested_paired_with_bonferroni_and_both_effect_sizes(tmp_path: Path) -> None:
    files, scores = many()
    found = compared(read(tmp_path, *files))["pairwise"]
    assert list(found) == ["a | b", "a | c", "b | c"]
    pair, (one, two) = found["a | c"], (scores["a"], scores["c"])
    order = np.argsort([r["item_id"] for r in files[0]])
    one, two = one[order], two[order]
    assert pair["n_paired"] == 24
    assert pair["delta"] == pytest.approx(one.mean() - two.mean())
    assert pair["p"] == pytest.approx(stats.wilcoxon(one, two).pvalue)
    assert pair["p_bonferroni"] == pytest.approx(min(1, 3 * pair["p"]))
    difference = one - two
    assert pair["cohens_d_paired"] == pytest.approx(difference.mean() / difference.std(ddof=1))
    pooled = math.sqrt((one.var(ddof=1) + two.var(ddof=1)) / 2)
    assert pair["cohens_d_pooled"] == pytest.approx((one.mean() - two.mean()) / pooled)


def test_friedman_over_all_by_cell_and_by_field(tmp_path: Path) -> None:
    files, scores = many()
    found = compared(read(tmp_path, *files))
    expected = stats.friedmanchisquare(*scores.values())
    assert found["overall"]["friedman_p"] == pytest.approx(expected.pvalue)
    assert found["overall"]["friedman_chi2"] == pytest.approx(expected.statistic)
    assert (found["by_cell"]["A1"]["n_paired"], found["by_cell"]["C3"]["n_paired"]) == (12, 0)
    assert found["by_field"]["SK"]["n_paired"] == 6
    assert found["by_cell"]["C3"]["friedman_p"].status == "too_few"
    assert found["overall"]["means"]["b"] == pytest.approx(scores["b"].mean())


def test_an_item_that_one_model_lacks_leaves_the_pair_and_the_whole(tmp_path: Path) -> None:
    files, _ = many()
    del files[2][0]
    files[0][1] = row(files[0][1]["item_id"], response_text="", model="a")
    found = compared(read(tmp_path, *files))
    assert found["pairwise"]["a | b"]["n_paired"] == 23
    assert found["pairwise"]["b | c"]["n_paired"] == 23
    assert found["overall"]["n_paired"] == 22


def test_two_models_have_no_friedman_and_equal_ones_no_difference(tmp_path: Path) -> None:
    found = compared(read(tmp_path, *models({"a": [0.5] * 4, "b": [0.5] * 4})))
    assert found["pairwise"]["a | b"]["p"].status == "no_difference"
    assert found["pairwise"]["a | b"]["cohens_d_paired"].status == "no_spread"
    assert found["overall"]["friedman_p"].status == "too_few"


def test_one_model_compares_with_nothing(tmp_path: Path) -> None:
    alone = compared(read(tmp_path, *models({"a": [0.5] * 4})))
    assert set(alone) == {"leaderboard", "length"} and set(alone["leaderboard"]) == {"a"}


def test_people_s_scores_enter_the_comparison(tmp_path: Path) -> None:
    found = read(tmp_path, *models({"a": [0.5] * 4, "b": [0.5] * 4}))
    label(found, NAMES[0], "HARD", system="a")
    assert compared(found, overridden=True)["pairwise"]["a | b"]["delta"] == pytest.approx(0.125)
    assert compared(found)["pairwise"]["a | b"]["delta"] == 0
