"""One sample study with its truth as labels, and its reports, for all tests that only read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotate.sample import label_sample
from store.study import Study
from tests.commands import Outcome, Overread
from tests.report.page_tree import Element, read_page
from tests.sample_study import make_sample_study


@pytest.fixture(scope="session")
def sample_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data imported by the real commands, every item with its true label."""
    path = make_sample_study(tmp_path_factory.mktemp("sample"))
    with Study.open(path) as study:
        label_sample(study)
    return path


def made(study: Path, name: str) -> str:
    outcome: Outcome = Overread()("--study", study, "report", name, cwd=study.parent)
    assert outcome.exit_code == 0, outcome
    return (study.parent / name).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def sample_html(sample_study: Path) -> str:
    """The sample's report as the real command writes it."""
    return made(sample_study, "report.html")


@pytest.fixture(scope="session")
def sample_page(sample_html: str) -> Element:
    return read_page(sample_html)


@pytest.fixture(scope="session")
def sample_markdown(sample_study: Path) -> str:
    return made(sample_study, "report.md")


@pytest.fixture(scope="session")
def sample_audit(sample_study: Path) -> dict[str, Any]:
    """What `audit --json` says of the same study."""
    outcome = Overread()("--study", sample_study, "audit", "--json", cwd=sample_study.parent)
    audit: dict[str, Any] = outcome.json()
    return audit


@pytest.fixture(scope="session")
def sample_scores(sample_study: Path) -> dict[str, Any]:
    """What `score --json` says of the same study."""
    outcome = Overread()("--study", sample_study, "score", "--json", cwd=sample_study.parent)
    scores: dict[str, Any] = outcome.json()
    return scores


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """These suites open whole studies again and again: they run in the slow tier."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
