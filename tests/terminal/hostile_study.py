"""A study whose every foreign text tries to take over the terminal, imported from files by the real command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.commands import Overread
from tests.sample_study import SAMPLE

MARK = "31337"
"""A number in every control sequence of the payload: no sequence with it may reach a terminal."""
PAYLOAD = (
    f"\x1b[{MARK}m\x1b[5;{MARK}H\x1b]0;TITLE{MARK}\x07\x1b]52;c;{MARK}\x07\x1b]8;;http://{MARK}\x1b\\\x1bP{MARK}q\x1b\\"
    f"\x1b_{MARK}\x1b\\\x9b{MARK}m\x9d52;c;{MARK}\x9c\x9d0;{MARK}\x07\x1b[?{MARK}h\x00\x05\x07\x08\x0b\x0c\x0e\x1a\x7f"
    f"\u202e{MARK}\u202c\u2066\u2069\u2028\u2029\x85 \u200b\u2060\ufeff \ud83d half "
    "[@click=app.quit]CLICKME[/] [@click=app.bell]x[/] [/x] [tag=value: x [bold] [[ ]] [/] \\[ {x} $(reboot) `id`"
)
SYSTEM, JUDGE, RATIONALE, ANNOTATOR = "zqsystem", "zqjudge", "zqrationale", "zqannotator"
"""Words that say where a text of the payload comes from."""

_TEXT_KEYS = frozenset((
    "memory_content", "original_memories", "memories_from_system", "question", "answer", "context", "system_response",
    "content", "extracted_memories", "user_name", "role",
))  # fmt: skip
_RATIONALE_KEYS = ("rationale", "reasoning", "reason", "explanation")
_LONG = "a line without an end " * 9_100


def hostile(value: Any, key: str = "") -> Any:
    """The same data with the payload behind every text that a person reads."""
    if isinstance(value, dict):
        return {name: hostile(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner, key) for inner in value]
    if isinstance(value, str) and key in _RATIONALE_KEYS:
        return f"{RATIONALE} {value} {PAYLOAD}"
    if isinstance(value, str) and key == "system_response" and value.startswith("Penicillin"):
        return f"{_LONG}{PAYLOAD}"
    return f"{value} {PAYLOAD}" if isinstance(value, str) and key in _TEXT_KEYS else value


def without_nul(text: str) -> str:
    """As much of the payload as can stand in an argument or a file name."""
    return text.replace("\x00", "").replace("\ud83d", "").replace("/", "|").replace("\\", "|")


def make_hostile_study(folder: Path) -> Path:
    """A study of a few items of every task, its file's name hostile too.

    Raises:
        AssertionError: a command failed; shows what it said.
    """
    overread, study = Overread(), folder / f"study{without_nul(PAYLOAD)[:90]}.duckdb"
    results, answers = _files(folder)
    outcomes = [
        overread("init", study, "--benchmark", "halumem", cwd=folder),
        overread(
            "--study", study, "import", results, "--answers", answers, "--system", without_nul(f"{SYSTEM} {PAYLOAD}"),
            "--judge", without_nul(f"{JUDGE} {PAYLOAD}"), cwd=folder,
        ),
    ]  # fmt: skip
    for outcome in outcomes:
        assert outcome.exit_code == 0, outcome
    return study


def _files(folder: Path) -> tuple[Path, Path]:
    stat = json.loads((SAMPLE / "tidepool_eval_stat_result.json").read_text(encoding="utf-8"))
    lines = (SAMPLE / "tidepool_eval_results.jsonl").read_text(encoding="utf-8").splitlines()
    user = json.loads(lines[0])
    for name, records in stat.items():
        if name.endswith("_records"):
            own = [record for record in records if record["uuid"] == user["uuid"]][:4]
            stat[name] = [{**record, "rationale": "because"} for record in own]
    stat, user = hostile(stat), hostile(user)
    results, answers = folder / "run_eval_stat_result.json", folder / "run_eval_results.jsonl"
    results.write_text(json.dumps(stat), encoding="utf-8")
    answers.write_text(json.dumps(user) + "\n", encoding="utf-8")
    return results, answers
