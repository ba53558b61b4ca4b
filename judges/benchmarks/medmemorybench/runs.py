"""What a run is: its system, regime, language and judge, told from its files, their names and the user's options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judges.benchmarks.benchmark import Source
from judges.benchmarks.json_stream import ArrayStart, Element, iter_members
from judges.benchmarks.medmemorybench.run_file import RunFile
from judges.benchmarks.medmemorybench.shapes import Regime, as_text
from store.records import FactRecord, Problem, SystemRecord

RUN = "medmemorybench_run"
"""Kind of the fact that holds a run's name, regime and language."""

FILE_ENDING = re.compile(r"(?:_query_answer|_result)(?:_rejudge_\d+)?(?:\.patched)?\Z")
STAMP = re.compile(r"(\d{8}_\d{6})(?:_|\Z)")
HAN = re.compile(r"[\u4e00-\u9fff]")
CHINESE_SHARE = 0.2
"""Share of Chinese characters among a question's letters from which a run is Chinese."""

REGIME_OPTION: Mapping[str, Regime] = {"efficient": "Efficient", "mixed": "Mixed"}

ARCHITECTURES: tuple[tuple[str, str], ...] = (
    ("long_context", "whole history"),
    ("graph_rag", "graph retrieval"),
    ("hipporag", "graph retrieval"),
    ("rag", "passage retrieval"),
    ("remem", "agentic memory"),
    ("mem0", "extracted memories"),
    ("amem", "linked notes"),
    ("a-mem", "linked notes"),
    ("memos", "memory system"),
    ("memrl", "agentic memory"),
    ("lightmem", "extracted memories"),
    ("letta", "agentic memory"),
    ("mirix", "agentic memory"),
)
"""By a piece of the method's name, the first that fits; the option `architecture` overrules it."""


@dataclass(slots=True)
class ResultFile:
    """A *_result.json; `members` in file order."""

    path: Path
    members: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def dataset(self) -> Mapping[str, Any]:
        config = self.members.get("config")
        value = config.get("dataset_config") if isinstance(config, dict) else None
        return value if isinstance(value, dict) else {}

    @property
    def noise(self) -> Any:
        """The only record of the regime; forks keep it one level higher."""
        evaluation = self.dataset.get("evaluation")
        place = evaluation if isinstance(evaluation, dict) and "inject_noise" in evaluation else self.dataset
        return place.get("inject_noise")


def read_result(path: Path) -> ResultFile:
    """A result file whole: it is small.

    Raises:
        OSError: the file cannot be read.
    """
    result = ResultFile(path)
    for found in iter_members(path):
        if isinstance(found, Problem):
            result.problems.append(found)
        elif isinstance(found, ArrayStart):
            result.members[found.member] = []
        else:
            _add_member(result.members, found)
    return result


def _add_member(members: dict[str, Any], found: Element) -> None:
    if found.index >= 0:
        members[found.member].append(found.value)
    else:
        members[found.member] = found.value


@dataclass(frozen=True, slots=True)
class About:
    """A run: its answers, its results if they were given, and its system."""

    run: RunFile
    result: ResultFile | None
    record: SystemRecord
    language: str

    @property
    def fact(self) -> FactRecord:
        """What tells which runs are of one system."""
        payload = {
            "name": self.record.name, "regime": self.record.regime, "language": self.language,
            "architecture": self.record.metadata.get("architecture", ""),
        }  # fmt: skip
        return FactRecord(self.record.system, RUN, "run", payload)


def stem_of(path: Path) -> str:
    """What the files of one run have in common."""
    return FILE_ENDING.sub("", path.name.removesuffix(".json"))


def describe(
    runs: Sequence[RunFile], results: Sequence[ResultFile], source: Source
) -> tuple[list[About], list[Problem]]:
    """The runs with their results, each under a system id of its own."""
    problems: list[Problem] = []
    abouts: list[About] = []
    if source.system and len({(run.method, run.model) for run in runs}) > 1:
        what = f"the files are of different systems, but one name, {source.system!r}, is to be given to all"
        return [], [Problem(str(runs[0].path), 0, 0, what, "import the files of one system at a time")]
    for run in runs:
        result = _result_of(run, runs, results)
        regime, found = _regime(run, result, source)
        problems += found
        abouts.append(_about(run, result, regime, source))
    return list(_apart(abouts, problems)), problems


