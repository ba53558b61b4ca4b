"""What the terminal calls a coefficient, by its name in JSON."""

from __future__ import annotations

from typing import Final

NAMES: Final = {
    "raw_agreement": "raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "weighted_kappa": "weighted kappa",
    "weighted_kappa_linear": "linearly weighted kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
    "pabak": "PABAK (Brennan-Prediger)",
    "scott_pi": "Scott's pi",
    "fleiss_kappa": "Fleiss' kappa",
    "matthews_correlation": "Matthews correlation",
    "macro_f1": "macro-F1 (HealthBench)",
    "positive_agreement": "positive agreement",
    "negative_agreement": "negative agreement",
    "prevalence_index": "prevalence index",
    "bias_index": "bias index",
    "kendall_tau": "Kendall's tau-b",
    "spearman": "Spearman's rho",
    "pearson": "Pearson's r",
    "rmse": "root mean square error",
    "kendall_tau_of_labels": "Kendall's tau-b of labels",
    "spearman_of_labels": "Spearman's rho of labels",
    "pearson_of_labels": "Pearson's r of labels",
    "rmse_of_labels": "root mean square error of labels",
}
