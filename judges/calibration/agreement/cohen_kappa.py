"""Cohen's kappa of two raters."""

from __future__ import annotations

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.ratings import PairTable, quotient
from judges.calibration.agreement.scale import FloatArray
from judges.calibration.agreement.undefined import undefined_pairs
from judges.calibration.statistic import Statistic

NAME = "Cohen's kappa"


def cohen_kappa(pairs: PairTable, bootstrap: Bootstrap | None = None) -> Statistic:
    """Chance-corrected agreement (Cohen 1960, Educ. Psychol. Meas. 20:37-46).

    Undefined without variation and when one side never varies: kappa is then 0 whatever the other side answers. The
    value is that of `sklearn.metrics.cohen_kappa_score(labels=)`, which importing would take over a second; the
    resamples need this form in any case.
    """
    undefined = undefined_pairs(pairs, NAME, constant_rater=True)
    if undefined:
        return undefined
    disagreement = 1 - pairs.scale.weights("identity")

    def kappa(weights: FloatArray) -> FloatArray:
        return kappa_values(pairs, weights, disagreement)

    plain = Statistic(float(kappa(pairs.mass)), pairs.n, NAME, dropped=dict(pairs.dropped))
    return bootstrap.attach(plain, kappa) if bootstrap else plain


def kappa_values(pairs: PairTable, weights: FloatArray, disagreement: FloatArray) -> FloatArray:
    """1 − Σ v·o / Σ v·e over the cells of the table, v the disagreement weights (Cohen 1968).

    Args:
        weights: items per pattern, shape (..., P).
        disagreement: shape (q, q), 0 on the diagonal.

    Returns:
        Shape (...); nan where both sides gave one label.
    """
    observed = weights @ disagreement[pairs.rows, pairs.columns]
    rows, columns = pairs.row_sums(weights), pairs.column_sums(weights)
    expected = ((rows @ disagreement) * columns).sum(axis=-1)
    return 1 - quotient(observed * weights.sum(axis=-1), expected)
