"""A grid, a ranking or a number line by line: what a line does to it, and what is asked and told of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotate.cli.plain_line import ALIASES
from annotate.desk.actions import BY_ID, PART_ACTS, KeyMap, PartAct, normalise_key
from annotate.desk.decision_words import decision_words
from annotate.desk.entries import Entry, Grid, Number, Ranking
from annotate.desk.part_keys import part_act
from judges.benchmarks.decisions import read_number

_WORDS = {
    "back": "part_back", "done": "part_done", "unsure": "part_unsure", "up": "cell_up", "down": "cell_down",
    "left": "cell_left", "right": "cell_right", "ties": "tie",
}  # fmt: skip
"""Words for what an open part takes, beside the ids of its actions."""
_CLOSE = frozenset({"close", "escape"})
_SHOW = "show"
_BETWEEN = str.maketrans("", "", " >,;")
"""What may stand between the answers of a line: "b > a = d, c"."""


def read_part_line(line: str, entry: Entry, keymap: KeyMap) -> list[PartAct] | None:
    """What a line does to the open part, act by act; None when it is not wholly about it.

    An empty line takes it when it is whole. A grid takes cells one after another ("y y n", "yyn"), a ranking letters
    and "=" ("b > a = d"), a number its digits. A capital label fills a row.
    """
    text = line.strip()
    if not text:
        return [PartAct("done")]
    said = text.casefold().replace("_", " ")
    if said in _CLOSE:
        return [PartAct("close")]
    if (act := _word(said, entry)) is not None:
        return [act]
    if isinstance(entry, Number):
        return _number(text, entry)
    if len(text) > 1 and (said.replace(" ", "_") in BY_ID or said in ALIASES):
        return None
    return _keys(text, entry, keymap)


def _word(said: str, entry: Entry) -> PartAct | None:
    name = _WORDS.get(said, said.replace(" ", "_"))
    if name in PART_ACTS and name != "show_entry":
        return PART_ACTS[name] if BY_ID[name].scope in ("part", entry.decision.kind) else None
    words = said.split()
    if isinstance(entry, Ranking) and len(words) == 2 and words[0] == _SHOW and words[1].isdecimal():
        return PartAct("show", number=int(words[1]))
    if isinstance(entry, Grid):
        named = [label.value for label in entry.decision.labels if label.title.casefold() == said]
        return PartAct("answer", named[0]) if named else None
    return None


def _number(text: str, entry: Number) -> list[PartAct] | None:
    """A number that is written out is taken at once; one digit for tenths is read back first."""
    written = "".join(map(normalise_key, text)).replace(",", ".")
    if read_number(written) is None:
        return None
    typed = Number(entry.decision)
    for character in written:
        typed = typed.add(character)
    if typed.typed != written:
        return None
    acts = [*[PartAct("back")] * len(entry.typed), *(PartAct("type", character) for character in written)]
    means_other = bool(typed.text) and read_number(typed.text) != read_number(written)
    return acts if means_other else [*acts, PartAct("done")]


def _keys(text: str, entry: Entry, keymap: KeyMap) -> list[PartAct] | None:
    acts = [part_act(entry, keymap, key) for key in text.translate(_BETWEEN)]
    found = [act for act in acts if act is not None]
    if not found or len(found) < len(acts) or any(act.kind == "show" for act in found[1:]):
        return None
    return found


# What is said


def part_prompt(entry: Entry) -> str:
    """What is asked next."""
    if isinstance(entry, Number):
        return f"{entry.text}: Enter takes it: " if entry.text else f"A number ({entry.lacks}): "
    if not entry.lacks:
        return "All is given: Enter takes it, back takes the last one back: "
    if isinstance(entry, Grid):
        column = entry.decision.columns[entry.column][1]
        labels = ", ".join(f"{label.key} {label.title}" for label in entry.decision.labels)
        return f"{entry.here.title}, {column}? {labels}: "
    return "Next best: " if entry.groups else "Best: "


def part_lines(entry: Entry, before: Entry | None) -> Iterator[str]:
    """What is new of an open part since `before`, another entry or the same one as it was."""
    opened = before is None or before.decision != entry.decision
    if opened:
        yield entry.decision.asks
        yield from _how(entry)
    if isinstance(entry, Grid) and (opened or not isinstance(before, Grid) or before.row != entry.row):
        yield from _row(entry)
    if isinstance(entry, Ranking) and (entry.groups or not opened) and entry != before:
        order = decision_words(entry.decision, entry.text, [row.id for row in entry.entries])
        tie = ", and the next one ties with the last" if entry.tying else ""
        yield f"Order: {order or 'nothing yet'}{tie}. {entry.lacks or 'every one is placed'}."


def _row(grid: Grid) -> Iterator[str]:
    """The row of the cursor, and what is given of it."""
    here = grid.here
    yield f"{here.title}: {here.text}" if here.text else here.title
    titles = {label.value: label.title for label in grid.decision.labels}
    cells = [grid.cell(grid.row, column) for column in range(len(grid.decision.columns))]
    named = zip(grid.decision.columns, cells, strict=True)
    given = [f"{title} {titles[value]}" for (_, title), value in named if value is not None]
    if given:
        yield f"So far: {', '.join(given)}."


def _how(entry: Entry) -> Sequence[str]:
    if isinstance(entry, Grid):
        capitals = ", ".join(f"{label.key.upper()} {label.title} for the whole row" for label in entry.decision.labels)
        state = f"{entry.lacks}." if entry.lacks else "Every cell is answered."
        return [f"{state} One cell after another, several may be typed at once; {capitals}.",
                "back takes one back, up and down go to other rows, close leaves the grid."]  # fmt: skip
    if isinstance(entry, Ranking):
        letters = ", ".join(entry.letters)
        return [f"There are {len(entry.entries)}: {letters}. Type their letters from best to worst, = between two that "
                "tie. show and a number reads one again, back takes the last one back, close leaves it."]  # fmt: skip
    return ()
