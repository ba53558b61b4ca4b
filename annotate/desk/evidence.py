"""Which turns of a dialogue share words with the gold text: similar words, not proof."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log
from typing import Final, NamedTuple

from annotate.desk.layout import Span
from annotate.desk.words import HAN_RUN, STOP_WORDS, WORD, word_key

SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
"""k1 and b of BM25 at their usual values (Robertson & Zaragoza 2009, The Probabilistic Relevance Framework, §3.4)."""

_MOST_TERMS: Final = 200
_PUNCTUATION: Final = {code: " " for code in range(128) if not chr(code).isalnum()}


class SimilarTurn(NamedTuple):
    """A turn and how much it shares with the gold text: BM25, comparable within one dialogue only."""

    turn: int
    score: float


class _Terms(NamedTuple):
    """What is looked for: keys of words, and pairs of neighbouring Chinese characters."""

    words: frozenset[str]
    pairs: tuple[str, ...]


def rank_turns(gold: str, turns: Sequence[str], top: int = 5) -> list[SimilarTurn]:
    """The turns most like `gold`, best first; turns that share nothing with it are left out.

    `turns` are the distinct texts of a dialogue; a tie goes to the earlier turn.
    """
    terms = _terms_of(gold)
    counts = _count(terms, turns)
    spread = Counter(term for count in counts for term in count)
    weight = {term: log(1 + (len(turns) - n + 0.5) / (n + 0.5)) for term, n in spread.items()}
    usual = sum(map(len, turns)) / max(len(turns), 1) or 1.0
    scored = [
        SimilarTurn(index, _score(count, weight, len(turns[index]) / usual))
        for index, count in enumerate(counts)
        if count
    ]
    return sorted(scored, key=lambda similar: (-similar.score, similar.turn))[:top]


def similar_spans(gold: str, turn: str) -> list[Span]:
    """Where `turn` has words or pairs of Chinese characters of `gold`, in order, without overlap."""
    terms = _terms_of(gold)
    found = [Span(match.start(), match.end()) for match in WORD.finditer(turn) if _key(match[0]) in terms.words]
    found += [Span(match.start(), match.start() + 2) for pair in terms.pairs for match in re.finditer(pair, turn)]
    return _merged(found)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return merged


def _key(word: str) -> str:
    lowered = word.lower()
    return "" if lowered in STOP_WORDS else word_key(lowered)


def _terms_of(gold: str) -> _Terms:
    words = dict.fromkeys(key for match in WORD.finditer(gold) if (key := _key(match[0])))
    pairs = dict.fromkeys(
        run[0][index : index + 2] for run in HAN_RUN.finditer(gold) for index in range(len(run[0]) - 1)
    )
    return _Terms(frozenset(list(words)[:_MOST_TERMS]), tuple(pairs)[:_MOST_TERMS])


def _count(terms: _Terms, turns: Sequence[str]) -> list[dict[str, int]]:
    """How often each term occurs in each turn; only those that do."""
    words = [_lower_words(turn) for turn in turns] if terms.words else [[] for _ in turns]
    wanted = {word: key for word in set().union(*words) if (key := _key(word)) in terms.words}
    counts: list[dict[str, int]] = []
    for turn, its_words in zip(turns, words, strict=True):
        count: dict[str, int] = Counter([wanted[word] for word in its_words if word in wanted])
        if terms.pairs and not turn.isascii():
            count.update({pair: number for pair in terms.pairs if (number := turn.count(pair))})
        counts.append(count)
    return counts


def _lower_words(turn: str) -> list[str]:
    lowered = turn.lower()
    return lowered.translate(_PUNCTUATION).split() if turn.isascii() else WORD.findall(lowered)


def _score(counts: dict[str, int], weight: dict[str, float], length: float) -> float:
    damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length)
    return sum(weight[term] * number * (SATURATION + 1) / (number + damping) for term, number in counts.items())


def step_rank(ranked: Sequence[SimilarTurn], current: int | None, step: int) -> int | None:
    """The turn `step` ranks below (+1) or above (-1) turn `current`, round the ends.

    When `current` has no rank it is the best or the last one; None when there is nothing to jump to.
    """
    turns = [similar.turn for similar in ranked]
    if not turns:
        return None
    if current not in turns:
        return turns[0 if step > 0 else -1]
    return turns[(turns.index(current) + step) % len(turns)]
