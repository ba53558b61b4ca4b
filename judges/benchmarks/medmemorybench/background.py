"""What is published of MedMemoryBench's judge (arXiv:2605.11814)."""

from __future__ import annotations

from judges.benchmarks.background import PublishedAgreement

_SOURCE = "MedMemoryBench, arXiv:2605.11814"
_NOTE = (
    "200 judged outputs, all kinds of question together, agreement weaker on inference questions; how they were drawn "
    "and how many people labelled is not said"
)

PUBLISHED = (
    PublishedAgreement("raw_agreement", 0.875, 200, _SOURCE, note=_NOTE),
    PublishedAgreement("cohen_kappa", 0.72, 200, _SOURCE, note=_NOTE),
)
