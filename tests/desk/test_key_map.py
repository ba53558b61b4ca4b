"""Keys: one owner each, remapped from a file, values that are not shortcuts, what an input method gives."""

from __future__ import annotations

import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.cli.label import check_keys, load_keys
from annotate.desk.actions import (
    ACTIONS,
    BY_ID,
    HARMS,
    REASONS,
    Action,
    Choice,
    KeyMap,
    PartAct,
    Unknown,
    is_input_method,
    normalise_key,
)
from annotate.desk.entries import open_entry
from annotate.desk.part_keys import part_act
from judges.benchmarks.benchmark import Label, Part, TaskDefinition
from judges.benchmarks.decisions import decision_of
from judges.benchmarks.halbench.tasks import RANKING, STANCE
from judges.benchmarks.halumem.tasks import ACCURACY, QA, TASKS
from judges.benchmarks.medmemorybench.tasks import MCD
from store.errors import UsageError
from tests.desk.part_studies import payload_of


def task(*labels: Label, parts: tuple[Part, ...] = ()) -> TaskDefinition:
    return TaskDefinition("made", "Made up", "Is it?", "nominal", labels, (), parts)


def options(count: int) -> tuple[Label, ...]:
    """A scale 1 … count whose values are no shortcuts: only the first ten have a digit, the next one up."""
    free = [letter for letter in string.ascii_lowercase if letter not in {key for a in ACTIONS for key in a.keys}]
    return tuple(
        Label(str(n), f"Point {n}", free[n - 1], str(n % 10) if n <= 10 else "") for n in range(1, count + 1)
    )  # fmt: skip


# --- the registry ---


def test_every_action_has_its_own_id_keys_and_words() -> None:
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)
    for scopes in (("item", "everywhere"), ("part", "checklist"), ("part", "ranking")):
        keys = [key for action in ACTIONS if action.scope in scopes for key in action.keys]
        assert len(set(keys)) == len(keys)
    for action in ACTIONS:
        assert action.id.isidentifier() and action.keys and len(action.description) > 8
    assert dict(BY_ID) == {action.id: action for action in ACTIONS}


def test_no_default_key_is_ctrl_s_or_what_a_terminal_keeps() -> None:
    keys = {key for action in ACTIONS for key in action.keys}
    assert keys.isdisjoint({"ctrl+s", "ctrl+z", "ctrl+c", "ctrl+p", "escape", "ctrl+d"})


def test_second_keys_are_single_characters_with_ids_and_words() -> None:
    for menu in (REASONS, HARMS):
        assert all(len(key) == 1 for key in menu)
        assert len({stored for stored, _ in menu.values()}) == len(menu)


@pytest.mark.parametrize("definition", TASKS, ids=lambda definition: definition.task)
def test_every_label_of_the_benchmark_has_a_letter_a_digit_and_an_unsure_letter(definition: TaskDefinition) -> None:
    keymap = KeyMap(definition)
    for part, labels in [("", definition.labels), *((part.id, part.labels) for part in definition.parts)]:
        for label in labels:
            assert keymap.resolve(label.key) == keymap.resolve(label.digit) == Choice(part, label.value)
            assert keymap.resolve(label.key.upper()) == Choice(part, label.value, unsure=True)


# --- clashes ---


def test_a_label_key_that_is_an_actions_is_refused_and_both_are_named() -> None:
    with pytest.raises(UsageError) as refusal:
        KeyMap(task(Label("safe", "Safe", "s", "1")))
    assert "'s'" in refusal.value.title and "label 'Safe' of made" in refusal.value.title
    assert "action 'skip'" in refusal.value.title and "--keys" in refusal.value.hint


def test_two_criteria_with_one_key_are_refused_and_both_are_named_also_with_equal_titles() -> None:
    yes = Label("true", "Yes", "y", "1")
    for other in (Label("true", "Yes", "y", "2"), Label("true", "Yes", "j", "1")):
        with pytest.raises(UsageError) as refusal:
            KeyMap(task(yes, parts=(Part("seen", "Seen?", (other,)),)))
        assert "label 'Yes' of made and label 'Yes' of made, part 'seen'" in refusal.value.title


def test_two_labels_of_one_title_with_one_key_are_refused() -> None:
    with pytest.raises(UsageError, match="two owners"):
        KeyMap(task(Label("a", "Same", "y", "1"), Label("b", "Same", "y", "2")))


