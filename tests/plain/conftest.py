"""The line-by-line desk on small studies, in this process and through the real command."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotate.cli.plain import PlainDesk
from annotate.desk.desk import Desk
from store.study import Study
from tests.desk.desk_studies import accuracy, make_study, qa, sit

Typist = Callable[..., str]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Twelve questions; the judge says Omission."""
    with make_study(tmp_path / "s.duckdb", [qa("Omission") for _ in range(12)]) as study:
        yield study


@pytest.fixture
def parts_study(tmp_path: Path) -> Iterator[Study]:
    with make_study(tmp_path / "p.duckdb", [accuracy("0", "false") for _ in range(4)]) as study:
        yield study


@pytest.fixture
def type_lines() -> Typist:
    """Type lines at a desk; returns all it said."""

    def run(desk: Desk, *lines: str, **options: Any) -> str:
        out = io.StringIO()
        PlainDesk(desk, io.StringIO("".join(f"{line}\n" for line in lines)), out, **options).run()
        return out.getvalue()

    return run


@pytest.fixture
def say(study: Study, type_lines: Typist) -> Typist:
    """Type lines at a blind desk over the questions; returns what was said."""

    def run(*lines: str) -> str:
        return type_lines(sit(study, "never"), *lines)

    return run
