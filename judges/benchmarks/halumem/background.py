"""Whom HaluMem is close to."""

from __future__ import annotations

from judges.benchmarks.background import DeclaredTie

TIES = (DeclaredTie(("memos",), "comes from the group that made HaluMem (MemTensor)"),)
"""HaluMem's paper gives no agreement of its judge with people."""
