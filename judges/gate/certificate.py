"""The certificate: a gate's outcome bound to hashes of judge, prompt, rubric, labels, items and verdicts.

It holds no item text and no label of any item, so it can stand in a repository. Whoever has the study can check that
nothing changed since; whoever has not can check that the certificate is whole, open, and of this prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from judges.gate.bindings import bindings_of, judges_of
from judges.gate.checks import Status
from judges.gate.gate import EXIT_CODES, Gate, path_json, summary_of
from judges.gate.thresholds import thresholds_of
from store.errors import EXIT_NO, InputError
from store.gates import gate_looks
from store.records import digest

if TYPE_CHECKING:
    from store.study import Study

FORMAT: Final = "overread gate certificate 1"


def certificate_of(gate: Gate) -> dict[str, Any]:
    """The certificate of a gate: its JSON, the format, and the hash of both."""
    body = {"format": FORMAT, **gate.as_json()}
    return {**body, "certificate": digest("certificate", body)}


def certificate_text(gate: Gate) -> str:
    """The same as text, one line a member, for a repository's diffs."""
    return json.dumps(certificate_of(gate), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking a certificate found.

    Attributes:
        problems: sentences; without any it holds. outcome: of the certificate. compared: what was compared.
    """

    outcome: str
    problems: tuple[str, ...]
    compared: tuple[str, ...]
    certificate: Mapping[str, Any]

    @property
    def valid(self) -> bool:
        return not self.problems

    @property
    def exit_code(self) -> int:
        if self.problems:
            return EXIT_NO
        return EXIT_CODES.get(self.outcome, EXIT_NO)  # type: ignore[call-overload,no-any-return]

    def as_json(self) -> dict[str, Any]:
        return {
            "valid": self.valid, "outcome": self.outcome if self.valid else "closed", "problems": list(self.problems),
            "compared": list(self.compared), "certificate": self.certificate["certificate"],
            "checks": self.certificate["checks"], "judge": self.certificate["judge"],
            "next": ["look again: overread gate"] if self.problems else self.certificate["next"],
        }  # fmt: skip


def read_certificate(path: Path) -> dict[str, Any]:
    """A certificate from its file.

    Raises:
        InputError: it is none.
    """
    found: dict[str, Any] = path_json(path)
    if not _is_certificate(found):
        raise InputError(f"{path} is no certificate of a gate.", "", "Write one: overread gate --write FILE")
    return found


def read_baseline(path: Path) -> dict[str, Any]:
    """A certificate to compare with, as it was written.

    Raises:
        InputError: it is none, or was altered.
    """
    found = read_certificate(path)
    if not _is_whole(found):
        raise InputError(f"{path} was altered after it was written.", "", "Compare with a certificate as it was.")
    return found


def _is_whole(found: Mapping[str, Any]) -> bool:
    body = {name: value for name, value in found.items() if name != "certificate"}
    return bool(digest("certificate", body) == found["certificate"])


def _is_certificate(found: Any) -> bool:
    """Whether all is there, in its form, that is read of a certificate; whether it is true is another question."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return False
    tasks, checks, acts = found.get("tasks"), found.get("checks"), found.get("next")
    return (
        all(isinstance(found.get(name), str) for name in ("certificate", "outcome", "study_id", "benchmark"))
        and isinstance(found.get("judge"), str | dict)
        and isinstance(checks, list)
        and isinstance(acts, list)
        and isinstance(tasks, dict)
        and bool(tasks)
        and all(_is_task(gate) for gate in tasks.values())
    )


def _is_task(gate: Any) -> bool:
    return (
        isinstance(gate, dict)
        and isinstance(gate.get("outcome"), str)
        and all(isinstance(gate.get(name), dict) for name in ("judge", "bindings", "thresholds"))
        and all(isinstance(gate["judge"].get(name), str) for name in ("judge_id", "name"))
        and _is_time(gate.get("at"))
        and all(isinstance(gate.get(name), str) for name in ("task", "look_id"))
        and all(isinstance(gate.get(name), int) for name in ("look", "looks"))
        and isinstance(gate.get("next"), list)
        and all(isinstance(act, str) for act in gate["next"])
        and isinstance(gate.get("checks"), list)
        and all(_is_check(check) for check in gate["checks"])
    )


def _is_time(said: Any) -> bool:
    try:
        return isinstance(said, str) and datetime.fromisoformat(said).tzinfo is not None
    except ValueError:
        return False


def _is_check(check: Any) -> bool:
    return (
        isinstance(check, dict)
        and all(isinstance(check.get(name), str) for name in ("name", "label", "why", "next"))
        and check.get("status") in get_args(Status)
        and check.get("side") in ("least", "most")
        and isinstance(check.get("passed"), bool | None)
        and all(_is_number(check.get(name)) for name in ("value", "low", "high", "bound"))
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def verify(path: Path, study: Study | None = None, thresholds: Path | None = None) -> Verification:
    """Check a certificate against itself, against a study where there is one, and against a thresholds file.

    Raises:
        InputError: the file is no certificate. UsageError: the thresholds cannot be read.
    """
    found = read_certificate(path)
    problems: list[str] = []
    compared = ["certificate"]
    if not _is_whole(found):
        problems.append("the certificate was altered after it was written")
    if strange := _contradicted(found):
        problems.append(f"the certificate contradicts itself: its tasks say otherwise of {', '.join(strange)}")
    if thresholds is not None:
        compared.append("thresholds")
        problems += [
            f"{task}: it was looked through under other thresholds than those of {thresholds.name}"
            for task, gate in found["tasks"].items()
            if json.loads(json.dumps(thresholds_of(thresholds, task).as_json())) != gate["thresholds"]
        ]
    if study is not None:
        compared += ["study", *_bound(found)]
        problems += _against(found, study)
    return Verification(str(found["outcome"]), tuple(problems), tuple(dict.fromkeys(compared)), found)


def _bound(certificate: Mapping[str, Any]) -> list[str]:
    return [name for gate in certificate["tasks"].values() for name in gate["bindings"]]


def _contradicted(found: Mapping[str, Any]) -> list[str]:
    """Members that do not follow from its tasks."""
    told = {"format": FORMAT, **summary_of(found["study_id"], found["benchmark"], found["tasks"])}
    return sorted(
        name
        for name in (told.keys() | found.keys()) - {"certificate"}
        if name not in told or found.get(name) != told[name]
    )


def _was_looked(study: Study, task: str, gate: Mapping[str, Any]) -> bool:
    """Whether a look of the study came to this, to the last number: the hash of a certificate can be made anew by
    whoever edits it."""
    return any(look.document == gate for look in gate_looks(study, task))


def _against(certificate: Mapping[str, Any], study: Study) -> list[str]:
    if (certificate["study_id"], certificate["benchmark"]) != (study.study_id, study.benchmark):
        return ["the certificate is of another study"]
    problems = []
    for task, gate in certificate["tasks"].items():
        judge = next((one for one in judges_of(study, task) if one.judge_id == gate["judge"]["judge_id"]), None)
        if judge is None:
            problems.append(f"{task}: the study has no such judge any more")
            continue
        now = bindings_of(study, judge)
        changed = [name for name, value in now.items() if gate["bindings"].get(name) != value]
        if not changed and not _was_looked(study, task, gate):
            problems.append(f"{task}: the study knows of no such look through the gate")
        problems += [f"{task}: {name} changed since the gate was looked through" for name in changed]
    return problems
