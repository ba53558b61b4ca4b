"""Runs side by side: what noise costs each system, and how the measures of the paper's second table go together.

noise_loss          system → paired loss from its Efficient run to its Mixed one, in one language (`regimes`)
measures            run → architecture, accuracy, hallucination rate, recall at k, token F1, ROUGE-L
rank_correlations   regime/language → Kendall's τ-b of the hallucination rate with each other measure
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judges.benchmarks.benchmark import ScoredItem, Scores
from judges.benchmarks.medmemorybench.counted import Counted, Facts, decided, judged
from judges.benchmarks.medmemorybench.measures import abstains_by_rule, accuracy, hallucination, overlap, retrieval
from judges.benchmarks.medmemorybench.people import abstains_by_people
from judges.benchmarks.medmemorybench.regimes import noise_loss, rank_correlations, side_by_side
from judges.benchmarks.medmemorybench.runs import RUN

EFFICIENT, MIXED = "Efficient", "Mixed"


def compared(
    systems: Mapping[str, Iterable[ScoredItem]], facts: Mapping[str, Facts], *, overridden: bool = False
) -> Scores:
    """All of the above; what only one run has is left out."""
    runs = {name: list(items) for name, items in systems.items()}
    abouts = {name: facts.get(name, {}).get(RUN, {}).get("run", {}) for name in runs}
    measures = {
        name: {"architecture": abouts[name].get("architecture", "")} | _measures(items, facts.get(name, {}), overridden)
        for name, items in runs.items()
    }
    scores: Scores = {}
    if lost := _losses(runs, abouts, facts, overridden):
        scores["noise_loss"] = lost
    if len(runs) > 1:
        scores["measures"] = measures
        scores["rank_correlations"] = {
            group: rank_correlations({name: measures[name] for name in names})
            for group, names in _groups(abouts).items()
        }
    return scores


def _measures(items: Sequence[ScoredItem], facts: Facts, overridden: bool) -> Scores:
    rows: list[Counted] = decided(items, facts) if overridden else judged(items, facts)
    once = [row for row in rows if row.item is not None]
    says = abstains_by_people if overridden else abstains_by_rule
    found = {
        "hallucination": hallucination(once, says), "retrieval": retrieval(once), "overlap": overlap(once),
    }  # fmt: skip
    return {"accuracy": accuracy(once), **side_by_side({"": found})[""]}


def _losses(
    runs: Mapping[str, Sequence[ScoredItem]],
    abouts: Mapping[str, Mapping[str, Any]],
    facts: Mapping[str, Facts],
    overridden: bool,
) -> Scores:
    """By system and language, where there is one run of each regime."""
    pairs: dict[str, dict[str, list[str]]] = {}
    for name, about in abouts.items():
        system = "/".join(filter(None, (about.get("name", name), about.get("language", ""))))
        pairs.setdefault(system, {}).setdefault(about.get("regime", ""), []).append(name)
    losses: Scores = {}
    for system, regimes in pairs.items():
        efficient, mixed = regimes.get(EFFICIENT, []), regimes.get(MIXED, [])
        if len(efficient) == len(mixed) == 1:
            first, second = efficient[0], mixed[0]
            found = noise_loss(
                runs[first], facts.get(first, {}), runs[second], facts.get(second, {}), with_labels=overridden
            )
            losses[system] = found.as_scores()
    return losses


def _groups(abouts: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, about in abouts.items():
        group = "/".join(filter(None, (about.get("regime", ""), about.get("language", "")))) or "regime not known"
        groups.setdefault(group, []).append(name)
    return groups
