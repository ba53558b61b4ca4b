"""Corrected scores: what people would have said of all items, from a probability sample of their labels.

The judge's verdicts are the auxiliary variable of a survey estimator: T̂ = Σ_all λf + Σ_drawn (y − λf)/π for the totals
a benchmark's metrics are combined from, λ tuned (PPI++, Angelopoulos, Duchi & Zrnic 2023; GREG of Särndal, Swensson &
Wretman 1992). `corrected_scores` in `corrected` is the entry; `records` says what goes in and comes out.
"""
