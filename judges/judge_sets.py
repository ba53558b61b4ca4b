"""Which judges score together: each task its own judge, unless several judged the same task."""

from __future__ import annotations

from dataclasses import dataclass

from store.errors import UsageError
from store.items import judges
from store.study import Study


@dataclass(frozen=True, slots=True)
class JudgeSet:
    """Judges of which no two judged the same task: a score is over the verdicts of all of them.

    Attributes:
        names: in order of their first appearance; the first is the one that was asked for.
    """

    names: tuple[str, ...]

    @property
    def title(self) -> str:
        """As a reader calls it."""
        return " and ".join(self.names)


def judge_sets(study: Study) -> list[JudgeSet]:
    """The sets that a study can be scored by.

    Judges that share a task with another compete: each of them makes a set with all that compete with nobody (a
    string rule that scores other tasks, for one). Where nobody competes there is one set, of all.
    """
    there = judges(study)
    competing = _competing(study)
    others = tuple(name for name in there if name not in competing)
    if not competing:
        return [JudgeSet(others)] if others else []
    return [JudgeSet((name, *others)) for name in there if name in competing]


def judge_set(study: Study, wanted: str = "") -> JudgeSet:
    """The set that a judge's name asks for, or the only one there is.

    A judge that competes with nobody stands alone when it is named.

    Raises:
        UsageError: no such judge, no judge at all, or several compete and none is named.
    """
    there = judges(study)
    if not there:
        raise UsageError("The study has no judge yet.", "", "Import result files first.")
    if wanted and wanted not in there:
        raise UsageError(f"There is no judge {wanted!r}.", f"There are: {', '.join(there)}.")
    found = judge_sets(study)
    if wanted:
        return next((one for one in found if len(found) > 1 and one.names[0] == wanted), JudgeSet((wanted,)))
    if len(found) > 1:
        names = ", ".join(one.names[0] for one in found)
        raise UsageError(f"There are several judges of the same task: {names}.", "", "Say --judge NAME.")
    return found[0]


def judges_by_task(study: Study) -> dict[str, tuple[str, ...]]:
    """The judges that gave verdicts on each task, by name."""
    rows = study.rows("SELECT task, list(DISTINCT name ORDER BY name) FROM judges GROUP BY task ORDER BY task")
    return {task: tuple(names) for task, names in rows}


def _competing(study: Study) -> frozenset[str]:
    """Judges that gave a verdict on a task on which another gave one."""
    return frozenset(name for names in judges_by_task(study).values() if len(names) > 1 for name in names)
