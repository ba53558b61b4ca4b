"""Certificates that somebody edited: whoever edits one can make its hash anew, but not a look of the study."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from judges.gate.certificate import certificate_of, read_baseline, read_certificate, verify
from store.errors import InputError
from store.records import digest
from tests.commands import Overread
from tests.gate.gate_studies import pairs_of, rows_of, study_of
from tests.gate.test_gate import BAD, looked


def resigned(certificate: dict[str, Any]) -> dict[str, Any]:
    """The same with the hash that fits it."""
    body = {name: value for name, value in certificate.items() if name != "certificate"}
    return {**body, "certificate": digest("certificate", body)}


def _opened(certificate: dict[str, Any]) -> None:
    certificate["outcome"] = "open"


def _opened_throughout(certificate: dict[str, Any]) -> None:
    certificate["outcome"] = certificate["tasks"]["check"]["outcome"] = "open"


def _without_bindings(certificate: dict[str, Any]) -> None:
    _opened_throughout(certificate)
    certificate["tasks"]["check"]["bindings"] = {}


def _milder(certificate: dict[str, Any]) -> None:
    certificate["tasks"]["check"]["thresholds"]["kappa"] = 0.0


def _better(certificate: dict[str, Any]) -> None:
    certificate["tasks"]["check"]["checks"][1].update(value=0.99, low=0.98)
    certificate["checks"] = [{"task": "check", **one} for one in certificate["tasks"]["check"]["checks"]]


EDITS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "open": _opened, "open throughout": _opened_throughout, "no bindings": _without_bindings, "milder": _milder,
    "better numbers": _better, "better numbers above": lambda c: c["checks"][1].update(value=0.99),
    "another judge's name": lambda c: c.update(judge="gpt-9"), "other advice": lambda c: c.update(next=["go on"]),
    "another level": lambda c: c["tasks"]["check"].update(level=0.5), "later": lambda c: c.update(at="2031-01-01"),
    "another benchmark": lambda c: c.update(benchmark="mist"), "something besides": lambda c: c.update(note="x"),
    "another look": lambda c: c["tasks"]["check"].update(look_id="x"),
}  # fmt: skip


def test_an_edited_certificate_with_a_fitting_hash_does_not_pass_the_study(tmp_path: Path) -> None:
    file = tmp_path / "gate.json"
    with study_of(tmp_path / "a.duckdb", rows_of(BAD)) as study:
        text = json.dumps(certificate_of(looked(study)))
        file.write_text(text, encoding="utf-8")
        assert verify(file, study).valid and verify(file, study).outcome == "closed"
        for what, edit in EDITS.items():
            certificate = json.loads(text)
            edit(certificate)
            file.write_text(json.dumps(resigned(certificate)), encoding="utf-8")
            found = verify(file, study)
            assert not found.valid and found.exit_code == 1 and found.as_json()["outcome"] == "closed", what


@pytest.mark.slow
def test_a_certificate_alone_is_checked_against_thresholds_and_told_to_a_ci_server(
    tmp_path: Path, overread_cli: Overread
) -> None:
    """No study, no item: what a CI job has."""
    with study_of(tmp_path / "a.duckdb", rows_of(pairs_of(60, 0, 60, 0))) as study:
        certificate = certificate_of(looked(study))
    ci = tmp_path / "ci"
    ci.mkdir()
    (ci / "gate.json").write_text(json.dumps(certificate), encoding="utf-8")
    (ci / "gate.toml").write_text("recall = 0.8\n", encoding="utf-8")
    asked = ("gate", "--certificate", "gate.json", "--junit", "c.xml", "--markdown", "c.md")
    assert overread_cli(*asked, cwd=ci).exit_code == 0
    assert "The gate is OPEN" in (ci / "c.md").read_text(encoding="utf-8")
    assert ElementTree.parse(ci / "c.xml").find(".//failure") is None
    found = overread_cli(*asked, "--thresholds", "gate.toml", cwd=ci)
    assert found.exit_code == 1 and "other thresholds than those of gate.toml" in found.stdout
    assert "NOT VALID" in (ci / "c.md").read_text(encoding="utf-8")
    assert ElementTree.parse(ci / "c.xml").find(".//failure") is not None
    both = overread_cli(*asked, "--baseline", "gate.json", cwd=ci)
    assert both.exit_code == 2 and "--baseline does not go with --certificate" in both.stderr


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.pop("outcome"), lambda c: c.pop("tasks"), lambda c: c.update(tasks={}),
        lambda c: c.update(tasks=[1]),
        lambda c: c["tasks"].update(check=None), lambda c: c["tasks"]["check"].pop("bindings"),
        lambda c: c["tasks"]["check"].update(judge="x"), lambda c: c["tasks"]["check"].update(checks=[{"name": "x"}]),
        lambda c: c["tasks"]["check"]["checks"][0].update(low="0"), lambda c: c.update(next="x"),
        lambda c: c.update(judge=None), lambda c: c["tasks"]["check"].update(at="yesterday"),
        lambda c: c["tasks"]["check"]["checks"][0].update(status="fine"), lambda c: c["tasks"]["check"].pop("look"),
    ],
)  # fmt: skip
def test_what_lacks_a_part_of_a_certificate_is_none(tmp_path: Path, edit: Callable[[Any], Any]) -> None:
    file = tmp_path / "gate.json"
    with study_of(tmp_path / "a.duckdb", rows_of(pairs_of(6, 1, 6, 1))) as study:
        certificate = json.loads(json.dumps(certificate_of(looked(study))))
    edit(certificate)
    file.write_text(json.dumps(resigned(certificate)), encoding="utf-8")
    with pytest.raises(InputError, match="no certificate"):
        read_certificate(file)


def test_a_baseline_that_was_altered_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gate.json"
    with study_of(tmp_path / "a.duckdb", rows_of(pairs_of(6, 1, 6, 1))) as study:
        certificate = json.loads(json.dumps(certificate_of(looked(study))))
    file.write_text(json.dumps(certificate), encoding="utf-8")
    assert read_baseline(file) == certificate
    certificate["tasks"]["check"]["checks"] = []
    file.write_text(json.dumps(certificate), encoding="utf-8")
    with pytest.raises(InputError, match="altered"):
        read_baseline(file)


@pytest.mark.slow
def test_the_gate_never_replaces_the_study_nor_looks_when_it_would(tmp_path: Path, overread_cli: Overread) -> None:
    study_of(tmp_path / "a.duckdb", rows_of(BAD)).close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (journal,) = (name for name in before if name.endswith(".journal.jsonl"))
    for options in (("--write", "a.duckdb"), ("--write", "new.json", "--junit", journal)):
        told = overread_cli("--study", "a.duckdb", "gate", *options, cwd=tmp_path)
        assert told.exit_code == 2 and "part of the study" in told.stderr, told
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
