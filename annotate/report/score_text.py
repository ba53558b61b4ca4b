"""What a benchmark says beside its scores, as text: warnings, where it went wrong, tables by user, type and more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotate.report.nested import NestedTable, cell_text, nested_tables
from judges.benchmarks.benchmark import Alarm, Doubt, Undefined
from judges.benchmarks.stages import StageCounts, Traced, Tracing
from judges.calibration.statistic import Statistic
from judges.describing import SystemDescription

Row = list[str]
Block = str | list[Row]

ROWS_SHOWN = 24
"""Rows of a table that the terminal shows; JSON carries them all."""
COLUMNS_SHOWN = 8
"""Columns of a table before it goes on beneath."""
UUID_LENGTH, UUID_SHOWN = 36, 8
TABLES_SHOWN = 24
"""Tables of a nesting that are shown without being asked for."""
TABLES_IN_SHORT = 3
"""Tables of a nesting below a summary of many systems."""
CELL_SHOWN = 40
"""Characters of a foreign text in a table."""


def description_lines(said: SystemDescription) -> Iterator[Block]:
    """Sentences and tables, in reading order."""
    yield from _tracing_lines(said.tracing)
    for name, table in said.breakdowns.items():
        yield from _breakdown_lines(name, table, said.headline)


def alarm_lines(alarms: Mapping[str, Sequence[Alarm]]) -> Iterator[str]:
    """What comes before every number, a line a system and sentence; nothing where nobody says anything."""
    told = [(name, alarm) for name, found in alarms.items() for alarm in found]
    if told:
        yield "first, what could hurt somebody:"
        yield from (f"  {'!' if alarm.count else ' '} {name}: {alarm.sentence}" for name, alarm in told)
        yield ""


def remark_lines(remarks: Sequence[str]) -> Iterator[str]:
    """What one must know to read the benchmark's numbers at all."""
    if remarks:
        yield "to read these numbers:"
        yield from (f"  - {remark}" for remark in remarks)
        yield ""


def doubt_blocks(doubts: Sequence[Doubt], *, details: bool) -> Iterator[Block]:
    """Doubtful verdicts: how many of which kind, and each of them in detail."""
    if not doubts:
        return
    kinds = Counter(doubt.kind for doubt in doubts)
    counted = ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in kinds.most_common())
    verdicts = "1 verdict is" if len(doubts) == 1 else f"{len(doubts)} verdicts are"
    yield f"{verdicts} doubtful on the face of it ({counted})" + (":" if details else ": --details")
    if details:
        titles = list(doubts[0].cells)
        yield [["kind", *titles], *([doubt.kind, *(_clipped(doubt.cells[t]) for t in titles)] for doubt in doubts)]


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CELL_SHOWN else f"{line[: CELL_SHOWN - 1]}…"


def nested_blocks(scores: Mapping[str, Any], *, details: bool, most: int = TABLES_SHOWN) -> Iterator[Block]:
    """A nesting as tables, each under its path. Without `details` only the first ones."""
    tables = list(nested_tables(scores))
    shown = tables if details else tables[:most]
    for table in shown:
        if table.title:
            yield f"  {table.title.replace('_', ' ')}"
        yield from _nested_rows(table)
        yield from (f"    n/a: {reason}" for reason in table.reasons)
    if len(shown) < len(tables):
        yield f"  … and {len(tables) - len(shown)} more tables: --details, or --json"


def _nested_rows(table: NestedTable) -> Iterator[Block]:
    rows = list(table.rows.items())
    for first in range(0, len(table.columns), COLUMNS_SHOWN):
        some = table.columns[first : first + COLUMNS_SHOWN]
        head = ["mean (n)" if table.is_grid else "", *(name.replace("_", " ") for name in some)]
        yield [head, *([name, *(cell_text(row.get(column)) for column in some)] for name, row in rows)]


def warning_lines(warnings: Sequence[str]) -> Iterator[str]:
    """The warnings, one a line, under a title."""
    if warnings:
        yield "read with care:"
        yield from (f"  ! {warning}" for warning in warnings)


# Where it went wrong


def _tracing_lines(tracing: Tracing) -> Iterator[Block]:
    yield from _traced_lines("where it went wrong, by verdicts:", tracing.by_verdicts, tracing.titles)
    if tracing.by_final_labels is not None:
        title = "where it went wrong, with people's final labels put in:"
        yield from _traced_lines(title, tracing.by_final_labels, tracing.titles)
    yield from (f"  {note}" for note in tracing.notes)


def _traced_lines(title: str, traced: Traced, titles: Mapping[str, str]) -> Iterator[Block]:
    yield title
    yield stage_table({titles.get(kind, kind): counts for kind, counts in traced.failures.items()}, titles)
    for kind, counts in traced.failures.items():
        unmatched, pieces = traced.evidence[kind].unmatched, traced.evidence[kind].pieces
        remarks = [f"{count} {titles.get(name, name)}" for name, count in (counts.remarks or {}).items() if count]
        remarks += [f"{counts.unread} more have no readable verdict"] if counts.unread else []
        told = [f"{unmatched} of {pieces} pieces of evidence not matched", *remarks]
        yield f"  {titles.get(kind, kind)}: {'; '.join(told)}"
    yield "share of answers that are wrong or missing, given that"
    stages = next(iter(traced.failures.values())).stages
    yield [
        [f"  {titles[name]}" if name in stages else titles.get(name, name), *_share(share)]
        for name, share in traced.propagation.items()
    ]
    if dropped := next(iter(traced.propagation.values())).dropped:
        yield f"  left out: {', '.join(f'{count} {rule}' for rule, count in dropped.items())}"


