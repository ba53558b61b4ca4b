"""The certificate: a gate's outcome bound to hashes of judge, prompt, rubric, labels, items and verdicts.

It holds no item text and no label of any item, so it can stand in a repository. Whoever has the study can check that
nothing changed since; whoever has not can check that the certificate is whole, open, and of this prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judges.gate.bindings import bindings_of, judges_of
from judges.gate.gate import EXIT_CODES, Gate, path_json
from store.errors import EXIT_NO, InputError
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
    import json

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
        InputError: it is none, or not what was written.
    """
    found = path_json(path)
    if not isinstance(found, dict) or found.get("format") != FORMAT or "certificate" not in found:
        raise InputError(f"{path} is no certificate of a gate.", "", "Write one: overread gate --write FILE")
    return found


def verify(path: Path, study: Study | None = None) -> Verification:
    """Check a certificate against itself, and against a study where there is one.

    Raises:
        InputError: the file is no certificate.
    """
    found = read_certificate(path)
    body = {name: value for name, value in found.items() if name != "certificate"}
    problems: list[str] = []
    compared = ["certificate"]
    if digest("certificate", body) != found["certificate"]:
        problems.append("the certificate was altered after it was written")
    if study is not None:
        compared += ["study", *_bound(found)]
        problems += _against(found, study)
    return Verification(str(found["outcome"]), tuple(problems), tuple(dict.fromkeys(compared)), found)


def _bound(certificate: Mapping[str, Any]) -> list[str]:
    return [name for gate in certificate["tasks"].values() for name in gate["bindings"]]


def _against(certificate: Mapping[str, Any], study: Study) -> list[str]:
    if certificate["study_id"] != study.study_id:
        return ["the certificate is of another study"]
    problems = []
    for task, gate in certificate["tasks"].items():
        judge = next((one for one in judges_of(study, task) if one.judge_id == gate["judge"]["judge_id"]), None)
        if judge is None:
            problems.append(f"{task}: the study has no such judge any more")
            continue
        now = bindings_of(study, judge)
        changed = [name for name, value in gate["bindings"].items() if now.get(name) != value]
        problems += [f"{task}: {name} changed since the gate was looked through" for name in changed]
    return problems
