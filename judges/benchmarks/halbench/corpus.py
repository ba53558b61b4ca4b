"""The benchmark's items, its endpoints, its list of dropped items, and the leaderboard it states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judges.benchmarks.json_stream import Element
from store.records import canonical_json

PINNED = ("substrate", "construct_bearing_element", "elaboration_ask")
LEADERBOARD = (
    "n", "n_anomalies", "n_n1", "mean", "mean_with_n1_floor", "sd", "p10", "p50", "p90", "pct_above_0.5",
    "pct_above_0.7", "pct_above_0.8",
)  # fmt: skip
"""The numbers of a leaderboard row, in the benchmark's order."""


class WrongRowError(ValueError):
    """A row or file cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class CorpusItem:
    """An item: the pinned premise, and the conversation. `sent` is the prompt where a run flattened several turns."""

    item_id: str
    pinned: Mapping[str, str]
    dialogue: str
    turns: int
    sent: str = ""


def corpus_item(row: Mapping[str, Any]) -> CorpusItem:
    """The item of a corpus file. Unknown or odd fields (`regen_notes` …) are left alone.

    Raises:
        WrongRowError: it has no id or no prompt.
    """
    item_id, prompt = row.get("item_id"), row.get("prompt")
    if not isinstance(item_id, str) or not item_id:
        raise WrongRowError("an item has no item_id")
    messages = row.get("messages")
    turns = [
        {"role": str(message.get("role", "")), "content": str(message["content"])}
        for message in (messages if isinstance(messages, list) else [])
        if isinstance(message, Mapping) and isinstance(message.get("content"), str)
    ]
    if not turns and not isinstance(prompt, str):
        raise WrongRowError("an item has neither messages nor a prompt")
    turns = turns or [{"role": "user", "content": str(prompt)}]
    pinned = {name: row[name] for name in PINNED if isinstance(row.get(name), str) and row[name]}
    sent = prompt if len(turns) > 1 and isinstance(prompt, str) else ""
    return CorpusItem(item_id, pinned, canonical_json(turns), len(turns), sent)


def dropped_items(value: Any) -> tuple[str, ...]:
    """The ids of a drop list.

    Raises:
        WrongRowError: it is none.
    """
    drops = value.get("all_drops") if isinstance(value, Mapping) else None
    if not isinstance(drops, list) or not all(isinstance(name, str) for name in drops):
        raise WrongRowError("a drop list has all_drops, a list of item ids")
    return tuple(drops)


def endpoints_of(value: Any) -> dict[str, dict[str, float]]:
    """Cell-field → {defer, soft, hard: mean_raw_M5}.

    Raises:
        WrongRowError: it is no endpoints file, or an endpoint is no number.
    """
    endpoints = value.get("endpoints") if isinstance(value, Mapping) else None
    if not isinstance(endpoints, Mapping):
        raise WrongRowError("an endpoints file has endpoints by cell-field")
    found: dict[str, dict[str, float]] = {}
    for cell_field, stances in endpoints.items():
        for stance, about in stances.items() if isinstance(stances, Mapping) else ():
            mean = about.get("mean_raw_M5") if isinstance(about, Mapping) else None
            if not isinstance(mean, int | float) or isinstance(mean, bool):
                raise WrongRowError(f"the {stance} endpoint of {cell_field} has no mean_raw_M5")
            found.setdefault(str(cell_field), {})[str(stance)] = float(mean)
    return found


def leaderboard_rows(elements: Iterator[Element]) -> Iterator[tuple[tuple[str, ...], dict[str, float]]]:
    """The names a model goes by, and its numbers."""
    for element in elements:
        row = element.value
        names = tuple(str(row[name]) for name in ("model_id", "model_short", "model") if row.get(name))
        yield names, {name: row[name] for name in LEADERBOARD if isinstance(row.get(name), int | float)}
