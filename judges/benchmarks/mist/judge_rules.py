"""The declared answer parser as a judge: which option each of the two replies settles on."""

from __future__ import annotations

from collections.abc import Mapping

from judges.backends.rules import Rule, RuleInput, RuleVerdict
from judges.benchmarks.mist.parser import VERSION
from judges.benchmarks.mist.tasks import FIRST_PASS


def _parsed(given: RuleInput) -> RuleVerdict:
    """What the parser read when the replies were imported, with the options as the item labels them."""
    found = given.extra.get("parsed", {})
    letter, first = found.get("response"), found.get("first_response")
    if letter is None:
        kind = "malformed" if given.payload.get("response") else "missing"
        return RuleVerdict(None, kind, "the parser reads no option in the reply")
    return RuleVerdict(letter, why="declared answer parser", parts={FIRST_PASS: first} if first else {})


RULES: Mapping[str, Mapping[str, Rule]] = {"answer": {"mist": Rule("mist", VERSION, _parsed)}}
