"""A fault of the program says where it happened, and nothing of an item, a label or a note."""

from __future__ import annotations

import os

import pytest

from annotate.cli.errors import EXIT_UNEXPECTED, report_unexpected
from annotate.cli.main import run
from store.study import Study

SECRET = "PATIENT-4711 takes 40 mg"


def fault() -> Exception:
    """An error with a text of an item in its message, its cause and a variable."""
    patient = SECRET
    try:
        try:
            raise KeyError(patient)
        except KeyError as error:
            raise ValueError(f"cannot read {patient}") from error
    except ValueError as error:
        return error


@pytest.mark.parametrize("debug", ["", "1"])
def test_no_message_and_no_variable_is_printed(
    debug: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if debug:
        monkeypatch.setenv("OVERREAD_DEBUG", debug)
    assert report_unexpected(fault()) == EXIT_UNEXPECTED
    said = capsys.readouterr()
    assert said.out == "" and "PATIENT" not in said.err and "4711" not in said.err
    assert "ValueError" in said.err and "test_unexpected_errors.py" in said.err
    assert ("KeyError" in said.err) == bool(debug)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")], ids=repr)
def test_what_ctrl_c_stops_is_said(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Versions of typer differ in what they make of it, and DuckDB has an error of its own for it."""

    def interrupted(_: object) -> None:
        raise error

    monkeypatch.setattr(Study, "open", interrupted)
    monkeypatch.setenv("OVERREAD_STUDY", "s.duckdb")
    monkeypatch.setattr(os, "umask", lambda _: 0)
    with pytest.raises(SystemExit) as left:
        run(["status"])
    assert left.value.code == 130
    assert "stopped; everything confirmed is saved" in capsys.readouterr().err
