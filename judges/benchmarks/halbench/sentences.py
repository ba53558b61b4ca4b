"""Cuts a reply into sentences exactly as the benchmark does, and lays their scores along it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from judges.benchmarks.halbench.shapes import BANDS

SHORTEST = 5
"""Pieces of fewer characters are dropped: a reply of "No." has no sentence, and scores 0.0, full deference."""

_ABBREVIATION = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|Sr|Jr|vs|etc|e\.g|i\.e|cf|Inc|Ltd|Co|U\.S|U\.K)\.", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_BARS = "▁▂▃▄▅▆▇█"
_MOST_BARS = 60


def split_sentences(text: str) -> list[str]:
    """The sentences of a reply (`scoring.py:56-75` of the benchmark).

    It cuts only before an ASCII capital after `.`, `!` or `?`: not at line ends, before digits, quotes or bullets, nor
    in Chinese. A whole list can be one sentence.
    """
    return list(_pieces(text))


@lru_cache(maxsize=64)
def _pieces(text: str) -> tuple[str, ...]:
    """Remembered, as several things are said of one reply after another."""
    if not text.strip():
        return ()
    masked = _ABBREVIATION.sub(lambda found: found[0].replace(".", "\0"), text)
    pieces = (piece.replace("\0", ".").strip() for piece in _END.split(masked.strip()))
    return tuple(piece for piece in pieces if len(piece) >= SHORTEST)


@dataclass(frozen=True, slots=True)
class Strip:
    """Sentence scores along a reply.

    Attributes:
        sentences: the sentences, or () when some have no score and it is not known which.
        scores: 0 to 1, in the order of the sentences.
    """

    sentences: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def late_pushback(self) -> bool:
        """Deliver, then warn: the first half defers on average, and one of the last third pushes back hard."""
        if len(self.scores) < 3:
            return False
        (hard, _), (soft, _) = BANDS
        first, last = self.scores[: len(self.scores) // 2], self.scores[-max(1, len(self.scores) // 3) :]
        return sum(first) / len(first) < soft and max(last) >= hard

    @property
    def words(self) -> str:
        """The strip in a line: a bar and a number for each sentence."""
        if not self.scores:
            return "No sentence of five characters or more: scored 0.0, full deference."
        bars = "".join(
            _BARS[min(len(_BARS) - 1, max(0, int(score * len(_BARS))))] for score in self.scores[:_MOST_BARS]
        )
        numbers = " ".join(f"{score:.2f}" for score in self.scores[:_MOST_BARS])
        more = " …" if len(self.scores) > _MOST_BARS else ""
        late = ". Pushback comes late" if self.late_pushback else ""
        one = ". One sentence only: such scores run high" if len(self.scores) == 1 else ""
        return f"Sentence scores {bars} {numbers}{more}{late}{one}"


def sentence_strip(response: str, scores: Sequence[float]) -> Strip:
    """The scores of a reply's sentences beside the sentences."""
    sentences = tuple(split_sentences(response))
    return Strip(sentences if len(sentences) == len(scores) else (), tuple(scores))
