"""How the numbers came about, in words: what is counted, with which seed, from which files, and what was left out."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Any

from annotate.report.blocks import Block, Cell, Heading, Listing, Paragraph, Row, Section, Table
from annotate.report.facts import Facts
from annotate.report.numbers import FEW_ITEMS, SLICE_VALUES, refusals
from annotate.report.words import count, counted, decimal, percent
from judges.calibration.audit_result import Dropped, HumanAgreement, TaskAudit
from judges.calibration.checks import NO_MORE_THAN
from judges.calibration.plain_words import FIRST_ANSWER
from judges.calibration.statistic import Statistic
from store.draws import list_draws
from store.events import DECIDED, NOT_PRACTICE
from store.safe_text import safe_line

_LIBRARIES = ("duckdb", "numpy", "scipy", "krippendorff")


def methods_section(facts: Facts) -> Section:
    """Everything needed to compute the report again."""
    blocks = (
        Listing(tuple(_how(facts))),
        Heading("What was left out"),
        Listing(tuple(_left_out(facts))),
        Heading("Numbers and intervals that are not there, or speak of less"),
        Listing(tuple(_refused(facts)) or ("None.",)),
        Heading("Where it comes from"),
        *_sources(facts),
    )
    return Section("methods", "Methods", blocks)


def software() -> str:
    """The versions that the numbers may depend on."""
    found = [f"{name} {_version(name)}" for name in ("overread", *_LIBRARIES)]
    return f"{', '.join(found)}, Python {platform.python_version()}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed: run from its source)"


def _how(facts: Facts) -> Iterator[str]:
    settings, limits = facts.options.settings, facts.options.thresholds
    level = percent(settings.level)
    yield (
        "Counted are blind labels (given before the person had seen any verdict on the item) of the stream estimate, "
        "on items whose content has not changed since. An item's label is the adjudicated one; else all people's if "
        "equal; else the strict majority of three or more; else the item is unresolved and left out. A tie is never "
        "broken."
    )
    yield "The declared label set of a task is always used whole, and the first verdict of a judge on an item."
    yield (
        f"Recall and precision have exact (Clopper-Pearson) {level} intervals, raw agreement Wilson's, coefficients "
        f"and F1 percentile intervals of {settings.resamples:,} resamples of items, or of clusters where there are "
        f"enough, seed {settings.seed}."
    )
    yield (
        f"Thresholds: recall {percent(limits.recall)}, precision {percent(limits.precision)}, Cohen's κ "
        f"{decimal(limits.kappa)}. A number reaches its threshold when its whole interval does, misses it when its "
        "whole interval lies below, and is undecided else. A task is good enough when every number that could be "
        f"tested reaches its threshold, and undecided on fewer than {FIRST_ANSWER} items."
    )
    yield (
        "Labels that would decide: for a recall or precision p of n items, the least n' at which the exact interval of "
        "p·n' among n' leaves the threshold outside, times the labels it takes to meet one such item; for κ, "
        "n·(d/e)², with d the distance from κ to the bound on the threshold's side and e from κ to the threshold. Both "
        "suppose that the rates stay what they are: after so many labels the answer is as likely as not to be there. "
        f"None is named beyond {NO_MORE_THAN:,} labels."
    )
    yield (
        "Dangerous answers: the bound is the exact one-sided upper bound of the share (Clopper-Pearson). It speaks of "
        "further answers only if the labelled items are a random draw."
    )
    yield from _linked(facts)
    yield f"Slices are greyed below {FEW_ITEMS} items; {SLICE_VALUES} values of a slice are shown at most."
    if not facts.options.texts:
        yield "Texts of items, judges' reasons and people's notes were left out on request."


def _linked(facts: Facts) -> Iterator[str]:
    """Labels and verdicts that were given once for identical items."""
    labels = sum(
        bool(entry.linked_to) and entry.state.decided and facts.task_of[item] in facts.tasks
        for item, entries in facts.entries.items()
        for entry in entries
    )
    if labels:
        yield (
            f"{count(labels, 'label')} of these were given at an item of another system with the same content, which "
            "was read in their place when the queue reached them. In every number over several systems such items are "
            "one cluster; within one system each stands alone and counts by its own chance in the draw."
        )
    rows = facts.study.rows(
        """SELECT j.name, count(*) FROM verdicts JOIN judges j USING (judge_id)
        WHERE route = 'same_input' AND (? = '' OR j.name = ?) GROUP BY j.name ORDER BY j.name""",
        [facts.options.judge, facts.options.judge],
    )
    for judge, number in rows:
        yield f"{count(number, 'verdict')} of {judge} were taken over from an item with the identical input, uncalled."


def _left_out(facts: Facts) -> Iterator[str]:
    """What entered no number, by task and rule; how people's labels were made one."""
    for task, audit in facts.audit.tasks.items():
        title = facts.block_title(task)
        yield f"{title}: {_dropped(audit.dropped)}; labels made one by rule: {counted(audit.rules)}."
        for part, block in audit.parts.items():
            name = facts.block_title(task, part)
            joint = "" if name.endswith("?") else ":"
            yield f"{name}{joint} {_dropped(block.dropped)}; labels made one by rule: {counted(block.rules)}."
        for judge, found in audit.judges.items():
            lost = {"unreadable": found.unreadable, "without a verdict": found.no_verdict}
            if any(lost.values()):
                yield f"{title}, labelled items that {judge} gave nothing readable on: {counted(lost)}."
            if (both := found.unreadable_counted) and both.cohen_kappa.value is not None:
                kappa = found.cohen_kappa.value
                yield (
                    f"{title}, {judge}: κ {_three(kappa)} without the unreadable verdicts, "
                    f"{_three(both.cohen_kappa.value)} with them as a further answer."
                )
    if stale := _stale(facts):
        yield f"{count(stale, 'label')} of items whose content changed since."


