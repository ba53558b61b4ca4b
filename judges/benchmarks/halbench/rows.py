"""A result row of HalBench: what a model replied, and what the embedder made of it, checked field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judges.benchmarks.halbench.corpus import WrongRowError
from judges.benchmarks.halbench.projection import score_of_sentences
from judges.benchmarks.halbench.sentences import split_sentences
from judges.benchmarks.halbench.shapes import CONTENT_FILTER, JUDGED, PERSON_METHOD, cell_field_of, split_cell
from judges.benchmarks.native import PATCH_FIELD

MODEL_NAMES = ("model", "model_id", "model_short")
GENERIC_STEMS = ("scores", "responses", "responses_scores")
_NUMBERS = ("score", "score_with_n1_floor", "raw_M5", "n_sentences", "response_len_words")


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One reply.

    Attributes:
        judged: the judge's own fields as the row has them; empty when the reply was never scored.
        plain: the row itself without what a person put into it. patch: that.
    """

    item_id: str
    cell_field: str
    model: str
    response: str
    finish_reason: str
    judged: Mapping[str, Any]
    plain: Mapping[str, Any]
    patch: Any = None

    @property
    def is_scored(self) -> bool:
        return "score" in self.judged

    @property
    def is_anomaly(self) -> bool:
        """As the row says; a reply that was never scored, as the code would."""
        stated = self.judged.get("is_anomaly")
        return bool(stated) if stated is not None else not self.response or self.finish_reason == CONTENT_FILTER

    @property
    def score(self) -> float | None:
        value = self.judged.get("score")
        return None if value is None else float(value)

    @property
    def per_sentence(self) -> list[float]:
        return list(self.judged.get("per_sent_norm") or ())

    @property
    def cell(self) -> str:
        return str(self.plain.get("cell") or split_cell(self.cell_field)[0])

    @property
    def field(self) -> str:
        return str(self.plain.get("field") or split_cell(self.cell_field)[1])

    @property
    def sentences(self) -> int:
        return len(split_sentences(self.response))

    @property
    def recomputes(self) -> bool:
        """Whether the score is the mean of the sentence scores, to the last digit; True where none are there."""
        if self.score is None or "per_sent_norm" not in self.judged:
            return True
        return self.score == score_of_sentences(self.per_sentence)


def result_row(value: Mapping[str, Any], path: Path, system: str) -> ResultRow:
    """The row of a scores or responses file.

    Args:
        system: the model of rows that name none; "" to tell it from the path.

    Raises:
        WrongRowError: it has no id, or a field of a wrong type.
    """
    plain, patch = _unpatched(value)
    item_id = plain.get("item_id")
    if not isinstance(item_id, str) or not item_id:
        raise WrongRowError("a row has no item_id")
    response = plain.get("response_text")
    if response is not None and not isinstance(response, str):
        raise WrongRowError("response_text is not a text")
    judged = {name: plain[name] for name in JUDGED if name in plain}
    _check(judged)
    cell_field = plain.get("cell_field") or cell_field_of(item_id)
    model = named_model(plain) or system or model_of_path(path)
    return ResultRow(
        item_id=item_id,
        cell_field=str(cell_field),
        model=model,
        response=response or "",
        finish_reason=str(plain.get("finish_reason") or ""),
        judged=judged,
        plain=plain,
        patch=patch,
    )


def named_model(row: Mapping[str, Any]) -> str:
    """The model that a row names; "" when it names none."""
    return next((str(row[name]) for name in MODEL_NAMES if row.get(name)), "")


def model_of_path(path: Path) -> str:
    """The model that a file's or its folder's name says: `provider__model` is provider/model."""
    absolute = path.absolute()
    name = absolute.parent.name if absolute.stem in GENERIC_STEMS else absolute.stem
    return name.replace("__", "/") or "model"


def _unpatched(value: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The row as the benchmark wrote it, and what a person's decision put into it."""
    plain = {name: entry for name, entry in value.items() if name != PATCH_FIELD}
    patch = value.get(PATCH_FIELD)
    if isinstance(patch, Mapping) and plain.get("scoring_method") == PERSON_METHOD:
        own = patch.get("judge")
        own = own if isinstance(own, Mapping) else {}
        for name in ("is_anomaly", "score", "score_with_n1_floor", "scoring_method"):
            if name in own:
                plain[name] = own[name]
            else:
                plain.pop(name, None)
    return plain, patch


def _check(judged: Mapping[str, Any]) -> None:
    for name in _NUMBERS:
        if judged.get(name) is not None and not _is_number(judged[name]):
            raise WrongRowError(f"{name} is not a number")
    for name in ("is_anomaly", "is_n1_response"):
        if judged.get(name) is not None and not isinstance(judged[name], bool):
            raise WrongRowError(f"{name} is not true or false")
    sentences = judged.get("per_sent_norm")
    if sentences is not None and not (isinstance(sentences, list) and all(map(_is_number, sentences))):
        raise WrongRowError("per_sent_norm is not a list of numbers")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
