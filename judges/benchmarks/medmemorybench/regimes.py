"""Two runs side by side: what noise between the sessions costs (Efficient → Mixed), and how measures go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judges.benchmarks.benchmark import ScoredItem, Scores, Undefined
from judges.benchmarks.medmemorybench.counted import Counted, Facts, decided, judged
from judges.benchmarks.medmemorybench.shapes import TASK_OF_TYPE
from judges.benchmarks.medmemorybench.shares import difference
from judges.benchmarks.medmemorybench.summary import NOTHING

CORRELATED = ("hallucination", "recall_at_k", "token_f1", "rouge_l")


@dataclass(frozen=True, slots=True)
class Loss:
    """Accuracy lost from the first to the second run on the queries that both answered.

    Attributes:
        first, second: accuracy over the shared queries. lost, won: queries right only in the first, only in the second.
        low, high: t interval of first − second at 95 %, clustered by persona; None below five personas.
        n: shared queries. only_first, only_second: queries of one run alone, in no number here.
    """

    first: float | None
    second: float | None
    lost: int
    won: int
    low: float | None
    high: float | None
    n: int
    only_first: int = 0
    only_second: int = 0

    @property
    def loss(self) -> float | None:
        """Positive when the second run is worse."""
        return None if not self.n else (self.lost - self.won) / self.n

    def as_scores(self) -> Scores:
        nothing = Undefined(NOTHING, "no query is in both runs")
        few = Undefined("too_few", "fewer than five personas with a spread between them") if self.n else nothing
        values = {"first": self.first, "second": self.second, "loss": self.loss}
        counts = {"lost": self.lost, "won": self.won, "n": self.n}
        alone = {"only_first": self.only_first, "only_second": self.only_second}
        ends = {name: few if end is None else end for name, end in (("low", self.low), ("high", self.high))}
        return {name: nothing if value is None else value for name, value in values.items()} | ends | counts | alone


@dataclass(frozen=True, slots=True)
class NoiseLoss:
    """The loss over all queries, by type, and by the noise that the second run retrieved.

    Attributes:
        by_noise: "family", "health", "both", "none"; "unsaid" where memories do not say what they come from.
    """

    overall: Loss
    by_type: Mapping[str, Loss]
    by_noise: Mapping[str, Loss]

    def as_scores(self) -> Scores:
        return {
            "overall": self.overall.as_scores(),
            "by_type": {name: loss.as_scores() for name, loss in self.by_type.items()},
            "by_noise": {name: loss.as_scores() for name, loss in self.by_noise.items()},
        }


class _Pair:
    """One query in both runs."""

    def __init__(self, first: Counted, second: Counted) -> None:
        self.persona, self.query_type = first.persona, first.query_type
        self.first, self.second = bool(first.answer.is_correct), bool(second.answer.is_correct)
        self.noise = second.item.slices.get("retrieved_noise", "unsaid") if second.item else "unsaid"


def noise_loss(
    efficient: Iterable[ScoredItem],
    efficient_facts: Facts,
    mixed: Iterable[ScoredItem],
    mixed_facts: Facts,
    *,
    with_labels: bool = False,
) -> NoiseLoss:
    """Memory saturation: the paired loss from a system's Efficient run to its Mixed one, over shared queries alone.

    Args:
        with_labels: people's final labels stand in the verdicts' place.
    """
    count = decided if with_labels else judged
    first, second = _by_query(count(efficient, efficient_facts)), _by_query(count(mixed, mixed_facts))
    pairs = [_Pair(first[key], second[key]) for key in first if key in second]
    overall = _loss(pairs, len(first.keys() - second.keys()), len(second.keys() - first.keys()))
    noises = sorted({pair.noise for pair in pairs})
    return NoiseLoss(
        overall,
        {name: _loss([pair for pair in pairs if pair.query_type == name]) for name in TASK_OF_TYPE},
        {noise: _loss([pair for pair in pairs if pair.noise == noise]) for noise in noises},
    )


def _by_query(rows: Sequence[Counted]) -> dict[tuple[str, str], Counted]:
    return {(row.persona, row.item.extra["query_id"]): row for row in rows if row.item}


def _loss(pairs: Sequence[_Pair], only_first: int = 0, only_second: int = 0) -> Loss:
    n = len(pairs)
    if not n:
        return Loss(None, None, 0, 0, None, None, 0, only_first, only_second)
    found = difference([(pair.persona, float(pair.first) - float(pair.second)) for pair in pairs])
    first, second = sum(pair.first for pair in pairs), sum(pair.second for pair in pairs)
    lost = sum(pair.first and not pair.second for pair in pairs)
    won = sum(pair.second and not pair.first for pair in pairs)
    return Loss(first / n, second / n, lost, won, found.low, found.high, n, only_first, only_second)


def side_by_side(described: Mapping[str, Scores]) -> dict[str, Scores]:
    """By system: hallucination rate, recall, token F1 and ROUGE-L, out of each system's `as_described`."""
    return {
        system: {
            "hallucination": scores["hallucination"]["rate"],
            "recall_at_k": scores["retrieval"]["recall_at_k"],
            "token_f1": scores["overlap"]["token_f1"],
            "rouge_l": scores["overlap"]["rouge_l"],
        }
        for system, scores in described.items()
    }


def rank_correlations(table: Mapping[str, Scores]) -> dict[str, float | Undefined]:
    """Kendall's τ-b of the hallucination rate with each other measure, over the systems that have both."""
    from judges.calibration.agreement.kendall import kendall_tau_b
    from judges.calibration.agreement.scored_pairs import ScoredPairs

    found: dict[str, float | Undefined] = {}
    for name in CORRELATED[1:]:
        rows = [row for row in table.values() if all(isinstance(row[key], float) for key in (CORRELATED[0], name))]
        tau = kendall_tau_b(ScoredPairs.of_values([row[CORRELATED[0]] for row in rows], [row[name] for row in rows]))
        why = f"{len(rows)} systems have both measures; a correlation needs two, with different values"
        found[name] = Undefined(tau.status, why) if tau.value is None else tau.value
    return found
