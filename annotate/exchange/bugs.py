"""References that people marked wrong, as a list for the benchmark's authors: JSONL, or Markdown to read.

Every person's label counts here, agreed or not: a reference that one of three readers doubts is worth a look. Systems
that were asked the same thing (one `pair_key`) share an entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotate.exchange.entries import LabelEntry, label_entries
from judges.benchmarks.benchmark import TaskDefinition
from judges.collect import task_definitions
from store.events import PRACTICE
from store.files import write_atomically
from store.items import LazyTexts
from store.safe_text import safe_text
from store.study import Study

MARKUP = "\\`*_[]<>|#!"
"""Characters that Markdown takes for its own."""

ROLES = ("question", "reference", "gold")
"""What an entry repeats of an item: the panels with these roles."""


def export_bugs(study: Study, path: Path) -> int:
    """Write the list; a file that ends in .md is for reading. Returns the number of entries."""
    bugs = list(bugs_of(study))
    lines = _markdown(study.benchmark, bugs) if path.suffix == ".md" else _jsonl(bugs)
    write_atomically(path, lines)
    return len(bugs)


def bugs_of(study: Study) -> Iterator[dict[str, Any]]:
    """One entry an item of the benchmark, in stable order: what it is, and what each person says of its reference."""
    marked: dict[str, list[LabelEntry]] = {}
    for entry in label_entries(study):
        if entry.state.reference_wrong and entry.round != PRACTICE:
            marked.setdefault(entry.item_id, []).append(entry)
    tasks = task_definitions(study)
    rows = study.rows(
        """SELECT item_id, task, system, natural_key, pair_key, payload, texts FROM current_items
        WHERE item_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY task, pair_key, system, position, item_id""",
        [list(marked)],
    )
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for item_id, task, system, key, pair_key, payload, texts in rows:
        place = (task, pair_key or item_id)
        if place not in found:
            shown = _shown(tasks[task], json.loads(payload), LazyTexts(study, json.loads(texts)))
            about = {"benchmark": study.benchmark, "task": task, "key": json.loads(key), "systems": []}
            found[place] = {**about, **shown, "people": []}
        bug = found[place]
        bug["systems"] += [system] if system not in bug["systems"] else []
        bug["people"] += [_said(entry, item_id) for entry in marked[item_id]]
    yield from found.values()


def _shown(task: TaskDefinition, payload: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The question and the reference: what the benchmark itself gives. Responses are the systems'."""
    panels = [panel for panel in task.panels if panel.role in ROLES]
    found = {panel.role: payload.get(panel.field, texts.get(panel.field)) for panel in panels}
    return {role: value for role, value in found.items() if value is not None}


def _said(entry: LabelEntry, item_id: str) -> dict[str, Any]:
    state = entry.state
    said = {"right_answer": state.right_answer, "note": state.note, "tags": list(state.tags)}
    return {"annotator": entry.annotator, "at": entry.at, "item": item_id} | {k: v for k, v in said.items() if v}


def _jsonl(bugs: list[dict[str, Any]]) -> Iterator[str]:
    for bug in bugs:
        yield json.dumps(bug, ensure_ascii=False) + "\n"


def _markdown(benchmark: str, bugs: list[dict[str, Any]]) -> Iterator[str]:
    yield f"# References of {_plain(benchmark)} that people marked wrong: {len(bugs)}\n"
    for number, bug in enumerate(bugs, start=1):
        key = " / ".join(map(str, bug["key"]))
        yield f"\n## {number}. {_plain(bug['task'])}: {_plain(key)}\n\n"
        for role in ROLES:
            if role in bug:
                yield f"- {role}: {_plain(_words(bug[role]))}\n"
        for person in bug["people"]:
            right = f"right would be: {person['right_answer']}" if "right_answer" in person else "no right answer given"
            note = f" ({person['note']})" if "note" in person else ""
            yield f"- {_plain(person['annotator'])}, {person['at'][:10]}: {_plain(right + note)}\n"


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> str:
    """A foreign text on one line, without what Markdown or HTML would take for its own."""
    line = " ".join(safe_text(str(text)).split())
    return "".join(f"\\{char}" if char in MARKUP else char for char in line)
