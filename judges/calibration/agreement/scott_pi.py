"""Scott's pi of two raters."""

from __future__ import annotations

from judges.calibration.agreement.bootstrap import Bootstrap
from judges.calibration.agreement.fleiss_kappa import fleiss_kappa
from judges.calibration.agreement.ratings import PairTable
from judges.calibration.statistic import Statistic


def scott_pi(pairs: PairTable, bootstrap: Bootstrap | None = None) -> Statistic:
    """Kappa with both raters' labels pooled for chance (Scott 1955, Public Opin. Q. 19:321-325): Fleiss' for two."""
    return fleiss_kappa(pairs.label_counts(), bootstrap, "Scott's pi")
