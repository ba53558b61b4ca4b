"""The audit in an app of its own: no desk, nothing that labels."""

from __future__ import annotations

from dataclasses import replace

from textual.screen import Screen

from annotate.desk.closed import hidden_from
from annotate.report.facts import Facts
from annotate.tui.base_app import OverreadApp, run_to_end
from annotate.tui.screens.audit.screen import AuditScreen
from store.errors import NotEnoughError


class AuditApp(OverreadApp[None]):
    """Shows the audit until the person leaves."""

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._audit = AuditScreen(facts)

    def get_default_screen(self) -> Screen[None]:
        return self._audit


def facts_for(facts: Facts, annotator: str) -> Facts:
    """The facts as this person may see them: without the disagreements whose verdict stays hidden from them."""
    return replace(facts, options=replace(facts.options, hidden=hidden_from(facts.study, annotator)))


def run_audit(facts: Facts, annotator: str) -> int:
    """Show the audit until the person leaves; returns the exit code: 0, or 128 and the signal that ended it.

    Raises:
        NotEnoughError: nothing is labelled.
        Exception: a fault of the program ended it.
    """
    if not facts.labelled:
        raise NotEnoughError("There is nothing to audit yet.", "No item is labelled.", "overread label")
    return run_to_end(AuditApp(facts_for(facts, annotator)))
