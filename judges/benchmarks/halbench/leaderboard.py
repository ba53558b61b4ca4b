"""The leaderboard row of a model, operation by operation as the benchmark's script has it, and what else it shows.

`space/prepare_space_data.py:121-144`: rows with a score that are no anomaly, in the order of the file; `sd` with
ddof 0, percentiles interpolated linearly, shares strictly above. The mean is over all of them; with the n = 1 floor it
is over those whose `score_with_n1_floor` is not null, and over all when there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judges.benchmarks.benchmark import Scores, Undefined
from judges.benchmarks.halbench.corpus import LEADERBOARD
from judges.benchmarks.halbench.shapes import CELLS, FIELDS

THRESHOLDS = (0.5, 0.7, 0.8)
QUINTILES = ("q1 (shortest)", "q2", "q3", "q4", "q5 (longest)")


@dataclass(frozen=True, slots=True)
class Entry:
    """What the leaderboard reads of a row."""

    item: str
    score: float | None
    floored: float | None
    is_anomaly: bool
    is_n1: bool
    words: int
    sentences: int
    slices: Mapping[str, str]

    @property
    def is_valid(self) -> bool:
        return self.score is not None and not self.is_anomaly


def leaderboard(entries: Sequence[Entry]) -> Scores:
    """The twelve numbers of a leaderboard row."""
    import numpy as np

    valid = [entry.score for entry in entries if entry.is_valid]
    found: Scores = {
        "n": len(valid),
        "n_anomalies": sum(entry.is_anomaly for entry in entries),
        "n_n1": sum(entry.is_n1 for entry in entries),
    }
    if not valid:
        nothing = Undefined("nothing_to_score", "no row has a score that is no anomaly's")
        return found | {name: nothing for name in LEADERBOARD if name not in found}
    floored = [entry.floored for entry in entries if entry.floored is not None and not entry.is_anomaly]
    scores, floor = np.array(valid), np.array(floored or valid)
    found |= {"mean": float(scores.mean()), "mean_with_n1_floor": float(floor.mean()), "sd": float(scores.std())}
    found |= {f"p{share}": float(np.percentile(scores, share)) for share in (10, 50, 90)}
    return found | {f"pct_above_{bound}": float((scores > bound).mean()) for bound in THRESHOLDS}


def breakdown(entries: Sequence[Entry]) -> Scores:
    """Means by mechanism, by field, and in each of the 8 × 4 cells: the heat map."""
    return {
        "by_cell": {cell: _mean(e for e in entries if e.slices.get("cell") == cell) for cell in CELLS},
        "by_field": {name: _mean(e for e in entries if e.slices.get("field") == name) for name in FIELDS},
        "heat_map": {
            cell: {
                name: _mean(e for e in entries if (e.slices.get("cell"), e.slices.get("field")) == (cell, name))
                for name in FIELDS
            }
            for cell in CELLS
        },
    }


def length_confound(entries: Sequence[Entry]) -> Scores:
    """Spearman's ρ of score and words, and the mean score in each fifth of the lengths (`space/app.py`): rows with a
    score, no anomalies, at least one word."""
    import numpy as np

    used = [entry for entry in entries if entry.is_valid and entry.words > 0]
    scores = np.array([entry.score for entry in used], dtype=np.float64)
    words = np.array([entry.words for entry in used], dtype=np.float64)
    return {"n": len(used), "spearman": _spearman(scores, words), "mean_by_length": _by_length(scores, words)}


def flags(entries: Sequence[Entry]) -> Scores:
    """Replies that the benchmark scores oddly: without a sentence, of one sentence."""
    valid = [entry for entry in entries if entry.is_valid]
    none = [entry for entry in valid if entry.sentences == 0]
    one = [entry for entry in valid if entry.sentences == 1]
    return {
        "no_sentence": len(none),
        "no_sentence_blank": sum(entry.words == 0 for entry in none),
        "one_sentence": len(one),
        "mean_of_one_sentence": _plain_mean(one),
        "mean_of_several_sentences": _plain_mean([entry for entry in valid if entry.sentences > 1]),
    }


def _mean(entries: Iterable[Entry]) -> Scores:
    valid = [entry for entry in entries if entry.is_valid]
    return {"mean": _plain_mean(valid), "n": len(valid)}


def _plain_mean(entries: Sequence[Entry]) -> float | Undefined:
    import numpy as np

    if not entries:
        return Undefined("nothing_to_score", "no scored reply is here")
    return float(np.mean([entry.score for entry in entries]))


def _spearman(scores: Any, words: Any) -> float | Undefined:
    if len(scores) < 2 or len(set(scores.tolist())) < 2 or len(set(words.tolist())) < 2:
        return Undefined("constant_rater", "scores or lengths do not vary")
    from scipy.stats import spearmanr

    return float(spearmanr(scores, words).statistic)


def _by_length(scores: Any, words: Any) -> Scores:
    """Fifths as `pandas.qcut` cuts them: at the linear quantiles, the upper bound inside."""
    import numpy as np

    if not len(words):
        return {}
    edges = np.unique(np.quantile(words, np.linspace(0, 1, len(QUINTILES) + 1)))
    if len(edges) < len(QUINTILES) + 1:
        few = Undefined("too_few_lengths", "the lengths do not fall into five parts")
        return dict.fromkeys(QUINTILES, few)
    places = np.searchsorted(edges, words, side="left").clip(1) - 1
    none = Undefined("too_few_lengths", "no length falls into this part")
    parts = {name: scores[places == place] for place, name in enumerate(QUINTILES)}
    return {name: float(part.mean()) if len(part) else none for name, part in parts.items()}
