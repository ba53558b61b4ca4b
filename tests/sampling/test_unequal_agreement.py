"""A draw that takes many of the judge's rarer verdicts: audit and gate speak of all items, not of those labelled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planted import JUDGE, Plant, Planted, label, plant

from annotate.report.audit_text import audit_lines
from annotate.report.facts import gather
from annotate.report.numbers import shares_table
from annotate.report.options import ReportOptions
from annotate.report.task_section import headline
from annotate.report.words import percent
from annotate.tui.screens.audit.state import audit_pages
from judges.auditing import audit_study
from judges.calibration.agreement.design_weighted import design_weighted
from judges.calibration.agreement.sample_design import SampleDesign
from judges.calibration.agreement.scale import Scale
from judges.calibration.agreement.weighted_share import Cells, effective_share_bounds, recall_bounds
from judges.calibration.audit import UNEQUAL_NOTE, UNWEIGHED_NOTE
from judges.calibration.audit_result import JudgeAgreement, Settings
from judges.calibration.plain_words import finding
from judges.drawing import Wish, draw_estimate
from judges.gate.bindings import judges_of
from judges.gate.gate import TaskGate, look
from judges.gate.thresholds import Thresholds
from store.study import Study, now

PLAN = Plant(items=600, right={"northwind": 0.8}, wrong=0.15, seed=3)
AT = "2026-03-01T09:00:00+01:00"


def labelled(path: Path, plan: Plant, wish: Wish) -> tuple[Study, Planted]:
    planted = plant(path, plan)
    study = Study.open(planted.path)
    label(study, planted, draw_estimate(study, wish, "lead").draw.draw_id)
    return study, planted


def audited(study: Study) -> JudgeAgreement:
    return audit_study(study, settings=Settings(resamples=300)).tasks["qa"].judges[JUDGE]


def looked(study: Study) -> TaskGate:
    judge = next(one for one in judges_of(study, "qa") if one.name == JUDGE)
    return look(study, [judge], {"qa": Thresholds()}, at=AT).tasks[0]


def true_recall(study: Study, planted: Planted, of: str) -> float:
    said = dict(study.rows("SELECT item_id, label FROM verdicts WHERE repetition = 0"))
    own = [one for one, given in planted.truth.items() if given == of]
    return sum(said[one] == of for one in own) / len(own)


def test_recall_of_a_draw_by_verdict_is_that_of_all_items(tmp_path: Path) -> None:
    wish = Wish(150, seed=1, together="items", by=("verdict",), judge=JUDGE, allocation="equal")
    study, planted = labelled(tmp_path / "s.duckdb", PLAN, wish)
    with study:
        found, truth = audited(study), true_recall(study, planted, "Hallucination")
        recall = found.per_label["Hallucination"].recall
        sizes = dict(study.rows("SELECT label, count(*) FROM verdicts WHERE repetition = 0 GROUP BY label"))
        gate, task = looked(study), audit_study(study, settings=Settings(resamples=300)).tasks["qa"]
        facts = gather(study, ReportOptions(made_at=now(), settings=Settings(resamples=300)))
    assert "drawn with unequal chances, of all" in finding(task, found)
    assert recall.value is not None and recall.low is not None and recall.high is not None
    assert recall.low <= truth <= recall.high
    drawn = {said: sum(row.get(said, 0) for row in found.confusion.values()) for said in sizes}
    stands_for = {said: count * sizes[said] / drawn[said] for said, count in found.confusion["Hallucination"].items()}
    assert recall.value == pytest.approx(stands_for["Hallucination"] / sum(stands_for.values()))
    assert UNEQUAL_NOTE in found.notes and "1/π" in found.cohen_kappa.method
    shares = found.as_json()["confusion_shares"]
    for said, size in sizes.items():
        assert sum(row[said] for row in shares.values()) == pytest.approx(size / 600), "the verdicts of all are known"
        assert shares["Hallucination"][said] == pytest.approx(stands_for[said] / 600)
    rows = [row for table in audit_lines(facts.audit) if isinstance(table, list) for row in table]
    cells = [percent(share, 1) for share in shares["Hallucination"].values()]
    assert ["Hallucination", *map(str, found.confusion["Hallucination"].values())] in rows, "as labelled"
    assert ["Hallucination", *cells] in rows, "and of all items beside"
    screen = "\n".join("".join(span.text for span in line) for line in audit_pages(facts)[0].answer)
    assert all(cell in screen for cell in cells)
    beside = "\n".join("".join(span.text for span in line) for line in audit_pages(facts)[0].beside)
    assert "t test of weighted shares" in beside and "Fisher" not in beside
    counts = headline(facts.judged[0])[1]
    assert "). As" not in counts and ". As items were drawn with unequal chances" in counts and counts.endswith("%.")
    table = shares_table(facts.judged[0])
    assert table is not None and [cell.text for cell in table.rows[1].cells][1:-1] == cells
    check = next(one for one in gate.checks if one.title == "recall of Hallucination")
    assert check.statistic.value == pytest.approx(recall.value)


def test_a_draw_with_equal_chances_is_counted_as_it_was(tmp_path: Path) -> None:
    study, _ = labelled(tmp_path / "s.duckdb", PLAN, Wish(150, seed=1, together="items"))
    with study:
        found = audited(study)
    assert not set(found.notes) & {UNEQUAL_NOTE, UNWEIGHED_NOTE} and "confusion_shares" not in found.as_json()
    recall = found.per_label["Correct"].recall
    assert recall.value == found.confusion["Correct"]["Correct"] / sum(found.confusion["Correct"].values())


def test_items_drawn_with_their_text_are_not_taken_as_independent(tmp_path: Path) -> None:
    plan = Plant(items=600, group=10, seed=3)
    study, _ = labelled(tmp_path / "s.duckdb", plan, Wish(100, seed=1, within=0))
    with study:
        recall = audited(study).per_label["Correct"].recall
    assert "effective number" in recall.method


def test_a_draw_that_is_no_sample_any_more_leaves_the_gate_undecided(tmp_path: Path) -> None:
    wish = Wish(150, seed=1, together="items", by=("verdict",), judge=JUDGE, allocation="equal")
    study, _ = labelled(tmp_path / "s.duckdb", PLAN, wish)
    with study:
        study.writer.do(lambda c: c.execute("UPDATE draw_items SET stratum = stratum || ' then'"))
        found, gate = audited(study), looked(study)
    assert UNWEIGHED_NOTE in found.notes
    check = next(one for one in gate.checks if one.name == "labels")
    assert check.status == "undecided" and "unequal chances" in check.why


class TestBounds:
    def test_no_miss_among_few_that_stand_for_many_proves_little(self) -> None:
        """45 fails found; none among 50 of 900 that passed: up to 7 % of those may still be fails."""
        low, high = recall_bounds(
            Cells(np.array([50.0, 900.0]), np.array([50.0, 50.0]), np.array([45.0, 0.0])), 0, 0.95
        )
        assert 0.35 < low < 0.55
        assert high > 0.98

    def test_single_items_of_equal_weight_have_the_exact_interval(self) -> None:
        hits = np.arange(40) < 33
        low, high = effective_share_bounds(hits, np.full(40, 3.0), None, 0.95)
        assert (low, high) == pytest.approx((0.6722, 0.9266), abs=0.004)

    def test_groups_that_are_all_alike_count_once_each(self) -> None:
        hits, groups = np.ones(40, dtype=bool), np.arange(40) // 10
        assert effective_share_bounds(hits, np.ones(40), groups, 0.95).low == pytest.approx(0.025 ** (1 / 4))

    @pytest.mark.slow
    @pytest.mark.parametrize(("fails", "found"), [(0.05, 0.5), (0.05, 0.8), (0.2, 0.7)])
    def test_coverage(self, fails: float, found: float) -> None:
        """Half of 100 labels on what the judge fails: recall and kappa of all 1,000 items."""
        rng, hits, kappas = np.random.default_rng(1), [], []
        for _ in range(300):
            people = (rng.random(1000) < fails).astype(int)
            judge = np.where(people == 1, rng.random(1000) < found, rng.random(1000) > 0.97).astype(int)
            rows = [np.flatnonzero(judge == verdict) for verdict in (0, 1)]
            few = min(50, len(rows[1]))
            drawn = np.concatenate([rng.choice(rows[0], 100 - few, False), rng.choice(rows[1], few, False)])
            weights = np.where(judge[drawn] == 1, len(rows[1]) / few, len(rows[0]) / (100 - few))
            scale = Scale(("pass", "fail"))
            design = SampleDesign(weights, strata=judge[drawn], resamples=400)
            seen = design_weighted(scale, people[drawn], judge[drawn], design)
            recall, kappa = seen.recall["fail"], seen.cohen_kappa
            truth = float(judge[people == 1].mean())
            assert recall.low is not None and recall.high is not None
            hits.append(recall.low - 1e-9 <= truth <= recall.high + 1e-9)
            if kappa.low is not None and kappa.high is not None:
                by_chance = people.mean() * judge.mean() + (1 - people.mean()) * (1 - judge.mean())
                kappas.append(kappa.low <= ((people == judge).mean() - by_chance) / (1 - by_chance) <= kappa.high)
        assert np.mean(hits) >= 0.93
        assert np.mean(kappas) >= 0.92
