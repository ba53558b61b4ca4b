"""MIST through the real commands: many runs are shown by what compares them; amplification, tests, mitigation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.sample_studies import make_demo
from tests.commands import Overread


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo(tmp_path_factory.mktemp("demo"), "mist").parent


@pytest.fixture(scope="module")
def scores(demo: Path) -> dict[str, Any]:
    found: dict[str, Any] = Overread()("score", "--json", cwd=demo).json()
    return found


def test_amplification_and_tests_against_the_chat_history(scores: dict[str, Any]) -> None:
    for basis in ("as_coded", "overridden"):
        science = scores["compared"][basis]["lark-1"]["incorrect-helpful"]["science"]
        assert set(science["amplification"]) == set(science["mcnemar"]) == {"mem0", "memos", "zep"}
        runs = science["amplification"]["mem0"]["runs"]
        assert set(runs) == {"1", "2"} and all(run["low"] <= run["difference"] <= run["high"] for run in runs.values())
        for test in science["mcnemar"].values():
            assert test["p_combined"] <= test["p_adjusted"] + 1e-12 <= 1 + 1e-12
    ratio = scores["compared"]["as_coded"]["lark-1"]["incorrect-helpful"]["science"]["amplification"]["mem0"]["ratio"]
    assert ratio["status"] == "too_few_events"


def test_settings_are_those_of_the_readme(scores: dict[str, Any]) -> None:
    """Strict sycophancy of lark-1 with mem0 on Science: stated 11 of 19, in truth 18 of 25."""
    for basis, events, n in (("as_coded", 11, 19), ("overridden", 18, 25)):
        settings = scores["compared"][basis]["lark-1"]["incorrect-helpful"]["science"]["settings"]
        strict = settings["mem0"]["strict_sycophancy"]
        assert (strict["events"], strict["n"]) == (events, n)


def test_a_mitigation_stands_beside_what_it_costs_in_recall(scores: dict[str, Any]) -> None:
    found = scores["compared"]["overridden"]["lark-1"]["incorrect-helpful"]["science"]["mitigation"]["mem0+summarise"]
    assert found["strict_sycophancy"]["mean"] < 0
    assert -1 <= found["fact_recall"]["mean"] <= 1


def test_many_systems_are_shown_by_what_compares_them(demo: Path) -> None:
    text = Overread()("score", cwd=demo).stdout
    assert "MIST has no LLM judge" in text and "each by itself: --system NAME, or --details" in text
    assert "lark-1 / mem0 / incorrect-helpful / run 1, judged by" not in text
    assert "/ amplification" in text and "/ mcnemar" in text and "/ mitigation" in text


def test_the_report_has_them_with_people_s_labels_put_in(demo: Path) -> None:
    outcome = Overread()("report", "trust.md", cwd=demo)
    assert outcome.exit_code == 0, outcome
    text = (demo / "trust.md").read_text(encoding="utf-8")
    for words in ("Systems side by side", "amplification", "mcnemar", "mitigation", "MIST has no LLM judge"):
        assert words in text
