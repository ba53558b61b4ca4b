"""Studies of several systems of which some gave the same response to the same question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotate.desk.actions import Choice
from annotate.desk.desk import Desk
from annotate.desk.opening import sit_down
from store.draws import Draw, DrawnItem, RevealPolicy, add_draw
from store.study import Study
from tests.desk.desk_studies import ANNOTATOR, Clock, current_labels
from tests.judging.conftest import make_study

AT = "2026-01-01T10:00:00+02:00"


def row(key: str, system: str, said: str, **more: Any) -> dict[str, Any]:
    judge = [{"judge": "j", "label": "INCORRECT"}]
    fields = {"question": "Which dog?", "response": said, "reference": "Golden Retriever"}
    return {"item_id": f"{key}-{system}", "system": system, **fields, "judge": judge, **more}


TWINS = [row("same", "a", "Labrador"), row("own", "a", "Poodle"), row("same", "b", "Labrador"),
         row("own", "b", "Beagle"), row("same", "c", "Labrador")]  # fmt: skip


def drawn(
    folder: Path, rows: Sequence[dict[str, Any]] = TWINS, reveal: RevealPolicy = "never", **changes: Any
) -> Study:
    """A study of these rows, drawn in their order."""
    study = Study.open(make_study(folder, [dict(one) for one in rows]))
    ids = ids_of(study)
    items = [DrawnItem(ids[f"{one['item_id']}"], number) for number, one in enumerate(rows)]
    add_draw(study, Draw("d1", "qa", "estimate", "simple", reveal, 7, "lead", AT), items)
    return study


def ids_of(study: Study) -> dict[str, str]:
    """The row's own id → the item's."""
    return {key.strip('[]"').split('"')[-1]: item for key, item in study.rows("SELECT natural_key, item_id FROM items")}


def sat(study: Study) -> Desk:
    return sit_down(study, ANNOTATOR, task="qa", clock=Clock())


def said(study: Study) -> dict[str, str | None]:
    """The row's own id → the label now."""
    labels = current_labels(study)
    return {key: labels[item].value for key, item in ids_of(study).items() if item in labels}


def give(desk: Desk, value: str) -> None:
    desk.choose(Choice("", value))