def _three(value: float | None) -> str:
    return "undefined" if value is None else decimal(value, 3)


def _dropped(dropped: Dropped) -> str:
    words = {
        "items on which people disagree": dropped.unresolved_items,
        "items people cannot judge": dropped.cannot_judge_items,
        "labels given after a verdict was seen": dropped.labels_not_blind,
        "labels of another stream": dropped.labels_not_estimate,
        "labels outside the label set": dropped.labels_outside_set,
    }
    return f"left out {counted(words)}" if any(words.values()) else "nothing left out"


def _stale(facts: Facts) -> int:
    count_of: int = facts.study.rows(
        f"""SELECT count(*) FROM current_labels l JOIN current_items i USING (item_id)
        WHERE {NOT_PRACTICE} AND l.content_hash <> i.content_hash AND {DECIDED}"""
    )[0][0]
    return count_of


def _refused(facts: Facts) -> Iterator[str]:
    several = len(facts.judges) > 1
    for one in facts.judged:
        name = f"{one.title}, {one.judge}" if several else one.title
        yield from (f"{name}: {reason}" for reason in refusals(one))
    for task, audit in facts.audit.tasks.items():
        if audit.labelled:
            yield from (f"{facts.block_title(task)}, people: {why}." for why in _refused_of_people(audit))


def _refused_of_people(audit: TaskAudit) -> list[str]:
    return list(dict.fromkeys(statistic.why for statistic in _of_people(audit.humans) if statistic.why))


def _of_people(people: HumanAgreement) -> Iterator[Statistic]:
    yield from (people.raw_agreement, people.krippendorff_alpha, people.fleiss_kappa, people.gwet_ac1)
    for pair in people.pairs.values():
        yield from (pair.raw_agreement, pair.cohen_kappa, pair.krippendorff_alpha, pair.gwet_ac1)


