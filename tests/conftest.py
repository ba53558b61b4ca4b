"""What every test gets: a clean environment, the real command as a user calls it, a folder for a study."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from hypothesis import settings

from tests.commands import Overread, leaky_variables
from tests.offline import NoNetwork

os.environ["TEXTUAL_ANIMATIONS"] = "none"  # read once, when textual is imported

settings.register_profile("overread", deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("overread"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "overread")

ENGINES = ("duckdb", "textual", "rich", "numpy", "scikit-learn", "typer", "hypothesis")


def pytest_report_header() -> list[str]:
    """The versions a failure may depend on, read from package data without importing anything."""
    engines = ", ".join(f"{name} {_version(name)}" for name in ENGINES)
    return [f"engines: python {platform.python_version()}, {engines}"]


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


@pytest.fixture(autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting, key or proxy of the person who runs the tests reaches them, and nothing reaches their home."""
    home = tmp_path_factory.mktemp("home")
    for name in leaky_variables(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))


@pytest.fixture
def study_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is also the current one."""
    folder = tmp_path / "study"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def overread_cli() -> Overread:
    """Runs the real command in a process of its own: `overread_cli("score", "--json").json()`."""
    return Overread()


@pytest.fixture
def no_network(tmp_path: Path) -> NoNetwork:
    """Blocks the network for commands started with its `env`, and tells what they tried to reach."""
    return NoNetwork(tmp_path / "network_attempts.log")
