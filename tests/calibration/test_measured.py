"""Numbers and rankings against what scipy and a hand count say; why a number is not there."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr, t

from judges.calibration.agreement.tau_of_rankings import tau_of_rankings
from judges.calibration.audit_result import Settings
from judges.calibration.measured import MeasuredItem, Places, audit_numbers, audit_rankings

SETTINGS = Settings(resamples=200)


def number(
    name: str, people: dict[str, float], judge: float | None = 0.0, *, silent: bool = False, **options: object
) -> MeasuredItem[float]:
    return MeasuredItem(name, people, judges={} if silent else {"j": judge}, **options)  # type: ignore[arg-type]


def ranking(name: str, people: dict[str, Places], judge: Places | None, **options: object) -> MeasuredItem[Places]:
    return MeasuredItem(name, people, judges={"j": judge}, **options)  # type: ignore[arg-type]


def order(text: str) -> Places:
    """ "ab c" ranks a and b first, tied, then c."""
    return {entry: place for place, group in enumerate(text.split()) for entry in group}


def test_numbers_are_those_of_scipy_on_the_items_both_gave() -> None:
    choose = random.Random(3)
    pairs = [(round(choose.random(), 2), round(choose.random(), 2)) for _ in range(30)]
    items = [number(f"i{n}", {"a": x}, y) for n, (x, y) in enumerate(pairs)]
    items += [number("failed", {"a": 0.5}, None), number("silent", {"a": 0.5}, silent=True)]
    found = audit_numbers("Score", items, SETTINGS).judges["j"]
    x, y = np.array(pairs).T
    values = {name: statistic.value for name, statistic in found.statistics.items()}
    assert values["pearson"] == pytest.approx(pearsonr(x, y).statistic)
    assert values["spearman"] == pytest.approx(spearmanr(x, y).statistic)
    assert values["kendall_tau"] == pytest.approx(kendalltau(x, y).statistic)
    assert values["rmse"] == pytest.approx(math.sqrt(np.mean((x - y) ** 2)))
    assert values["mean_difference"] == pytest.approx(np.mean(y - x))
    assert (found.n, found.unreadable, found.no_verdict) == (30, 1, 1)
    assert found.statistics["pearson"].dropped == {"unreadable": 1, "no_verdict": 1}


def test_a_number_of_several_people_is_their_mean_and_an_adjudication_stands_instead() -> None:
    items = [
        number("i", {"a": 0.2, "b": 0.4}, 0.3),
        number("k", {"a": 0.9, "b": 0.1}, 0.8, adjudicated=0.8),
        number("l", {"a": 0.6}, 0.6),
    ]
    found = audit_numbers("Score", items, SETTINGS)
    assert found.judges["j"].statistics["rmse"].value == pytest.approx(0.0)
    assert found.rules == {"adjudicated": 1, "mean_of_several": 1, "one_annotator": 1}
    assert found.humans.annotators == {"a": 3, "b": 2}
    assert found.humans.pairs["a|b"]["rmse"].value == pytest.approx(math.sqrt((0.2**2 + 0.8**2) / 2))
    assert found.humans.pairs["a|b"]["rmse"].n == 2


def test_only_the_stream_estimate_counts() -> None:
    items = [number("i", {"a": 0.2}, 0.3), number("k", {"a": 0.9}, 0.1, estimate=False)]
    found = audit_numbers("Score", items, SETTINGS)
    assert found.labelled == 1 and found.dropped == {"labels_not_estimate": 1}


@pytest.mark.parametrize(
    ("pairs", "status"),
    [([], "no_pairable_items"), ([(0.1, 0.2)], "too_few"), ([(0.5, 0.1), (0.5, 0.9), (0.5, 0.2)], "constant_rater")],
)
def test_a_correlation_that_is_not_defined_says_why(pairs: list[tuple[float, float]], status: str) -> None:
    items = [number(f"i{n}", {"a": x}, y) for n, (x, y) in enumerate(pairs)] or [number("i", {"a": 1.0}, None)]
    found = audit_numbers("Score", items, SETTINGS).judges["j"].statistics
    for name in ("pearson", "spearman", "kendall_tau"):
        assert found[name].value is None and found[name].status == status and found[name].why


def test_the_mean_tau_of_a_hand_count() -> None:
    items = [
        ranking("i", {"a": order("a b c d")}, order("a b c d")),  # 1
        ranking("k", {"a": order("a b c d")}, order("d c b a")),  # -1
        ranking("l", {"a": order("a b c d")}, order("a b d c")),  # (5 - 1) / 6
        ranking("m", {"a": order("ab c d")}, order("a b c d")),  # 5 / sqrt(5 * 6)
    ]
    found = audit_rankings("Ranking", items, SETTINGS).judges["j"]
    taus = [1, -1, 2 / 3, 5 / math.sqrt(30)]
    tau = found.statistics["kendall_tau"]
    assert tau.value == pytest.approx(np.mean(taus)) and tau.n == 4
    reach = t.ppf(0.975, 3) * np.std(taus, ddof=1) / 2
    assert tau.low == pytest.approx(np.mean(taus) - reach) and tau.high == pytest.approx(np.mean(taus) + reach)
    shares = {name: statistic.value for name, statistic in found.statistics.items() if name.startswith("share")}
    assert shares == {"share_at_least_0.5": 0.75, "share_above_0": 0.75, "share_at_most_-0.5": 0.25}
    assert found.counts == {"with_ties": 1, "people_tied_all": 0, "judge_tied_all": 0}


def test_items_of_one_cluster_do_not_pass_for_independent_ones() -> None:
    people, same, other = {"a": order("a b c d")}, order("a b c d"), order("d c b a")
    alone = [ranking(f"i{n}", people, same if n % 4 else other) for n in range(16)]
    grouped = [ranking(f"i{n}", people, same if n % 4 else other, cluster=f"c{n % 4}") for n in range(16)]
    narrow, wide = (
        audit_rankings("R", items, SETTINGS).judges["j"].statistics["kendall_tau"] for items in (alone, grouped)
    )
    assert narrow.value == wide.value
    assert narrow.low is not None and wide.low is not None and wide.low < narrow.low
    assert "4 independent items" in wide.method


def test_ties_of_everything_are_counted_and_have_no_tau() -> None:
    items = [ranking("i", {"a": order("abcd")}, order("a b c d")), ranking("k", {"a": order("a b c d")}, order("abcd"))]
    found = audit_rankings("Ranking", items, SETTINGS).judges["j"]
    assert found.n == 2 and found.counts == {"with_ties": 2, "people_tied_all": 1, "judge_tied_all": 1}
    tau = found.statistics["kendall_tau"]
    assert tau.value is None and tau.status == "no_pairable_items" and tau.dropped == {"tied_all": 2}
    assert found.notes == ("2 of 2 items have no tau: a side ties everything",)


def test_people_who_rank_differently_each_count_and_slices_have_their_own_mean() -> None:
    items = [
        ranking("i", {"a": order("a b c"), "b": order("c b a")}, order("a b c"), slices={"cell": "A1"}),
        ranking("k", {"a": order("a b c")}, order("a b c"), slices={"cell": "B2"}),
    ]
    found = audit_rankings("Ranking", items, SETTINGS)
    assert found.judges["j"].statistics["kendall_tau"].value == pytest.approx(0.5)
    assert {cell: one.value for cell, one in found.judges["j"].slices["cell"].items()} == {"A1": 0.0, "B2": 1.0}
    assert found.humans.pairs["a|b"]["kendall_tau"].value == -1 and found.rules["each_of_several"] == 1


def test_tau_is_scipys_whatever_the_ties() -> None:
    choose = random.Random(5)
    for _ in range(200):
        entries = "abcdef"[: choose.randint(2, 6)]
        first, second = ({entry: choose.randrange(4) for entry in entries} for _ in range(2))
        expected = kendalltau([first[e] for e in entries], [second[e] for e in entries]).statistic
        found = tau_of_rankings(first, second)
        assert (found is None and math.isnan(expected)) or found == pytest.approx(expected)