def stage_table(columns: Mapping[str, StageCounts], titles: Mapping[str, str]) -> list[Row]:
    """Stages down, columns across; reasons that no column has are left out."""
    rows = [["", *columns]]
    rows.append(["wrong or missing", *(str(counts.failures) for counts in columns.values())])
    stages = [(name, False) for counts in columns.values() for name in counts.stages]
    reasons = [(name, True) for counts in columns.values() for name in counts.untraced]
    for name, is_reason in dict.fromkeys([*stages, *reasons]):
        found = [(counts.untraced if is_reason else counts.stages).get(name, 0) for counts in columns.values()]
        if any(found) or not is_reason:
            cells = [_count(n, counts.failures) for n, counts in zip(found, columns.values(), strict=True)]
            rows.append([titles.get(name, name), *cells])
    return rows


def side_by_side(described: Mapping[str, SystemDescription]) -> Iterator[Block]:
    """Stages and propagation of all systems, a column each, when they ran in more than one regime."""
    regimes = {said.regime for said in described.values() if said.regime}
    if len(regimes) < 2:
        return
    order = sorted(described, key=lambda name: (described[name].regime == "", name))
    columns = {f"{name} ({described[name].regime or 'regime not known'})": described[name].tracing for name in order}
    titles = next(iter(columns.values())).titles
    yield f"{' and '.join(sorted(regimes, reverse=True))} side by side, by verdicts:"
    for kind in next(iter(columns.values())).by_verdicts.failures:
        yield f"  {titles.get(kind, kind)}"
        yield stage_table({name: tracing.by_verdicts.failures[kind] for name, tracing in columns.items()}, titles)
    yield "  share of answers that are wrong or missing, given that"
    yield [["", *columns], *_propagation_rows(columns, titles)]


def _propagation_rows(columns: Mapping[str, Tracing], titles: Mapping[str, str]) -> Iterator[Row]:
    for name in next(iter(columns.values())).by_verdicts.propagation:
        shares = [tracing.by_verdicts.propagation[name] for tracing in columns.values()]
        yield [titles.get(name, name), *(" ".join(_share(share)) for share in shares)]


def _count(count: int, of: int) -> str:
    return f"{count} ({count / of:.0%})" if of else str(count)


def _share(share: Statistic) -> Row:
    if share.value is None or share.low is None or share.high is None:
        return ["n/a", "", f"n {share.n}"]
    return [f"{share.value:.2f}", f"{share.low:.2f}–{share.high:.2f}", f"n {share.n}"]


# Tables


def _breakdown_lines(name: str, table: Mapping[str, Any], headline: Mapping[str, str]) -> Iterator[Block]:
    rows = list(_rows(table))
    if not rows:
        return
    yield f"{name.replace('_', ' ')}:"
    paths = _columns([leaves for _, leaves in rows], headline)
    for first in range(0, len(paths), COLUMNS_SHOWN):
        some = paths[first : first + COLUMNS_SHOWN]
        shown = [[label, *(_cell(leaves.get(path)) for path in some)] for label, leaves in rows[:ROWS_SHOWN]]
        yield [["", *(headline.get(path, path) for path in some)], *shown]
    if len(rows) > ROWS_SHOWN:
        yield f"  … and {len(rows) - ROWS_SHOWN} more: score --json"
    reasons = dict.fromkeys(
        value.why for _, leaves in rows for value in leaves.values() if isinstance(value, Undefined)
    )
    yield from (f"  n/a: {why}" for why in reasons)


def _rows(table: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(row, {path: value}); variants of a row become rows of their own, beneath each other."""
    varied = any(isinstance(value, Mapping) and len(value) > 1 for value in table.values())
    shortened = len({_short(row) for row in table}) == len(table)
    for row, value in table.items():
        label = _short(row) if shortened else row
        if isinstance(value, Undefined):
            yield label, {"": value}
        elif any(isinstance(scores, Mapping) for scores in value.values()):
            for variant, scores in value.items():
                yield f"{label}, {variant.replace('_', ' ')}" if varied else label, dict(_flat(scores))
        else:
            yield label, dict(value)


def _short(row: str) -> str:
    """A user's uuid by its first letters, also in "user/session"."""
    user, slash, session = row.partition("/")
    return f"{user[:UUID_SHOWN]}{slash}{session}" if len(user) == UUID_LENGTH else row


def _columns(rows: list[dict[str, Any]], headline: Mapping[str, str]) -> list[str]:
    """The headline metrics that some row has; without any, all paths."""
    found = dict.fromkeys(path for leaves in rows for path in leaves)
    return [path for path in headline if path in found] or [path for path in found if path]


def _flat(scores: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in scores.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name} / ")
        else:
            yield f"{prefix}{name}", value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value) if isinstance(value, int) else "n/a"
