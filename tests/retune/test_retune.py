"""A search for a better prompt against real HTTP servers: what helps is found and promoted, what does not is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from retune_studies import AT, TABLE, TASK, table_study
from scripted_models import JUDGE, REFLECTOR, RULES, Models

from judges.auditing import audit_study
from judges.backends.prices import Budget
from judges.collect import task_definitions
from judges.estimate import estimate
from judges.gate.evidence import evidence_of, pick_judge
from judges.retune.adapter import Settings
from judges.retune.asking import CapReachedError
from judges.retune.halt import Halt, SearchStoppedError
from judges.retune.retune import Result, Retune
from judges.retune.study_log import searches
from judges.run import JudgeRun, Scope
from judges.setup import JudgeOptions, chat_backend, judge_prompt, make_askers, make_budget
from store.errors import NotEnoughError, SaveError
from store.judge_rubrics import current_rubric
from store.splits import openings_of
from store.study import Study
from tests.judging.chat_server import ChatServer, Reply, Request, serving
from tests.judging.judge_runs import judge


def small_table(path: Path, notes: int = 40) -> Study:
    """A study of the sample's first notes: 240 items, so 60 to train on, 60 to choose on, 120 to test on."""
    rows = (TABLE / "items.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [row for row in rows if json.loads(row)["cluster"] < f"note-{notes:04}"]
    return table_study(path, rows=kept)


def retuned(
    study: Study,
    server: ChatServer,
    settings: Settings | None = None,
    *,
    told: Callable[[Retune], None] = lambda _: None,
    halt: Halt | None = None,
    **more: Any,
) -> Result:
    """Run a search on an open study."""
    options = JudgeOptions(JUDGE, server.url, **{"concurrency": 16, "logprobs": False, **more})
    reflect = JudgeOptions(REFLECTOR, server.url, temperature=1.0, max_tokens=8192, format="text", logprobs=False)
    task = task_definitions(study)[TASK]
    found = Retune(study, task, judge_prompt(study, task), settings or Settings(proposals=8), at=AT)
    with asyncio.Runner() as runner:

        async def made(one: JudgeOptions) -> Any:
            return chat_backend(one)

        judge, reflector = runner.run(made(options)), runner.run(made(reflect))
        try:
            other = (reflect, reflector, make_budget(reflect))
            return found.run(options, judge, make_budget(options), runner, other, told=told, halt=halt)
        finally:
            runner.run(judge.close())
            runner.run(reflector.close())


@pytest.mark.slow
def test_rules_that_mend_the_judge_are_found_and_promoted(tmp_path: Path) -> None:
    models = Models()
    with small_table(tmp_path / "s.duckdb") as study, serving(models) as server:
        result = retuned(study, server)
        assert result.outcome == "better", result.as_json()
        assert result.promotion is not None and result.promotion.difference.low is not None
        assert result.promotion.difference.low > 0
        assert result.counts["train"] == pytest.approx(60, abs=12) and result.counts["test"] == pytest.approx(
            120, abs=12
        )
        rubric = current_rubric(study, TASK)
        assert rubric is not None and rubric.origin == "retuned"
        assert sum(rule in rubric.texts["en"] for rule in RULES.values()) >= 2
        assert [opening.purpose for opening in openings_of(study, TASK)] == ["retune"]
        assert max(models.prompts.values()) == 1, "nothing was paid for twice"
        evidence = evidence_of(study, TASK, pick_judge(study, TASK, result.judge))
        assert evidence.tuned_out == result.counts["train"] + result.counts["val"]
        assert len(evidence.records.items) == len([i for i in evidence.records.items if i.verdicts])


@pytest.mark.slow
def test_the_same_seed_finds_the_same_prompts(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with small_table(tmp_path / name / "s.duckdb") as study, serving(Models()) as server:
            found.append(retuned(study, server))
    one, other = found
    assert [each.texts for each in one.candidates] == [each.texts for each in other.candidates]
    assert one.promotion is not None and other.promotion is not None
    assert one.promotion.as_json() == other.promotion.as_json()


@pytest.mark.slow
def test_a_search_that_was_stopped_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    lines = [f'"{name}" = {{ input = 1.0, output = 1.0 }}' for name in (JUDGE, REFLECTOR)]
    prices.write_text("[models]\n" + "\n".join(lines), encoding="utf-8")
    models = Models()
    with small_table(tmp_path / "s.duckdb") as study, serving(models) as server:
        with pytest.raises(CapReachedError, match="could pass the cap") as stopped:
            retuned(study, server, max_cost=0.15, prices=prices)
        assert "higher --max-cost" in stopped.value.hint
        paid = models.judged
        assert 0 < paid * 1100 / 1e6 <= 0.15
        result = retuned(study, server, prices=prices)
        assert result.outcome == "better" and max(models.prompts.values()) == 1
        assert result.tally.kept >= paid and len(searches(study, TASK)) == 1


@pytest.mark.slow
def test_a_candidate_that_cannot_be_noted_ends_the_search_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise SaveError("The disk is full.", "item text", "Free some space.")

    monkeypatch.setattr("judges.retune.study_log.note_candidate", full)
    models = Models()
    with (
        small_table(tmp_path / "s.duckdb", notes=30) as study,
        serving(models) as server,
        pytest.raises(SaveError, match="The disk is full"),
    ):
        retuned(study, server, Settings(proposals=3, examples=0))
    assert not models.reflected and "item text" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_search_stopped_while_it_decides_opens_the_test_once(tmp_path: Path) -> None:
    with small_table(tmp_path / "s.duckdb", notes=30) as study, serving(Models()) as server:
        halt, own = Halt(), Settings(proposals=1, examples=0)

        def told(found: Retune) -> None:
            if found.phase == "test":
                halt.stop()

        with pytest.raises(SearchStoppedError):
            retuned(study, server, own, told=told, halt=halt)
        [opening] = openings_of(study, TASK)
        result = retuned(study, server, own)
        assert result.promotion is not None and result.counts["test"] == len(opening.items)
        assert openings_of(study, TASK) == [opening]


@pytest.mark.slow
def test_a_run_of_the_same_judge_asks_for_nothing_that_a_search_has_paid_for(tmp_path: Path) -> None:
    models = Models(noise=True)
    with small_table(tmp_path / "s.duckdb") as study, serving(models) as server:
        result = retuned(study, server, Settings(proposals=1, examples=0))
        assert not result.promoted
        paid = models.judged
        options = JudgeOptions(JUDGE, logprobs=False)
        [asker] = make_askers(study, [task_definitions(study)[TASK]], options, None, Budget(None))
        planned = estimate(study, JudgeRun(study, asker, Scope(TASK)), 1)
        assert models.judged == paid, "a plan calls nobody"
        run = judge(study, server, task=TASK, model=JUDGE, logprobs=False)
        assert (planned.kept, planned.linked, planned.calls) == (run.state.kept, run.state.linked, run.state.requests)
        assert run.outcome == "done" and run.state.kept > 50
        assert run.state.kept + run.state.linked + run.state.judged == run.state.slots
        assert models.judged == paid + run.state.requests and max(models.prompts.values()) == 1
        costs = study.rows("SELECT count(*) FROM verdicts v JOIN judges USING (judge_id) WHERE model = ?", [JUDGE])
        assert costs == [(run.state.slots,)]


@pytest.mark.slow
def test_every_answer_is_kept_as_it_comes(tmp_path: Path) -> None:
    """When one answer is on its way, those before it are in the study: a kill takes nothing that was paid for."""
    kept: list[int] = []

    def watched(request: Request) -> Reply:
        kept.append(study.rows("SELECT count(*) FROM answers")[0][0])
        return models(request)

    models = Models(noise=True)
    with small_table(tmp_path / "s.duckdb") as study, serving(watched) as server:
        retuned(study, server, Settings(proposals=1, examples=0), concurrency=1)
    assert len(kept) > 60 and kept == list(range(len(kept)))


@pytest.mark.slow
def test_failures_count_as_wrong_and_the_judge_does_not_collapse(tmp_path: Path) -> None:
    with small_table(tmp_path / "s.duckdb") as study, serving(Models(failing=0.05)) as server:
        result = retuned(study, server)
        assert result.outcome == "better", result.as_json()
        said = {label for label in result.candidates[-1].said.values() if label}
        assert said == {"supported", "contradicted", "not_stated"}
        assert result.promotion is not None and result.promotion.parse_after >= 0.9


def test_a_reflector_that_pastes_items_is_refused_and_the_test_stays_sealed(tmp_path: Path) -> None:
    with small_table(tmp_path / "s.duckdb") as study, serving(Models(pastes=True)) as server:
        before = judge_prompt(study, task_definitions(study)[TASK]).version
        result = retuned(study, server, Settings(proposals=4, examples=0))
        assert result.outcome == "refused" and result.promotion is None
        assert any(one.leaked for one in result.refused)
        assert not openings_of(study, TASK)
        assert judge_prompt(study, task_definitions(study)[TASK]).version == before


@pytest.mark.slow
def test_a_judge_that_guesses_is_not_promoted(tmp_path: Path) -> None:
    with small_table(tmp_path / "s.duckdb") as study, serving(Models(noise=True)) as server:
        result = retuned(study, server, Settings(proposals=4, examples=0))
        assert not result.promoted, result.as_json()


def test_estimate_labels_alone_are_no_labels_to_tune_on(tmp_path: Path) -> None:
    with table_study(tmp_path / "s.duckdb", sampled="srs") as study:
        task = task_definitions(study)[TASK]
        with pytest.raises(NotEnoughError, match="no labels to tune on") as refused:
            Retune(study, task, judge_prompt(study, task), Settings(), at=AT)
        assert "--stream learn" in refused.value.hint


@pytest.mark.slow
def test_a_better_prompt_is_promoted_and_every_candidate_is_in_the_study(tmp_path: Path) -> None:
    with small_table(tmp_path / "s.duckdb", notes=30) as study, serving(Models()) as server:
        result = retuned(study, server, Settings(proposals=3, examples=0))
        assert result.outcome == "better", result.as_json()
        (log,) = searches(study, TASK)
        audited = audit_study(study, task=TASK, judge=result.judge).tasks[TASK].judges[result.judge]
        assert audited.n == result.counts["test"], "what it was tuned on says nothing of it"
    assert [one["number"] for one in log.candidates] == [one.number for one in result.candidates]
    assert log.candidates[0]["origin"] == "base" and log.candidates[1]["parents"] == [0]
    assert log.end["outcome"] == "better" and log.settings["reflect_model"] == REFLECTOR
    assert all(set(one["said"]) == set(result.candidates[0].said) for one in log.candidates)
