"""Builds small HaluMem runs, an answer sheet and its verdicts, to be written as files and read as any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from halumem_records import Imported, read, write_stat, write_users

UUID = "00000000-0000-4000-8000-00000000000a"


@dataclass
class Session:
    """One session of a user; every method adds a record with its verdict and returns the session.

    Attributes:
        number: its place among the user's sessions.
    """

    number: int
    run: Run
    uuid: str
    sheet: dict[str, Any]

    def point(self, text: str, score: int | None, *, importance: float = 0.75, source: str = "system") -> Session:
        """A gold point, or with source "interference" a distractor."""
        return self._point(text, source, {"importance": importance}, integrity=score)

    def update(
        self, text: str, verdict: str | int | None, *old: str, retrieved: Sequence[str] | None = ("m",)
    ) -> Session:
        """An update of old versions; its verdict is a class, or a score when nothing was retrieved.

        Args:
            retrieved: None for a record whose retrieval was never asked for.
        """
        more: dict[str, Any] = {"is_update": "True", "original_memories": list(old)}
        more |= {} if retrieved is None else {"memories_from_system": list(retrieved)}
        if retrieved:
            return self._point(text, "secondary", more, update=verdict)
        return self._point(text, "secondary", more, integrity=verdict)

    def question(self, text: str, verdict: str | None, *evidence: str, kind: str = "Basic Fact Recall") -> Session:
        question = {
            "question": text,
            "answer": "reference",
            "evidence": [{"memory_content": e, "memory_type": "Persona Memory"} for e in evidence],
            "difficulty": "easy",
            "question_type": kind,
            "context": "context",
            "search_duration_ms": 100.0,
            "system_response": "response",
            "response_duration_ms": 10.0,
        }
        self.sheet["questions"].append(question)
        self.run.judge("question_answering_records", question, self, result_type=verdict)
        return self

    def memory(self, text: str, score: int | None, flag: str = "true") -> Session:
        """An extracted memory."""
        self.sheet["extracted_memories"].append(text)
        verdict = {"memory_accuracy_score": score, "is_included_in_golden_memories": flag}
        self.run.judge("memory_accuracy_records", {"memory_content": text}, self, **verdict)
        return self

    def say(self, *messages: str) -> Session:
        """Messages of the dialogue, user and assistant in turn."""
        for message in messages:
            number = len(self.sheet["dialogue"])
            turn = {"role": ("user", "assistant")[number % 2], "content": message, "timestamp": "", "dialogue_turn": 0}
            self.sheet["dialogue"].append(turn)
        return self

    def _point(self, text: str, source: str, more: Mapping[str, Any], **verdict: Any) -> Session:
        point = {
            "index": len(self.sheet["memory_points"]) + 1,
            "memory_content": text,
            "memory_type": "Persona Memory",
            "memory_source": source,
            "is_update": "False",
            "original_memories": [],
            "timestamp": "Jan 06, 2026, 18:40:00",
            "importance": 0.75,
            **more,
        }
        self.sheet["memory_points"].append(point)
        if "update" in verdict:
            self.run.judge("memory_update_records", point, self, memory_update_type=verdict["update"])
        else:
            self.run.judge("memory_integrity_records", point, self, memory_integrity_score=verdict["integrity"])
        return self


@dataclass
class Run:
    """A run of one system over one or more users."""

    users: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    verdicts: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {
            "memory_integrity_records": [],
            "memory_accuracy_records": [],
            "memory_update_records": [],
            "question_answering_records": [],
        }
    )

    def session(self, uuid: str = UUID, *, extracted: Sequence[str] = ("something",), **more: Any) -> Session:
        """The next session of a user. `extracted` gets no verdicts; `Session.memory` adds judged ones."""
        sessions = self.users.setdefault(uuid, [])
        sheet: dict[str, Any] = {
            "memory_points": [],
            "dialogue": [],
            "extracted_memories": list(extracted),
            "add_dialogue_duration_ms": 60_000.0,
            "questions": [],
            **more,
        }
        sessions.append(sheet)
        return Session(len(sessions) - 1, self, uuid, sheet)

    def generated(self, uuid: str = UUID) -> None:
        """A filler session, as HaluMem-Long has them."""
        filler = {"add_dialogue_duration_ms": 60_000.0, "is_generated_qa_session": True}
        self.users.setdefault(uuid, []).append(filler)

    def judge(self, member: str, record: Mapping[str, Any], session: Session, **verdict: Any) -> None:
        place = {"uuid": session.uuid, "ssession_id": session.number}
        self.verdicts[member].append({**record, **place, **verdict, "is_valid": True})

    def files(self, folder: Path, name: str = "run") -> tuple[Path, Path]:
        """Verdict file and answer sheet."""
        sheet = [{"uuid": uuid, "user_name": "N", "sessions": sessions} for uuid, sessions in self.users.items()]
        verdicts = write_stat(folder, self.verdicts, f"{name}_eval_stat_result.json")
        return verdicts, write_users(folder, sheet, f"{name}_eval_results.jsonl")

    def read(self, folder: Path, name: str = "run") -> Imported:
        verdicts, sheet = self.files(folder, name)
        imported = read(verdicts, answers=[sheet])
        assert imported.fatal == [], imported.fatal
        return imported
