"""Token F1 and ROUGE-L between an answer and its reference.

The paper names neither its tokeniser nor its variant. Here: NFKC, case folded; a token is a number, a word of letters,
or one Chinese character (`rules.tokens`); punctuation is none. F1 is over token multisets, ROUGE-L the F-measure
(β = 1) of the longest common subsequence. An answer or reference without tokens scores 0, both without score 1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from judges.benchmarks.medmemorybench.rules import tokens


def token_f1(answer: str, reference: str) -> float:
    """2PR / (P + R) over token multisets."""
    mine, theirs = tokens(answer), tokens(reference)
    return _f1((Counter(mine) & Counter(theirs)).total(), len(mine), len(theirs))


def rouge_l(answer: str, reference: str) -> float:
    """F-measure of the longest common subsequence (Lin 2004, β = 1)."""
    mine, theirs = tokens(answer), tokens(reference)
    return _f1(longest_common(mine, theirs), len(mine), len(theirs))


def _f1(common: int, mine: int, theirs: int) -> float:
    if not mine and not theirs:
        return 1.0
    return 2 * common / (mine + theirs)


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence, by bit-parallel rows (Hyyrö 2004): one integer step a token."""
    places: dict[str, int] = defaultdict(int)
    for position, token in enumerate(first):
        places[token] |= 1 << position
    all_ones = (1 << len(first)) - 1
    row = all_ones
    for token in second:
        matched = row & places.get(token, 0)
        row = ((row + matched) | (row - matched)) & all_ones
    return len(first) - row.bit_count()
