"""Whose query a record is: the official file does not say, and query ids repeat from persona to persona.

Results are added to `queries` and to their persona's `query_ids` in lock-step. Where personas were asked one after the
other, `by_context` read in file order is `queries` in order. Where they were not, the next id of a persona and, if the
queries are at hand, its question say whose it is, or nothing does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from judges.benchmarks.medmemorybench.run_file import Context, Row, RunFile
from store.records import Problem

LINES_NAMED = 5


class Asked(Protocol):
    """What is known of the questions."""

    def personas_asking(self, query_id: str, question: str) -> frozenset[str]:
        """The personas whose query of this id has this question; empty when no query file is at hand."""
        ...


class Owners(NamedTuple):
    """Persona by position of the record, and what is wrong."""

    by_position: dict[int, str]
    problems: list[Problem]


def owners(run: RunFile, asked: Asked) -> Owners:
    """Whose each record is. A record of which it cannot be told is in none of `by_position`, and said."""
    by_position = {row.position: row.persona for row in run.rows if row.persona}
    rest = [row for row in run.rows if not row.persona]
    if rest and run.contexts:
        by_position |= _walk(run.contexts, rest) or dict(_in_step(run.contexts, rest, asked))
    elif rest:
        by_position |= {row.position: next(iter(found)) for row in rest if len(found := _asking(row, asked)) == 1}
    lost = [row for row in rest if row.position not in by_position]
    return Owners(by_position, [_lost(run, lost)] if lost else [])


def _walk(contexts: Sequence[Context], rows: Sequence[Row]) -> dict[int, str]:
    """Personas one after the other; {} when the two do not agree at every place."""
    flat = [(context.persona, query_id) for context in contexts for query_id in context.query_ids]
    agrees = all(row.position < len(flat) and flat[row.position][1] == row.query_id for row in rows)
    return {row.position: flat[row.position][0] for row in rows} if agrees else {}


def _in_step(contexts: Sequence[Context], rows: Sequence[Row], asked: Asked) -> Iterator[tuple[int, str]]:
    """Personas in turns: each record is the next one of exactly one persona, or of none."""
    ids = {context.persona: context.query_ids for context in contexts}
    at: dict[str, int] = defaultdict(int)
    for row in rows:
        waiting = {p for p, listed in ids.items() if at[p] < len(listed) and listed[at[p]] == row.query_id}
        found = waiting & known if (known := _asking(row, asked)) else waiting
        if len(found) == 1:
            persona = found.pop()
            at[persona] += 1
            yield row.position, persona


def _asking(row: Row, asked: Asked) -> frozenset[str]:
    return asked.personas_asking(row.query_id, row.question)


def _lost(run: RunFile, rows: Sequence[Row]) -> Problem:
    lines = ", ".join(str(row.line) for row in rows[:LINES_NAMED]) + (" …" if len(rows) > LINES_NAMED else "")
    what = f"whose queries these are cannot be told for {len(rows)} of {len(run.rows)} records (lines {lines})"
    remedy = "give the generated_queries.json of every persona with it, or the file as the evaluator wrote it"
    return Problem(str(run.path), rows[0].line, 0, f"{what}: by_context and queries do not go in step", remedy)
