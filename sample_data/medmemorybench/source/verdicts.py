"""One answer of one run with its hidden truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TYPES = {
    "eem": "entity_exact_match",
    "tla": "temporal_localization",
    "sua": "state_update",
    "mq": "multiple_choice",
    "ig": "inference_generation",
    "mcd": "multi_hop_clinical_deduction",
}
SYSTEMS = {"h": "heron_notes", "s": "saltmarsh_rag"}
REGIMES = {"e": "Efficient", "m": "Mixed"}
MODEL = "sample-model"
TAGS = {
    "stale": "stale_state",
    "relative": "family_members_fact",
    "generic": "generic_reasoning",
    "trap": "fell_into_trap",
    "other": "",
}
"""Why an answer is wrong, as the source says it → the tag a person would give."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer with what the scorer said and what is true.

    Attributes:
        judge: None where the verdict cannot be read.
        error: kind of the planted error; "" where the scorer is right or failed.
        fault: why a wrong answer is wrong; "" for right ones.
        parts: the true parts of a person's label.
    """

    system: str
    regime: str
    language: str
    persona: int
    name: str
    query_id: str
    task: str
    question: str
    trap: str
    judge: bool | None
    truth: bool
    error: str
    fault: str
    harm: str
    parts: dict[str, str]
    record: Json

    @property
    def run(self) -> tuple[str, str, str]:
        return (self.system, self.regime, self.language)


@dataclass(slots=True)
class Run:
    """One system in one regime and language."""

    system: str
    regime: str
    language: str
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.system}, {self.regime}, {self.language}"
