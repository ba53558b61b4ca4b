"""Tells docs/story.md: the whole way from a result file to calibrated verdicts, with the real commands.

Judge and reflecting model are scripted and answer on loopback; everything else is what a user would see. The same seed
gives the same story to the byte: `python -m tests.tools.tell_story` writes it, a test compares.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.commands import ROOT, overread_command, overread_environment
from tests.judging.chat_server import serving

sys.path.insert(0, str(ROOT / "tests" / "retune"))

from scripted_models import JUDGE, REFLECTOR, Models, claims

STORY = ROOT / "docs" / "story.md"
SAMPLE = ROOT / "sample_data" / "table"
NOTES = 50
"""Of the sample: 300 items."""
BY_HAND = 18
KEYS = {"supported": "y", "contradicted": "c", "not_stated": "o"}
WORDS = """\
# From a result file to calibrated verdicts

300 claims about discharge notes, made by two systems and marked by an LLM judge, which is wrong on almost a third of
them. This is what the commands print, recorded by `python -m tests.tools.tell_story`. The judge and the model that
proposes rules are scripted and answer on this machine; with your own you would name their server and set a key.
"""
PROMPT = "Your label: "


class Step(NamedTuple):
    """One command: what is said before it, the command as shown, and what it printed."""

    words: str
    command: str
    output: str
    exit_code: int


class Story:
    """Runs commands in a folder and keeps what they print."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps: list[Step] = []
        self._environment = overread_environment({"COLUMNS": "100"})

    def tell(self, words: str, *arguments: str, hidden: Sequence[str] = (), lines: int = 0) -> str:
        """Run a command and keep its output, or its first `lines`; `hidden` arguments are not shown."""
        done = subprocess.run(
            overread_command(*arguments, *hidden), cwd=self.folder, env=self._environment, capture_output=True,
            encoding="utf-8", timeout=300, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode not in (0, 1, 3):
            raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        shown = done.stdout.splitlines()
        if lines and len(shown) > lines:
            shown = [*shown[:lines], f"[… {len(shown) - lines} more lines …]"]
        self.steps.append(Step(words, shlex.join(["overread", *arguments]), "\n".join(shown), done.returncode))
        return done.stdout

    def label(self, words: str, count: int, *arguments: str) -> None:
        """Label at the line-by-line desk: read what it says of an item, answer with what is true."""
        process = subprocess.Popen(
            overread_command(*arguments), cwd=self.folder, env=self._environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", bufsize=1,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        said, heard = "", ""
        for number in range(count + 1):
            while not heard.endswith(PROMPT):
                letter = process.stdout.read(1)
                assert letter, f"the desk ended early:\n{said}{heard}"
                heard += letter
            answer = "q" if number == count else KEYS[_truth(heard)]
            process.stdin.write(f"{answer}\n")
            process.stdin.flush()
            said, heard = f"{said}{heard}{answer}\n", ""
        said += process.stdout.read()
        assert process.wait(60) == 0
        self.steps.append(Step(words, shlex.join(["overread", *arguments]), _middle_out(said, count), 0))


def _truth(heard: str) -> str:
    """What is true of the item that the desk just told."""
    lines = heard.splitlines()
    note = next(line for line in lines if line.startswith("Discharge note: ")).removeprefix("Discharge note: ")
    claim = next(line for line in lines if line.startswith("Claim: ")).removeprefix("Claim: ")
    return claims()[note, claim].truth


def _middle_out(said: str, count: int) -> str:
    """The first item and the end; what lies between is more of the same."""
    second = said.index("Item 2 of")
    end = said.index("\n", said.rindex(PROMPT)) + 1
    return f"{said[:second]}[… {count - 1} more …]\n\n{said[end:].lstrip()}"


def tell(folder: Path, seed: int = 3) -> list[Step]:
    """The whole story in an empty folder."""
    lines = (SAMPLE / "items.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["cluster"] < f"note-{NOTES:04}"]
    (folder / "claims.jsonl").write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    for name in ("contexts.jsonl", "tasks.toml"):
        (folder / name).write_bytes((SAMPLE / name).read_bytes())
    story = Story(folder)
    story.tell("Make a study and import the file. Two people labelled all claims; nobody had seen the judge's answers.",
               "init", "story.duckdb", "--benchmark", "table", "--tasks", "tasks.toml")  # fmt: skip
    story.tell("", "import", "claims.jsonl", "--sampled", "census")
    story.label(
        "A third person labels some at the desk (here line by line; without `--plain` it is a screen).", BY_HAND,
        "label", "--plain", "--annotator", "dr.li", "--mode", "never", "--seed", str(seed),
    )  # fmt: skip
    story.tell("How good is the judge?", "audit", "--judge", "sample-judge")
    story.tell("Not good enough for a full run:", "gate", "--judge", "sample-judge")
    with serving(Models()) as server:
        url = ("--base-url", server.url)
        story.tell(
            "Look for a better prompt. Claims labelled at the desk are only tested on, never tuned on.",
            "retune", "--model", JUDGE, "--reflect-model", REFLECTOR, "--proposals", "8", "--seed", str(seed),
            hidden=url,
        )  # fmt: skip
        story.tell("May the judge with the new prompt score everything? It is looked at without what it was tuned on.",
                   "gate", "--judge", JUDGE, "--write", "gate.json")  # fmt: skip
        story.tell("It may. What it judged before is not asked for again.",
                   "judge", "--model", JUDGE, "--items", "all", hidden=url)  # fmt: skip
    story.tell("The scores, as the judge gives them, with people's labels put in, and corrected for its errors.",
               "score", "--judge", JUDGE, "--system", "scribe-a", lines=10)  # fmt: skip
    story.tell("For each claim who decided, how far to trust it, and under which certificate.",
               "export", "verdicts.jsonl", "--format", "verdicts", "--judge", JUDGE)  # fmt: skip
    story.tell("CI checks the certificate without any claim's text.", "gate", "--certificate", "gate.json")
    return story.steps


def markdown(steps: Sequence[Step]) -> str:
    """The story as a page."""
    parts = [WORDS]
    for step in steps:
        if step.words:
            parts.append(step.words + "\n")
        code = f"\n[exit code {step.exit_code}]\n" if step.exit_code else "\n"
        output = "\n".join(line.rstrip() for line in step.output.rstrip().splitlines())
        parts.append(f"```console\n$ {step.command}\n{output}{code}```\n")
    return "\n".join(parts)


def main() -> None:
    """Write docs/story.md."""
    with tempfile.TemporaryDirectory() as folder:
        STORY.write_text(markdown(tell(Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
