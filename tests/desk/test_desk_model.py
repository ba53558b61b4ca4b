"""Any sequence of acts and restarts, against a simple model: what the study says, what was shown, what is blind.

The model knows no desk: it is told what was pressed and which item was in hand, and keeps for each item the label, the
label while blind, and whether the verdict was shown. It is written from the rules, not from the desk's code.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotate.desk.actions import HARMS, REASONS, Choice
from annotate.desk.opening import make_draw
from judges.benchmarks.halumem.tasks import ACCURACY, QA
from judges.calibration.sampling import is_never_shown
from store.draws import RevealPolicy
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import (
    ANNOTATOR,
    KEYMAPS,
    accuracy,
    blind_labels,
    current_labels,
    events,
    here,
    journaled,
    make_study,
    qa,
    sit,
)

SPECS = [
    *(qa("Omission" if number % 2 else "Correct") for number in range(4)), qa(None), qa("!"),
    accuracy("2", "true", "session"), accuracy("0", "false", "session"), accuracy("1", None, "session"),
    qa("Hallucination", "session"),
]  # fmt: skip
QA_KEYS = "choCHO123"
ACCURACY_KEYS = "amzAMZioIO210７８"
REQUIRED = {"qa": {""}, "accuracy": {"", "included"}}
TAGS = {"qa": QA.tags, "accuracy": ACCURACY.tags}


class Model:
    """What must be true of one person's labels."""

    def __init__(self, policy: RevealPolicy, verdicts: set[str], hidden: set[str]) -> None:
        self.policy, self.verdicts, self.hidden = policy, verdicts, hidden
        self.labels: dict[str, LabelState] = {}
        self.blind: dict[str, LabelState] = {}
        self.shown: set[str] = set()
        self.touched: set[str] = set()
        self.rows = 0
        self.done: list[tuple[str, LabelState, LabelState]] = []
        self.undone: list[tuple[str, LabelState, LabelState]] = []

    def label(self, item: str) -> LabelState:
        return self.labels.get(item, LabelState())

    def act(self, item: str, after: LabelState) -> None:
        """An act that stores, unless it changes nothing."""
        before = self.label(item)
        if after != before:
            self.done.append((item, before, after))
            self.undone.clear()
            self._store(item, after)

    def decide(self, item: str, after: LabelState) -> None:
        """A label or `cannot judge`; under `item` the verdict follows a first decision."""
        fresh = not self.label(item).decided
        self.act(item, after)
        if fresh and self.policy == "item" and item in self.verdicts - self.hidden - self.shown:
            self.show(item)

    def undo(self) -> str | None:
        if not self.done:
            return None
        item, before, after = self.done.pop()
        self.undone.append((item, before, after))
        self._store(item, before)
        return item

    def redo(self) -> str | None:
        if not self.undone:
            return None
        item, before, after = self.undone.pop()
        self.done.append((item, before, after))
        self._store(item, after)
        return item

    def show(self, item: str) -> None:
        self.shown.add(item)
        self.touched.add(item)
        self.rows += 1

    def _store(self, item: str, after: LabelState) -> None:
        self.labels[item] = after
        self.touched.add(item)
        self.rows += 1
        if item not in self.shown:
            self.blind[item] = after


