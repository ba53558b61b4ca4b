"""The texts shown over the desk, as lines: the keys, the rubric, all that a judge said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from annotate.desk.actions import ACTIONS, HARMS, REASONS, KeyMap
from annotate.desk.lessons import Lesson
from annotate.desk.verdict_view import VerdictView
from annotate.tui.screens.help.markdown import markdown_lines
from annotate.tui.screens.label.pane import lesson_lines, tag_words, verdict_lines
from annotate.tui.screens.label.state import key_sign, key_signs
from annotate.tui.widgets.spans import Line, Span
from annotate.tui.widgets.text_diff import diff_lines
from judges.benchmarks.benchmark import TaskDefinition
from judges.benchmarks.decisions import VALUE, decisions_of
from store.safe_text import safe_line, safe_text
from store.study import Study
from store.tasks import task_versions

_KEY_CELLS = 14


def help_text(keymap: KeyMap, task: TaskDefinition | None) -> list[Line]:
    """All keys in words, from the registry and the task."""
    labels = list(_label_help(task)) if task is not None else []
    actions = [_key_line(keymap.keys_of[action.id], action.description) for action in ACTIONS]
    after = [
        ("cannot_judge", [(key, words) for key, (_, words) in REASONS.items()]),
        ("harm", [(key, words) for key, (_, words) in HARMS.items()]),
        ("tag", [(str(n), tag_words(tag)) for n, tag in enumerate(task.tags if task else (), start=1)]),
    ]
    second = [line for action, keys in after if keys for line in _second_help(keymap, action, keys)]
    palette = [_key_line(("ctrl+p",), "Find an action by its name")]
    return [*labels, [Span("Keys", "title")], *actions, *palette, *second]


def _label_help(task: TaskDefinition) -> Iterator[Line]:
    for decision in decisions_of(task):
        yield [Span(task.question if decision.id == VALUE else decision.title, "title")]
        if decision.kind == "ranking":
            yield _key_line(("a b c …",), "The next best response, by its letter")
        elif decision.kind == "number":
            yield _key_line(("0 … 9 .",), f"A number from {decision.low:g} to {decision.high:g}")
        for label in decision.labels:
            yield _key_line((label.key, label.digit), label.title + (f": {label.hint}" if label.hint else ""))
        if decision.kind == "checklist":
            yield _key_line(("shift + key",), "The same for the whole row")
    yield _key_line(("shift + label",), "The same label, unsure")
    yield []


def _second_help(keymap: KeyMap, action: str, keys: Sequence[tuple[str, str]]) -> list[Line]:
    first = " or ".join(map(key_sign, keymap.keys_of[action]))
    return [[], [Span(f"After {first}", "title")], *(_key_line((key,), words) for key, words in keys)]


def _key_line(keys: Sequence[str], words: str) -> Line:
    """Keys in a column of their own, the words beside them."""
    signs = key_signs(keys) or "(no key)"
    return [Span(f"  {signs:<{_KEY_CELLS}}", "key"), Span(words)]


def key_lines(keys: Sequence[tuple[str, str]], told: Sequence[str]) -> list[Line]:
    """Keys with what they do, then what there is to say."""
    wide = max(len(key) for key, _ in keys) + 3
    lines: list[Line] = [[Span(f"  {key:<{wide}}", "key"), Span(words)] for key, words in keys]
    return [*lines, *(line for words in told for line in ([], [Span(words)]))]


def rubric_text(task: TaskDefinition) -> list[Line]:
    """The rubric, and what there is to say where there is none."""
    return markdown_lines(task.rubric) or [[Span("This task has no rubric.", "muted")]]


def rubric_changes(study: Study, task: TaskDefinition) -> list[Line]:
    """What changed in the rubric for people since the text before, and when; none when it never changed.

    Nothing of the judge's rubric is in it: a retuned one comes from verdicts.
    """
    texts = [(str(one.definition.get("rubric", "")), one.at) for one in task_versions(study, task.task)]
    changed = [(before, now) for before, now in pairwise(texts) if before[0] != now[0]]
    if not changed:
        return []
    (old, _), (new, at) = changed[-1]
    title: Line = [Span(f"Changed {at[:16]}", "title"), Span("   - went, + came", "muted")]
    return [title, [], *diff_lines(old, new)]


def verdict_text(views: Sequence[VerdictView], system: str) -> list[Line]:
    """Whose answer it is, and all verdicts with their whole rationales, line ends kept."""
    lines: list[Line] = [[Span("System ", "muted"), Span(safe_line(system, 200))], []]
    for view in views:
        head = verdict_lines(view, 1)[:-1]
        reason = safe_text(view.rationale).split("\n") if view.rationale else ["no rationale kept"]
        lines += [*head, [], *([Span(f"  {line}")] for line in reason), []]
    return lines


def lesson_text(lesson: Lesson) -> list[Line]:
    """What people settled, with whole notes, line ends kept."""
    lines = lesson_lines(lesson, 1)[:1]
    for note in lesson.notes:
        lines += [[], *([Span(f"  {line}")] for line in safe_text(note).split("\n"))]
    return lines
