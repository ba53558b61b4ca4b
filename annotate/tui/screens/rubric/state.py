"""What the rubric screen shows and what its keys do; no screen is needed for it.

A task has a rubric for the people who label, part of its definition, and one for its judge in each language. Labels
carry the version of the first, verdicts that of the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from annotate.tui.screens.help.markdown import markdown_lines
from annotate.tui.widgets.spans import Line, Span, cut_line, keys_line, push_right
from annotate.tui.widgets.text_diff import diff_lines
from judges.benchmarks.benchmark import TaskDefinition
from judges.collect import task_definitions
from judges.rubric_edit import require_edited
from judges.setup import judge_prompt, study_rubric
from store.judge_rubrics import add_rubric, rubric_versions
from store.safe_text import safe_line, safe_text
from store.study import Study, now
from store.tasks import revise_task, task_versions

PEOPLE: Final = ""
"""In place of a language: the rubric for the people who label."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One rubric of a task: the people's, or the judge's in a language."""

    task: TaskDefinition
    language: str = PEOPLE

    @property
    def words(self) -> str:
        whom = f"for the judge, {self.language}" if self.language else "for people who label"
        return f"{self.task.title} · {whom}"


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a rubric.

    Attributes:
        origin: where it came from, in a word. used: labels or verdicts that were given under it.
        whole: what it is part of: a task's definition, or the judge's rubric by language.
    """

    version: str
    text: str
    at: str
    origin: str
    used: int
    whole: Mapping[str, object] = field(default_factory=dict)


def subjects_of(study: Study, tasks: Sequence[TaskDefinition], *, judges: bool = True) -> list[Subject]:
    """Every rubric of a study, each task's together; without `judges` those for people alone."""
    found: list[Subject] = []
    for task in tasks:
        languages = study_rubric(study, task).texts if judges else ()
        found += [Subject(task), *(Subject(task, language) for language in languages)]
    return found


def versions_of(study: Study, subject: Subject) -> list[Version]:
    """All versions of a rubric, oldest first; those that did not change its text are left out."""
    found = _judge_versions(study, subject) if subject.language else _people_versions(study, subject)
    kept: list[Version] = []
    for one in found:
        if kept and kept[-1].text == one.text:  # the labels changed, or another language's text
            kept[-1] = replace(one, used=kept[-1].used + one.used, at=kept[-1].at, origin=kept[-1].origin)
        else:
            kept.append(one)
    return kept


def _people_versions(study: Study, subject: Subject) -> list[Version]:
    return [
        Version(one.version, str(one.definition.get("rubric", "")), one.at, "edited" if number else "first", one.labels,
                one.definition)
        for number, one in enumerate(task_versions(study, subject.task.task))
    ]  # fmt: skip


def _judge_versions(study: Study, subject: Subject) -> list[Version]:
    name, prompt = subject.task.task, judge_prompt(study, subject.task)
    rows = study.rows(
        """SELECT j.prompt_version, count(*) FROM verdicts v JOIN judges j USING (judge_id)
        WHERE j.task = ? GROUP BY j.prompt_version""",
        [name],
    )
    used = dict(rows)

    def given(texts: Mapping[str, str]) -> int:
        """Verdicts of judges that were told this, in whichever languages they were asked."""
        languages = ("auto", *texts)
        return sum(used.get(replace(prompt, texts=texts, language=one).version, 0) for one in languages)

    return [
        Version(one.version, one.texts.get(subject.language, ""), one.at, one.origin,
                given(one.texts), dict(one.texts))
        for one in rubric_versions(study, name)
    ]  # fmt: skip


