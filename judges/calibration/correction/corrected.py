"""Corrected scores of a benchmark run: the entry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judges.calibration.correction.choice import Choice, CorrectionSettings
from judges.calibration.correction.delta import Metrics
from judges.calibration.correction.estimate import Drawn, Problem
from judges.calibration.correction.records import Block, Combine, Gradient
from judges.calibration.correction.result import CorrectedScores
from judges.calibration.correction.sample import Sample


def corrected_scores(
    blocks: Sequence[Block], combine: Combine, settings: CorrectionSettings | None = None
) -> CorrectedScores:
    """What people would have scored, metric by metric.

    Args:
        blocks: tasks drawn apart, each with all its items. A term named in several is summed over them.
        combine: totals by term to metrics; None or nan for an undefined one.
    """
    settings = settings or CorrectionSettings()
    problem = problem_of(blocks, combine, settings.gradient)
    names = list(problem.metrics.values(problem.judge_totals))
    families = {name: [name] for name in names} | {name: list(one) for one in settings.families for name in one}
    run = Choice(problem, settings, problem.humans_only(names), families)
    return CorrectedScores(
        settings.target,
        settings.level,
        {name: run.metric(name) for name in names},
        labels={block.block.name: block.sample.n for block in problem.blocks},
        items={block.block.name: block.block.items for block in problem.blocks},
    )


def problem_of(blocks: Sequence[Block], combine: Combine, gradient: Gradient | None = None) -> Problem:
    """Blocks ready to estimate from."""
    terms = tuple(dict.fromkeys(term for block in blocks for term in block.terms))
    place = {term: index for index, term in enumerate(terms)}
    drawn = tuple(
        Drawn(block, Sample.of(block), np.array([place[term] for term in block.terms], dtype=np.int64))
        for block in blocks
    )
    scale = np.zeros(len(terms))
    for one in drawn:
        np.add.at(scale, one.columns, np.abs(one.block.judge_terms).sum(axis=0))
    return Problem(drawn, Metrics(terms, scale, combine, gradient))
