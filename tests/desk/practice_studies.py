"""A study on which two people are of one mind, with notes, and a beginner's desk over its practice draw."""

from __future__ import annotations

from pathlib import Path

from annotate.desk.desk import Desk
from judges.drawing import MadeDraw, Wish
from judges.practice import draw_practice
from store.events import EventDraft
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import Clock, item_of, make_study, qa, sit

WHY = "zqxj: [@click=app.quit]the breed[/] \x1b[31mis another"
SAFE_WHY = "zqxj: [@click=app.quit]the breed[/] ␛[31mis another"
"""The note, and as it is shown."""
SETTLED = ["Hallucination", "Correct", "Hallucination", "Omission"]
"""What people settled on the first items; on the fifth they differ."""


def settled_study(path: Path) -> Study:
    """Six questions on which the judge says Omission; two people labelled five of them, blind."""
    study = make_study(path, [qa("Omission") for _ in range(6)])
    contents = dict(study.rows("SELECT item_id, content_hash FROM items"))
    study.append([
        EventDraft(kind="label", annotator=who, item_id=item_of(number), content_hash=contents[item_of(number)],
                   state=LabelState(value=value, note=WHY if who == "expert 1" else ""))
        for who in ("expert 1", "expert 2")
        for number, value in enumerate([*SETTLED, "Correct" if who == "expert 1" else "Omission"])
    ])  # fmt: skip
    return study


def practice_draw(study: Study) -> MadeDraw:
    return draw_practice(study, Wish(8, stream="practice", seed=1), "lead")


def begin(study: Study, annotator: str = "new") -> Desk:
    """Sit down to practise."""
    return sit(study, annotator=annotator, draw=practice_draw(study).draw.draw_id, clock=Clock())


def settled_here(desk: Desk) -> str:
    """What people settled on the item in hand."""
    return {item_of(number): value for number, value in enumerate(SETTLED)}[desk.current.item.item_id]


def other(value: str) -> str:
    """The key of another label."""
    return "c" if value != "Correct" else "h"
