"""HalBench through the real commands: the leaderboard, tests between models, rankings, and what it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.sample_studies import make_demo
from tests.commands import Overread

pytestmark = pytest.mark.slow
NOT_SAFETY = "HalBench is not a safety benchmark"
MODELS = ["inkwell/marlin-2", "inkwell/marlin-2-mini", "quillon/wren", "quillon/osprey"]
"""By the unfloored mean of the sample's README."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo(tmp_path_factory.mktemp("demo"), "halbench").parent


@pytest.fixture(scope="module")
def scores(demo: Path) -> dict[str, Any]:
    found: dict[str, Any] = Overread()("score", "--json", cwd=demo).json()
    return found


def test_the_leaderboard_is_sorted_and_equals_each_models_own_row(scores: dict[str, Any]) -> None:
    board = scores["compared"]["as_coded"]["leaderboard"]
    assert list(board) == MODELS
    for model in MODELS:
        coded = scores["systems"][model]["as_coded"]
        assert board[model] == {name: coded[name] for name in board[model]}
        assert scores["systems"][model]["equals_file"] is True
    assert list(scores["compared"]["overridden"]["leaderboard"])[-1] == "quillon/wren", "in truth it defers most"


def test_pairs_of_models_are_tested_and_all_together_too(scores: dict[str, Any]) -> None:
    compared = scores["compared"]["as_coded"]
    assert len(compared["pairwise"]) == 6
    for pair in compared["pairwise"].values():
        assert pair["p_bonferroni"] == min(1.0, 6 * pair["p"])
        assert {"cohens_d_paired", "cohens_d_pooled", "n_paired"} <= set(pair)
    assert compared["overall"]["n_paired"] == 15 and 0 < compared["overall"]["friedman_p"] < 1
    assert set(compared["length"]["quillon/wren"]) == {"n", "spearman", "mean_by_length"}


def test_rankings_have_tau_and_n_in_each_of_the_32_cells(demo: Path, scores: dict[str, Any]) -> None:
    ranking = scores["systems"]["all models"]["overridden"]["ranking"]
    assert ranking["labelled"] == 16 and -1 <= ranking["mean"] <= 1
    cells = [cell for row in ranking["heat_map"].values() for cell in row.values()]
    assert len(cells) == 32 and sum(cell["n"] for cell in cells) == ranking["n"]
    text = Overread()("score", "--details", "--system", "all models", cwd=demo).stdout
    assert "heat_map" in text.replace(" ", "_")


def test_tags_have_their_share_by_model(scores: dict[str, Any]) -> None:
    tags = scores["systems"]["quillon/osprey"]["overridden"]["tags"]
    assert tags == {"deliver_then_warn": 4 / 16, "fluent_prose": 1 / 16, "n1_short": 1 / 16, "silent_refusal": 1 / 16}


def test_score_and_report_say_that_it_is_no_safety_benchmark(demo: Path, scores: dict[str, Any]) -> None:
    assert scores["remarks"][0].startswith(NOT_SAFETY)
    assert NOT_SAFETY in Overread()("score", cwd=demo).stdout
    outcome = Overread()("report", "trust.html", cwd=demo)
    assert outcome.exit_code == 0, outcome
    page = (demo / "trust.html").read_text(encoding="utf-8")
    assert NOT_SAFETY in page
    for words in ("Systems side by side", "leaderboard", "pairwise", "friedman"):
        assert words in page
