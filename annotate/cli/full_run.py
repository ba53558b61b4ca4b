"""A full run on its way through the gate: a changed judge's labelled items first, and a server that changes midway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judges.drift import Drift
from judges.gate.full_run import GateClosedError, Passage, closed_error, pass_changed
from judges.gate.recheck import Recheck
from judges.run import JudgeRun, RunResult, Scope
from store.errors import OverreadError
from store.records import JudgeRecord
from store.study import Study, now

Watch = Callable[[JudgeRun], Awaitable[RunResult]]


@dataclass
class FullRunGate:
    """The gate as a run over everything meets it.

    Attributes:
        passages: one a task that is judged whole, as they stand now. rechecks: of judges that had changed, in order.
    """

    study: Study
    force: bool = False
    passages: list[Passage] = field(default_factory=list)
    rechecks: list[Recheck] = field(default_factory=list)

    async def anchors_first(self, asker: Any, scope: Scope, watch: Watch) -> RunResult | None:
        """Judge the labelled items of a judge that is not the certified one, and ask the gate.

        Returns:
            None where the judge is not such a one. Else how the run over the labelled items ended; with an `error`, or
            an outcome other than done, nothing more may be judged.
        """
        place = self._place(scope.task, "changed")
        if place is None:
            return None
        result = await watch(JudgeRun(self.study, asker, replace(scope, which="labelled", repeats=1)))
        if result.outcome != "done":
            return result
        passage, found = await asyncio.to_thread(self._ask, asker.judge)
        self.passages[place] = passage
        return result if passage.state != "shut" else replace(result, error=closed_error(passage, found))

    def on_change(self, scope: Scope) -> Callable[[JudgeRecord, Drift], OverreadError | None] | None:
        """What a run asks when its server became another one; None where no gate is to be passed."""
        if self._place(scope.task) is None:
            return None

        def asked(record: JudgeRecord, _: Drift) -> GateClosedError | None:
            passage, found = self._ask(record)
            if found is None and passage.state == "unlooked":
                return None
            self.passages.append(passage)
            return closed_error(passage, found) if passage.state == "shut" else None

        return asked

    def _ask(self, judge: JudgeRecord) -> tuple[Passage, Recheck | None]:
        passage, found = pass_changed(self.study, judge, force=self.force, at=now().isoformat())
        if found is not None:
            self.rechecks.append(found)
        return passage, found

    def _place(self, task: str, state: str = "") -> int | None:
        places = [n for n, one in enumerate(self.passages) if one.task == task and state in ("", one.state)]
        return places[0] if places else None

    def as_json(self) -> dict[str, Any]:
        """Members for the command's JSON; none where no gate was to be passed."""
        found: dict[str, Any] = {}
        if self.passages:
            found["gate"] = [passage.as_json() for passage in self.passages]
        if self.rechecks:
            found["rechecks"] = [one.as_json() for one in self.rechecks]
        return found

    def lines(self) -> Sequence[str]:
        """What the command says of it; a refusal is said by its error."""
        return [
            *(one.words for one in self.rechecks),
            *(passage.words for passage in self.passages if passage.words and passage.state != "shut"),
        ]