def _result_of(run: RunFile, runs: Sequence[RunFile], results: Sequence[ResultFile]) -> ResultFile | None:
    """By the common beginning of the names, in the same folder if there is one; else the only one there is."""
    alike = [result for result in results if stem_of(result.path) == stem_of(run.path)]
    same = [result for result in alike if result.path.parent == run.path.parent] or alike
    if same:
        return same[0]
    return results[0] if len(runs) == len(results) == 1 else None


def _regime(run: RunFile, result: ResultFile | None, source: Source) -> tuple[Regime, list[Problem]]:
    given = source.options.get("regime", "")
    named = REGIME_OPTION.get(given.lower(), "")
    if given and not named:
        return "", [
            Problem(
                str(run.path),
                0,
                0,
                f"there is no regime {given!r}",
                "say --option regime=Efficient or --option regime=Mixed",
            )
        ]
    noise = result.noise if result else None
    told: Regime = ("Mixed" if noise else "Efficient") if isinstance(noise, bool) else ""
    if named and told and named != told:
        what = f"the run is said to be {named}, but {result.path.name if result else ''} says {told}"
        return named, [Problem(str(run.path), 0, 0, what, "leave the regime out, or give the run's own result file")]
    if not named and not told:
        what = "whether noise sessions were injected (Efficient or Mixed) is said nowhere"
        remedy = "give the run's *_result.json, or say --option regime=Efficient or regime=Mixed"
        return "", [Problem(str(run.path), 0, 0, what, remedy, fatal=False)]
    return named or told, []


def _about(run: RunFile, result: ResultFile | None, regime: Regime, source: Source) -> About:
    language = _language(run, result, source)
    name = source.system or "_".join(text for text in (run.method, run.model) if text) or "system"
    stamp = STAMP.search(run.path.name)
    metadata = {
        "method": run.method,
        "model": run.model,
        "language": language,
        "architecture": source.options.get("architecture") or _architecture(run.method),
        **_settings(result),
    }
    record = SystemRecord(
        system="/".join(text for text in (name, regime, language) if text),
        name=name,
        run=stamp.group(1) if stamp else "",
        condition=language,
        regime=regime,
        metadata={key: value for key, value in metadata.items() if value not in ("", None)},
    )
    return About(run, result, record, language)


def _settings(result: ResultFile | None) -> dict[str, Any]:
    config = result.members.get("config") if result else None
    names = ("evaluation_mode", "evaluation_interval", "total_personas")
    return {name: config.get(name) for name in names} if isinstance(config, dict) else {}


def _architecture(method: str) -> str:
    plain = method.lower().replace(" ", "_")
    return next((kind for piece, kind in ARCHITECTURES if piece in plain), "")


def _language(run: RunFile, result: ResultFile | None, source: Source) -> str:
    told = source.options.get("language") or (as_text(result.dataset.get("language")) if result else "")
    if told:
        return told.lower()
    letters = "".join(char for row in run.rows for char in row.question if char.isalpha())
    return "" if not letters else "zh" if len(HAN.findall(letters)) >= CHINESE_SHARE * len(letters) else "en"


def _apart(abouts: Iterable[About], problems: list[Problem]) -> Iterator[About]:
    """Runs whose systems would have one id: told apart by the time in the file's name, else refused."""
    seen: dict[str, About] = {}
    for about in abouts:
        record = about.record
        if record.system in seen and record.run and record.run != seen[record.system].record.run:
            parts = (f"{record.system}/{record.run}", record.name, record.run, record.condition, record.regime)
            about = About(about.run, about.result, SystemRecord(*parts, record.metadata), about.language)
        if about.record.system in seen:
            other = seen[about.record.system].run.path.name
            what = f"this file and {other} are of the same system ({about.record.system})"
            problems.append(Problem(str(about.run.path), 0, 0, what, "import them apart, under two names"))
            continue
        seen[about.record.system] = about
        yield about
