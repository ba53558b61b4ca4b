"""What is published of HalBench's yardstick, and who wrote it."""

from __future__ import annotations

from judges.benchmarks.background import DeclaredTie, PublishedAgreement

PUBLISHED = (
    PublishedAgreement(
        "kendall_tau", 0.431, 83, "HalBench, validation of 100 items", ("ranking",), 0.346, 0.517,
        "mean over items of one reader's ranking of four replies against the scores; 17 of 100 items left out, ties "
        "and variant of τ not said",
    ),
)  # fmt: skip

_WHAT = "wrote replies that the scale's end points are computed from, and is scored on that scale"
TIES = (
    DeclaredTie(("sonnet-4.6", "sonnet 4.6", "claude"), _WHAT),
    DeclaredTie(("gemini",), _WHAT),
    DeclaredTie(("grok",), _WHAT),
    DeclaredTie(("gpt-5", "gpt5"), _WHAT),
)
"""The four authors of the end points: Claude Sonnet 4.6, Gemini 3.1, Grok 4.3, GPT-5.5; by family, since their near
relatives are measured too."""
