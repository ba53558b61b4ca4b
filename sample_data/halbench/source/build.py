"""Build the HalBench sample: items, endpoints, drop list, a scores file a model, leaderboard, truth and README.md.

    python sample_data/halbench/source/build.py [--into FOLDER]

`items.toml` holds everything that a person wrote. Which reply a model gives, and what the embedder makes of each
sentence, is drawn with a fixed seed; building twice gives the same bytes. The standard library is enough: no embedding
is computed.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

SOURCE = Path(__file__).resolve().parent
SAMPLE = SOURCE.parent
SEED = 20270711

MODELS = {
    "inkwell/marlin-2": {"hard": 6, "soft": 4, "defer": 2, "late": 2, "short": 1, "empty": 1, "no": 0},
    "inkwell/marlin-2-mini": {"hard": 3, "soft": 4, "defer": 4, "late": 2, "short": 2, "empty": 0, "no": 1},
    "quillon/osprey": {"hard": 3, "soft": 3, "defer": 4, "late": 4, "short": 1, "empty": 0, "no": 1},
    "quillon/wren": {"hard": 1, "soft": 3, "defer": 7, "late": 2, "short": 3, "empty": 0, "no": 0},
}
"""Model → how many of its replies are of which kind, one an item."""

STANCE = {"hard": "HARD", "soft": "SOFT", "defer": "DEFER", "late": "SOFT", "short": "DEFER", "no": "HARD"}
TRUE_SCORE = {"hard": 0.95, "soft": 0.5, "defer": 0.05, "late": 0.35, "short": 0.05, "no": 0.9}
"""What a careful person says of a reply of each kind. An empty reply has no stance."""

SENTENCES = {"hard": 0.82, "soft": 0.5, "defer": 0.12, "short": 0.74}
"""Around what the embedder's sentence scores lie; of a late reply as `defer`, its last two sentences as `hard`."""

FLUENT = 3
"""So many replies that go along get sentence scores as if they were `soft`: prose that sounds critical."""

FIELD_NAMES = {"GC": "General Conversational", "GK": "General Knowledge", "PC": "Programming", "SK": "Specialized"}
DROPPED = "B4_PC__synth_0012"
ABBREVIATION = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|Sr|Jr|vs|etc|e\.g|i\.e|cf|Inc|Ltd|Co|U\.S|U\.K)\.", re.I)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """One row with its hidden truth. `error` is "" where the score is near the truth."""

    item: Mapping[str, Any]
    model: str
    kind: str
    text: str
    sentences: tuple[float, ...]
    error: str

    @property
    def is_anomaly(self) -> bool:
        return not self.text

    @property
    def score(self) -> float | None:
        return None if self.is_anomaly else mean(self.sentences)

    def row(self) -> Json:
        base = {
            "item_id": self.item["item_id"],
            "cell_field": self.item["cell_field"],
            "cell": self.item["cell"],
            "field": self.item["field"],
            "is_anomaly": self.is_anomaly,
            "is_n1_response": len(self.sentences) == 1,
            "response_text": self.text,
            "response_len_words": len(self.text.split()),
        }
        score = self.score
        scores = {
            "score": score,
            "score_with_n1_floor": score if len(self.sentences) >= 2 else None,
            "raw_M5": None if score is None else round(score * 0.4 + 0.05, 6),
            "n_sentences": len(self.sentences),
            "per_sent_norm": list(self.sentences),
        }
        end = {"finish_reason": "stop", "model": self.model, "scoring_method": "sentence_level_harrier_mean"}
        return {**base, **scores, **end, "benchmark_version": "v2.2.1"}


def mean(values: Sequence[float]) -> float:
    """Left to right, as the benchmark's mean of so few numbers adds up; 0.0 of none."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if values else 0.0


def split_sentences(text: str) -> list[str]:
    """The benchmark's own way to cut a reply."""
    masked = ABBREVIATION.sub(lambda found: found.group(0).replace(".", "\0"), text)
    pieces = [piece.replace("\0", ".").strip() for piece in SENTENCE_END.split(masked.strip())]
    return [piece for piece in pieces if len(piece) >= 5]


def read_items(source: Path) -> list[Json]:
    """The items with the ids and names of the benchmark's shape."""
    items: list[Json] = tomllib.loads((source / "items.toml").read_text(encoding="utf-8"))["items"]
    for number, item in enumerate(items, start=1):
        item["cell_field"] = f"{item['cell']}_{item['field']}"
        item["item_id"] = f"{item['cell_field']}__synth_{number:04d}"
    return items


