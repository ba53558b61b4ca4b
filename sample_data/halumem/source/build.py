"""Build the HaluMem sample: answer sheets, result files, truth.csv and README.md.

    python sample_data/halumem/source/build.py [--into FOLDER]

The TOML files beside this script hold everything that a person wrote: dialogues, memories, questions, responses, the
judge's verdicts and, where the judge is wrong, the true label and the kind of error. Everything else follows from them;
building twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any

from readme_tables import readme_tables
from verdicts import Json, Run, Task, Verdict

SOURCE = Path(__file__).resolve().parent
SAMPLE = SOURCE.parent
SYSTEMS = {"northwind": "northwind-mem", "tidepool": "tidepool"}
"""Key in the source → name of the system."""

FAILED = "failed"
"""A verdict of the source that the judge did not deliver; null in the result file."""

TRUTH_COLUMNS = (
    "system",
    "task",
    "uuid",
    "ssession_id",
    "key",
    "judge",
    "truth",
    "judge_flag",
    "truth_flag",
    "error",
)

CLOCK = "%b %d, %Y, %H:%M:%S"
SEARCH_LIMIT = 20
RECALL_IMPORTANCE, DISTRACTOR_IMPORTANCE = 0.75, 1.0

Reference = str
"""`session.position` in the source: sessions from 0, points and memories from 1."""


class UserRun:
    """One user's sessions run through one system."""

    def __init__(self, source: Mapping[str, Any], system_key: str) -> None:
        self.source = source
        self.system_key = system_key
        self.system = SYSTEMS[system_key]
        self.points: dict[Reference, Json] = {}
        self.store: dict[Reference, str] = {}
        self.verdicts: list[Verdict] = []

    def sheet(self) -> Json:
        """The user's line of the answer sheet; fills `verdicts` on the way."""
        sessions = [self._session(number, session) for number, session in enumerate(self.source["sessions"])]
        return {"uuid": self.source["uuid"], "user_name": self.source["name"], "sessions": sessions}

    def _session(self, number: int, session: Mapping[str, Any]) -> Json:
        adding = self._milliseconds(f"add {number}", 1200, 8000)
        if session.get("generated"):
            return {"add_dialogue_duration_ms": adding, "is_generated_qa_session": True}
        dialogue = list(_dialogue(session))
        memories = session["extracted"][self.system_key]
        for index, memory in enumerate(memories, start=1):
            self.store[f"{number}.{index}"] = f"{self._stamp(session)}: {memory['text']}"
        points = [self._point(number, index, point) for index, point in enumerate(session["points"], start=1)]
        self._judge_points(number, session, points)
        for memory in memories:
            self._judge_memory(number, memory)
        return {
            "memory_points": points,
            "dialogue": dialogue,
            "extracted_memories": [memory["text"] for memory in memories],
            "add_dialogue_duration_ms": adding,
            "questions": [self._question(number, question) for question in session["questions"]],
        }

    def _stamp(self, session: Mapping[str, Any]) -> str:
        end = _end(session)
        return end.isoformat() if self.system_key == "northwind" else end.date().isoformat()

    def _point(self, number: int, index: int, point: Mapping[str, Any]) -> Json:
        source = "interference" if "unlike" in point else point.get("source", "system" if number == 0 else "secondary")
        built: Json = {
            "index": index,
            "memory_content": point["text"],
            "memory_type": f"{point['type']} Memory",
            "memory_source": source,
            "is_update": str("was" in point),
            "original_memories": [self.points[reference]["memory_content"] for reference in point.get("was", ())],
            "timestamp": _end(self.source["sessions"][number]).strftime(CLOCK),
        }
        if source == "interference":
            built |= self._distractor(number, point)
        else:
            built["importance"] = point.get("importance", RECALL_IMPORTANCE)
            if number == 0:
                built["event_source"] = 0
        if "was" in point:
            built["memories_from_system"] = [self.store[reference] for reference in point[self.system_key]["found"]]
        self.points[f"{number}.{index}"] = built
        return built

    def _distractor(self, number: int, point: Mapping[str, Any]) -> Json:
        model = self.points[f"{number}.{point['unlike']}"]
        return {
            "importance": DISTRACTOR_IMPORTANCE,
            "reason": point["reason"],
            "source_memory_index": model["index"],
            "reference_memory_content": model["memory_content"],
            "reference_memory_index": model["index"],
            "reference_memory_type": model["memory_type"],
        }

    def _judge_points(self, number: int, session: Mapping[str, Any], points: Sequence[Json]) -> None:
        """An update that retrieved something is judged as an update, every other point on the extraction."""
        called = bool(session["extracted"][self.system_key])
        for built, point in zip(points, session["points"], strict=True):
            task: Task = "update" if built.get("memories_from_system") else "integrity"
            asked = task == "update" or called
            self._verdict(task, number, str(built["index"]), built, point[self.system_key], called=asked)

    def _judge_memory(self, number: int, memory: Mapping[str, Any]) -> None:
        answer = {**memory, "judge": memory["score"]}
        self._verdict("accuracy", number, memory["text"], {"memory_content": memory["text"]}, answer)

    def _question(self, number: int, question: Mapping[str, Any]) -> Json:
        answer = question[self.system_key]
        text = question["question"]
        evidence = [self.points[reference] for reference in question["evidence"]]
        built: Json = {
            "question": text,
            "answer": question["answer"],
            "evidence": [{name: point[name] for name in ("memory_content", "memory_type")} for point in evidence],
            "difficulty": question["difficulty"],
            "question_type": question["type"],
            "context": self._context(),
            "search_duration_ms": self._milliseconds(f"search {text}", 70, 350),
            "system_response": answer["says"],
            "response_duration_ms": self._milliseconds(f"respond {text}", 500, 2200),
        }
        self._verdict("qa", number, text, built, answer)
        return built

    def _context(self) -> str:
        """The whole store so far, newest first: it is smaller than the number of memories a search returns."""
        found = list(reversed(self.store.values()))
        if len(found) > SEARCH_LIMIT:
            raise ValueError(f"{self.source['name']}: more than {SEARCH_LIMIT} memories; a search would drop some")
        lines = "".join(f"    - {memory}\n" for memory in found)
        return f"Memories for user {self.source['name']}:\n\n{lines}"

    def _milliseconds(self, what: str, low: int, high: int) -> float:
        """An invented duration, the same in every build."""
        seed = zlib.crc32(f"{self.system}/{self.source['uuid']}/{what}".encode())
        return low + seed % ((high - low) * 10) / 10

    def _verdict(
        self, task: Task, number: int, key: str, content: Json, answer: Mapping[str, Any], *, called: bool = True
    ) -> None:
        judge = None if answer["judge"] == FAILED else answer["judge"]
        placed = {"uuid": self.source["uuid"], "ssession_id": number}
        self.verdicts.append(
            Verdict(
                system=self.system,
                task=task,
                user=self.source["name"],
                language=self.source["language"],
                uuid=self.source["uuid"],
                session=number,
                key=key,
                content={**placed, **content} if task == "accuracy" else {**content, **placed},
                judge=judge,
                truth=answer.get("truth", judge),
                judge_flag=_flag(answer.get("gold")),
                truth_flag=_flag(answer.get("truth_gold", answer.get("gold"))),
                error=answer.get("error", ""),
                rationale=answer.get("why", ""),
                called=called,
            )
        )


