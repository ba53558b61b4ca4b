"""The audit over the desk: closed in mid-queue, read in a thread, then shown."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import App

from annotate.desk.closed import closed_words, hidden_from
from annotate.desk.desk import Desk
from annotate.report.facts import Facts, gather
from annotate.report.options import ReportOptions
from annotate.tui.screens.audit.screen import AuditScreen
from judges.calibration.audit_result import Settings
from store.errors import OverreadError
from store.study import now

READING = "reading the labels …"
Say = Callable[[str], None]


def open_audit(app: App[object], desk: Desk, say: Say, *, disagreements: bool = False) -> None:
    """Show the audit, or go on to the disagreements of its first judge, unless the annotator still labels."""
    study, who = desk.ledger.study, desk.annotator
    if closed := closed_words(study, who, desk.draw):
        say(closed)
        return
    options = ReportOptions(made_at=now(), settings=Settings(all_statistics=True), hidden=hidden_from(study, who))
    say(READING)

    def read() -> None:
        try:
            facts = gather(study, options)
        except OverreadError as error:
            app.call_from_thread(say, error.title)
        else:
            app.call_from_thread(_show, app, facts, say, disagreements)

    app.run_worker(read, thread=True, exclusive=True, group="audit")


def _show(app: App[object], facts: Facts, say: Say, disagreements: bool) -> None:
    say("")
    if not facts.labelled:
        say("there is nothing to audit yet: no label counts")
        return
    screen = AuditScreen(facts)
    app.push_screen(screen, lambda _: None)
    if disagreements:
        app.call_later(screen.show_disagreements)