def _sources(facts: Facts) -> Iterator[Block]:
    study = facts.study
    yield Paragraph(f"Study {study.path.name}, id {study.study_id}, copy {study.copy_id}, benchmark {study.benchmark}.")
    yield Paragraph(f"Made {when(facts.options.made_at.isoformat())} with {software()}.")
    yield from _draws(facts)
    yield _judges(facts)
    yield _tasks(facts)
    yield _files(facts)
    yield _chains(facts)


def _table(caption: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    cells = (Row(tuple(Cell(_text(value)) for value in row)) for row in rows)
    return Table(caption, columns, tuple(cells), words=True)


def when(at: str) -> str:
    """A time with its offset, to the minute and in UTC."""
    return f"{dt.datetime.fromisoformat(at).astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def _draws(facts: Facts) -> Iterator[Block]:
    """The draws, and how many labels belong to none."""
    sizes = dict(facts.study.rows("SELECT draw_id, count(*) FROM draw_items GROUP BY draw_id"))
    rows = [
        (draw.draw_id, draw.task or "all", draw.stream, draw.design.replace("_", "-"), draw.reveal, str(draw.seed),
         sizes.get(draw.draw_id, 0), draw.created_by, when(draw.at))
        for draw in list_draws(facts.study)
    ]  # fmt: skip
    columns = ("draw", "task", "stream", "design", "verdict shown", "seed", "items", "by", "at")
    if rows:
        yield _table("Draws: which items were offered, in which order", columns, rows)
    undrawn = sum(not entry.draw_id for found in facts.entries.values() for entry in found if entry.state.decided)
    if undrawn:
        yield Paragraph(
            f"{count(undrawn, 'label')} came without a draw (imported). They are taken at their stated mode; whether "
            "their items are a random choice is not recorded, and the intervals hold only if they are."
        )


def _judges(facts: Facts) -> Table:
    wanted = facts.options.judge
    rows = facts.study.rows(
        """SELECT j.name, j.task, j.model, j.prompt_version, j.parameters, j.judge_id, count(v.verdict_id)
        FROM judges j LEFT JOIN verdicts v USING (judge_id) WHERE ? = '' OR j.name = ?
        GROUP BY ALL ORDER BY j.name, j.task""",
        [wanted, wanted],
    )
    columns = ("judge", "task", "model", "prompt", "parameters", "id", "verdicts")
    shown = [(*row[:2], row[2] or "not stated", row[3] or "not stated", *row[4:]) for row in rows]
    return _table("Judges", columns, shown)


def _tasks(facts: Facts) -> Table:
    rows = facts.study.rows("SELECT task, version, added_at::VARCHAR FROM tasks ORDER BY position, task, added_at")
    given: dict[tuple[str, str], int] = {}
    for item, entries in facts.entries.items():
        for entry in entries:
            key = (facts.task_of[item], entry.rubric_version)
            given[key] = given.get(key, 0) + entry.state.decided
    shown = [
        (task, version_id, when(at), given.get((task, version_id), 0))
        for task, version_id, at in rows
        if task in facts.tasks
    ]
    return _table(
        "Task definitions and rubrics by version", ("task", "version", "added", "labels at the desk under it"), shown
    )


def _files(facts: Facts) -> Table:
    rows = [
        (safe_line(PurePath(record["path"]).name, 120), record["role"], record["system"], record["judge"],
         record["bytes"], record["sha256"], when(record["at"]))
        for record in facts.study.journal_records("import")
    ]  # fmt: skip
    columns = ("file", "role", "system", "judge", "bytes", "SHA-256", "imported")
    return _table("Imported files" if rows else "Imported files: none", columns, rows)


def _chains(facts: Facts) -> Table:
    rows = facts.study.rows(
        """SELECT annotator, copy_id, max(seq), max_by(event_id, seq) FROM label_events
        GROUP BY annotator, copy_id ORDER BY annotator, copy_id"""
    )
    columns = ("annotator", "copy", "acts", "hash of the last act")
    return _table("Chains of acts: who printed these hashes can show later that nothing was changed", columns, rows)
