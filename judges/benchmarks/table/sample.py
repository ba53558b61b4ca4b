"""The table that ships with the program; two people's labels are in it."""

from __future__ import annotations

from pathlib import Path

from judges.benchmarks.benchmark import Sample, Source


def sample(folder: Path) -> Sample:
    """Every row was labelled by two people, and both labelled all: that is a census."""
    options = {"tasks": str(folder / "tasks.toml"), "sampled": "census"}
    about = "384 claims of two systems about invented discharge notes, labels of two people, a judge that errs by rule"
    return Sample(about, (Source((folder / "items.jsonl",), options=options),))
