"""Who may see what the judge got wrong, and when."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotate.desk.closed import hidden_from, open_queue, require_open
from annotate.desk.opening import sit_down
from judges.audit_columns import labelled_tasks
from judges.calibration.sampling import is_never_shown
from judges.collect import task_definitions
from judges.label_acts import read_acts
from store.draws import Draw, DrawnItem, add_draw
from store.errors import UsageError
from tests.commands import Overread
from tests.desk.desk_studies import ANNOTATOR, make_study, press, qa, sit


def begun(path: Path, labelled: int, items: int = 8) -> None:
    with make_study(path, [qa("Correct" if n % 2 else "Omission") for n in range(items)]) as study:
        desk = sit(study, "item")
        for _ in range(labelled):
            press(desk, "c")
            desk.confirm()


@pytest.mark.slow
def test_closed_in_mid_queue_and_open_to_the_lead(overread_cli: Overread, tmp_path: Path) -> None:
    study = tmp_path / "s.duckdb"
    begun(study, 3)
    mine = {"OVERREAD_ANNOTATOR": ANNOTATOR}
    for command in (("audit",), ("audit", "--json"), ("report", tmp_path / "r.html"), ("gate",)):
        refused = overread_cli("--study", study, *command, env=mine)
        assert refused.exit_code == 2, refused
        assert "3 of 8 labelled" in refused.stderr
        assert "--as lead" in refused.stderr
        assert not refused.stdout
    assert not (tmp_path / "r.html").exists()
    assert overread_cli("--study", study, "audit", "--as", "king", env=mine).exit_code == 2
    assert overread_cli("--study", study, "audit", "--as", "lead", env=mine).exit_code == 0
    assert overread_cli("--study", study, "audit", "--annotator", "somebody.else").exit_code == 0
    journal = (tmp_path / "s.journal.jsonl").read_text(encoding="utf-8")
    looks = [line for line in journal.splitlines() if '"look"' in line]
    assert len(looks) == 1
    assert ANNOTATOR in looks[0]
    assert '"labelled":3' in looks[0].replace(" ", "")


def test_open_once_the_queue_is_done_and_before_it_is_begun(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa() for _ in range(3)]) as study:
        desk = sit(study, "item")
        assert open_queue(study, ANNOTATOR) is None
        press(desk, "c")
        desk.confirm()
        queue = open_queue(study, ANNOTATOR)
        assert queue is not None
        assert (queue.labelled, queue.items) == (1, 3)
        with pytest.raises(UsageError, match="1 of 3"):
            require_open(study, ANNOTATOR, "", "audit")
        for _ in range(2):
            press(desk, "c")
            desk.confirm()
        assert require_open(study, ANNOTATOR, "", "audit") is False


def test_what_is_never_shown_stays_hidden(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa() for _ in range(40)]) as study:
        desk = sit(study, "item")
        items = {item.item_id for item in desk.queue.items}
        for _ in range(40):
            press(desk, "c")
            desk.confirm()
        hidden = hidden_from(study, ANNOTATOR)
        assert hidden == {item for item in items if is_never_shown(item, ANNOTATOR, desk.draw.seed)}
        assert 0 < len(hidden) < 25
        assert hidden_from(study, "nobody") == frozenset()


def test_what_waits_in_another_draw_stays_hidden_too(tmp_path: Path) -> None:
    with make_study(tmp_path / "s.duckdb", [qa() for _ in range(12)]) as study:
        every = [row[0] for row in study.rows("SELECT item_id FROM items ORDER BY item_id")]
        for name, items, reveal in (
            ("d1", every[:4], "item"),
            ("d2", every[3:8], "never"),
            ("d3", every[8:], "assisted"),
        ):
            draw = Draw(name, "qa", "estimate", "simple", reveal, 3, "lead", f"2026-03-0{name[1]}T09:00:00+00:00")
            add_draw(study, draw, [DrawnItem(item, number) for number, item in enumerate(items)])
        desk = sit_down(study, ANNOTATOR, draw="d1")
        for _ in range(4):
            press(desk, "c")
            desk.confirm()
        assert open_queue(study, ANNOTATOR) is None
        hidden = hidden_from(study, ANNOTATOR)
        assert hidden >= set(every[4:8]) and not hidden & set(every[8:])


def test_acts_tell_hidden_from_shown(tmp_path: Path) -> None:
    """Labels at the desk: the coin's items are never shown, the others once their label is safe; reveals add up."""
    with make_study(tmp_path / "s.duckdb", [qa("Omission") for _ in range(24)]) as study:
        desk = sit(study, "item")
        for _ in range(24):
            press(desk, "c")
            desk.confirm()
        acts = read_acts(study, "qa")
        assert len(acts) == 24
        kept = [one for one in acts if one.kept_hidden]
        assert len(kept) == len(hidden_from(study, ANNOTATOR))
        assert all(bool(one.shown) != one.kept_hidden for one in acts)
        assert sorted(one.reveals for one in acts)[-1] in (24 - len(kept), 24 - len(kept) - 1)
        assert all((one.first, one.final) == ("Correct", "Correct") for one in acts)
        assert len(labelled_tasks(study, task_definitions(study))["qa"].keys) == 24