def test_a_remapped_key_on_a_shifted_label_is_refused() -> None:
    with pytest.raises(UsageError, match="'H' has two owners: label 'Hallucination' of qa, unsure and action 'help'"):
        KeyMap(QA, {"help": ["H"]})


UNTYPABLE = [("A", "1"), ("ä", "1"), ("aa", "1"), ("", "1"), ("y", "10"), ("y", "y")]


@pytest.mark.parametrize(("key", "digit"), UNTYPABLE)
def test_a_label_whose_keys_cannot_be_typed_is_refused(key: str, digit: str) -> None:
    with pytest.raises(UsageError, match="cannot have the keys"):
        KeyMap(task(Label("a", "A", key, digit)))


# --- values are not shortcuts ---


@pytest.mark.parametrize("count", range(1, 13))
def test_one_to_twelve_options_store_their_value_and_nothing_else(count: int) -> None:
    labels = options(count)
    keymap = KeyMap(task(*labels), {"next_item": ["right"]})
    stored = [keymap.resolve(label.key) for label in labels]
    assert stored == [Choice("", str(n)) for n in range(1, count + 1)]
    digits = [keymap.resolve(label.digit) for label in labels if label.digit]
    assert digits == [Choice("", str(n)) for n in range(1, min(count, 10) + 1)]


def test_a_digit_gives_the_label_that_owns_it_not_the_value_of_that_name() -> None:
    keymap = KeyMap(ACCURACY)
    assert keymap.resolve("7") == Choice("included", "true")
    swapped = task(Label("1", "One", "y", "2"), Label("2", "Two", "z", "1"))
    assert KeyMap(swapped).resolve("1") == Choice("", "2")


# --- full width, input methods, layouts ---


@given(st.sampled_from([chr(code) for code in range(0x21, 0x7F)]))
def test_the_full_width_form_of_a_key_is_the_key(key: str) -> None:
    assert normalise_key(chr(ord(key) + 0xFEE0)) == key


@given(st.characters())
def test_normalising_gives_one_character_and_never_makes_a_letter_of_a_sign(key: str) -> None:
    normal = normalise_key(key)
    assert len(normal) == 1
    if normal != key:
        assert 0xFF01 <= ord(key) <= 0xFF5E or key.isdecimal()


@pytest.mark.parametrize("key", ["²", "ª", "º", "①", "½", "ℂ"])
def test_keys_of_european_keyboards_are_no_labels(key: str) -> None:
    assert isinstance(KeyMap(QA).resolve(key), Unknown)


@pytest.mark.parametrize("key", ["中", "あ", "ア", "ｱ", "한", "。", "、", "「", "【"])
def test_an_input_method_is_told(key: str) -> None:
    assert is_input_method(key)
    assert KeyMap(QA).resolve(key) == Unknown("input method is on: switch it to English")


@pytest.mark.parametrize("key", ["с", "ש", "ش", "η", "é"])
def test_letters_of_another_layout_are_told(key: str) -> None:
    hint = KeyMap(QA).resolve(key)
    assert isinstance(hint, Unknown) and "English" in hint.hint and "digits" in hint.hint


@given(st.text(min_size=1, max_size=3))
def test_any_key_has_a_meaning_and_none_crashes(key: str) -> None:
    assert isinstance(KeyMap(QA).resolve(key), Choice | Action | Unknown)


def test_capitals_that_are_no_labels_mean_the_action() -> None:
    keymap = KeyMap(QA)
    assert keymap.resolve("N") == keymap.resolve("n") == BY_ID["note"]
    assert keymap.resolve("Q") == BY_ID["quit"]


# --- the key file ---


def keys_file(folder: Path, text: str) -> Path:
    path = folder / "my-keys.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_key_file_moves_actions(tmp_path: Path) -> None:
    path = keys_file(tmp_path, 'skip = "k"\nundo = ["ctrl+z", "z"]\nnote = "ｗ"\npace = "f6"\n')
    keymap = KeyMap(QA, load_keys(path))
    assert keymap.resolve("k") == BY_ID["skip"] and keymap.resolve("s") == Unknown()
    assert keymap.resolve("ctrl+z") == keymap.resolve("z") == BY_ID["undo"]
    assert keymap.keys_of["undo"] == ("ctrl+z", "z") and keymap.keys_of["flag"] == ("f",)
    assert keymap.resolve("w") == BY_ID["note"], "a full-width letter in the file is that letter"
    assert keymap.resolve("f6") == BY_ID["pace"]


