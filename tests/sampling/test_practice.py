"""Practice: what counts as settled, what a draw takes of it, whom it is not for; and that no number takes it in."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import JUDGE, LABELS, Plant, Planted, label, plant

from annotate.desk.closed import open_queue
from annotate.desk.opening import find_draw, items_for, make_draw
from annotate.exchange.bugs import bugs_of
from annotate.report.status import study_status
from judges.audit_columns import labelled_tasks
from judges.auditing import audit_study
from judges.collect import audit_records, blind_labels, final_labels, task_definitions
from judges.correcting import correct_study
from judges.drawing import Wish, draw_estimate
from judges.gate.bindings import bindings_of, judges_of
from judges.gate.evidence import _harmful
from judges.label_acts import read_acts
from judges.learning_draws import draw_unexplained
from judges.practice import Candidate, draw_practice, practice_order
from judges.reading_effort import measured_pace
from judges.retune.splits import estimate_items
from judges.settled import settled_labels, tallies
from store.draws import Draw
from store.errors import UsageError
from store.events import PRACTICE, EventDraft, Kind
from store.judging import labels_of_judge
from store.records import LabelState
from store.study import Study
from tests.commands import Overread

WISH = Wish(9, stream="practice", seed=1)


def say(study: Study, planted: Planted, item: str, who: str, value: str | None = None, **more: Any) -> None:
    """One act of one person; without a value the truth."""
    kind: Kind = more.pop("kind", "label")
    state = LabelState(value=value or planted.truth[item], note=more.pop("note", ""), harm=more.pop("harm", ""),
                       reference_wrong=more.pop("reference_wrong", False))  # fmt: skip
    study.append([
        EventDraft(kind=kind, annotator=who, item_id=item, content_hash=planted.contents[item], state=state, **more)
    ])  # fmt: skip


def practise(study: Study, planted: Planted, draw: Draw, who: str, **more: Any) -> list[str]:
    """Label all that a draw serves somebody, wrongly; returns the items."""
    items = [one.item_id for one in items_for(study, draw, "", who)]
    for item in items:
        wrong = next(value for value in LABELS if value != planted.truth[item])
        say(study, planted, item, who, wrong, draw_id=draw.draw_id, round=draw.settings["round"], **more)
    return items


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    planted = plant(tmp_path / "s.duckdb", Plant(items=40))
    with Study.open(planted.path) as study:
        yield study, planted


def test_settled_is_what_several_said_blind_or_an_adjudicator(opened: tuple[Study, Planted]) -> None:
    study, planted = opened
    alone, agreed, differed, decided, revised, unsaid = list(planted.truth)[:6]
    say(study, planted, alone, "a")
    for who in ("a", "b"):
        say(study, planted, agreed, who, note=f"why {who}")
        say(study, planted, revised, who)
    say(study, planted, agreed, "b", kind="reveal", note="why b", policy="item")
    say(study, planted, agreed, "b", kind="mark", note="the judge says Omission")
    for item in (differed, decided):
        say(study, planted, item, "a", "Correct", note="looks right")
        say(study, planted, item, "b", "Omission", note="half is missing")
    say(study, planted, decided, "c", "Omission", kind="adjudicate", note="the second half")
    say(study, planted, revised, "c", kind="reveal", policy="item")
    found = settled_labels(study)
    assert set(found) == {agreed, decided, revised} and unsaid not in found
    assert (found[agreed].value, found[agreed].agreeing, found[agreed].votes) == (planted.truth[agreed], 2, 2)
    assert found[agreed].notes == ("why a", "why b"), "no note of a verdict that was shown"
    assert found[decided].adjudicated and found[decided].hard and found[decided].value == "Omission"
    assert found[decided].notes == ("the second half", "half is missing"), "only of those who gave the label"
    assert settled_labels(study, [alone, agreed]).keys() == {agreed}
    made = draw_practice(study, WISH, "lead")
    assert (made.settled, len(made.items), made.noted, made.hard) == (3, 3, 2, 1)


def add_file_label(study: Study, planted: Planted, item: str, who: str, mode: str, *, gold: bool) -> None:
    """A label, Correct, that came with a file."""
    study.writer.do(lambda connection: connection.execute(
        """INSERT INTO file_labels BY NAME SELECT *, '{}' AS parts, '[]' AS tags, 'why' AS note,
            false AS unsure, '' AS harm, '' AS cannot_judge, false AS reference_wrong, '' AS right_answer,
            '[]' AS evidence, false AS skipped, false AS flagged, '' AS happened_at, '' AS sampled, '' AS import_id
        FROM (SELECT ? AS item_id, ? AS content_hash, ? AS annotator, 'Correct' AS value, ? AS mode, ? AS adjudicated)
        """,
        [item, planted.contents[item], who, mode, gold],
    ))  # fmt: skip


@pytest.mark.parametrize(("mode", "notes"), [("blind", ("why",)), ("", ())])
def test_a_file_that_names_no_mode_settles_and_tells_no_note(
    opened: tuple[Study, Planted], mode: str, notes: tuple[str, ...]
) -> None:
    study, planted = opened
    item = next(iter(planted.truth))
    add_file_label(study, planted, item, "gold", mode, gold=True)
    [found] = settled_labels(study).values()
    assert (found.value, found.adjudicated, found.notes) == ("Correct", True, notes)
    assert not items_for(study, draw_practice(study, WISH, "lead").draw, "", "gold"), "not for who settled it"


def test_practice_leaves_what_a_file_says_of_the_same_person(opened: tuple[Study, Planted]) -> None:
    study, planted = opened
    blind, late = list(planted.truth)[:2]
    for item in (blind, late):
        say(study, planted, item, "new", "Omission", round=PRACTICE)
    add_file_label(study, planted, blind, "new", "blind", gold=False)
    add_file_label(study, planted, late, "new", "assisted", gold=False)
    assert {item: said.people["new"].value for item, said in blind_labels(study).items()} == {blind: "Correct"}
    assert set(final_labels(study)) == {blind, late}
    audited = labelled_tasks(study, task_definitions(study))["qa"]
    assert len(audited.keys) == 1 and audited.columns.not_blind == 1
    say(study, planted, blind, "new", "Omission")
    assert blind_labels(study)[blind].people["new"].value == "Omission", "an own act outweighs a file"


def test_every_label_takes_its_turn_and_no_place_tells_it() -> None:
    common = [Candidate(f"c{n}", ("qa", "Correct"), f"k{n}", noted=n == 7, hard=n == 3) for n in range(30)]
    rare = [Candidate("o", ("qa", "Omission"), "ko", noted=False, hard=False),
            Candidate("twin", ("qa", "Omission"), "ko", noted=False, hard=False)]  # fmt: skip
    chosen = practice_order([*common, *rare], 4, 1)
    assert len(chosen) == 4 and {"o", "twin"} & set(chosen) and {"c7", "c3"} < set(chosen)
    assert not {"o", "twin"} <= set(chosen), "what reads the same is practised once"
    used = [one._replace(used=True) if one.item_id == "c7" else one for one in common]
    assert "c7" not in practice_order([*used, *rare], 4, 1)
    firsts = Counter(practice_order([*common[:4], *rare], 5, seed)[0] for seed in range(60))
    assert len(firsts) >= 5
    assert len(practice_order(common, 99, 1)) == 30 and practice_order([], 3, 1) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_beginner_gets_plain_items_as_often_as_those_that_people_differed_on(seed: int) -> None:
    hard = [Candidate(f"h{n}", ("qa", "Correct"), f"h{n}", noted=False, hard=True) for n in range(30)]
    plain = [Candidate(f"p{n}", ("qa", "Correct"), f"p{n}", noted=False, hard=False) for n in range(30)]
    assert Counter(item[0] for item in practice_order([*hard, *plain], 8, seed)) == {"h": 4, "p": 4}
    assert len(practice_order([*hard, *plain[:2]], 8, seed)) == 8, "where one kind is rare the other fills up"
    many = [one._replace(item_id=f"{one.item_id} {n}", content=f"{one.content} {n}", label=("qa", f"label {n}"))
            for n in range(10) for one in (*hard, *plain)]  # fmt: skip
    for n in (10, 15, 20):
        counts = Counter(item[0] for item in practice_order(many, n, seed))
        assert abs(counts["h"] - counts["p"]) <= n % 10, "also where there is an item or two for each label"


def test_nothing_settled_names_the_remedies_and_a_verdict_is_refused(opened: tuple[Study, Planted]) -> None:
    study, planted = opened
    label(study, planted, draw_estimate(study, Wish(20, seed=1), "lead").draw.draw_id)
    with pytest.raises(UsageError, match="settled") as refused:
        draw_practice(study, WISH, "lead")
    assert "--unexplained" in refused.value.hint and "--annotator" in refused.value.hint
    with pytest.raises(UsageError, match="never a verdict"):
        draw_practice(study, replace(WISH, reveal="item"), "lead")


def test_practice_is_for_those_who_neither_labelled_nor_await_its_items(opened: tuple[Study, Planted]) -> None:
    study, planted = opened
    drawn = draw_estimate(study, Wish(20, seed=1), "lead").draw
    label(study, planted, drawn.draw_id, annotator="a")
    label(study, planted, drawn.draw_id, 12, annotator="b")
    made = draw_practice(study, WISH, "lead")
    assert (made.draw.reveal, len(made.items)) == ("never", 9)
    assert not items_for(study, made.draw, "", "a") and not items_for(study, made.draw, "", "b")
    label(study, planted, drawn.draw_id, 1, annotator="began")
    assert not items_for(study, made.draw, "", "began"), "they wait in a queue of theirs"
    done = practise(study, planted, made.draw, "new")
    assert len(done) == 9
    left = {one.item_id for one in items_for(study, drawn, "", "new")}
    assert len(left) == 11 and not left & set(done), "whoever saw the answer labels it nowhere else"
    again = draw_practice(study, replace(WISH, n=12), "lead").draw
    assert len(items_for(study, again, "", "new")) == 3 and len(items_for(study, again, "", "third")) == 12
    for item in left:
        say(study, planted, item, "new", draw_id=drawn.draw_id)
    assert open_queue(study, "new") is None, "what was practised does not keep a queue open"
    served = find_draw(study, "", "third")
    assert served is not None and served.draw_id == drawn.draw_id, "it is served to those who ask for it"


@pytest.mark.slow
def test_practice_enters_no_number(opened: tuple[Study, Planted]) -> None:
    study, planted = opened
    drawn = make_draw(study, "", "never", 1, "lead")
    label(study, planted, drawn.draw_id, 20, annotator="a")
    label(study, planted, drawn.draw_id, 12, annotator="b")
    [judge] = judges_of(study, "qa")

    def numbers() -> list[Any]:
        return [
            blind_labels(study), final_labels(study), audit_records(study, task_definitions(study)),
            repr(audit_study(study, depth="whole")), repr(correct_study(study, "northwind", JUDGE)),
            bindings_of(study, judge), _harmful(study, set(planted.truth)), read_acts(study, "qa"),
            measured_pace(study, {"qa"}), estimate_items(study, "qa"), list(bugs_of(study)), settled_labels(study),
            labels_of_judge(study, judge.judge_id),
        ]  # fmt: skip

    before = numbers()
    made = draw_practice(study, WISH, "lead")
    practise(study, planted, made.draw, "new", harm="serious", reference_wrong=True, active_ms=90_000)
    unexplained = draw_unexplained(study, replace(WISH, n=5), "lead").draw
    practise(study, planted, unexplained, "third", kind="reveal", policy="item")
    assert len(practise(study, planted, unexplained, "third", kind="revise")) == 5, "after the verdict was shown"
    for name, (then, now) in enumerate(zip(before, numbers(), strict=True)):
        assert then == now, name
    assert {who: tuple(one) for who, one in tallies(study, made.draw).items()} == {"new": (0, 9)}
    people = study_status(study)["annotators"]
    assert people["new"]["labelled"] == 0 and people["new"]["practice"] == 9 and people["a"]["practice"] == 0
    study.writer.do(lambda connection: connection.execute("UPDATE items SET content_hash = content_hash || 'x'"))
    people = study_status(study)["annotators"]
    assert people["new"]["stale"] == 0 and people["a"]["stale"] == 20


@pytest.mark.slow
def test_a_beginner_practises_line_by_line_and_the_status_tells_how_it_went(tmp_path: Path) -> None:
    overread, planted = Overread(), plant(tmp_path / "s.duckdb", Plant(items=20))
    refused = overread("sample", "--n", "4", "--stream", "practice", cwd=tmp_path)
    assert refused.exit_code == 2 and "--unexplained" in refused.stderr, refused
    with Study.open(planted.path) as study:
        for item in list(planted.truth)[:10]:
            for who in ("a", "b"):
                say(study, planted, item, who, note="why")
    made = overread("sample", "--n", "4", "--stream", "practice", cwd=tmp_path).stdout
    assert "People have settled 10 items. Of the 4 drawn 4 have a note" in made and "Hallucination" not in made
    draw = made.split("label --draw ")[1].split()[0]
    told = overread("label", "--plain", "--annotator", "new", "--draw", draw, cwd=tmp_path, stdin="c\n\n" * 4).stdout
    assert told.count("Because: why") == 4 and JUDGE not in told
    right = told.count("It agrees with yours.")
    assert f"Practice: {right} of 4 as settled" in told
    status = overread("status", cwd=tmp_path).stdout
    assert f"new: {right} of 4 as settled" in status and "new: 0 labelled (4 practice)" in status