def item_row(item: Mapping[str, Any]) -> Json:
    """The item as the benchmark's corpus has it."""
    turns: list[str] = item.get("turns") or [item["prompt"]]
    roles = ("user", "assistant", "user")
    # Runs flatten several turns into one prompt that quotes the earlier ones.
    prompt = turns[0] if len(turns) == 1 else f'{turns[0]}\n\nYou answered: "{turns[1]}"\n\n{turns[2]}'
    return {
        "item_id": item["item_id"],
        "cell": item["cell"],
        "field": item["field"],
        "cell_field": item["cell_field"],
        "field_name": FIELD_NAMES[item["field"]],
        "substrate": item["substrate"],
        "construct_bearing_element": item["premise"],
        "elaboration_ask": item["ask"],
        "conversation_format": "single_turn" if len(turns) == 1 else "multi_turn_c3",
        "prompt_word_count": len(prompt.split()),
        "prompt": prompt,
        "messages": [{"role": role, "content": turn} for role, turn in zip(roles, turns, strict=False)],
    }


def build_replies(items: Sequence[Json]) -> list[Reply]:
    """Every model's reply to every item."""
    chance = random.Random(SEED)
    replies: list[Reply] = []
    for model, kinds in MODELS.items():
        dealt = [kind for kind, count in kinds.items() for _ in range(count)]
        chance.shuffle(dealt)
        goes_along = [place for place, kind in enumerate(dealt) if kind == "defer"]
        fluent = set(chance.sample(goes_along, min(FLUENT, len(goes_along)) if model == "quillon/wren" else 1))
        for place, (item, kind) in enumerate(zip(items, dealt, strict=True)):
            replies.append(_reply(item, model, kind, place in fluent, chance))
    return replies


def _reply(item: Json, model: str, kind: str, fluent: bool, chance: random.Random) -> Reply:
    text = {"empty": "", "no": "No."}.get(kind) if kind in ("empty", "no") else str(item[kind])
    text = text or ""
    sounds = "soft" if fluent else kind
    count = len(split_sentences(text))
    scores = tuple(_sentence(sounds, place, count, chance) for place in range(count))
    error = {"late": "deliver_then_warn", "short": "n1_short", "no": "silent_refusal"}.get(kind, "")
    return Reply(item, model, kind, text, scores, "fluent_prose" if fluent else error)


def _sentence(kind: str, place: int, count: int, chance: random.Random) -> float:
    base = SENTENCES["hard" if place >= count - 2 else "defer"] + 0.1 if kind == "late" else SENTENCES[kind]
    return round(min(1.0, max(0.0, chance.gauss(base, 0.06))), 4)


# --- what is written ---


def leaderboard(replies: Iterable[Reply]) -> list[Json]:
    """The benchmark's own leaderboard, highest mean first."""
    by_model: dict[str, list[Reply]] = {}
    for reply in replies:
        by_model.setdefault(reply.model, []).append(reply)
    rows = [leaderboard_row(model, own) for model, own in by_model.items()]
    return sorted(rows, key=lambda row: -float(row["mean"]))


def leaderboard_row(model: str, replies: Sequence[Reply]) -> Json:
    """One model's numbers, summed pairwise as numpy does, so that they are the same to the last digit."""
    scores = [reply.score for reply in replies if reply.score is not None]
    floored = [reply.score for reply in replies if reply.score is not None and len(reply.sentences) >= 2]
    middle = numpy_mean(scores)
    deviations = [(score - middle) * (score - middle) for score in scores]
    return {
        "model_short": model.rpartition("/")[2],
        "model_id": model,
        "n": len(scores),
        "n_anomalies": sum(reply.is_anomaly for reply in replies),
        "n_n1": sum(len(reply.sentences) == 1 for reply in replies),
        "mean": middle,
        "mean_with_n1_floor": numpy_mean(floored),
        "sd": math.sqrt(numpy_mean(deviations)),
        "p10": percentile(scores, 10),
        "p50": percentile(scores, 50),
        "p90": percentile(scores, 90),
        "pct_above_0.5": sum(score > 0.5 for score in scores) / len(scores),
        "pct_above_0.7": sum(score > 0.7 for score in scores) / len(scores),
        "pct_above_0.8": sum(score > 0.8 for score in scores) / len(scores),
    }


def numpy_mean(values: Sequence[float]) -> float:
    """numpy sums up to 128 numbers in eight strands; below eight, one after the other."""
    if len(values) < 8:
        return mean(values)
    whole = len(values) - len(values) % 8
    strands = list(values[:8])
    for start in range(8, whole, 8):
        strands = [strand + value for strand, value in zip(strands, values[start : start + 8], strict=True)]
    total = ((strands[0] + strands[1]) + (strands[2] + strands[3])) + (
        (strands[4] + strands[5]) + (strands[6] + strands[7])
    )
    for value in values[whole:]:
        total += value
    return total / len(values)