def test_two_actions_can_swap_keys(tmp_path: Path) -> None:
    keymap = KeyMap(QA, load_keys(keys_file(tmp_path, 'skip = "f"\nflag = "s"\n')))
    assert (keymap.resolve("f"), keymap.resolve("s")) == (BY_ID["skip"], BY_ID["flag"])


BAD_FILES = {
    'skip = "k': "cannot be read",
    "skip = 5": "skip must be a key",
    'skip = ["k", 5]': "skip must be a key",
    'jump = "k"': "no action 'jump'",
    'skip = "n"': "two owners: action 'note' and action 'skip'",
    'skip = "c"': "two owners: label",
    'skip = "kk"': "no key 'kk'",
    'skip = ""': "no key ''",
    'skip = " "': "no key ' '",
    'skip = "ctrl+"': "no key 'ctrl+'",
    'skip = "escape"': "desk's own",
    'skip = "ctrl+c"': "desk's own",
    "quit = []": "needs a key",
}


@pytest.mark.parametrize(("text", "words"), BAD_FILES.items(), ids=BAD_FILES)
def test_a_bad_key_file_is_refused_and_named(tmp_path: Path, text: str, words: str) -> None:
    path = keys_file(tmp_path, text)
    with pytest.raises(UsageError) as refusal:
        check_keys(path, load_keys(path), [QA])
    assert words in str(refusal.value) and "my-keys.toml" in str(refusal.value)
    assert refusal.value.exit_code == 2


def test_a_key_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.toml"):
        load_keys(tmp_path / "nowhere.toml")
    (tmp_path / "binary.toml").write_bytes(b"skip = '\xff\xfe'")
    with pytest.raises(UsageError, match=r"binary\.toml"):
        load_keys(tmp_path / "binary.toml")


def test_the_key_file_of_the_configuration_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_keys(None) == {}
    (tmp_path / "overread").mkdir()
    (tmp_path / "overread" / "keys.toml").write_text('skip = "k"\n', encoding="utf-8")
    assert load_keys(None) == {"skip": ["k"]}


def test_a_clash_of_a_task_with_the_default_keys_names_the_task_and_no_file() -> None:
    bad = replace(QA, labels=(Label("safe", "Safe", "s", "1"),))
    with pytest.raises(UsageError) as refusal:
        check_keys(None, {}, [ACCURACY, bad])
    assert "label 'Safe' of qa" in refusal.value.title and ".toml" not in str(refusal.value)


# --- parts of more than one key ---


@pytest.mark.parametrize(
    ("definition", "remapped", "owners"),
    [
        (MCD, {"part_back": ["y"]}, ("label 'Yes'", "'part_back'")),
        (RANKING, {"tie": ["b"]}, ("an answer of ranking", "'tie'")),
        (STANCE, {"part_unsure": ["7"]}, ("an answer of stance", "'part_unsure'")),
        (RANKING, {"tie": ["enter"]}, ("'part_done'", "'tie'")),
    ],
)
def test_a_key_of_an_open_part_has_one_owner(
    definition: TaskDefinition, remapped: dict[str, list[str]], owners: tuple[str, str]
) -> None:
    with pytest.raises(UsageError) as refusal:
        KeyMap(definition, remapped)
    assert all(owner in refusal.value.title for owner in owners)


def test_the_keys_of_a_part_clash_with_nothing_outside_it() -> None:
    keymap = KeyMap(MCD, {"cell_down": ["c"], "part_back": ["delete"]})
    assert keymap.resolve("c") == Choice("", MCD.labels[0].value), "outside the grid it is the label"
    grid = open_entry(decision_of(MCD, "nodes"), payload_of("mcd", 0), "", ())
    assert part_act(grid, keymap, "c") == PartAct("move", down=1)
    assert part_act(grid, keymap, "delete") == PartAct("back") and part_act(grid, keymap, "backspace") is None
    assert part_act(grid, keymap, "ｙ") == PartAct("answer", "y"), "full-width letters count"
