"""The hashes that a gate's outcome is bound to, and whether it still stands. Light: it loads no statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judges.tuned import tuned_items
from store.events import NOT_PRACTICE
from store.gates import gate_looks
from store.judge_rubrics import current_rubric
from store.judging import judges_of_task
from store.records import digest

if TYPE_CHECKING:
    from store.records import JudgeRecord
    from store.study import Study


@dataclass(frozen=True, slots=True)
class JudgeOf:
    """A judge of a task as the store has it."""

    judge_id: str
    task: str
    name: str
    model: str
    prompt_version: str
    parameters: str


def judges_of(study: Study, task: str) -> list[JudgeOf]:
    """The judges of a task that gave verdicts, newest last."""
    rows = study.rows(
        """SELECT judge_id, task, name, model, prompt_version, parameters FROM judges
        WHERE task = ? AND judge_id IN (SELECT judge_id FROM verdicts) ORDER BY rowid""",
        [task],
    )
    return [JudgeOf(*row) for row in rows]


def is_renamed(other: JudgeRecord, judge: JudgeRecord) -> bool:
    """Whether two names stand for one judge: the same model, prompt and parameters. A verdict that came with a file
    says none of these, and is nobody else's."""
    same = (other.model, other.prompt_version, dict(other.parameters)) == (
        judge.model, judge.prompt_version, dict(judge.parameters)
    )  # fmt: skip
    return bool(judge.model) and same and other.name != judge.name


def under_other_names(study: Study, task: str, judge_id: str) -> list[str]:
    """Ids of judges that are this one under another name."""
    judges = judges_of_task(study, task)
    return [other_id for other_id, other in judges.items() if is_renamed(other, judges[judge_id])]


def bindings_of(study: Study, judge: JudgeOf) -> dict[str, str]:
    """Hashes of the judge, its prompt, the rubric, the labels, the items, and its verdicts on labelled items, except on
    those that it was tuned on."""
    task = judge.task
    rubric = study.rows("SELECT version FROM tasks WHERE task = ? ORDER BY added_at DESC, rowid DESC LIMIT 1", [task])
    labels = study.rows(
        f"""SELECT l.item_id, l.annotator, l.round, l.content_hash, l.value, l.parts, l.cannot_judge, l.harm, l.mode,
            l.adjudicated, l.draw_id, l.sampled FROM all_blind_labels l
        JOIN (SELECT item_id, content_hash FROM current_items WHERE task = ?) i USING (item_id, content_hash)
        WHERE l.{NOT_PRACTICE} ORDER BY ALL""",
        [task],
    )
    data = study.rows(
        "SELECT item_id, content_hash, meta_hash, system FROM current_items WHERE task = ? ORDER BY item_id", [task]
    )
    verdicts = study.rows(
        f"""SELECT v.item_id, v.repetition, v.verdict_hash FROM verdicts v
        JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id, content_hash)
        WHERE v.judge_id = ? AND v.item_id IN (SELECT item_id FROM all_blind_labels WHERE {NOT_PRACTICE})
        ORDER BY ALL""",
        [judge.judge_id],
    )
    tuned = tuned_items(study, task, judge.prompt_version)
    parts: dict[str, Any] = {
        "judge": [judge.judge_id, judge.name, judge.model, judge.prompt_version, judge.parameters],
        "prompt": [judge.prompt_version, _told(study, judge)],
        "rubric": rubric[0][0] if rubric else "",
        "labels": [list(row) for row in labels],
        "data": [list(row) for row in data],
        "verdicts": [list(row) for row in verdicts if row[0] not in tuned],
    }
    return {name: digest(name, value) for name, value in parts.items()}


def _told(study: Study, judge: JudgeOf) -> str:
    """The version of the rubric that a judge of the task is told now: another one makes another prompt, so that what
    was measured under the old one holds no more. "" for a judge without a prompt: a rule, or one from a file."""
    rubric = current_rubric(study, judge.task) if judge.prompt_version else None
    return rubric.version if rubric is not None else ""


@dataclass(frozen=True, slots=True)
class GateState:
    """Whether a judge may score everything now. `why` is a sentence when it may not."""

    open: bool
    why: str = ""
    certificate: str = ""


def gate_state(study: Study, task: str, judge_id: str) -> GateState:
    """Whether the newest look at this judge opened the gate, and nothing it rests on has changed since."""
    judge = next((one for one in judges_of(study, task) if one.judge_id == judge_id), None)
    looks = [one for one in gate_looks(study, task) if one.judge_id == judge_id]
    if judge is None or not looks:
        return GateState(False, f"nobody has looked through the gate at this judge of {task}")
    newest = looks[-1]
    if newest.outcome != "open":
        return GateState(False, f"the gate of {task} is {newest.outcome} for this judge", newest.gate_id)
    now, then = bindings_of(study, judge), newest.document["bindings"]
    changed = [name for name in then if now.get(name) != then[name]]
    if changed:
        return GateState(False, f"{', '.join(changed)} of {task} changed since the gate was opened", newest.gate_id)
    return GateState(True, certificate=newest.gate_id)
