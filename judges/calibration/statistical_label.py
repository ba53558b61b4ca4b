"""One label of an item from those of several people: which people said it, and by which rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

CANNOT_JUDGE: Final = None
"""A vote that stands instead of a label."""

Vote = str | None
"""A label, or CANNOT_JUDGE."""

Rule = Literal["adjudicated", "unanimous", "majority", "unresolved", "unlabelled"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What people's votes on one item come to.

    Attributes:
        label: the label, or None when there is none: unlabelled, unresolved, or people cannot judge.
        rule: how it was found. `unanimous` covers a single vote.
        cannot_judge: the rule came out at "cannot judge" instead of a label.
        by: the people whose vote it is, sorted; empty for an adjudication or when there is none.
        votes: votes given, adjudication apart.
    """

    label: str | None
    rule: Rule
    cannot_judge: bool = False
    by: tuple[str, ...] = ()
    votes: int = 0

    @property
    def resolved(self) -> bool:
        return self.label is not None


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What the adjudicator decided: a label, or CANNOT_JUDGE."""

    vote: Vote


def statistical_label(blind: Mapping[str, Vote], adjudicated: Adjudication | None = None) -> Resolution:
    """The label that statistics use.

    Adjudicated while blind; else all blind votes if equal; else the strict majority of three or more; else unresolved:
    a tie is never broken.

    "Cannot judge" is a vote of its own: one person who judges and one who cannot are not of one mind.

    Args:
        blind: each annotator's blind vote.
        adjudicated: a decision made while the adjudicator was blind to every verdict.
    """
    return _resolve(blind, adjudicated)


def final_label(current: Mapping[str, Vote], adjudicated: Adjudication | None = None) -> Resolution:
    """The label that overrides a verdict: adjudicated in any mode; else annotators' current votes in any mode, resolved
    where they conflict as the statistical label is."""
    return _resolve(current, adjudicated)


def _resolve(votes: Mapping[str, Vote], adjudicated: Adjudication | None) -> Resolution:
    if adjudicated is not None:
        vote = adjudicated.vote
        return Resolution(vote, "adjudicated", vote is CANNOT_JUDGE, votes=len(votes))
    if not votes:
        return Resolution(None, "unlabelled")
    (winner, count), *others = Counter(votes.values()).most_common()
    if others and not (len(votes) >= 3 and 2 * count > len(votes)):
        return Resolution(None, "unresolved", votes=len(votes))
    by = tuple(sorted(name for name, vote in votes.items() if vote == winner))
    return Resolution(winner, "majority" if others else "unanimous", winner is CANNOT_JUDGE, by, len(votes))