class DeskMachine(RuleBasedStateMachine):
    """Presses keys on a real desk over a real study, and tells the model."""

    draws_policy: ClassVar[RevealPolicy]
    policy: ClassVar[RevealPolicy]

    @initialize()
    def sit_down(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="overread-desk-model-")
        self.study = make_study(Path(self.folder.name) / "s.duckdb", SPECS)
        self._other_person_labels_everything()
        make_draw(self.study, "", self.draws_policy, 7, "lead")
        self.mode = policy = self.policy
        self.half: dict[str, str] = {}
        self.half_unsure: dict[str, bool] = {}
        self.reviewing: set[str] = set()
        self.desk = sit(self.study, policy)
        items = [item.item_id for item in self.desk.queue.items]
        verdicts = {item for item in items if self.desk.ledger.read(item).verdicts}
        hidden = {item for item in items if policy in ("item", "block") and is_never_shown(item, ANNOTATOR, 7)}
        self.model = Model(policy, verdicts, hidden)
        self.tasks = {item: self.desk.ledger.read(item).item.task for item in items}
        note(f"hidden {sorted(items.index(item) for item in hidden)}")
        self._arrived()

    def _other_person_labels_everything(self) -> None:
        other = sit(self.study, "item", annotator="dr.okafor") if not self.study.rows("SELECT 1 FROM draws") else None
        self.study.writer.do(lambda connection: connection.execute("DELETE FROM draws"))
        assert other is not None
        for place in range(3):
            other.go_to(place + 1)
            other.set_note("mine alone")
            other.cannot_judge("o")
        self.others = events(self.study, "dr.okafor")

    # Telling the model what moving has shown

    def _arrived(self, finished: bool = False) -> None:
        """After anything that may have moved: what the rules say is shown now."""
        desk, model = self.desk, self.model
        if desk.review is None and finished:
            self.reviewing.clear()
        if self.mode == "assisted" and desk.phase != "done":
            item = here(desk)
            if not model.label(item).decided and item in model.verdicts - model.shown:
                model.show(item)
        if desk.review is not None:
            lines = set(desk.review.item_ids)
            assert self.mode == "block"
            if not lines <= self.reviewing:
                blocks = {desk.queue.block_of[desk.queue.place_of[item]] for item in lines}
                members = {desk.queue.items[place].item_id for block in blocks for place in desk.queue.block(block)}
                assert all(model.label(item).decided or model.label(item).skipped for item in members)
                due = {item for item in members if model.label(item).decided} & (model.verdicts - model.hidden)
                # What is due for the first time is there; lines of a review that was broken off come back with it.
                assert {item for item in due if item not in model.shown} <= lines <= due
            for item in sorted(lines - model.shown):
                model.show(item)
            self.reviewing |= lines

    def _forget_half(self) -> None:
        self.half, self.half_unsure = {}, {}

    # Acts

    @rule(keys=st.lists(st.sampled_from(QA_KEYS), min_size=1, max_size=7), parts=st.sampled_from(["ai", "Zo", "im"]))
    def label_some(self, keys: list[str], parts: str) -> None:
        """Whole labels for the next items, as a person gives them."""
        for key in keys:
            if self.desk.phase != "label":
                break
            for press in key if self.tasks[here(self.desk)] == "qa" else parts:
                self.press_label(press)

    @rule(key=st.sampled_from(QA_KEYS + ACCURACY_KEYS))
    def press_one(self, key: str) -> None:
        self.press_label(key)

    def press_label(self, key: str) -> None:
        desk, model = self.desk, self.model
        if desk.phase == "done":
            choice = Choice("", "Correct")
            desk.choose(choice)
            return
        item = here(desk)
        task = self.tasks[item]
        choice = KEYMAPS[task].resolve(key)  # type: ignore[assignment]
        if not isinstance(choice, Choice):
            return
        before = model.label(item)
        if not self.half and before.value is not None:
            self.half = {"": before.value, **before.parts}
            self.half_unsure = {"": before.unsure}
        self.half[choice.part] = choice.value
        self.half_unsure[choice.part] = choice.unsure
        if self.half.keys() >= REQUIRED[task]:
            parts = {part: value for part, value in self.half.items() if part}
            unsure = any(self.half_unsure.values())
            model.decide(item, replace(before, value=self.half[""], parts=parts, unsure=unsure, cannot_judge="",
                                       skipped=False))  # fmt: skip
            self._forget_half()
        was_review = desk.review is not None
        desk.choose(choice)
        self._arrived(finished=was_review)

    @rule(key=st.sampled_from([*REASONS, "?"]))
    def cannot_judge(self, key: str) -> None:
        desk = self.desk
        was_review = desk.review is not None
        if desk.phase != "done" and key in REASONS:
            item = here(desk)
            state = replace(self.model.label(item), value=None, parts={}, unsure=False, skipped=False,
                            cannot_judge=REASONS[key][0])  # fmt: skip
            self.model.decide(item, state)
            self._forget_half()
        desk.cannot_judge(key)
        self._arrived(finished=was_review)

    @rule()
    def enter(self) -> None:
        desk, model = self.desk, self.model
        was_review = desk.review is not None
        if desk.phase not in ("done", "review"):
            item = here(desk)
            [verdict] = desk.current.verdicts or [None]
            record = verdict.record if verdict is not None else None
            if self.mode == "assisted" and item in model.shown and not model.label(item).decided:
                given = {"": record.label, **record.parts} if record is not None and record.label else {}
                if given.keys() >= REQUIRED[self.tasks[item]]:
                    given |= self.half
                    parts = {part: value for part, value in given.items() if part}
                    model.decide(item, replace(model.label(item), value=given[""], parts=parts, cannot_judge="",
                                               unsure=any(self.half_unsure.values()), skipped=False))  # fmt: skip
                    self._forget_half()
            elif model.label(item).decided and not self.half:
                self._forget_half()
        desk.confirm()
        self._arrived(finished=was_review)

    @rule()
    def skip(self) -> None:
        desk = self.desk
        if desk.phase in ("label", "revealed") and not self.model.label(here(desk)).decided:
            self.model.act(here(desk), replace(self.model.label(here(desk)), skipped=True))
            self._forget_half()
        desk.skip()
        self._arrived()

    @rule()
    def clear(self) -> None:
        desk = self.desk
        if desk.phase in ("label", "revealed"):
            state = self.model.label(here(desk))
            if not self.half and (state.decided or state.skipped):
                self.model.act(here(desk), replace(state, value=None, parts={}, unsure=False, cannot_judge="",
                                                   skipped=False))  # fmt: skip
            self._forget_half()
        desk.clear()

    @rule(what=st.sampled_from(["harm", "tag", "note", "wrong", "right", "flag", "evidence"]), number=st.integers(0, 9))
    def mark(self, what: str, number: int) -> None:
        desk = self.desk
        state = self.model.label(here(desk)) if desk.phase != "done" else LabelState()
        tags = TAGS[self.tasks[here(desk)]] if desk.phase != "done" else ()
        tag = tags[number - 1] if 1 <= number <= len(tags) else ""
        after = {
            "harm": replace(state, harm=HARMS[str(number)][0]) if str(number) in HARMS else state,
            "tag": replace(state, tags=_toggled(state.tags, tag)) if tag else state,
            "note": replace(state, note=f"note {number}"),
            "wrong": replace(state, reference_wrong=True, right_answer=str(number)),
            "right": replace(state, reference_wrong=False, right_answer=""),
            "flag": replace(state, flagged=not state.flagged),
            "evidence": replace(state, evidence=tuple(sorted({number} ^ set(state.evidence)))),
        }[what]
        if desk.phase != "done" and not (what == "evidence" and desk.phase == "review"):
            self.model.act(here(desk), after)
        {
            "harm": lambda: desk.set_harm(str(number)), "tag": lambda: desk.toggle_tag(str(number)),
            "note": lambda: desk.set_note(f"note {number}"), "wrong": lambda: desk.set_reference_wrong(str(number)),
            "right": desk.withdraw_reference_wrong, "flag": desk.flag, "evidence": lambda: desk.toggle_evidence(number),
        }[what]()  # fmt: skip

    @rule(back=st.booleans())
    def undo_or_redo(self, back: bool) -> None:
        desk = self.desk
        if back and self.half:
            self._forget_half()
            desk.undo()
            return
        item = self.model.undo() if back else self.model.redo()
        (desk.undo if back else desk.redo)()
        if item is not None:
            self._forget_half()
            assert here(desk) == item
        self._arrived()

    @rule(step=st.sampled_from([-1, 1, 1]))
    def step(self, step: int) -> None:
        before = self.desk.place, self.desk.phase
        self.desk.move(step)
        if (self.desk.place, self.desk.phase) != before or self.desk.review is not None:
            self._forget_half()
        self._arrived()

    @rule(number=st.integers(0, len(SPECS) + 1))
    def go_to(self, number: int) -> None:
        if self.desk.review is None and 1 <= number <= len(SPECS):
            self._forget_half()
        self.desk.go_to(number)
        self._arrived()

    @rule()
    def first_open(self) -> None:
        if self.desk.review is None and self.desk.labelled < len(SPECS):
            self._forget_half()
        self.desk.first_open()
        self._arrived()

    @rule()
    def restart(self) -> None:
        path = self.study.path
        self.study.close()
        self.study = Study.open(path)
        assert self.study.notices == []
        self.desk = sit(self.study, self.mode)
        self._forget_half()
        open_items = [item.item_id for item in self.desk.queue.items if not self.model.label(item.item_id).decided]
        fresh = [item for item in open_items if not self.model.label(item).skipped]
        if self.desk.review is None and open_items:
            assert here(self.desk) == (fresh or open_items)[0]
        self._arrived()

    # What must always hold

    @invariant()
    def the_study_says_what_the_model_says(self) -> None:
        model, desk = self.model, self.desk
        assert current_labels(self.study) == {item: model.label(item) for item in model.touched}
        assert blind_labels(self.study) == model.blind
        assert desk.labelled == sum(state.decided for state in model.labels.values())
        if desk.phase in ("label", "revealed"):
            assert desk.state == model.label(here(desk))
            assert dict(desk.pending) == self.half

    @invariant()
    def nothing_is_blind_after_it_was_shown(self) -> None:
        shown: set[str] = set()
        rows = self.study.rows(
            "SELECT item_id, kind, mode FROM label_events WHERE annotator = ? ORDER BY clock", [ANNOTATOR]
        )
        for item, kind, mode in rows:
            assert not (item in shown and mode == "blind")
            if kind == "reveal":
                assert item not in shown, "shown once, stored once"
                shown.add(item)
        assert len(rows) == self.model.rows, "a row for each act that stores, and no other"
        assert shown == self.model.shown
        assert shown.isdisjoint(self.model.hidden) and (self.mode != "never" or not shown)

    @invariant()
    def what_is_on_the_desk_was_journaled_as_shown(self) -> None:
        desk = self.desk
        on_show = set(desk.review.item_ids) if desk.review is not None else set[str]()
        if desk.phase in ("label", "revealed") and desk.shown_verdicts():
            on_show.add(here(desk))
        if on_show:
            assert on_show <= {entry["item_id"] for entry in journaled(self.study, "reveal")}

    def teardown(self) -> None:
        if hasattr(self, "model"):
            assert events(self.study, "dr.okafor") == self.others, "what others said is untouched"
            self.study.close()
            self.folder.cleanup()


def _toggled(tags: tuple[str, ...], tag: str) -> tuple[str, ...]:
    return tuple(t for t in tags if t != tag) if tag in tags else (*tags, tag)


PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
"""Without shrinking: each step writes to disk, and the note of a failure lists every step."""
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
SITTINGS: list[tuple[RevealPolicy, RevealPolicy]] = [
    ("item", "item"), ("block", "block"), ("item", "block"), ("assisted", "assisted"), ("assisted", "item"),
    ("block", "never"),
]  # fmt: skip
"""The draw's policy and that of the sitting."""


def _run(draws: RevealPolicy, policy: RevealPolicy, examples: int, steps: int) -> None:
    machine = type("Machine", (DeskMachine,), {"draws_policy": draws, "policy": policy})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=QUIET, phases=PHASES),
    )


@pytest.mark.parametrize(("draws", "policy"), SITTINGS)
def test_any_sequence_of_acts_equals_the_model(draws: RevealPolicy, policy: RevealPolicy) -> None:
    _run(draws, policy, examples=4, steps=30)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("draws", "policy"), SITTINGS)
def test_many_long_sequences_equal_the_model(draws: RevealPolicy, policy: RevealPolicy) -> None:
    _run(draws, policy, examples=25, steps=80)
