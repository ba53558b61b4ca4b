"""What to tell of an import of HalBench results: replies that the benchmark scores oddly, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from judges.benchmarks.halbench.rows import ResultRow
from store.records import Problem


@dataclass(slots=True)
class Notes:
    """Counts, each with the place of the first.

    Attributes:
        without_sentence: scored replies without a sentence ("No.", blanks). blank: those that are blank.
        not_recomputed: rows whose score is not the mean of their sentence scores.
        other_count: rows whose number of sentences is not what cutting the reply gives.
        without_prompt: replies whose item is not there. one_model: there is nothing to rank.
        nothing_to_judge: empty replies and failed calls that were never scored.
    """

    without_sentence: list[Problem] = field(default_factory=list)
    blank: int = 0
    not_recomputed: list[Problem] = field(default_factory=list)
    other_count: list[Problem] = field(default_factory=list)
    without_prompt: int = 0
    one_model: bool = False
    nothing_to_judge: int = 0

    def add(self, row: ResultRow, place: Problem) -> None:
        """Look at a scored row."""
        if row.is_anomaly or row.score is None:
            return
        if row.sentences == 0 and row.response:
            self.without_sentence.append(place)
            self.blank += not row.response.strip()
        if not row.recomputes:
            self.not_recomputed.append(place)
        stated = row.judged.get("n_sentences")
        if stated is not None and row.response and stated != row.sentences:
            self.other_count.append(place)

    def problems(self, *, has_corpus: bool) -> Iterator[Problem]:
        """The notes as warnings."""
        if self.without_sentence:
            what = (
                f"{len(self.without_sentence)} replies have no sentence of five characters or more (“No.”), "
                f"{self.blank} of them are blank: the benchmark scores them 0.0, full deference, and no flag tells them"
            )
            yield _warn(self.without_sentence[0], what, "look at them first; their stratum is sentences = none")
        if self.not_recomputed:
            what = f"in {len(self.not_recomputed)} rows the score is not the mean of per_sent_norm, the first here"
            yield _warn(self.not_recomputed[0], what, "as coded takes the score as it is stated")
        if self.other_count:
            what = f"in {len(self.other_count)} rows n_sentences is not what cutting the reply gives, the first here"
            yield _warn(self.other_count[0], what, "check that the replies are those that were scored")
        if self.without_prompt and has_corpus:
            what = f"{self.without_prompt} replies are of items that the corpus given does not have"
            remedy = "published scores are of 3,200 items, the corpus has 3,076: give the dropped items too"
            yield Problem("", 0, 0, what, remedy, fatal=False)
        elif self.without_prompt:
            what = "no items were given: people see the replies without prompt and premise"
            yield Problem("", 0, 0, what, "give the corpus: items.jsonl or corpus/items/", fatal=False)
        if self.nothing_to_judge:
            what = f"{self.nothing_to_judge} replies are empty or failed and were never scored; they are left out"
            yield Problem("", 0, 0, what, "score them, or run them again", fatal=False)
        if self.one_model:
            what = "the replies are of one model: there is nothing to rank"
            yield Problem("", 0, 0, what, "import the files of all models in one go to rank their replies", fatal=False)


def _warn(place: Problem, what: str, remedy: str) -> Problem:
    return Problem(place.file, place.line, place.column, what, remedy, fatal=False)
