"""The line-by-line desk: what is said, in which order, and what each line does to the study."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from annotate.cli.plain import PlainDesk
from store.errors import SaveError
from store.journal import journal_path
from store.records import LabelState
from store.study import Study
from tests.desk.desk_studies import (
    JUDGE,
    RATIONALE,
    SYSTEM,
    Clock,
    Spec,
    blind_labels,
    current_labels,
    events,
    go_to_first,
    here,
    kinds,
    make_study,
    qa,
    sit,
)
from tests.desk.practice_studies import SAFE_WHY, begin, other, settled_here, settled_study
from tests.desk.test_save_errors import full_database, full_journal
from tests.plain.conftest import Typist


def only(study: Study) -> LabelState:
    [state] = current_labels(study).values()
    return state


# --- what is said ---


def test_an_item_is_read_from_its_place_to_its_labels(say: Typist) -> None:
    text = say()
    lines = text.splitlines()
    assert lines[0].startswith("Reading desk, line by line. Reader dr.li. 0 of 12 items are labelled.")
    start = lines.index("Item 1 of 12. Question answering. Blind: no verdict is shown before your label.")
    assert lines[start + 1].startswith("Question: What dog does Martin like")
    assert "Reference: Golden Retriever" in lines and "Response: He likes Labradors." in lines
    assert "  1: Martin changed his preference." in lines
    assert "Dialogue of the session (the judge did not see this): 3 turns, closed; open dialogue reads it." in lines
    assert lines[-5:] == [
        "Question answering: c Correct; h Hallucination; o Omission.", "Your label: ", "",
        "0 of 12 items are labelled.", "This sitting: 0 labelled in 0 min.",
    ]  # fmt: skip


def test_what_was_saved_is_said(say: Typist) -> None:
    assert "Saved: Hallucination, unsure." in say("H")


def test_the_item_is_read_again_only_when_it_is_another(say: Typist) -> None:
    text = say("n one", "t 1", "! 2", "f", "c")
    assert text.count("Item 1 of 12.") == 1 and text.count("Item 2 of 12.") == 1


def test_what_was_said_of_an_item_is_read_with_it(say: Typist) -> None:
    text = say("n too vague", "t fabrication", "! serious", "r 40 mg", "e 3", "f", "H", "back")
    again = text[text.rindex("Item 1 of 12.") :]
    for sentence in ("Your label: Hallucination, unsure.", "Marked: tags fabrication.", "Marked: harm serious.",
                     "Marked: reference wrong, right is: 40 mg.", "Marked: evidence turns 3.",
                     "Marked: flagged for the lead.", "Marked: note: too vague."):  # fmt: skip
        assert sentence in again


def test_help_names_every_key_label_reason_and_degree(say: Typist) -> None:
    text = say("?")
    for words in ("c Correct; h Hallucination; o Omission", "n or note: Write a note.", "q or quit", "open and a panel",
                  "clear: Take your label off", "x c too little context", "! 3 life-threatening"):  # fmt: skip
        assert words in text
    assert "pagedown" not in text and "backspace" not in text, "only what can be typed in a line"


def test_the_rubric_is_read(say: Typist, study: Study) -> None:
    rubric = sit(study, "never").current.task.rubric
    assert rubric.startswith("# ") and "**" in rubric
    for text in (say("g"), say("rubric")):
        assert rubric.splitlines()[0].removeprefix("# ") in text
        assert "**" not in text and "# " not in text, "no signs of markup are read aloud"


def test_a_command_typed_alone_says_what_may_follow(say: Typist) -> None:
    text = say("x", "!", "t", "n", "/", ":", "open", "e")
    for words in ("Cannot judge: x o outside my specialty;", "Harm if it were believed: ! 0 none;",
                  "Tags: t 1 fabrication;", "There is no note. n and words writes one.", "Find what? / and a word.",
                  "Which item? : and its number, 1 to 12.", "Open which panel? question, reference",
                  "Which turn? e and its number."):  # fmt: skip
        assert words in text


def test_the_dialogue_is_read_with_speakers_in_words_and_opening_it_is_stored(say: Typist, study: Study) -> None:
    text = say("v", "c")
    assert "  Turn 1, User: My dog is a Labrador." in text and "  Turn 2, Assistant: A fine breed." in text
    assert events(study)[0]["panels"] == ["dialogue"]


def test_a_closed_panel_opens_by_id_or_title(tmp_path: Path, type_lines: Typist) -> None:
    with make_study(tmp_path / "c.duckdb", [qa(context="memory 17"), qa(context="memory 17")]) as study:
        text = type_lines(sit(study, "never"), "open context", "c", "open retrieved from the system", "c")
        assert text.count("Retrieved from the system (the judge did not see this): memory 17") == 2
        assert [event["panels"] for event in events(study)] == [["context"], ["context"]]


def test_find_reads_places_also_of_closed_panels_and_stores_that_they_were_opened(say: Typist, study: Study) -> None:
    text = say("/ RETRIEVER", "find labrador", "/zebra", "c")
    assert "Found in 2 places.\n  Reference: Golden Retriever\n" in text
    assert "  Dialogue of the session, 3: Now I prefer the Golden Retriever." in text
    assert "Found in 0 places." in text
    assert events(study)[0]["panels"] == ["dialogue"]


def test_differences_are_said_in_words(tmp_path: Path, type_lines: Typist) -> None:
    with make_study(tmp_path / "d.duckdb", [qa(reference="40 mg daily", response="50 mg daily")]) as study:
        text = type_lines(sit(study, "never"), "d")
        assert "Only in Reference: number 40.\nOnly in Response: number 50.\n" in text


def test_similar_turns_and_steps_read_the_turn_and_e_marks_it(tmp_path: Path, type_lines: Typist) -> None:
    with make_study(tmp_path / "e.duckdb", [qa(evidence=["Martin prefers the Golden Retriever now."])]) as study:
        text = type_lines(sit(study, "never"), "}", "}", "]", "e", "{", "e")
        assert "Your label:   Turn 1, User: My dog is a Labrador.\nYour label:   Turn 2, Assistant:" in text
        assert "Turn 3, 1 of 1 most alike: similar words, not proof." in text
        assert only(study).evidence == (1, 2) and text.count("marked as evidence") == 2


def test_evidence_is_marked_by_number_and_only_on_turns_there_are(say: Typist, study: Study) -> None:
    text = say("e 3", "e3", "e 1", "e 0", "e 4", "e 99999999999999999999", "e -1", "e x")
    assert only(study).evidence == (0,)
    assert text.count("There are turns 1 to 3.") == 3


# --- labelling ---


def test_label_and_next(say: Typist, study: Study) -> None:
    text = say("c", "hallucination", "3", "x o", "cannot judge needs look-up", "s")
    states = [event["state"] for event in events(study)]
    assert [state["value"] for state in states[:3]] == ["Correct", "Hallucination", "Omission"]
    assert [state["cannot_judge"] for state in states[3:5]] == ["outside_specialty", "needs_look_up"]
    assert states[5]["skipped"] and "5 of 12 items are labelled.\n" in text
    assert "1 skipped; they come back at the end." in text


@pytest.mark.parametrize("line", ["x unclear", "x outsid", "cannot judge it at all", "! very", "t 99", "t nonsense",
                                  "c tired", "I think so", "s it is late"])  # fmt: skip
def test_what_is_not_wholly_understood_stores_nothing_and_says_so(say: Typist, study: Study, line: str) -> None:
    text = say(line)
    assert kinds(study) == []
    assert "nothing" in text.lower()


def test_enter_on_an_unlabelled_item_does_nothing(say: Typist, study: Study) -> None:
    assert "Choose a label first" in say("") and kinds(study) == []


def test_all_parts_in_one_line_or_one_after_the_other(parts_study: Study, type_lines: Typist) -> None:
    text = type_lines(sit(parts_study, "never"), "a i", "m", "o", "inside", "none supported")
    labels = [(event["state"]["value"], event["state"]["parts"]["included"]) for event in events(parts_study)]
    assert labels == [("2", "true"), ("1", "false"), ("0", "true")]
    assert "The rest of the label: " in text


def test_a_whole_line_replaces_what_was_pressed_before_it(parts_study: Study, type_lines: Typist) -> None:
    desk = sit(parts_study, "never")
    item = here(desk)
    type_lines(desk, "o", "a i")
    assert current_labels(parts_study) == {item: LabelState(value="2", parts={"included": "true"})}


def test_notes_are_never_lost_by_typing_the_key_alone(say: Typist, study: Study) -> None:
    text = say("n isn't “right”, 每日一次  twice", "n", "note", "n -", "n")
    assert text.count("The note is: isn't “right”, 每日一次  twice") == 2
    assert [event["state"]["note"] for event in events(study)] == ["isn't “right”, 每日一次  twice", ""]
    assert "There is no note." in text


def test_a_note_of_one_letter_is_a_note_and_no_label(say: Typist, study: Study) -> None:
    say("n c")
    assert only(study) == LabelState(note="c")


def test_reference_wrong_with_and_without_the_right_answer(say: Typist, study: Study) -> None:
    text = say("r", "r 12.5 mg", "r")
    states = [event["state"] for event in events(study)]
    assert [(s["reference_wrong"], s["right_answer"]) for s in states] == [(True, ""), (True, "12.5 mg"), (False, "")]
    assert "r and the right answer adds it" in text


def test_undo_says_what_the_item_says_now(say: Typist) -> None:
    text = say("c", "n why", "u", "u", "redo")
    assert "Undone: label. The item has no label now." in text
    assert "Done again: label. The item has the label Correct now." in text


def test_going_to_an_item_by_number(say: Typist) -> None:
    text = say(": 12", "go to 99", "go to five", "home")
    assert "Item 12 of 12." in text and "There are items 1 to 12." in text and "Which item?" in text


def test_the_end_of_the_queue_and_of_the_time_are_said(study: Study, type_lines: Typist) -> None:
    assert "This is the end of the queue.\n12 of 12" in type_lines(sit(study, "never"), *"c" * 12)
    clock = Clock()
    desk = sit(study, "never", annotator="b", minutes=1, clock=clock)
    clock.wait(90)
    assert "The time of this sitting is over.\n1 of 12" in type_lines(desk, "c", "c")


def test_quit_and_the_end_of_input_leave_alike(study: Study, type_lines: Typist) -> None:
    for number, last in enumerate(["q", "quit", "exit", None]):
        lines = ["c", *([last] if last else [])]
        text = type_lines(sit(study, "never", annotator=f"reader {number}"), *lines)
        assert text.endswith("1 of 12 items are labelled.\nThis sitting: 1 labelled in 0 min.\n")


def test_keys_are_remapped(study: Study, type_lines: Typist) -> None:
    text = type_lines(sit(study, "never"), "k", "s", "?", remapped={"skip": ["k"]})
    assert kinds(study) == ["skip"] and "k or skip: Skip" in text and "Nothing was done" in text


# --- the policies ---

TELLING = (JUDGE, RATIONALE, "Omission.", SYSTEM, "It differs", "It agrees", "says:")


def test_item_says_the_verdict_after_the_label_and_not_a_word_before(study: Study, type_lines: Typist) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=False)
    text = type_lines(desk, "?", "v", "j", "/ o", "h", "", "q")
    before, after = text.split("Saved: Hallucination.")
    assert not [word for word in TELLING if word in before.replace("o Omission.", "")]
    assert (
        f"Judge {JUDGE} says: Omission. It differs from yours.\nBecause: {RATIONALE}\nThe system is {SYSTEM}." in after
    )
    assert "Enter keeps your label, a label changes it: " in after and "Kept: Hallucination." in after


def test_item_revises_with_a_label(study: Study, type_lines: Typist) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=False)
    item = here(desk)
    text = type_lines(desk, "h", "o")
    assert "Changed and saved: Omission." in text
    assert current_labels(study)[item].value == "Omission" and blind_labels(study)[item].value == "Hallucination"


def test_a_verdict_is_said_once_and_again_when_asked_for(study: Study, type_lines: Typist) -> None:
    desk = sit(study, "item")
    go_to_first(desk, hidden=False)
    assert type_lines(desk, "h", "n why", "t 1", "f", "j").count(f"Judge {JUDGE} says") == 2


def test_never_says_nothing_of_the_judge(study: Study, type_lines: Typist) -> None:
    text = type_lines(sit(study, "never"), *["h", "back", "j", "c"] * 6)
    assert not [word for word in TELLING if word in text.replace("o Omission.", "")]
    assert "No verdict is shown on this item now." in text


def test_assisted_says_the_verdict_with_the_item_and_enter_confirms(study: Study, type_lines: Typist) -> None:
    desk = sit(study, "assisted")
    first = here(desk)
    text = type_lines(desk, "", "h")
    item, rest = text.split("Enter confirms the verdict, a label overrides it: ", 1)
    assert f"Judge {JUDGE} says: Omission." in item and "Assisted: the verdict stands beside the item." in item
    assert "Saved: Omission." in rest and "Saved: Hallucination." in rest
    assert current_labels(study)[first].value == "Omission"


def test_block_reviews_line_by_line(study: Study, type_lines: Typist) -> None:
    desk = sit(study, "block")
    text = type_lines(desk, *"h" * 10, "n the breed is named", "o", "v", "d", ": 3", "s", "t 1", "x a", "q")
    before, review = text.split("Review of a block: 10 labelled, ")
    assert not [word for word in TELLING if word in before.replace("o Omission.", "")]
    assert review.startswith(f"{review[0]} differ, ") and "stay hidden." in review.splitlines()[0]
    assert f"Judge {JUDGE} says: Omission. It differs from yours." in review
    assert "Reference: Golden Retriever" in review, "v reads the whole item in a review"
    assert review.count("is not for the review") == 3
    acts = [event for event in events(study) if event["kind"] not in ("label", "reveal")]
    assert [act["kind"] for act in acts] == ["mark", "revise", "mark", "revise"]
    assert acts[0]["item_id"] == acts[1]["item_id"] != acts[2]["item_id"] == acts[3]["item_id"]
    assert acts[2]["state"]["tags"] and acts[3]["state"]["cannot_judge"] == "ambiguous"


def test_a_review_goes_on_to_the_next_item_and_enter_keeps(study: Study, type_lines: Typist) -> None:
    text = type_lines(sit(study, "block"), *"o" * 10, *[""] * 10)
    assert text.count("Line 1 of") == 1 and "Item 11 of 12." in text
    assert text.count("c Correct; h Hallucination") >= 11


# --- hostile texts ---

HOSTILE = (
    "\x1b]52;c;aGk=\x07\x1b[31m\x9b31m\x00\u202eevil\r\n[/x][@click=app.quit]\nYour label: c\nItem 9 of 9. Blind.\x7f"
)


def test_hostile_texts_reach_the_terminal_harmless_and_at_no_place_of_the_desks_own(
    tmp_path: Path, type_lines: Typist
) -> None:
    spec = Spec(payload={"question": HOSTILE, "response": HOSTILE, "evidence": [HOSTILE]}, rationale=HOSTILE)
    with make_study(tmp_path / "h.duckdb", [spec, spec]) as study:
        desk = sit(study, "assisted")
        text = type_lines(
            desk, "v", "/ evil", "d", "j", f"n {HOSTILE}".replace("\n", " ").replace("\r", " "), "n", "back"
        )
        assert not [c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2028"]
        assert "[/x][@click=app.quit]" in text
        lines = text.splitlines()
        assert "Your label: c" not in lines and "Item 9 of 9. Blind." not in [line[:19] for line in lines]


# --- when saving fails ---


@pytest.mark.parametrize("failing", [full_journal, full_database])
def test_a_failed_save_asks_again_and_completes_once(study: Study, failing: object) -> None:
    desk = sit(study, "never")
    out = io.StringIO()
    trouble = failing(study)  # type: ignore[operator]

    class Person(io.StringIO):
        """Types a label, tries again twice, and makes room in between."""

        def readline(self, *_: object) -> str:  # type: ignore[override]
            lines.append(1)
            if len(lines) == 1:
                trouble.__enter__()
                return "h\n"
            if len(lines) == 3:
                trouble.__exit__(None, None, None)
            return "\n" if len(lines) <= 3 else ""

    lines: list[int] = []
    PlainDesk(desk, Person(), out).run()
    said = out.getvalue()
    assert said.count("NOT SAVED.") == 2 and said.count("Enter tries again, q leaves: ") == 2
    assert "Saved: Hallucination." in said and "1 of 12 items are labelled." in said
    assert kinds(study) == ["label"]


def test_leaving_after_a_failed_save_says_so_with_the_exit_code_of_a_study(study: Study) -> None:
    desk = sit(study, "never")
    out = io.StringIO()
    with full_journal(study), pytest.raises(SaveError) as failure:
        PlainDesk(desk, io.StringIO("h\nq\nc\n"), out).run()
    assert failure.value.exit_code == 4 and "0 of 12 items are labelled." in out.getvalue()
    assert kinds(study) == [] and journal_path(study.path).exists()


def test_practice_tells_what_was_settled_after_the_label_and_how_it_went(tmp_path: Path, type_lines: Typist) -> None:
    with settled_study(tmp_path / "p.duckdb") as study:
        desk = begin(study)
        value, first = settled_here(desk), other(settled_here(desk))
        text = type_lines(desk, "verdict", "v", "open reference", "n mine", first, "verdict", "", "q")
    before, after = text.split("Saved: ", 1)
    assert "zqxj" not in before and "Settled" not in before and "No verdict is shown on this item now." in before
    assert "Practice: what people settled is shown after your label, never a verdict." in before
    said = f"Settled: {value}, by 2 of 2 people. It differs from yours.\nBecause: {SAFE_WHY}\n"
    assert after.startswith(("Hallucination.\n" if first == "h" else "Correct.\n") + said) and after.count(said) == 2
    assert "Practice: 0 of 1 as settled at the first try." in after
    assert JUDGE not in text and RATIONALE not in text
