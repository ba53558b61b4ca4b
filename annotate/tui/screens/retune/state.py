"""What the retune screen shows and what its keys do; no screen is needed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from annotate.tui.screens.retune.search import Change, Search, changes, tree
from judges.benchmarks.benchmark import TaskDefinition
from judges.retune.adapter import Candidate, best_of
from judges.retune.items import TuneItem
from store.study import Study

Focus = Literal["candidates", "items"]


@dataclass
class RetuneState:
    """The searches of a task, which of them and which candidate is in hand.

    Attributes:
        val: the items that candidates were chosen on, by id; items of the sealed test are never among them.
        hidden: items whose verdict stays hidden from whoever looks.
        live: how the search that goes on stands; None where all are past.
        number: of the candidate in hand; None follows the best one.
        stopping: the person asked for it. over: nothing goes on any more. fault: why it ended early, lines.
    """

    study: Study
    task: TaskDefinition
    val: Mapping[str, TuneItem]
    hidden: frozenset[str] = frozenset()
    past: Sequence[Search] = ()
    live: Callable[[], Search] | None = None
    place: int = 0
    number: int | None = None
    focus: Focus = "candidates"
    item_place: int = 0
    stopping: bool = False
    over: bool = False
    fault: str = ""
    _changes: dict[tuple[str, int, int], list[Change]] = field(default_factory=dict)
    _now: Search | None = None

    def __post_init__(self) -> None:
        self.look()

    # What is shown

    def look(self) -> None:
        """See how the search that goes on stands now."""
        if self.live is not None:
            self._now = self.live()

    @property
    def search(self) -> Search:
        """The one in hand."""
        if self._now is not None:
            return self._now
        return self.past[self.place]

    @property
    def is_live(self) -> bool:
        """Whether a search goes on under this screen, or did."""
        return self.live is not None

    @property
    def rows(self) -> list[tuple[Candidate, int]]:
        """Candidates with their depth in the tree."""
        return tree(self.search.candidates)

    @property
    def best(self) -> Candidate | None:
        return best_of(self.search.candidates) if self.search.candidates else None

    @property
    def candidate(self) -> Candidate | None:
        """The one in hand."""
        if self.number is None:
            return self.best
        return self._by_number(self.number)

    def parent_of(self, candidate: Candidate) -> Candidate | None:
        """The one it came from; None for the first prompt."""
        return self._by_number(candidate.parents[0]) if candidate.parents else None

    def _by_number(self, number: int) -> Candidate | None:
        return next((one for one in self.search.candidates if one.number == number), None)

    def changes_of(self, candidate: Candidate) -> list[Change]:
        """What it broke, fixed and left wrong on val, without items whose verdict stays hidden."""
        key = (self.search.retune_id, self.place, candidate.number)
        if key not in self._changes:
            seen = {item_id: item for item_id, item in self.val.items() if item_id not in self.hidden}
            self._changes[key] = changes(candidate, self.parent_of(candidate), seen)
        return self._changes[key]

    @property
    def items(self) -> list[Change]:
        """The changed items of the candidate in hand."""
        candidate = self.candidate
        return self.changes_of(candidate) if candidate is not None else []

    @property
    def hidden_on_val(self) -> int:
        """How many items of val are left out because their verdict stays hidden."""
        return len(self.hidden & self.val.keys())

    @property
    def changed_labels(self) -> int:
        """Items of the search that have no label of people's now, or are not in val any more."""
        candidate = self.candidate
        return len(candidate.said.keys() - self.val.keys()) if candidate is not None else 0

    # What keys do

    def move(self, by: int) -> None:
        """Up or down in the list that has the keys."""
        if self.focus == "items":
            self.item_place = min(max(self.item_place + by, 0), max(len(self.items) - 1, 0))
            return
        numbers = [one.number for one, _ in self.rows]
        if not numbers:
            return
        here = numbers.index(self.candidate.number) if self.candidate is not None else 0
        self.number = numbers[min(max(here + by, 0), len(numbers) - 1)]
        self.item_place = 0

    def switch(self) -> None:
        """The keys go to the other list; the candidate in hand stays the one."""
        if self.candidate is not None:
            self.number = self.candidate.number
        self.focus = "items" if self.focus == "candidates" else "candidates"

    def other_search(self, by: int) -> None:
        """Another search of the study."""
        if not self.is_live:
            self.place = (self.place + by) % len(self.past)
            self.number, self.item_place = None, 0

    def open_item(self) -> Change | None:
        """The item in hand; the first key on a candidate goes to its items."""
        if self.focus == "candidates":
            self.switch()
            return None
        return self.items[self.item_place] if self.items else None
