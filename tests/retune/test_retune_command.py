"""`retune` as a user calls it: what it would need, what it refuses, a rubric of one's own, the search itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from retune_studies import TASK
from scripted_models import JUDGE, REFLECTOR, RULES, Models

from annotate.cli.retune import look_back, same_server
from annotate.desk.actions import Choice
from annotate.desk.opening import sit_down
from judges.collect import task_definitions
from judges.retune import study_log
from judges.retune.adapter import Candidate
from judges.setup import JudgeOptions
from store.errors import UsageError
from store.judge_rubrics import current_rubric
from store.splits import openings_of
from store.study import Study
from tests.commands import Overread, overread_command, overread_environment
from tests.judging.chat_server import Reply, Request, serving

MODELS = ("--model", JUDGE, "--reflect-model", REFLECTOR)


def editor(folder: Path, text: str) -> dict[str, str]:
    """An editor that puts a text at the end of what it is given."""
    script = folder / "editor.py"
    script.write_text(f"import sys\nwith open(sys.argv[1], 'a') as file: file.write({text!r})\n", encoding="utf-8")
    return {"EDITOR": f"{sys.executable} {script}"}


def test_a_dry_run_says_labels_and_calls_and_calls_nobody(table_path: Path, overread_cli: Overread) -> None:
    with serving(Models()) as server:
        found = overread_cli("retune", *MODELS, "--base-url", server.url, "--dry-run", "--json", cwd=table_path.parent)
        assert found.exit_code == 0 and not server.requests
    plan = found.json()["dry_run"]
    assert plan["train"] + plan["val"] + plan["test"] == 384
    assert set(plan["labels"]["val"]) == {"supported", "contradicted", "not_stated"}
    each = 2 * 8 + plan["val"]
    most = plan["val"] + 10 * each + plan["train"] + plan["val"] + 2 * plan["test"]
    assert plan["judge_calls"] == most and plan["reflections"] == 10


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--reflect-model", "x"), "Which model is the judge?"),
        (("--model", "x"), "Which model proposes rules?"),
        (("--model", "x", "--edit"), "There is no editor in $EDITOR"),
        ((*MODELS, "--task", "nothing"), "There is no task 'nothing'"),
        ((*MODELS, "--split-column", "group"), "is no split"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_called(
    table_path: Path, overread_cli: Overread, options: tuple[str, ...], says: str
) -> None:
    found = overread_cli("retune", *options, "--base-url", "http://127.0.0.1:9/v1", cwd=table_path.parent)
    assert found.exit_code == 2 and says in found.stderr, found


@pytest.mark.slow
def test_a_rubric_edited_by_hand_goes_the_same_way(table_path: Path, overread_cli: Overread) -> None:
    folder = table_path.parent
    rules = "".join(f"\n- {rule}" for rule in RULES.values())
    with serving(Models()) as server:
        options = ("retune", "--model", JUDGE, "--base-url", server.url, "--edit")
        same = overread_cli(*options, cwd=folder, env=editor(folder, ""))
        assert same.exit_code == 2 and "is as it was" in same.stderr
        worse = overread_cli(*options, cwd=folder, env=editor(folder, "\nTake your time."))
        assert worse.exit_code == 1 and "stays sealed" in worse.stdout, worse
        better = overread_cli(*options, "--json", cwd=folder, env=editor(folder, rules))
    assert better.exit_code == 0 and better.json()["outcome"] == "better", better
    with Study.open(table_path) as study:
        assert [opening.purpose for opening in openings_of(study, TASK)] == ["hand"]
        rubric = current_rubric(study, TASK)
    assert rubric is not None and rubric.texts["en"].endswith(list(RULES.values())[-1])


@pytest.mark.slow
def test_the_search_says_what_it_found_and_what_it_broke(table_path: Path, overread_cli: Overread) -> None:
    with serving(Models()) as server:
        found = overread_cli("retune", *MODELS, "--base-url", server.url, "--proposals", "5", cwd=table_path.parent)
    assert found.exit_code == 0, found
    for words in ("promoted: better on the sealed test", "McNemar p", "broke: none", "on val, where it was chosen"):
        assert words in found.stdout, found
    journal = (table_path.parent / "s.journal.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["type"] for line in journal]
    assert kinds.index("split") < kinds.index("retune") < kinds.index("test_opening") < kinds.index("retune_end")


@pytest.mark.slow
def test_ctrl_c_waits_for_what_is_on_its_way_and_nothing_is_paid_for_twice(table_path: Path) -> None:
    models, begun = Models(), threading.Semaphore(0)

    def slow(request: Request) -> Reply:
        begun.release()
        time.sleep(0.05)
        return models(request)

    with serving(slow) as server:
        command = ("--study", str(table_path), "retune", *MODELS, "--base-url", server.url, "--plain", "--json",
                   "--proposals", "1", "--examples", "0")  # fmt: skip
        search = subprocess.Popen(
            overread_command(*command), env=overread_environment(), stderr=subprocess.PIPE, encoding="utf-8"
        )
        for _ in range(40):
            assert begun.acquire(timeout=60)
        search.send_signal(signal.SIGINT)
        _, told = search.communicate(timeout=60)
        assert search.returncode == 130 and "Ctrl-C again drops them" in told, told
        assert "The search was stopped" in told and "Traceback" not in told
        ended = Overread()(*command)
    assert ended.exit_code in (0, 1) and ended.json()["candidates"]
    assert max(models.prompts.values()) == 1 and models.reflected == 1


def test_past_searches_are_told_and_closed_on_the_screen_in_mid_queue(
    table: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    task = task_definitions(table)[TASK]
    with pytest.raises(UsageError, match="no searches"):
        look_back(table, [task], "dr.li", "", False, False)
    study_log.begin(table, "r1", TASK, {"model": JUDGE, "reflect_model": REFLECTOR}, "2026-03-01T10:00:00+01:00")
    base = Candidate(0, {"en": "Compare."}, (), "base", 0.75, {"i": "supported"}, None)
    study_log.note_candidate(table, "r1", TASK, base, "v0", 0.0, "2026-03-01T10:01:00+01:00")
    look_back(table, [task], "dr.li", "", False, False)
    said = capsys.readouterr().out
    assert "base  0.750" in said and "goes on where it stopped" in said
    look_back(table, [task], "dr.li", "", True, False)
    [search] = json.loads(capsys.readouterr().out)["searches"]
    assert search["candidates"][0]["said"] == {"i": "supported"} and search["end"] == {}
    desk = sit_down(table, "dr.li")
    desk.choose(Choice("", "supported"))
    with pytest.raises(UsageError, match="in the middle of a queue") as closed:
        look_back(table, [task], "dr.li", "", False, True)
    assert "overread retune --as lead" in closed.value.hint


def test_a_model_served_here_keeps_half_its_context_for_the_question_when_it_proposes() -> None:
    served = JudgeOptions("small", "http://127.0.0.1:9/v1", "KEY", identity={"file": "abc"})
    reflect = JudgeOptions("", max_tokens=8192, temperature=1.0)
    own = same_server(reflect, served, 3072)
    assert (own.model, own.base_url, own.key_variable, own.identity) == (
        "small", "http://127.0.0.1:9/v1", "KEY", {"file": "abc"},
    )  # fmt: skip
    assert (own.max_tokens, own.temperature) == (1536, 1.0)
    assert own.extra == {"dry_multiplier": 0.8}, "no line over and over"
    assert same_server(reflect, served, 32768).max_tokens == 8192