class RubricState:
    """The rubrics of a study: which is in hand, in which version, and whether its text or its changes are shown.

    Attributes:
        place: of the subject. row: of the version, 0 is the newest. message: what an edit came to.
        shows_signs: whether the text is shown as it is written, with its signs of markup.
    """

    def __init__(self, study: Study, tasks: Sequence[TaskDefinition], task: str = "", closed: str = "") -> None:
        """
        Args:
            task: the one to begin with; "" for the first.
            closed: why the judge's rubrics are not shown; "" when they are. A retuned one comes from verdicts, and may
                hold worked examples.
        """
        self.study, self._closed = study, closed
        self.subjects = subjects_of(study, tasks, judges=not closed)
        self.place = next((n for n, one in enumerate(self.subjects) if one.task.task == task), 0)
        self.row = 0
        self.shows_changes = self.shows_signs = False
        self.message = f"What the judge is told is {closed}" if closed else ""
        self.refused = bool(closed)
        self._read: dict[Subject, list[Version]] = {}

    @property
    def subject(self) -> Subject:
        return self.subjects[self.place]

    @property
    def versions(self) -> list[Version]:
        """Of the rubric in hand, the newest first."""
        if self.subject not in self._read:
            self._read[self.subject] = versions_of(self.study, self.subject)[::-1]
        return self._read[self.subject]

    @property
    def version(self) -> Version:
        return self.versions[self.row]

    @property
    def before(self) -> Version | None:
        """The version before the one in hand."""
        return self.versions[self.row + 1] if self.row + 1 < len(self.versions) else None

    # What keys do

    def move(self, by: int) -> None:
        """To an older version, or a newer one."""
        self.row = min(max(self.row + by, 0), len(self.versions) - 1)

    def other(self, by: int) -> None:
        """To another rubric."""
        self.place, self.row = (self.place + by) % len(self.subjects), 0

    def toggle(self) -> None:
        """The text, or what changed in it."""
        self.shows_changes = not self.shows_changes

    def toggle_signs(self) -> None:
        """The text to be read, or as it is written."""
        self.shows_signs, self.shows_changes = not self.shows_signs or self.shows_changes, False

    @property
    def text_to_edit(self) -> str:
        """Of the newest version, whichever is in hand."""
        return self.versions[0].text

    def save(self, text: str) -> None:
        """Make the text the newest version of the rubric in hand.

        Raises:
            UsageError: it cannot be; nothing is stored.
            SaveError: it could not be made safe.
        """
        subject, newest = self.subject, self.versions[0]
        edited = require_edited(text, newest.text, subject.task)
        at = now().isoformat()
        if subject.language:
            texts = {name: str(value) for name, value in newest.whole.items()} | {subject.language: edited}
            made = add_rubric(self.study, subject.task.task, texts, "edited", at).version
            follows = "a judge that is told this is another judge"
        else:
            told = study_rubric(self.study, subject.task).version
            made = revise_task(self.study, {**newest.whole, "rubric": edited}, at)
            tasks = task_definitions(self.study)
            self.subjects = subjects_of(self.study, list(tasks.values()), judges=not self._closed)
            follows = "labels from now on carry it; those given before keep theirs"
            if study_rubric(self.study, tasks[subject.task.task]).version != told:
                follows += "; the judge is told the same words, so it is another judge from now on"
        self._read.clear()
        self.row = 0
        self.message, self.refused = f"saved as version {made}: {follows}", False

    def tell(self, words: str) -> None:
        """Say why nothing was stored."""
        self.message, self.refused = words, True


# As lines


def header(state: RubricState, width: int) -> Line:
    """Which rubric of how many."""
    place = f"{state.place + 1} / {len(state.subjects)} "
    words = safe_line(f" overread rubric   {state.subject.words}", 200)
    return push_right(cut_line([Span(words, "title")], max(width - len(place) - 1, 1)), [Span(place, "title")], width)


def footer(state: RubricState, width: int) -> Line:
    """The keys."""
    keys = [("↑ ↓", "version"), ("← →", "other rubric"), ("d", "text" if state.shows_changes else "changes")]
    as_written = state.shows_signs and not state.shows_changes
    keys += [("m", "rendered" if as_written else "markup"), ("e", "edit"), ("?", "keys"), ("q", "leave")]
    keys += [("PgUp PgDn", "scroll")]
    return keys_line(keys, width)


def message_lines(state: RubricState) -> list[Line]:
    """What an edit came to."""
    return [[Span(safe_line(f" {state.message}", 400), "warning" if state.refused else "chosen")]]


def version_rows(state: RubricState, rows: int, width: int) -> list[Line]:
    """The versions around the one in hand, in that many rows, their heading among them."""
    every = state.versions
    given = "verdicts" if state.subject.language else "labels"
    lines: list[Line] = [[Span("Versions", "title"), Span(f"  {len(every)}, the newest first", "muted")]]
    shown = max(rows - 1, 1)
    first = min(max(state.row - shown // 2, 0), max(len(every) - shown, 0))
    for number in range(first, min(first + shown, len(every))):
        one, here = every[number], number == state.row
        line: Line = [
            Span("▶ " if here else "  ", "key"), Span(one.at[:16], "title" if here else "plain"),
            Span(f"  {safe_line(one.origin, 20)}  "), Span(one.version[:12], "muted"),
            Span(f"  {one.used:,} {given}", "muted"),
        ]  # fmt: skip
        lines.append(cut_line(line, width))
    return lines


def text_rows(state: RubricState) -> list[Line]:
    """The version in hand, or what it changed in the one before."""
    one, before = state.version, state.before
    if not state.shows_changes:
        as_written: list[Line] = [[Span(text)] for text in safe_text(one.text).splitlines()]
        lines = as_written if state.shows_signs else markdown_lines(one.text)
        return lines or [[Span("no text: this task has no rubric for people who label", "muted")]]
    if before is None:
        return [[Span("the first version: nothing came before", "muted")]]
    head: Line = [
        Span(f"{one.version[:12]} against {before.version[:12]}", "title"),
        Span("   - went, + came", "muted"),
    ]
    return [head, [], *diff_lines(before.text, one.text)]


KEYS: Final = (
    ("↑ ↓", "An older or a newer version"),
    ("← →", "Another rubric: of another task, for people or for the judge, in another language"),
    ("d", "What this version changed in the one before, and its text again"),
    ("m", "The text as it is written, with its signs of markup, and to be read again"),
    ("PgUp PgDn", "Scroll"),
    ("e", "Edit the newest version in $EDITOR; what is saved is a new version"),
    ("q Esc", "Leave"),
    ("? F1", "These keys"),
)  # fmt: skip
EXPLAINED: Final = (
    "Every version is kept. A label carries the version of the people's rubric it was given under, a verdict that of"
    " the judge's. Nothing is stored when the editor fails, when the text is empty or as it was, or when a label that"
    " the rubric named is named no more.",
)  # fmt: skip
