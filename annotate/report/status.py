"""What a study holds and how far labelling is: counted from the store every time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.report.words import count
from judges.made_draws import extended
from judges.settled import Tally, tallies
from store.draws import list_draws
from store.events import DECIDED, NOT_PRACTICE
from store.items import count_items, judges, systems
from store.shards import waiting_shards, waiting_words
from store.study import Study

_SHOWN = {
    "item": "shown after each label",
    "block": "shown at the end of each block",
    "never": "never shown",
    "assisted": "shown from the start",
}


def study_status(study: Study) -> dict[str, Any]:
    """Items, verdicts, draws, and for each annotator what is labelled, skipped, flagged, stale and half given."""
    failures = study.rows(
        "SELECT failure, count(*) FROM verdicts WHERE failure <> '' GROUP BY failure ORDER BY failure"
    )
    stored = list_draws(study)
    continued = extended(stored)
    draws = [
        {"draw_id": draw.draw_id, "task": draw.task or None, "stream": draw.stream, "design": draw.design,
         "reveal": draw.reveal, "seed": draw.seed, "items": _count(study, draw.draw_id),
         "continued": draw.draw_id in continued,
         "practised": {who: tally._asdict() for who, tally in tallies(study, draw).items()}}
        for draw in stored
    ]  # fmt: skip
    return {
        "study": study.path.name,
        "benchmark": study.benchmark,
        "items": count_items(study),
        "systems": systems(study),
        "judges": judges(study),
        "verdicts": study.rows("SELECT count(*) FROM verdicts")[0][0],
        "verdict_failures": {kind: number for kind, number in failures},
        "waiting_shards": len(waiting_shards(study)),
        "draws": draws,
        "annotators": _annotators(study),
        "labels_from_files": _labels_from_files(study),
    }


def _count(study: Study, draw_id: str) -> int:
    found: int = study.rows("SELECT count(*) FROM draw_items WHERE draw_id = ?", [draw_id])[0][0]
    return found


def _labels_from_files(study: Study) -> dict[str, int]:
    """Decided labels by annotator that came with imported files; a gold label of a file is nobody's."""
    rows = study.rows(
        f"""SELECT annotator, count(*) FROM file_labels WHERE {DECIDED}
        GROUP BY annotator ORDER BY annotator"""
    )
    return {name or "nobody named": number for name, number in rows}


def _annotators(study: Study) -> dict[str, dict[str, int]]:
    """What each person said; of practice only how much there is of it, and what is flagged for the lead."""
    rows = study.rows(
        f"""SELECT l.annotator,
            count(*) FILTER (WHERE {DECIDED} AND {NOT_PRACTICE}) AS labelled,
            count(*) FILTER (WHERE l.cannot_judge <> '' AND {NOT_PRACTICE}) AS cannot_judge,
            count(*) FILTER (WHERE l.skipped AND {NOT_PRACTICE}) AS skipped,
            count(*) FILTER (WHERE l.flagged) AS flagged,
            count(*) FILTER (WHERE l.content_hash <> i.content_hash AND {NOT_PRACTICE}) AS stale,
            count(*) FILTER (
                WHERE NOT {DECIDED} AND l.parts <> '{{}}' AND {NOT_PRACTICE}) AS half_given,
            count(*) FILTER (WHERE {DECIDED} AND NOT {NOT_PRACTICE}) AS practice
        FROM current_labels l LEFT JOIN (SELECT item_id, content_hash FROM current_items) i USING (item_id)
        GROUP BY l.annotator ORDER BY l.annotator"""
    )
    names = ("labelled", "cannot_judge", "skipped", "flagged", "stale", "half_given", "practice")
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}


def status_lines(status: dict[str, Any]) -> Iterator[str]:
    """The status in plain words."""
    items = ", ".join(f"{task} {number:,}" for task, number in status["items"].items()) or "none yet"
    yield f"{status['study']}: {status['benchmark']}, {count(len(status['systems']), 'system')}, items: {items}"
    failed = sum(status["verdict_failures"].values())
    yield f"verdicts: {status['verdicts']:,} by {', '.join(status['judges']) or 'no judge'}; {failed:,} failed"
    if status["waiting_shards"]:
        yield waiting_words(status["waiting_shards"])
    for draw in status["draws"]:
        task = draw["task"] or "all tasks"
        shown = f"verdict {_SHOWN[draw['reveal']]}"
        items = count(draw["items"], "item")
        more = "; continued by a later one" if draw["continued"] else ""
        yield (f"draw {draw['draw_id']}: {items} of {task} for {draw['stream']}, {draw['design']}, {shown}{more}")
        yield from (f"  {who}: {Tally(**one).words} at the first try" for who, one in draw["practised"].items())
    for annotator, counts in status["annotators"].items():
        extras = ", ".join(
            f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items() if number and name != "labelled"
        )
        yield f"{annotator}: {counts['labelled']:,} labelled" + (f" ({extras})" if extras else "")
    from_files = ", ".join(f"{name} {number:,}" for name, number in status["labels_from_files"].items())
    if from_files:
        yield f"labels that came with the files: {from_files}"
    if not status["annotators"]:
        yield f"nobody has labelled {'at the desk ' if from_files else ''}yet: overread label"
