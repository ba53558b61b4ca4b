"""Starting the command: nothing heavy is imported before it is needed, and no file of the user's folder is either."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import typer

from annotate.cli.main import COMMANDS
from store import engine
from tests.commands import LAUNCH, ROOT, overread_command, overread_environment

HEAVY = {
    "_duckdb", "duckdb", "jieba", "krippendorff", "numpy", "openai", "pandas", "ray", "scipy", "sklearn", "textual",
}  # fmt: skip

REPORT_MODULES = """
import atexit, json, os, pathlib, sys
atexit.register(lambda: pathlib.Path(os.environ["MODULES_FILE"]).write_text(json.dumps(list(sys.modules)), "utf-8"))
"""


def modules_after(code: str, file: Path, *arguments: str) -> set[str]:
    """The top-level modules loaded when `code` has run to its end in a fresh Python."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", REPORT_MODULES + code, *arguments],
        env=overread_environment({"MODULES_FILE": str(file)}),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(file.read_text(encoding="utf-8"))}


def test_the_module_report_sees_a_heavy_import(tmp_path: Path) -> None:
    assert "numpy" in modules_after("import numpy.linalg", tmp_path / "modules.json")


def test_importing_the_command_line_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = modules_after("import annotate.entry, annotate.cli.main", tmp_path / "modules.json")
    assert "annotate" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("arguments", [["--help"], ["label", "--help"], ["score", "--help"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    assert modules_after(LAUNCH, tmp_path / "modules.json", *arguments) & HEAVY == set()


INTERRUPT_AT = {
    "import": "class Interrupting:\n"
    "    def find_spec(name, *_): name == 'typer' and signal.raise_signal(signal.SIGINT)\n"
    "sys.meta_path.insert(0, Interrupting)\n",
    "exit": "atexit.register(signal.raise_signal, signal.SIGINT)\n",
}


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")
@pytest.mark.parametrize("moment", INTERRUPT_AT)
def test_ctrl_c_is_quiet_before_and_after_the_command(moment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import atexit, signal, sys\n{INTERRUPT_AT[moment]}{LAUNCH}", "--version"],
        env=overread_environment(), capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "")


def launchers() -> dict[str, list[str]]:
    """The ways to start overread here: from the source tree, and the installed script where there is one."""
    script = Path(sys.executable).with_name("overread")
    return {"source": overread_command()} | ({"installed": [str(script)]} if script.exists() else {})


@pytest.mark.parametrize("launcher", launchers().values(), ids=launchers().keys())
def test_files_named_like_our_packages_are_not_imported(launcher: list[str], tmp_path: Path) -> None:
    for name in ("annotate", "judges", "store", "typer", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a decoy was imported')\n", encoding="utf-8")
    done = subprocess.run(
        [*launcher, "--help"],
        cwd=tmp_path,
        env=overread_environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.returncode, "decoy" in done.stderr) == (0, False), done.stderr
    assert "overread" in done.stdout


def test_every_module_registers_the_commands_that_are_said_to_be_its_own() -> None:
    by_module: dict[str, list[str]] = {}
    for command, module in COMMANDS.items():
        by_module.setdefault(module, []).append(command)
    for module, commands in by_module.items():
        app = typer.Typer()
        importlib.import_module(f"annotate.cli.{module}").register(app)
        assert [command.name for command in app.registered_commands] == commands
    folder = ROOT / "annotate" / "cli"
    registering = {file.stem for file in folder.glob("*.py") if "def register(" in file.read_text(encoding="utf-8")}
    assert registering == set(by_module)


def test_a_command_loads_no_other_command(tmp_path: Path) -> None:
    file = tmp_path / "modules.json"
    done = subprocess.run(
        [sys.executable, "-P", "-c", REPORT_MODULES + LAUNCH, "--study", "x.duckdb", "status", "--help"],
        env=overread_environment({"MODULES_FILE": str(file)}), capture_output=True, encoding="utf-8", timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(file.read_text(encoding="utf-8")))
    assert "annotate.cli.study" in loaded
    assert {"annotate.cli.judge", "annotate.cli.retune", "annotate.cli.label"} & loaded == set()


def test_the_desk_loads_no_statistics(tmp_path: Path) -> None:
    code = "import annotate.cli.label, annotate.desk.opening, annotate.tui.app, judges.benchmarks.halumem"
    loaded = modules_after(code, tmp_path / "modules.json")
    assert "textual" in loaded
    assert loaded & HEAVY == {"textual"}


def test_the_engine_is_loaded_without_its_relation_layer(tmp_path: Path) -> None:
    code = "import store.study; from store.engine import duckdb; duckdb.connect().execute('SELECT 1').fetchall()"
    loaded = modules_after(code, tmp_path / "modules.json")
    assert "duckdb" not in loaded


def test_the_engine_has_the_errors_of_duckdb() -> None:
    assert engine.duckdb.Error is duckdb.Error
    assert engine.duckdb.FatalException is duckdb.FatalException
