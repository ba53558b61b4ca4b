"""`sample` and what it prints: never a verdict, always the terms."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import JUDGE, Plant, label, plant

from store.draws import list_draws
from store.study import Study
from tests.commands import Overread

overread = Overread()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sample")
    plant(made / "s.duckdb", Plant(items=120, group=6))
    return made


def test_a_draw_says_its_terms_and_names_no_verdict(folder: Path) -> None:
    outcome = overread("sample", "--n", "60", "--by", "verdict", "--allocation", "equal", "--seed", "1", cwd=folder)
    assert outcome.exit_code == 0, outcome
    assert "60 items" in outcome.stdout and "3 strata by verdict, equal" in outcome.stdout
    assert "overread label --draw" in outcome.stdout
    assert "Correct" not in outcome.stdout and "Halluc" not in outcome.stdout and "Omission" not in outcome.stdout


@pytest.mark.slow
def test_json_tops_up_and_streams(folder: Path) -> None:
    overread("sample", "--n", "6", "--single", "--seed", "9", cwd=folder)
    first = overread("sample", "--n", "30", "--within", "2", "--seed", "2", "--json", cwd=folder).json()
    assert (first["design"], first["reveal"], first["items"], first["groups"]) == ("two_stage", "block", 30, 15)
    more = overread("sample", "--top-up", first["draw_id"][:8], "--n", "4", "--json", cwd=folder).json()
    assert (more["items"], more["items_before"], more["continues"]) == (34, 30, first["draw_id"])
    assert any("not pooled" in note for note in more["notes"])
    learn = overread("sample", "--n", "9", "--stream", "learn", "--json", cwd=folder).json()
    assert (learn["stream"], learn["reveal"], learn["items"]) == ("learn", "item", 9)
    status = overread("status", cwd=folder).stdout
    assert "for learn" in status and "continued" in status


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--n", "10", "--stream", "guess"], "no stream"),
        (["--n", "10", "--allocation", "random"], "no allocation"),
        (["--n", "10", "--reveal", "later"], "no policy"),
        (["--n", "10", "--abstained"], "stream learn"),
        (["--n", "10", "--unexplained"], "stream practice"),
        (["--n", "10", "--clustered", "--two-stage"], "two designs"),
        (["--n", "10", "--top-up", "x", "--seed", "1"], "keeps its terms"),
        (["--n", "10", "--top-up", "x"], "no draw 'x'"),
        (["--n", "10", "--paired"], "nothing to pair"),
        ([], "--n"),
    ],
)
def test_what_makes_no_draw_ends_with_the_remedy(folder: Path, arguments: list[str], words: str) -> None:
    outcome = overread("sample", *arguments, cwd=folder)
    assert outcome.exit_code == 2 and words in outcome.stderr, outcome


def test_no_item_is_left_to_people_before_a_threshold_of_confidence_is_kept(folder: Path) -> None:
    outcome = overread("sample", "--n", "10", "--stream", "learn", "--abstained", cwd=folder)
    assert outcome.exit_code == 3 and "No confidence is known" in outcome.stderr, outcome


@pytest.mark.slow
def test_confidence_is_audited_a_threshold_kept_and_what_falls_below_is_queued(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=500, wrong=0.08))
    made = overread("sample", "--n", "300", "--seed", "1", "--json", cwd=tmp_path).json()
    with Study.open(planted.path) as study:
        label(study, planted, made["draw_id"])
    text = overread("audit", "--confidence", "--alpha", "0.1", cwd=tmp_path)
    assert text.exit_code == 0 and "Brier score" in text.stdout and "may decide alone" in text.stdout, text
    found = overread("audit", "--confidence", "--alpha", "0.1", "--keep", "--json", cwd=tmp_path).json()
    qa = found["tasks"]["qa"]
    chosen = qa["selection"]
    assert qa["source"] == "logprob" and chosen["upper"] <= 0.1 and 0.5 < chosen["threshold"] < 1
    assert found["kept"] == {"qa": chosen["threshold"]}
    assert 0 < qa["calibrated"]["ece"]["value"] < qa["confidence"]["ece"]["value"]
    assert len(qa["confidence"]["reliability"]) == 10
    queued = overread("sample", "--n", "30", "--stream", "learn", "--abstained", "--seed", "1", "--json", cwd=tmp_path)
    with Study.open(planted.path) as study:
        ids = [
            row[0] for row in study.rows("SELECT item_id FROM draw_items WHERE draw_id = ?", [queued.json()["draw_id"]])
        ]
        levels = dict(study.rows("SELECT item_id, confidence FROM verdicts"))
        labelled = {row[0] for row in study.rows("SELECT item_id FROM current_labels")}
        below = {one for one, level in levels.items() if level < chosen["threshold"]} - labelled
        assert len(ids) == 30 and len(below & set(ids)) == min(20, len(below)), "at least a third is mixed in"
        assert list_draws(study)[-1].settings["chosen_by"] == "abstained"


@pytest.mark.slow
def test_where_chances_differ_no_threshold_is_promised(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=200))
    with Study.open(planted.path) as study:
        from judges.drawing import Wish, draw_estimate

        wish = Wish(120, by=("verdict",), judge=JUDGE, allocation="equal", seed=1)
        label(study, planted, draw_estimate(study, wish, "lead").draw.draw_id)
        squares: dict[str, list[float]] = {}
        for item_id, verdict, level in study.rows(
            "SELECT v.item_id, v.label, confidence FROM verdicts v SEMI JOIN blind_labels b ON v.item_id = b.item_id"
        ):
            squares.setdefault(verdict, []).append((level - (planted.truth[item_id] == verdict)) ** 2)
        sizes = dict(study.rows("SELECT label, count(*) FROM verdicts GROUP BY 1"))
    found = overread("audit", "--confidence", "--json", cwd=tmp_path).json()["tasks"]["qa"]
    assert found["selection"] is None and "equal chances" in found["selection_why"]
    of_all = sum(sizes[verdict] * sum(own) / len(own) for verdict, own in squares.items()) / sum(sizes.values())
    plain = sum(map(sum, squares.values())) / sum(map(len, squares.values()))
    assert found["weighted"] and found["confidence"]["brier"]["value"] == pytest.approx(of_all)
    assert abs(of_all - plain) > 1e-3
    text = overread("audit", "--confidence", cwd=tmp_path).stdout
    assert "counts for the items it stands for" in text
    told = overread("audit", "--all", cwd=tmp_path).stdout
    assert "From which confidence on it may decide alone is not said" in " ".join(told.split())


@pytest.mark.slow
def test_without_stated_confidence_repeats_speak(tmp_path: Path) -> None:
    planted = plant(tmp_path / "s.duckdb", Plant(items=100, confidence=False, repeats=5, wrong=0.25))
    made = overread("sample", "--n", "100", "--json", cwd=tmp_path).json()
    with Study.open(planted.path) as study:
        label(study, planted, made["draw_id"])
    found = overread("audit", "--confidence", "--json", cwd=tmp_path).json()["tasks"]["qa"]
    assert found["source"] == "agreement of 5 repeats" and found["without_confidence"] == 0
    bins = found["confidence"]["reliability"]
    assert bins[0]["agreement"] < bins[-1]["agreement"]


@pytest.mark.slow
def test_label_says_which_of_several_draws_it_serves(tmp_path: Path) -> None:
    plant(tmp_path / "s.duckdb", Plant(items=40))
    first = overread("sample", "--n", "10", "--json", cwd=tmp_path).json()["draw_id"]
    alone = overread("label", "--plain", "--annotator", "a", cwd=tmp_path, stdin="q\n")
    assert alone.exit_code == 0 and "draw" not in alone.stderr, alone
    learn = overread("sample", "--n", "5", "--stream", "learn", "--json", cwd=tmp_path).json()["draw_id"]
    both = overread("label", "--plain", "--annotator", "a", cwd=tmp_path, stdin="q\n")
    assert f"draw {first[:6]}, 10 items for estimate" in both.stderr, both
    other = overread("label", "--plain", "--annotator", "a", "--draw", learn[:6], cwd=tmp_path, stdin="q\n")
    assert f"draw {learn[:6]}, 5 items for learn" in other.stderr, other


@pytest.mark.slow
def test_strata_are_of_each_task_where_there_are_several(tmp_path: Path) -> None:
    from tests.sample_study import make_sample_study

    make_sample_study(tmp_path)
    made = overread("sample", "--n", "120", "--single", "--by", "verdict", "--json", cwd=tmp_path).json()
    assert made["settings"]["by"] == ["task", "verdict"]
    assert {name.partition(" / ")[0] for name in made["strata"]} == {"integrity", "accuracy", "update", "qa"}


def test_a_pair_needs_two_systems_also_where_one_is_named(tmp_path: Path) -> None:
    plant(tmp_path / "s.duckdb", Plant(items=40, right={"northwind": 0.7, "tidepool": 0.6}))
    pairs = overread("sample", "--n", "5", "--paired", "--json", cwd=tmp_path)
    assert pairs.json()["items"] == 10
    one = overread("sample", "--n", "5", "--paired", "--system", "tidepool", cwd=tmp_path)
    assert one.exit_code == 2 and "Leave --system out" in one.stderr, one
