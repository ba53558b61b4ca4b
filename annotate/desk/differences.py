"""What differs between a reference and a response: a help for the eye, not a judgement.

Numbers, units, dates, negations and words of one text are marked that the other does not have, whatever their order
and spelling ("forty", "40", "四十"). A mark says "look here"; texts without a mark may still disagree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from annotate.desk.chinese import SEGMENTER, ChineseSegmenter
from annotate.desk.layout import Span
from annotate.desk.negations import negations_of
from annotate.desk.quantities import Quantity, quantities_of
from annotate.desk.words import HAN_RUN, HAN_STOP_WORDS, Word, words_of

DifferenceKind = Literal["number", "unit", "date", "negation", "word"]

COMPARED: Final = 20_000
"""Code points of each text that are compared; what comes after is not marked."""


class Difference(NamedTuple):
    """Characters `start` up to `end` of one text that the other text does not have in this sense."""

    start: int
    end: int
    kind: DifferenceKind


@dataclass(frozen=True, slots=True)
class Differences:
    """The marks for each text, in order, without overlap; not `complete` when a text is longer than `COMPARED`."""

    reference: tuple[Difference, ...]
    response: tuple[Difference, ...]
    complete: bool


class _Negation(NamedTuple):
    """A negation and the key of the word it denies; "" when none is near."""

    start: int
    end: int
    denied: str


@dataclass(frozen=True, slots=True)
class _Profile:
    """A text as it is compared. `uncut` are runs of Chinese that could not be cut into words."""

    text: str
    quantities: Sequence[Quantity]
    negations: Sequence[_Negation]
    words: Sequence[Word]
    uncut: Sequence[Span]


def differences(reference: str, response: str, segmenter: ChineseSegmenter = SEGMENTER) -> Differences:
    """Compare two safe texts. The first Chinese text of a program costs a third of a second, see `ChineseSegmenter`."""
    one, other = (_profile(text[:COMPARED], segmenter) for text in (reference, response))
    complete = max(len(reference), len(response)) <= COMPARED
    return Differences(tuple(sorted(_marks(one, other))), tuple(sorted(_marks(other, one))), complete)


def _profile(text: str, segmenter: ChineseSegmenter) -> _Profile:
    quantities = quantities_of(text)
    taken = bytearray(len(text))
    _take(taken, quantities)
    denials = [span for span in negations_of(text) if not any(taken[span.start : span.end])]
    _take(taken, denials)
    words = [word for word in words_of(text) if not any(taken[word.start : word.end])]
    runs = list(_free_han_runs(text, taken))
    cut = segmenter.cut([text[run.start : run.end] for run in runs]) if runs else []
    if cut is not None:
        words += (word for run, parts in zip(runs, cut, strict=True) for word in _han_words(run.start, parts))
        words.sort()
    return _Profile(text, quantities, _with_denied(denials, words), words, runs if cut is None else ())


def _take(taken: bytearray, spans: Iterable[Quantity | Span]) -> None:
    for span in spans:
        taken[span.start : span.end] = b"\x01" * (span.end - span.start)


def _free_han_runs(text: str, taken: bytearray) -> Iterator[Span]:
    """The runs of Chinese characters that are neither part of a quantity nor of a negation."""
    free = "".join(" " if taken[index] else text[index] for index in range(len(text))) if any(taken) else text
    for match in HAN_RUN.finditer(free):
        yield Span(match.start(), match.end())


def _han_words(start: int, parts: Iterable[str]) -> Iterator[Word]:
    for part in parts:
        if part not in HAN_STOP_WORDS:
            yield Word(start, start + len(part), part)
        start += len(part)


def _with_denied(denials: Sequence[Span], words: Sequence[Word]) -> list[_Negation]:
    starts = [word.start for word in words]
    negations = []
    for span in denials:
        first = bisect_left(starts, span.end)
        behind = words[first : first + 1]
        negations.append(_Negation(span.start, span.end, behind[0].key if behind else ""))
    return negations


def _marks(own: _Profile, other: _Profile) -> Iterator[Difference]:
    """What `own` has and `other` has not."""
    for quantity in _other_quantities(own.quantities, other.quantities):
        yield Difference(quantity.start, quantity.end, quantity.kind)
    keys = {word.key for word in other.words}
    for negation in own.negations:
        if not _denied_too(negation, other, keys):
            yield Difference(negation.start, negation.end, "negation")
    for word in own.words:
        if word.key not in keys and not (HAN_RUN.match(word.key) and word.key in other.text):
            yield Difference(word.start, word.end, "word")
    for run in own.uncut:
        yield from _uncommon(own.text, run, other.text)


def _other_quantities(own: Sequence[Quantity], other: Sequence[Quantity]) -> Iterator[Quantity]:
    """The quantities of `own` that `other` does not say.

    A unit differs when `other` does not use it at all, or gives the same number another one.
    """
    measures = {(unit.value, reading) for unit in other if unit.kind == "unit" for reading in unit.exact}
    units, values = {unit for _, unit in measures}, {value for value, _ in measures}
    exact = {reading for quantity in other if quantity.kind != "unit" for reading in quantity.exact}
    loose = {reading for quantity in other if quantity.kind != "unit" for reading in quantity.loose}
    for quantity in own:
        if quantity.kind == "unit":
            (unit,) = quantity.exact
            if unit not in units or (quantity.value in values and (quantity.value, unit) not in measures):
                yield quantity
        elif not (quantity.exact & (exact | loose) or quantity.loose & exact):
            yield quantity


def _denied_too(negation: _Negation, other: _Profile, other_words: set[str]) -> bool:
    """True when `other` also denies something, unless it plainly states what is denied here."""
    denied = {theirs.denied for theirs in other.negations}
    if not denied:
        return False
    return not (negation.denied and negation.denied in other_words and negation.denied not in denied)


def _uncommon(text: str, run: Span, other: str) -> Iterator[Difference]:
    """Characters of a Chinese run that are in no pair of characters which `other` has too."""
    common = bytearray(run.end - run.start)
    for index in range(run.start, run.end - 1):
        if text[index : index + 2] in other:
            common[index - run.start : index - run.start + 2] = b"\x01\x01"
    start = run.start
    for index in range(run.start, run.end + 1):
        if index == run.end or common[index - run.start]:
            if index > start:
                yield Difference(start, index, "word")
            start = index + 1


def in_words(found: Differences, reference: str, response: str) -> list[str]:
    """The differences as lines of text, for those who do not see marks: "number: 40 in the reference, 50 in …"."""
    lines = []
    kinds: tuple[DifferenceKind, ...] = ("number", "unit", "date", "negation", "word")
    for kind in kinds:
        sides = (("reference", reference, found.reference), ("response", response, found.response))
        said = [
            f"only in the {side}: {', '.join(dict.fromkeys(texts))}"
            for side, text, marks in sides
            if (texts := [text[mark.start : mark.end] for mark in marks if mark.kind == kind])
        ]
        if said:
            lines.append(f"{kind}: {'; '.join(said)}")
    return lines