def _flag(included: bool | None) -> str:
    return "" if included is None else str(included).lower()


def _turn_order(session: Mapping[str, Any]) -> Sequence[int]:
    order: Sequence[int] = session.get("order", range(len(session["turns"])))
    return order


def _end(session: Mapping[str, Any]) -> datetime:
    start: datetime = session["start"]
    return start + timedelta(minutes=session["minutes_between_turns"] * len(_turn_order(session)))


def _dialogue(session: Mapping[str, Any]) -> Iterator[Json]:
    """Two messages a turn; turns named twice in `order` are said twice."""
    for turn, spoken in enumerate(_turn_order(session)):
        time = session["start"] + timedelta(minutes=session["minutes_between_turns"] * turn)
        for role, content in zip(("user", "assistant"), session["turns"][spoken], strict=True):
            yield {"role": role, "content": content, "timestamp": time.strftime(CLOCK), "dialogue_turn": turn}


def read_source(folder: Path) -> list[Json]:
    """The users, in the order of their files' names."""
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))]


def build_runs(users: Iterable[Mapping[str, Any]]) -> list[Run]:
    """Both systems' runs over the same users."""
    runs = [Run(system) for system in SYSTEMS.values()]
    for user in users:
        for run, key in zip(runs, SYSTEMS, strict=True):
            user_run = UserRun(user, key)
            run.users.append(user_run.sheet())
            run.verdicts.extend(user_run.verdicts)
    return runs


def truth_csv(runs: Iterable[Run]) -> str:
    """One row a verdict: where it is, what the judge said, what is true, and the planted error."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(TRUTH_COLUMNS)
    for run in runs:
        for v in run.verdicts:
            judge = "" if v.judge is None else v.judge
            place = (v.system, v.task, v.uuid, v.session, v.key)
            rows.writerow((*place, judge, v.truth, v.judge_flag, v.truth_flag, v.error))
    return text.getvalue()


def build_files(source: Path) -> dict[str, str]:
    """Name → text of every built file."""
    runs = build_runs(read_source(source))
    files = {"truth.csv": truth_csv(runs)}
    for run in runs:
        sheet = "".join(f"{json.dumps(user, ensure_ascii=False)}\n" for user in run.users)
        result = {"overall_score": run.scores(), **run.records()}
        files[f"{run.system}_eval_results.jsonl"] = sheet
        files[f"{run.system}_eval_stat_result.json"] = json.dumps(result, ensure_ascii=False, indent=4)
    template = Template((source / "README.template.md").read_text(encoding="utf-8"))
    files["README.md"] = template.substitute(readme_tables(runs))
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the HaluMem sample from its source.")
    parser.add_argument("--into", type=Path, default=SAMPLE, help="folder for the built files (default: the sample's)")
    folder = parser.parse_args().into
    for name, text in build_files(SOURCE).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
