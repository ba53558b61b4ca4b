"""`audit` on planted studies: what is wrong is said, what cannot be had is said why."""

from __future__ import annotations

from pathlib import Path

import pytest

from judges.benchmarks.halbench.background import PUBLISHED
from judges.calibration.audit_result import Audit
from judges.calibration.measured_result import MeasuredAgreement, MeasuredAudit, MeasuredHumans
from judges.calibration.statistic import Statistic
from tests.auditing.planted_judges import row, table_study
from tests.commands import Overread

STATISTIC = {"value", "low", "high", "level", "method", "n", "dropped", "status"}


@pytest.fixture(scope="module")
def leaning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that lifts one system and lowers another, passes long answers, and cannot be read five times."""
    rows = []
    for number in range(200):
        people = "pass" if number % 2 else "fail"
        system = "lifted" if number % 4 < 2 else "lowered"
        judge: str | None = people
        if number % 5 == 0:
            judge = "pass" if system == "lifted" else "fail"
        if number % 40 == 7:
            judge = None
        length = 400 if (judge == "pass" and number % 3) or number % 7 == 0 else 20
        more = {"system": system, "human": {"unsure": number < 12, "reference_wrong": number in (3, 5)}}
        rows.append({**row(number, people, judge, **more), "response": "x" * (length + number % 17)})
    return table_study(tmp_path_factory.mktemp("leaning"), rows)


@pytest.mark.slow
def test_the_default_is_short_and_all_is_long(overread_cli: Overread, leaning: Path) -> None:
    short, whole = (overread_cli("--study", leaning, "audit", *more).stdout for more in ((), ("--all",)))
    assert short.startswith("label, judge gpt-4o: The judge misses")
    assert "Scott's pi" not in short
    for words in ("Scott's pi", "Fleiss' kappa", "macro-F1", "By system: judge less people", "What the judge leans on"):
        assert words in whole
    assert "one correction for all systems misleads" in whole
    assert "passes" not in short.split("\n")[0]


@pytest.mark.slow
def test_every_number_of_the_whole_audit_is_a_statistic(overread_cli: Overread, leaning: Path) -> None:
    found = overread_cli("--study", leaning, "audit", "--all", "--json").json()
    task = found["tasks"]["label"]
    judge = task["judges"]["gpt-4o"]
    for name in ("pabak", "scott_pi", "fleiss_kappa", "matthews_correlation", "macro_f1", "bias_index"):
        assert judge[name].keys() >= STATISTIC, name
    assert judge["scott_pi"]["value"] == pytest.approx(judge["fleiss_kappa"]["value"], abs=1e-12)
    assert judge["unsure"]["n"] == 11  # of 12, one without a readable verdict
    assert judge["wrong_reference"]["n"] == 2
    gaps = {one["system"]: one["gap"]["value"] for one in judge["system_gaps"]}
    assert gaps["lifted"] > 0.05 > -0.05 > gaps["lowered"]
    length = next(one for one in judge["biases"] if one["name"].startswith("length"))
    assert length["flagged"]
    assert length["statistic"]["value"] > 1
    test = task["annotator_test"]["gpt-4o"]
    assert test["passed"] is None
    assert "3 are needed" in test["winning_rate"]["why"]
    assert task["anchoring"]["gpt-4o"]["assisted"]["status"] == "no_visible_labels"


def test_unreadable_verdicts_by_every_treatment(overread_cli: Overread, leaning: Path) -> None:
    judge = overread_cli("--study", leaning, "audit", "--json").json()["tasks"]["label"]["judges"]["gpt-4o"]
    counted = judge["unreadable_counted"]
    right = round(judge["raw_agreement"]["value"] * judge["n"])
    assert judge["unreadable"] == 5
    assert counted["raw_agreement"]["value"] == pytest.approx(right / 200)
    as_pass, as_fail = (counted["as_label"][label]["raw_agreement"]["value"] for label in ("pass", "fail"))
    assert as_pass + as_fail == pytest.approx((2 * right + 5) / 200)
    text = overread_cli("--study", leaning, "audit").stdout
    for share in (counted["raw_agreement"]["value"], as_pass, as_fail):
        assert f"{share:.1%}" in text


@pytest.mark.slow
def test_labels_beside_the_verdict_are_anchored(overread_cli: Overread, tmp_path: Path) -> None:
    """Blind labels differ from the judge on half of the items, those given beside its verdict on a tenth."""
    rows = []
    for number in range(200):
        assisted = number >= 100
        differs = number % (10 if assisted else 2) == 0
        people = ("fail" if differs else "pass") if number % 4 < 2 else ("pass" if differs else "fail")
        mode = "assisted" if assisted else "blind"
        rows.append(row(number, people, "pass" if number % 4 < 2 else "fail", human={"mode": mode}))
    task = overread_cli("--study", table_study(tmp_path, rows), "audit", "--json").json()["tasks"]["label"]
    seen = task["anchoring"]["gpt-4o"]
    assert seen["labels"] == {"never_shown": 100, "assisted": 100}
    assert seen["assisted"]["value"] == pytest.approx(0.8)
    assert set(seen["by_verdict"]) == {"pass", "fail"}
    assert "direct effect only" in seen["scope"]
    assert "not left to chance" in seen["scope"]
    assert seen["de_anchored"]["status"] == "ok"
    assert task["dropped"]["labels_not_blind"] == 100


@pytest.mark.slow
def test_dangerous_answers_come_first(overread_cli: Overread, tmp_path: Path) -> None:
    rows = []
    for number in range(60):
        people, harm = ("fail", "serious") if number < 30 else ("pass", "")
        judge = "pass" if number == 3 or number >= 30 else "fail"
        rows.append(row(number, people, judge, human={"harm": harm} if harm else {}))
    study = table_study(tmp_path, rows)
    first = overread_cli("--study", study, "audit").stdout.splitlines()[0]
    assert first.startswith("label, judge gpt-4o: Dangerous answers the judge passed: 1 of 30 checked; at most 14.9")
    found = overread_cli("--study", study, "audit", "--json").json()["tasks"]["label"]["dangerous"]["gpt-4o"]
    assert (found["passed"], found["checked"], found["label"]) == (1, 30, "pass")
    assert found["share"]["high"] == pytest.approx(0.14860, abs=1e-4)  # 1 of 30: root of Σ C(30,k) p^k q^(30−k) = .05


@pytest.mark.slow
def test_published_agreement_beside_ours(overread_cli: Overread, tmp_path: Path) -> None:
    study = tmp_path / "m.duckdb"
    assert overread_cli("init", study, "--benchmark", "medmemorybench").exit_code == 0
    found = overread_cli("--study", study, "audit", "--json")
    assert found.exit_code == 3
    published = {one["statistic"]: one["value"] for one in found.json()["published"]}
    assert published == {"raw_agreement": 0.875, "cohen_kappa": 0.72}


def test_a_ranking_is_set_beside_what_is_published_of_it() -> None:
    tau = Statistic(0.5, 40, "mean tau")
    judged = MeasuredAgreement(40, 0, 0, {"kendall_tau": tau})
    ranking = MeasuredAudit("ranking", "Ranking", 50, 40, {}, {}, {"embedder": judged}, MeasuredHumans({"ann": 40}, {}))
    audit = Audit("s", {}, published=PUBLISHED, declared={"ranking": {"": ranking}})
    published = audit.as_json()["published"][0]
    assert published["value"] == 0.431
    assert published["ours"]["ranking"]["embedder"]["value"] == 0.5