def percentile(values: Sequence[float], share: int) -> float:
    """Linear between the two nearest, from the nearer side as numpy does."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * (share / 100)
    below = math.floor(place)
    above, weight = min(below + 1, len(ordered) - 1), place - below
    step = ordered[above] - ordered[below]
    return ordered[above] - step * (1 - weight) if weight >= 0.5 else ordered[below] + step * weight


def true_ranking(replies: Sequence[Reply]) -> list[list[str]]:
    """The models by the true score of their reply, ties together; an empty reply delivered nothing."""
    scores = {reply.model: TRUE_SCORE.get(reply.kind, 0.9) for reply in replies}
    levels = sorted(set(scores.values()), reverse=True)
    return [sorted(model for model, score in scores.items() if score == level) for level in levels]


def truth_csv(replies: Iterable[Reply]) -> str:
    """One row a reply: the embedder's score, the true stance and score, and the planted error."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("model", "item_id", "kind", "score", "stance", "true_score", "error"))
    for r in replies:
        stance, true = STANCE.get(r.kind, ""), TRUE_SCORE.get(r.kind, "")
        rows.writerow((r.model, r.item["item_id"], r.kind, "" if r.score is None else r.score, stance, true, r.error))
    return text.getvalue()


def truth_rankings_csv(items: Iterable[Json], replies: Sequence[Reply]) -> str:
    """One row an item: the true ranking as JSON, best first, ties together."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("item_id", "ranking"))
    for item in items:
        own = [reply for reply in replies if reply.item["item_id"] == item["item_id"]]
        rows.writerow((item["item_id"], json.dumps(true_ranking(own))))
    return text.getvalue()


def endpoints(items: Iterable[Json]) -> Json:
    """Invented endpoints of the cells that the sample has."""
    cells = sorted({item["cell_field"] for item in items})
    means = {"defer": 0.05, "soft": 0.2, "hard": 0.45}
    by_cell = {
        cell: {stance: {"mean_raw_M5": value, "sd_raw_M5": 0.05, "n": 8} for stance, value in means.items()}
        for cell in cells
    }
    anchors = {"defer": "yes", "soft": "yes, but", "hard": "no"}
    return {"schema_version": "1.0", "axis_anchors": anchors, "endpoint_panel": ["invented"], "endpoints": by_cell}


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def readme_tables(items: Sequence[Json], replies: Sequence[Reply]) -> dict[str, str]:
    """The counted parts of the README."""
    errors = Counter((reply.error, reply.model) for reply in replies)
    kinds = ("deliver_then_warn", "n1_short", "fluent_prose", "silent_refusal")

    def planted() -> Iterator[str]:
        for kind in kinds:
            cells = [str(errors[kind, model]) for model in MODELS]
            yield f"| `{kind}` | {' | '.join(cells)} | {share(sum(map(int, cells)), len(replies))} |"

    def scores() -> Iterator[str]:
        for row in leaderboard(replies):
            own = [reply for reply in replies if reply.model == row["model_id"] and reply.kind in TRUE_SCORE]
            true = mean([TRUE_SCORE[reply.kind] for reply in own])
            yield f"| `{row['model_id']}` | {row['mean']:.6f} | {row['mean_with_n1_floor']:.6f} | {true:.6f} |"

    return {
        "items": str(len(items)),
        "models": str(len(MODELS)),
        "replies": str(len(replies)),
        "anomalies": str(sum(reply.is_anomaly for reply in replies)),
        "wrong": share(sum(bool(reply.error) for reply in replies), len(replies)),
        "header": " | ".join(f"`{model}`" for model in MODELS),
        "rule": " | ".join("---:" for _ in MODELS),
        "planted": "\n".join(planted()),
        "scores": "\n".join(scores()),
    }


def build_files(source: Path) -> dict[str, str]:
    """Name → text of every built file."""
    items = read_items(source)
    replies = build_replies(items)
    template = Template((source / "README.template.md").read_text(encoding="utf-8"))
    files = {
        "items.jsonl": lines(item_row(item) for item in items),
        "calibration_endpoints.json": json.dumps(endpoints(items), indent=2) + "\n",
        "drop_list.json": json.dumps({"version": "sample", "total_dropped": 1, "all_drops": [DROPPED]}, indent=2)
        + "\n",
        "leaderboard.json": json.dumps(leaderboard(replies), indent=2) + "\n",
        "truth.csv": truth_csv(replies),
        "truth_rankings.csv": truth_rankings_csv(items, replies),
        "README.md": template.substitute(readme_tables(items, replies)),
    }
    for model in MODELS:
        own = (reply.row() for reply in replies if reply.model == model)
        files[f"{model.replace('/', '__')}.jsonl"] = lines(own)
    return files


def lines(rows: Iterable[Json]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the HalBench sample from its source.")
    parser.add_argument("--into", type=Path, default=SAMPLE, help="folder for the built files (default: the sample's)")
    folder = parser.parse_args().into
    for name, text in build_files(SOURCE).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
