"""Rankings as rows of a file of their own, in the models' names: `rankings.jsonl`, written and read by this tool.

    {"item_id": …, "ranking": [["model a"], ["model b", "model c"]], "judge_ranking": […], "overread": {…}}

The benchmark names such a file and never published it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judges.benchmarks.halbench.corpus import WrongRowError
from judges.benchmarks.native import PATCH_FIELD
from store.records import canonical_json

Named = list[list[str]]


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A person's ranking of the models on one item."""

    item_id: str
    ranking: Named | None
    patch: Mapping[str, Any]

    def patch_for(self, models: Mapping[str, str]) -> dict[str, Any]:
        """The label with the entries' ids in place of the models' names.

        Args:
            models: entry → model.

        Raises:
            WrongRowError: it does not rank exactly these models.
        """
        if self.ranking is None:
            return dict(self.patch)
        ids = {model: entry for entry, model in models.items()}
        named = [model for group in self.ranking for model in group]
        if sorted(named) != sorted(ids):
            raise WrongRowError(f"a ranking of {self.item_id} does not rank the models whose replies are there")
        return {**self.patch, "value": canonical_json([[ids[model] for model in group] for group in self.ranking])}


def ranking_row(value: Mapping[str, Any]) -> RankingRow:
    """A row of the file.

    Raises:
        WrongRowError: it is none.
    """
    item_id, ranking, patch = value.get("item_id"), value.get("ranking"), value.get(PATCH_FIELD)
    if not isinstance(item_id, str) or not isinstance(patch, Mapping):
        raise WrongRowError(f"a ranking has an item_id and {PATCH_FIELD}")
    if ranking is not None and not _is_named(ranking):
        raise WrongRowError("a ranking is a list of lists of model names, best first")
    return RankingRow(item_id, ranking, patch)


def named_ranking(value: str | None, models: Mapping[str, str]) -> Named | None:
    """A ranking with the models' names in place of entries' ids."""
    return None if value is None else [[models[entry] for entry in group] for group in json.loads(value)]


def _is_named(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(group, list) and all(isinstance(model, str) for model in group) for group in value
    )
