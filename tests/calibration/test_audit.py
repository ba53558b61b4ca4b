"""The audit of a study: from blind labels and verdicts to the numbers of `audit --json`."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.calibration.audit import audit
from judges.calibration.audit_humans import tie_breakers
from judges.calibration.audit_input import JudgeColumn, TaskColumns, columns_of
from judges.calibration.audit_records import AuditItem, HumanLabel, JudgeVerdict, LabelSet, TaskRecords
from judges.calibration.audit_result import JudgeAgreement, Settings, TaskAudit
from judges.calibration.statistical_label import CANNOT_JUDGE, Vote

QA = LabelSet(("Correct", "Hallucination", "Omission"))
STATISTIC = {"value", "low", "high", "level", "method", "n", "dropped", "status"}


def item(
    number: int, labels: Mapping[str, Vote] | None = None, verdict: str | None = "Correct", **more: Any
) -> AuditItem:
    """One item labelled by the people named; `verdict` None means that there is none."""
    verdicts = {} if verdict is None else {"gpt-4o": JudgeVerdict(verdict)}
    given = {who: HumanLabel(value) for who, value in (labels or {}).items()}
    return AuditItem(f"item-{number:04}", given, **{"verdicts": verdicts, **more})


def cells(table: Mapping[tuple[str, str], int], **more: Any) -> list[AuditItem]:
    """Items by (person's label, verdict): count."""
    rows = [pair for pair, count in table.items() for _ in range(count)]
    return [item(number, {"A": people}, judge, **more) for number, (people, judge) in enumerate(rows)]


def audit_one(items: Sequence[AuditItem], label_set: LabelSet = QA, **more: Any) -> TaskAudit:
    settings = Settings(resamples=300, all_statistics=True)
    return audit([TaskRecords("qa", label_set, items, **more)], "study", settings).tasks["qa"]


def judge_of(items: Sequence[AuditItem], label_set: LabelSet = QA) -> JudgeAgreement:
    return audit_one(items, label_set).judges["gpt-4o"]


PLANTED = {
    ("Correct", "Correct"): 30,
    ("Correct", "Hallucination"): 2,
    ("Hallucination", "Hallucination"): 7,
    ("Hallucination", "Correct"): 3,
    ("Omission", "Omission"): 10,
    ("Omission", "Hallucination"): 2,
}


class TestJudge:
    def test_numbers_by_hand(self) -> None:
        found = judge_of(cells(PLANTED))
        assert found.n == 54
        assert found.raw_agreement.value == pytest.approx(47 / 54)
        chance = (32 * 33 + 10 * 11 + 12 * 10) / 54**2
        assert found.cohen_kappa.value == pytest.approx((47 / 54 - chance) / (1 - chance))
        assert found.confusion["Hallucination"] == {"Correct": 3, "Hallucination": 7, "Omission": 0}
        label = found.per_label["Hallucination"]
        assert (label.n, label.called) == (10, 11)
        assert (label.recall.value, label.precision.value) == (0.7, 7 / 11)
        assert label.f1.value == pytest.approx(14 / 21)
        assert (label.recall.low, label.recall.high) == pytest.approx((0.3475471, 0.9332605), abs=1e-7)

    def test_unreadable_and_missing_verdicts_are_dropped_by_name(self) -> None:
        items = cells(PLANTED)
        broken = {"gpt-4o": JudgeVerdict(None, "malformed")}
        items += [item(100 + k, {"A": "Correct"}, verdicts=broken) for k in range(2)]
        items.append(item(110, {"A": "Correct"}, "Incorrect."))
        items.append(item(111, {"A": "Correct"}, None))
        found = judge_of(items)
        assert (found.n, found.unreadable, found.no_verdict) == (54, 3, 1)
        assert found.failures == {"malformed": 2, "off_menu": 1}
        assert found.cohen_kappa.dropped == {"unreadable": 3, "no_verdict": 1}
        assert found.raw_agreement.value == pytest.approx(47 / 54)
        counted = found.unreadable_counted
        assert counted is not None
        assert counted.raw_agreement.value == pytest.approx(47 / 57)
        assert counted.cohen_kappa.n == 57
        assert counted.cohen_kappa.dropped == {"no_verdict": 1}

    def test_two_unreadable_verdicts_in_a_published_audit(self) -> None:
        """1,490 answers judged yes or no, two verdicts unreadable: the rule moves kappa from .695 to .693."""
        yes_no = LabelSet(("yes", "no"))
        table = {("yes", "yes"): 679, ("yes", "no"): 137, ("no", "yes"): 89, ("no", "no"): 583}
        items = cells(table)
        items += [item(2000 + k, {"A": "no"}, verdicts={"gpt-4o": JudgeVerdict(None, "missing")}) for k in range(2)]
        found = judge_of(items, yes_no)
        assert found.cohen_kappa.value == pytest.approx(0.6953, abs=5e-5)
        assert found.unreadable_counted is not None
        assert found.unreadable_counted.cohen_kappa.value == pytest.approx(0.6934, abs=5e-5)

    def test_a_failure_is_never_read_as_a_label(self) -> None:
        """'false', 'nan' and '' are no labels of the set; 0 is one when declared."""
        flags = LabelSet(("0", "1", "2"), "ordinal")
        texts = ["0", "1", "2", "false", "nan", "", "2.0", " 1"]
        found = judge_of([item(k, {"A": "0"}, text) for k, text in enumerate(texts)], flags)
        assert (found.n, found.unreadable) == (3, 5)
        assert found.failures == {"off_menu": 5}
        assert found.confusion["0"] == {"0": 1, "1": 1, "2": 1}

    def test_ordered_scales_get_weighted_kappa(self) -> None:
        grades = LabelSet(("2", "1", "0"), "ordinal")
        items = cells({("2", "2"): 20, ("2", "1"): 5, ("1", "1"): 10, ("0", "0"): 10, ("0", "2"): 1})
        found = judge_of(items, grades)
        assert found.weighted_kappa is not None
        assert found.weighted_kappa.method.startswith("weighted kappa (quadratic weights)")
        assert "Krippendorff's alpha (ordinal)" in found.krippendorff_alpha.method
        assert {"weighted_kappa_linear", "gwet_ac2", "pabak", "scott_pi"} <= set(found.more)
        assert judge_of(cells(PLANTED)).weighted_kappa is None

    def test_scores_follow_the_better_label(self) -> None:
        """The first ordinal label is the best: a judge that scores it highest correlates positively."""
        grades = LabelSet(("good", "fair", "bad"), "ordinal")
        scores = {"good": 9.0, "fair": 5.0, "bad": 1.0}
        items = [
            item(k, {"A": label}, verdicts={"gpt-4o": JudgeVerdict(label, score=scores[label] + k % 3)})
            for k, label in enumerate(["good", "fair", "bad"] * 8)
        ]
        found = judge_of(items, grades).correlations
        assert set(found) == {"kendall_tau", "spearman"}
        assert (found["kendall_tau"].value or 0) > 0.8

    def test_interval_labels_are_scores(self) -> None:
        numbers = LabelSet(tuple(str(k) for k in range(5)), "interval")
        items = [item(k, {"A": str(k % 5)}, str(min(4, k % 5 + k % 2))) for k in range(40)]
        found = judge_of(items, numbers).correlations
        assert set(found) == {"kendall_tau", "spearman", "pearson"}
        assert found["pearson"].n == 40

    def test_skew_is_explained(self) -> None:
        two = LabelSet(("pass", "fail"))
        found = judge_of(cells({("pass", "pass"): 118, ("pass", "fail"): 5, ("fail", "pass"): 2}), two)
        assert found.cohen_kappa.value == pytest.approx(-0.0234, abs=5e-5)
        assert found.gwet_ac1.value == pytest.approx(0.9408, abs=5e-5)
        assert "people gave 98% of the items one label, pass" in found.notes[0]
        assert judge_of(cells(PLANTED)).notes == ()

    def test_one_different_item_in_a_hundred(self) -> None:
        """Alpha is 0 at 99 % agreement: raw agreement, AC1 and the reason stand beside it."""
        two = LabelSet(("pass", "fail"))
        found = judge_of(cells({("pass", "pass"): 99, ("pass", "fail"): 1}), two)
        assert found.raw_agreement.value == 0.99
        assert found.cohen_kappa.status == "constant_rater"
        assert found.krippendorff_alpha.value == pytest.approx(0, abs=0.01)
        assert found.gwet_ac1.value == pytest.approx(0.99, abs=0.001)
        assert found.more["pabak"].value == pytest.approx(0.98)
        assert found.notes

    def test_unanimous(self) -> None:
        found = judge_of(cells({("Correct", "Correct"): 40}))
        assert found.raw_agreement.value == 1.0
        for statistic in (found.cohen_kappa, found.krippendorff_alpha, found.gwet_ac1):
            assert (statistic.value, statistic.status) == (None, "undefined_single_category")

    def test_slices(self) -> None:
        items = cells({("Correct", "Correct"): 8, ("Hallucination", "Correct"): 2}, slices={"type": "event"})
        items += [
            item(100 + k, {"A": "Hallucination"}, "Hallucination", slices={"type": "persona"}, system="B")
            for k in range(6)
        ]
        items.append(item(200, {"A": "Correct"}, "Correct"))
        found = judge_of(items).slices
        assert set(found) == {"type"}
        event, persona = found["type"]["event"], found["type"]["persona"]
        assert (event.n, event.raw_agreement.value) == (10, 0.8)
        assert event.recall["Correct"].value == 1.0
        assert (event.recall["Hallucination"].status, event.recall["Hallucination"].n) == ("too_few", 2)
        assert event.recall["Omission"].status == "label_not_used"
        assert (persona.n, persona.recall["Hallucination"].value) == (6, 1.0)

    def test_two_systems_are_a_slice(self) -> None:
        items = cells({("Correct", "Correct"): 10}, system="A")
        items += [item(100 + k, {"A": "Correct"}, "Omission", system="B") for k in range(10)]
        found = judge_of(items).slices["system"]
        assert (found["A"].raw_agreement.value, found["B"].raw_agreement.value) == (1.0, 0.0)

    def test_the_group_is_the_cluster_where_none_is_given(self) -> None:
        answers = [("Correct", "Correct"), ("Omission", "Correct"), ("Omission", "Omission")] * 20
        for group, expected in (("session-", "30 clusters"), ("", "resamples of items")):
            rows = [
                item(k, {"A": people}, judge, group=f"{group}{k // 2}" if group else "")
                for k, (people, judge) in enumerate(answers)
            ]
            assert expected in judge_of(rows).krippendorff_alpha.method


class TestPeople:
    def test_which_labels_count(self) -> None:
        items = [
            item(0, {"A": "Correct", "B": "Correct"}),
            item(1, {"A": "Correct", "B": "Omission"}),
            item(2, {"A": "Correct", "B": "Omission", "C": "Omission"}),
            item(3, {"A": CANNOT_JUDGE}),
            item(4, {"A": "Correct"}, stream="learn"),
            item(5, {"A": "Correct", "B": "Omission"}, adjudicated=HumanLabel("Hallucination")),
            item(6, {"A": "correct"}),
            item(7),
        ]
        found = audit_one(items, not_blind=11)
        assert (found.items, found.labelled) == (8, 5)
        assert found.rules == {"adjudicated": 1, "majority": 1, "unanimous": 2, "unresolved": 1}
        assert found.dropped.as_json() == {
            "unresolved_items": 1,
            "cannot_judge_items": 1,
            "labels_not_blind": 11,
            "labels_not_estimate": 1,
            "labels_outside_set": 1,
        }
        judge = found.judges["gpt-4o"]
        assert judge.n == 3
        assert judge.raw_agreement.dropped == {"unresolved": 1, "cannot_judge": 1}
        assert sum(row["Correct"] for row in judge.confusion.values()) == 3

    def test_two_who_differ_count_for_neither(self) -> None:
        found = judge_of([item(k, {"A": "Correct", "B": "Omission"}) for k in range(5)])
        assert found.n == 0
        assert found.raw_agreement.status == "no_pairable_items"

    def test_agreement_between_people(self) -> None:
        items = [item(k, {"li": "Correct", "rao": "Correct" if k % 4 else "Omission"}) for k in range(40)]
        items += [item(100 + k, {"li": "Omission", "rao": "Omission"}) for k in range(10)]
        items.append(item(200, {"li": "Correct"}))
        found = audit_one(items).humans
        assert found.annotators == {"li": 51, "rao": 50}
        pair = found.pairs["li|rao"]
        assert (pair.n, pair.raw_agreement.value) == (50, 0.8)
        assert pair.cohen_kappa.dropped == {"rated_by_one": 1}
        assert pair.confusion["Correct"]["Omission"] == 10
        assert found.raw_agreement.value == pytest.approx(0.8)
        assert found.krippendorff_alpha.value == pytest.approx(pair.krippendorff_alpha.value)
        assert found.fleiss_kappa.dropped == {"rated_once": 1}

    def test_one_annotator(self) -> None:
        found = audit_one(cells(PLANTED)).humans
        for statistic in (found.raw_agreement, found.krippendorff_alpha, found.fleiss_kappa, found.gwet_ac1):
            assert (statistic.value, statistic.status) == (None, "one_annotator")
        assert found.pairs == {}

    def test_adjudicated_labels_alone(self) -> None:
        found = audit_one([item(k, adjudicated=HumanLabel("Correct")) for k in range(3)])
        assert found.labelled == 3
        assert found.humans.raw_agreement.status == "no_pairable_items"

    def test_two_without_a_common_item(self) -> None:
        items = [item(k, {"A" if k % 2 else "B": "Correct"}) for k in range(10)]
        found = audit_one(items).humans
        assert found.pairs["A|B"].cohen_kappa.status == "no_pairable_items"
        assert found.krippendorff_alpha.status == "no_pairable_items"

    def test_cannot_judge_is_no_rating(self) -> None:
        items = [item(k, {"A": "Correct", "B": CANNOT_JUDGE}) for k in range(4)]
        found = audit_one(items).humans
        assert found.annotators == {"A": 4, "B": 0}
        assert found.raw_agreement.status == "no_pairable_items"

    def test_a_tie_breaker_does_not_lift_agreement(self) -> None:
        """C labels where A and B differ: two of three would then agree on what two of two do not."""
        items = [item(k, {"A": "Correct", "B": "Correct"}) for k in range(30)]
        items += [item(100 + k, {"A": "Correct", "B": "Omission", "C": "Omission"}) for k in range(10)]
        found = audit_one(items).humans
        assert found.raw_agreement.value == pytest.approx(0.75)
        assert found.raw_agreement.dropped == {"labels_of_tie_breaker_C": 10}
        assert found.pairs["B|C"].n == 10
        assert found.notes[0].startswith("C labelled mostly items on which the others differ")

    def test_a_third_annotator_is_no_tie_breaker(self) -> None:
        rng = np.random.default_rng(1)
        own = {who: rng.integers(0, 2, 60) for who in "ABC"}
        own["C"][30:] = -1
        assert tie_breakers(own) == []
        assert tie_breakers({"A": own["A"], "B": own["B"]}) == []

    def test_potato_faults(self) -> None:
        """Agreement compares values: three who differ 0, three alike 1, two of three 1/3."""
        rows: list[tuple[dict[str, Vote], float]] = [
            ({"A": "Correct", "B": "Omission", "C": "Hallucination"}, 0.0),
            ({"A": "Correct", "B": "Correct", "C": "Correct"}, 1.0),
            ({"A": "Correct", "B": "Correct", "C": "Omission"}, 1 / 3),
        ]
        for labels, share in rows:
            assert audit_one([item(0, labels)]).humans.raw_agreement.value == pytest.approx(share)


class TestParts:
    flag = LabelSet(("true", "false"))

    def items(self) -> list[AuditItem]:
        def one(k: int, flag: str, verdict: JudgeVerdict, **more: Any) -> AuditItem:
            return AuditItem(f"i{k}", {"A": HumanLabel("Correct", {"included": flag})}, {"gpt-4o": verdict}, **more)

        agreed = [one(k, "true", JudgeVerdict("Correct", parts={"included": "true"})) for k in range(6)]
        differ = [one(10 + k, "false", JudgeVerdict("Correct", parts={"included": "true"})) for k in range(2)]
        no_flag = one(20, "true", JudgeVerdict("Correct"))
        no_score = one(21, "true", JudgeVerdict(None, "malformed", parts={"included": "true"}))
        failed = one(22, "false", JudgeVerdict(None, "timeout"))
        unable = AuditItem("i23", {"A": HumanLabel(CANNOT_JUDGE)}, {"gpt-4o": JudgeVerdict("Correct")})
        unsaid = AuditItem("i24", {"A": HumanLabel("Correct")}, {"gpt-4o": JudgeVerdict("Correct")})
        return [*agreed, *differ, no_flag, no_score, failed, unable, unsaid]

    def test_a_part_is_audited_on_its_own_labels(self) -> None:
        found = audit_one(self.items(), parts={"included": self.flag})
        part = found.parts["included"]
        judge = part.judges["gpt-4o"]
        assert part.labelled == 12
        assert judge.n == 9
        assert judge.failures == {"missing": 1, "timeout": 1}
        assert judge.confusion == {"true": {"true": 7, "false": 0}, "false": {"true": 2, "false": 0}}
        assert part.dropped.cannot_judge_items == 1
        assert found.judges["gpt-4o"].n == 10

    def test_who_leaves_an_optional_part_out_has_not_failed_at_it(self) -> None:
        optional = replace(self.flag, optional=True)
        part = audit_one(self.items(), parts={"included": optional}).parts["included"]
        judge = part.judges["gpt-4o"]
        assert (judge.n, judge.failures, judge.no_verdict) == (9, {}, 2)
        silent = [replace(one, verdicts={"gpt-4o": JudgeVerdict("Correct")}) for one in self.items()]
        part = audit_one(silent, parts={"included": optional}).parts["included"]
        assert part.judges == {} and part.labelled == 12, "people are still compared with each other"

    def test_an_optional_part_that_nobody_gave_is_not_there(self) -> None:
        unsaid = [replace(one, labels={"A": HumanLabel("Correct")}) for one in self.items()]
        assert audit_one(unsaid, parts={"included": replace(self.flag, optional=True)}).parts == {}
        assert audit_one(unsaid, parts={"included": self.flag}).parts["included"].labelled == 0


ODD = ["", "0", "0.0", "nan", "None", "2020-01-01", "1e5", "\0", "=1+1", "\u202eabc", "正确", "CORRECT", "INCORRECT"]


@given(st.lists(st.tuples(st.sampled_from(ODD), st.sampled_from(ODD)), min_size=1, max_size=30))
@settings(max_examples=40)
def test_odd_labels_are_compared_as_they_are(rows: list[tuple[str, str]]) -> None:
    """Dates, numbers, empty texts: a label equals itself and nothing else; 'INCORRECT' is not 'CORRECT'."""
    found = judge_of([item(k, {"A": people}, said) for k, (people, said) in enumerate(rows)], LabelSet(tuple(ODD)))
    assert (found.n, found.unreadable) == (len(rows), 0)
    assert found.raw_agreement.value == sum(people == said for people, said in rows) / len(rows)
    for people, said in rows:
        assert found.confusion[people][said] == rows.count((people, said))


class TestJson:
    def test_shape(self) -> None:
        found = audit(
            [TaskRecords("qa", QA, cells(PLANTED, slices={"type": "event"}), {"included": LabelSet(("y", "n"))})],
            "my study",
            Settings(resamples=100),
        ).as_json()
        assert found["schema_version"] == 1
        assert found["study"] == "my study"
        task = found["tasks"]["qa"]
        assert {"items", "labelled", "dropped", "judges", "humans", "parts"} <= set(task)
        judge = task["judges"]["gpt-4o"]
        statistics = {"raw_agreement", "cohen_kappa", "krippendorff_alpha", "gwet_ac1"}
        assert {"n", "unreadable", "confusion", "per_label", "slices"} | statistics <= set(judge)
        assert "weighted_kappa" not in judge
        assert set(judge["per_label"]["Omission"]) == {"recall", "precision", "f1", "n", "called"}
        for statistic in (
            *(judge[name] for name in statistics),
            judge["per_label"]["Correct"]["recall"],
            judge["slices"]["type"]["event"]["raw_agreement"],
            task["humans"]["fleiss_kappa"],
        ):
            assert STATISTIC <= set(statistic) <= STATISTIC | {"why"}
        assert {"annotators", "pairs", "raw_agreement", "krippendorff_alpha", "fleiss_kappa", "gwet_ac1"} <= set(
            task["humans"]
        )
        assert set(task["parts"]["included"]["judges"]["gpt-4o"]) >= statistics
        json.dumps(found, allow_nan=False)

    def test_the_order_of_items_does_not_matter(self) -> None:
        items = cells(PLANTED, slices={"type": "event"})
        shuffled = items.copy()
        random.Random(7).shuffle(shuffled)
        first, second = (audit([TaskRecords("qa", QA, each)]).as_json() for each in (items, shuffled))
        assert first == second

    def test_an_empty_study(self) -> None:
        found = audit_one([])
        assert (found.items, found.labelled, found.judges) == (0, 0, {})
        assert audit([]).as_json()["tasks"] == {}

    def test_columns_and_records_give_the_same(self) -> None:
        records = TaskRecords("qa", QA, cells(PLANTED))
        assert audit([records]).as_json() == audit([columns_of(records)]).as_json()

    def test_columns_without_clusters_slices_or_annotators(self) -> None:
        columns = columns_of(TaskRecords("qa", QA, cells(PLANTED)))
        plain = TaskColumns(
            "qa",
            columns.scale,
            {},
            columns.annotators["A"],
            {"gpt-4o": JudgeColumn(columns.judges["gpt-4o"].codes)},
            columns.estimate,
        )
        found = audit([plain]).tasks["qa"]
        assert found.rules == {"adjudicated": 54}
        assert found.judges["gpt-4o"].raw_agreement.value == pytest.approx(47 / 54)


def test_importing_the_label_rules_loads_no_numeric_library() -> None:
    """The desk and the exporter resolve labels; they must not pay for the statistics."""
    import subprocess
    import sys

    code = (
        "import sys, judges.calibration.statistical_label, judges.calibration.statistic;"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'krippendorff'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert shown.stdout.strip() == "[]"


def test_importing_the_audit_loads_only_numpy() -> None:
    import subprocess
    import sys

    code = (
        "import sys, judges.calibration.audit;"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'krippendorff'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert shown.stdout.strip() == "['numpy']"
