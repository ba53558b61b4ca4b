"""A table's metrics: shares and means, by system and stratum, over verdicts or with people's labels put in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_files import read_values, row

from judges.benchmarks.benchmark import Undefined
from judges.benchmarks.table import BENCHMARK
from store.records import LabelState
from tests.imported import Imported, summed

PASS_FAIL = '[task]\nlabels = ["pass", "fail"]\n'


def label(found: Imported, place: int, value: str | None, **more: Any) -> None:
    found.final[list(found.items)[place]] = LabelState(value=value, **more)


def test_shares_are_over_readable_verdicts_and_the_others_are_counted(tmp_path: Path) -> None:
    verdicts = ["pass", "pass", "fail", None, "fine"]
    values = [row(n, "fail", verdict) for n, verdict in enumerate(verdicts)] + [row(5, "pass", judge=[])]
    scores = read_values(tmp_path, values, PASS_FAIL).as_coded("gpt")
    assert scores == {"label": {"items": 6, "unreadable": 2, "no_verdict": 1, "share": {"pass": 2 / 3, "fail": 1 / 3}}}


def test_a_label_that_nobody_gave_has_share_zero(tmp_path: Path) -> None:
    scores = read_values(tmp_path, [row(0), row(1)], PASS_FAIL).as_coded()
    assert scores["label"]["share"] == {"pass": 1.0, "fail": 0.0}


def test_nothing_to_count_is_undefined_with_the_reason(tmp_path: Path) -> None:
    share = read_values(tmp_path, [row(0, verdict=None)], PASS_FAIL).as_coded()["label"]["share"]["pass"]
    assert isinstance(share, Undefined) and "no verdict" in share.why


def test_shares_by_stratum_and_by_every_system_of_an_answer(tmp_path: Path) -> None:
    values = [
        row(n, "pass", "pass" if n % 2 else "fail", group="a" if n < 6 else "b", systems=["x", "y"] if n < 3 else ["y"])
        for n in range(12)
    ]
    scores = read_values(tmp_path, values, PASS_FAIL).as_coded()["label"]
    assert scores["by"]["group"]["b"] == {"n": 6, "share": {"pass": 0.5, "fail": 0.5}}
    assert scores["by_system"]["x"] == {"n": 3, "share": {"fail": 2 / 3, "pass": 1 / 3}}
    assert scores["by_system"]["y"]["n"] == 12


def test_numbers_have_means_and_documents_count_alike(tmp_path: Path) -> None:
    values = [row(n, 1, verdict, cluster=doc) for n, (verdict, doc) in enumerate([(4, "a"), (2, "a"), (1, "b")])]
    scores = read_values(tmp_path, values, '[task]\nlabels = ["4", "3", "2", "1"]\n').as_coded()["label"]
    assert (scores["mean"], scores["cluster_mean"]) == (7 / 3, 2.0)


def test_words_have_no_mean(tmp_path: Path) -> None:
    assert "mean" not in read_values(tmp_path, [row(0), row(1, "fail", "fail")]).as_coded()["label"]


def test_people_s_labels_stand_in_the_verdicts_place(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0), row(1), row(2, verdict=None), row(3)], PASS_FAIL)
    label(found, 0, "fail")
    label(found, 1, "pass")
    label(found, 2, "fail")
    label(found, 3, None, cannot_judge="ambiguous")
    scores = found.overridden()
    assert scores["label"]["share"] == {"pass": 0.5, "fail": 0.5}
    assert scores["label"]["unreadable"] == 0
    assert scores["people"] == {"label": {"labelled": 3, "changed": 2, "cannot_judge": 1}}
    assert found.as_coded()["label"]["share"] == {"pass": 1.0, "fail": 0.0}


LABELS = st.sampled_from(["1", "2", "3", None])


@given(
    verdicts=st.lists(LABELS, min_size=1, max_size=12),
    people=st.lists(LABELS, max_size=12),
    groups=st.text("ab", max_size=12),
)
@settings(max_examples=30)
def test_what_items_add_up_to_combines_to_the_scores(
    tmp_path_factory: pytest.TempPathFactory, verdicts: list[str | None], people: list[str | None], groups: str
) -> None:
    values = [
        row(n, "1", verdict, systems=["s", "t"][: n % 3], group=groups[n] if n < len(groups) else None)
        for n, verdict in enumerate(verdicts)
    ]
    tasks = '[columns]\nslices = ["group"]\n[task]\nlabels = ["1", "2", "3"]\n'
    found = read_values(tmp_path_factory.mktemp("scores"), values, tasks)
    for place, value in enumerate(people[: len(verdicts)]):
        if value is not None:
            label(found, place, value)
    for labels, scores in ((False, found.as_coded()), (True, found.overridden())):
        combined = BENCHMARK.combine(summed(BENCHMARK, found.scored(), labels=labels))
        for path, value in combined.items():
            here: Any = scores
            for name in path.split(" / "):
                here = here[name]
            assert here == value
            assert BENCHMARK.needs()[path] == {"label"}


def test_a_label_changes_the_terms_of_its_item_alone(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0), row(1, verdict=None)], PASS_FAIL)
    first, second = found.scored()
    assert BENCHMARK.terms(first, LabelState(value="fail")) == {
        '["label", "n"]': 1.0,
        '["label", "share", "fail"]': 1.0,
        '["label", "words"]': 1.0,
    }
    assert BENCHMARK.terms(second, None) == {}
    assert BENCHMARK.terms(first, LabelState(cannot_judge="ambiguous")) == {}


def test_a_table_states_no_scores_and_describes_no_others(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0), row(1, "fail")])
    assert BENCHMARK.stated_scores(found.facts_of(), "gpt") is None
    assert BENCHMARK.as_described(found.scored(), found.facts_of()) == {}


def test_means_of_numbers_are_corrected_too_whatever_the_totals_are_moved_by(tmp_path: Path) -> None:
    """A correction takes slopes at totals a little off: the metrics there are must not depend on them."""
    found = read_values(tmp_path, [row(0, "1", "1"), row(1, "1", "3")], '[task]\nlabels = ["1", "2", "3"]\n')
    sums = summed(BENCHMARK, found.scored())
    moved = {name: value * (1 + 1e-6) if name.endswith('"n"]') else value for name, value in sums.items()}
    assert BENCHMARK.combine(sums)["label / mean"] == 2.0
    assert BENCHMARK.combine(moved).keys() == BENCHMARK.combine(sums).keys()
    assert BENCHMARK.combine(moved)["label / mean"] == pytest.approx(2.0)


def test_labels_that_are_partly_words_have_no_mean(tmp_path: Path) -> None:
    found = read_values(tmp_path, [row(0, "1", "1"), row(1, "1", "tie")], '[task]\nlabels = ["1", "2", "tie"]\n')
    assert "label / mean" not in BENCHMARK.combine(summed(BENCHMARK, found.scored()))
    assert "mean" not in found.as_coded()["label"]
