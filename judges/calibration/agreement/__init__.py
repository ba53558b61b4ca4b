"""Agreement between raters, one statistic a module.

Each takes ratings counted by their distinct patterns (`PairTable` for two raters, `LabelCounts` for any number,
`ScoredPairs` for numbers) and, for an interval, a `Bootstrap` of the same table, and returns a `Statistic`.
"""
