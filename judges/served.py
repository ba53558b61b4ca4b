"""Who really answered: a judge's identity splits when the server behind the same name becomes another one.

The first server that answers is the judge's own. A model name or fingerprint that comes up later is a judge of its own,
known by what it said of itself, so that no number mixes two of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, NamedTuple

from store.judging import judges_of_task, served_by, told_changes
from store.records import JudgeRecord
from store.study import Study

SERVED = "served"
"""The parameter of a judge that was split off: what the server called itself."""

SplitBy = Literal["fingerprint", "model", "never"]
MOST_IDENTITIES = 12
"""More of them than that are no changes of a model but a server that never says the same."""


class Served(NamedTuple):
    """What a server calls itself."""

    model: str
    fingerprint: str

    @property
    def words(self) -> str:
        return f"{self.model} ({self.fingerprint})" if self.fingerprint else self.model or "a server without a name"


class Family:
    """A judge as it was asked for, and the identities that the server's changes split off it."""

    def __init__(self, study: Study, base: JudgeRecord, split_by: SplitBy = "fingerprint") -> None:
        self.base, self._split_by = base, split_by
        self._by_served: dict[Served, JudgeRecord] = {}
        for record in judges_of_task(study, base.task).values():
            if is_of_family(record, base):
                for model, fingerprint in served_by(study, record.judge_id):
                    self._by_served.setdefault(self._key(Served(model, fingerprint)), record)
        own = [r for r in judges_of_task(study, base.task).values() if is_of_family(r, base)]
        self._ids = {base.judge_id, *(record.judge_id for record in own)}
        told = told_changes(study, list(self._ids))
        self._unsettled = {record.judge_id for record in own if SERVED in record.parameters} - told

    @property
    def judge_ids(self) -> list[str]:
        return sorted(self._ids)

    def is_known(self, served: Served) -> bool:
        """Whether none answered yet, or this one did before and, if it was split off, its anchors are judged."""
        record = self._by_served.get(self._key(served))
        return not self._by_served or (record is not None and record.judge_id not in self._unsettled)

    def settle(self, record: JudgeRecord) -> None:
        """The anchors of this identity are judged: it is known from now on."""
        self._unsettled.discard(record.judge_id)

    @property
    def unsettled(self) -> list[tuple[Served, JudgeRecord]]:
        """Identities with verdicts whose anchors no run has judged to the end."""
        return [found for found in self._by_served.items() if found[1].judge_id in self._unsettled]

    def record_of(self, served: Served) -> JudgeRecord:
        """The judge that such an answer belongs to; a new one for a server that was not there before."""
        key = self._key(served)
        if key not in self._by_served:
            record = self._split_off(key) if self._by_served else self.base
            if record.judge_id not in self._ids:
                self._unsettled.add(record.judge_id)
            self._ids.add(record.judge_id)
            self._by_served[key] = record
        return self._by_served[key]

    @property
    def too_many(self) -> bool:
        return len(self._by_served) > MOST_IDENTITIES

    def _key(self, served: Served) -> Served:
        if self._split_by == "never":
            return Served("", "")
        return served if self._split_by == "fingerprint" else Served(served.model, "")

    def _split_off(self, served: Served) -> JudgeRecord:
        parameters = {**self.base.parameters, SERVED: served.words}
        return replace(self.base, name=f"{self.base.name} → {served.words}", parameters=parameters)


def is_of_family(record: JudgeRecord, base: JudgeRecord) -> bool:
    """Whether `record` is `base`, or was split off it."""
    plain = {name: value for name, value in record.parameters.items() if name != SERVED}
    same_name = record.name == base.name or record.name.startswith(f"{base.name} → ")
    return (
        same_name
        and (record.task, record.model, record.prompt_version) == (base.task, base.model, base.prompt_version)
        and plain == dict(base.parameters)
    )


def free_name(wanted: str, records: Iterable[JudgeRecord], known: Iterable[JudgeRecord]) -> str:
    """A name for judges of several tasks that no other judge of these tasks bears: "gpt-4o", else "gpt-4o (2)", …

    Judges that are known already keep theirs: asking again goes on with the same ones.
    """
    taken = list(known)
    number = 1
    while True:
        name = wanted if number == 1 else f"{wanted} ({number})"
        ours = [replace(record, name=name) for record in records]
        if all(
            not any(k.task == o.task and k.name == name for k in taken) or any(k.judge_id == o.judge_id for k in taken)
            for o in ours
        ):
            return name
        number += 1
