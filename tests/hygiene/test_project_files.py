"""What the project's files promise each other: one list of test needs, a current lock, commands that agree."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from annotate.desk.actions import ACTIONS
from tests.commands import ROOT, Overread


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def declared(requirements: Iterable[str]) -> set[tuple[str, str, str]]:
    """(name, specifier, marker) of requirement lines."""
    parsed = map(Requirement, requirements)
    return {
        (canonicalize_name(one.name), str(one.specifier), str(one.marker or "").replace('"', "'")) for one in parsed
    }


def locked(requirements: Iterable[dict[str, str]]) -> set[tuple[str, str, str]]:
    """The same of a lock's entries; the marker that says which extra asks for it is left out."""
    return {
        (
            canonicalize_name(one["name"]),
            str(Requirement(one["name"] + one.get("specifier", "")).specifier),
            re.sub(r"(?: and )?extra == '\w+'", "", one.get("marker", "")),
        )
        for one in requirements
    }


def test_the_test_extra_and_the_test_group_are_one_list() -> None:
    project = toml("pyproject.toml")
    assert project["project"]["optional-dependencies"]["test"] == project["dependency-groups"]["test"]


def test_the_lock_is_of_these_requirements() -> None:
    project = toml("pyproject.toml")
    entry = next(package for package in toml("uv.lock")["package"] if package["name"] == project["project"]["name"])
    assert entry["version"] == project["project"]["version"]
    extras = [line for lines in project["project"]["optional-dependencies"].values() for line in lines]
    assert locked(entry["metadata"]["requires-dist"]) == declared([*project["project"]["dependencies"], *extras])
    for group in ("static", "test"):
        assert locked(entry["metadata"]["requires-dev"][group]) == declared(project["dependency-groups"][group])


def test_the_lock_names_one_public_index_and_no_file_of_one_machine() -> None:
    packages = toml("uv.lock")["package"]
    sources = [package["source"] for package in packages]
    assert [source for source in sources if "registry" not in source] == [{"editable": "."}]
    assert len({source["registry"] for source in sources if "registry" in source}) == 1
    files = [file for package in packages for file in [package.get("sdist"), *package.get("wheels", [])] if file]
    assert {urlsplit(file["url"]).scheme for file in files} == {"https"}
    assert len({urlsplit(file["url"]).netloc for file in files}) == 1


def test_ci_sets_up_the_tests_with_the_readmes_own_words() -> None:
    command = ".venv/bin/pip install -e '.[test]'"
    assert command in text("README.md")
    assert command in text(".ci/run")


def test_no_text_holds_both_sides_of_a_merge() -> None:
    folders = ("annotate", "docs", "judges", "sample_data", "store", "tests")
    files = [*ROOT.glob("*.*"), *(file for folder in folders for file in (ROOT / folder).rglob("*.*"))]
    texts = [file for file in files if file.suffix in {".md", ".py", ".toml", ".json", ".tcss", ".txt"}]
    assert len(texts) > 500
    assert [file for file in texts if re.search(rb"^(<{7} |>{7} |={7}$)", file.read_bytes(), re.MULTILINE)] == []


def test_the_changelog_tells_of_this_version() -> None:
    assert f"\n## [{toml('pyproject.toml')['project']['version']}]" in text("CHANGELOG.md")


def test_ruffs_rules_against_naive_times_and_stray_prints_are_on() -> None:
    assert {"DTZ", "T20"} <= set(toml("pyproject.toml")["tool"]["ruff"]["lint"]["select"])


def test_every_marked_tier_stays_out_of_the_plain_run() -> None:
    options = toml("pyproject.toml")["tool"]["pytest"]["ini_options"]
    for marker in options["markers"]:
        assert f"not {marker.partition(':')[0]}" in options["addopts"]


def test_the_readme_lists_every_key_as_the_desk_has_it() -> None:
    rows = ["| {} | {} |".format(" ".join(f"`{key}`" for key in one.keys), one.description) for one in ACTIONS]
    assert [row for row in rows if row not in text("README.md").splitlines()] == []


def test_the_readme_names_every_command_and_no_other(overread_cli: Overread) -> None:
    offered = re.search(r"^Commands:\n((?: .*\n)+)", overread_cli("--help").stdout, re.MULTILINE)
    assert offered
    commands = set(re.findall(r"^  (\w+)", offered[1], re.MULTILINE))
    table = "\n".join(line for line in text("README.md").splitlines() if line.startswith("| `"))
    first_column = " ".join(row.split("|")[1] for row in table.splitlines())
    assert {name for name in commands if f"`{name}" not in first_column} == set()
    code = re.findall(r"^    .*|`[^`]+`", text("README.md"), re.MULTILINE)
    used = {name for line in code for name in re.findall(r"overread (?:--study \S+ )?([a-z]+)", line)}
    assert used - commands == set()
