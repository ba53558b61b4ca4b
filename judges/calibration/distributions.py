"""Quantiles and shares of Student's t, the beta and the binomial distribution, one number at a time.

They are those of `scipy.special` to nine digits or more. Importing that costs a third of a second, as much as an audit
of a thousand items itself; whoever needs arrays of them, or another distribution, takes SciPy's.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_STEPS = 100_000
_CLOSE = 1e-15
_FAR = 700.0
_LARGE = 15.0
_NORMAL = NormalDist()


def beta_share(x: float, a: float, b: float) -> float:
    """Share of the beta distribution below x, the regularised incomplete beta function; a and b above 0."""
    if x <= 0:
        return 0.0
    return 1.0 if x >= 1 else _below(float(x), 1 - float(x), float(a), float(b))


def beta_quantile(share: float, a: float, b: float) -> float:
    """Where this share of the beta distribution lies below; a and b above 0."""
    return _odds_share(_quantile(float(share), float(a), float(b))) if 0 < share < 1 else float(share > 0)


def binomial_share(most: int, n: int, share: float) -> float:
    """Chance of at most so many hits in n."""
    if most < 0 or most >= n:
        return float(most >= n)
    return beta_share(1 - share, n - most, most + 1)


def t_share(t: float, df: float) -> float:
    """Share of Student's t distribution below t; the normal one where `df` is infinite."""
    if math.isinf(df):
        return _NORMAL.cdf(t)
    square = float(t) * float(t)
    if math.isinf(square):
        return float(t > 0)
    tail = 0.5 if square == 0 else _below(df / (df + square), square / (df + square), df / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=1024)
def t_quantile(share: float, df: float) -> float:
    """Where this share, within (0, 1), of Student's t distribution lies below; the normal one's where `df` is
    infinite. Kept: many metrics rest on as many labels."""
    if math.isinf(df):
        return _NORMAL.inv_cdf(share)
    if share < 0.5:
        return -t_quantile(1 - share, df)
    if share == 0.5:
        return 0.0
    # t²/(df + t²) has the beta distribution of (1/2, df/2).
    start = math.log(_near_t(float(share), float(df)) ** 2 / df)
    return math.sqrt(df * math.exp(_quantile(2 * float(share) - 1, 0.5, float(df) / 2, start)))


def _near_t(share: float, df: float) -> float:
    """The quantile by its expansion about the normal one (Fisher & Cornish 1960)."""
    z = _NORMAL.inv_cdf(share)
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / df + second / df**2 + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / df**3


def t_half_width(level: float, df: float) -> float:
    """How many errors a t interval of this level reaches to either side."""
    return t_quantile((1 + level) / 2, df)


def two_sided_p(value: float, error: float, df: float) -> float:
    """p of a value being 0, by Student's t; 0 for a value without error."""
    if error == 0:
        return float(value == 0)
    return 2 * t_share(-abs(value) / error, df)


def _below(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function of x, `rest` being 1 − x to full precision."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _below_the_mean(rest, x, b, a)
    return _below_the_mean(x, rest, a, b)


def _below_the_mean(x: float, rest: float, a: float, b: float) -> float:
    return math.exp(_log_density(x, rest, a, b)) / a * _fraction(x, a, b) if rest > 0 else 0.0


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of DLMF 8.17.22, by Lentz's way."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if d else tiny)
    found = d
    for m in range(1, _STEPS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            c = 1 + step / c
            d, c = 1 / (d if d else tiny), c if c else tiny
            found *= c * d
        if abs(c * d - 1) < _CLOSE:
            return found
    raise ArithmeticError(f"the incomplete beta function of {x:g} at ({a:g}, {b:g}) does not settle")


def _quantile(share: float, a: float, b: float, start: float | None = None) -> float:
    """Log odds of the quantile: Newton's steps, or the middle of the bracket where one would leave it."""
    low, high = -_FAR, _FAR
    if start is None:
        start = math.log(a / b) + _NORMAL.inv_cdf(share) * math.sqrt(1 / a + 1 / b)
    odds = min(max(start, -50.0), 50.0)
    while high - low > 1e-15 * max(1.0, abs(odds)):
        x, rest = _odds_share(odds), _odds_share(-odds)
        apart = _below(x, rest, a, b) - share
        low, high = (low, odds) if apart > 0 else (odds, high)
        slope = math.exp(_log_density(x, rest, a, b))
        step = -apart / slope if slope > abs(apart) / _FAR else math.inf
        if abs(step) <= 1e-14 * max(1.0, abs(odds)):
            return odds + step
        middle = (low + high) / 2
        if middle in (low, high):
            break
        odds = odds + step if low < odds + step < high else middle
    return odds


def _odds_share(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -_FAR else math.exp(odds)


def _log_density(x: float, rest: float, a: float, b: float) -> float:
    """ln xᵃ(1 − x)ᵇ/B(a, b), the density by the log odds; in Loader's form (2000) where a and b are large, as their
    gamma functions would leave few digits."""
    if min(a, b) < _LARGE:
        return a * _log_ratio(-rest, x) + b * _log_ratio(-x, rest) - _log_beta(*sorted((a, b)))
    n = a + b
    away = x * b - rest * a
    pull = a * _log_ratio(away / a, x * n / a) + b * _log_ratio(-away / b, rest * n / b)
    beyond = _beyond_stirling(n) - _beyond_stirling(a) - _beyond_stirling(b)
    return pull + math.log(a * b / (2 * math.pi * n)) / 2 + beyond


def _log_ratio(less_one: float, ratio: float) -> float:
    return math.log1p(less_one) if abs(less_one) < 0.5 else math.log(ratio)


def _log_beta(small: float, large: float) -> float:
    both = small + large
    if large < _LARGE:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(both)
    fall = (large - 0.5) * math.log1p(small / large) + small * (math.log(both) - 1)
    return math.lgamma(small) - fall + _beyond_stirling(large) - _beyond_stirling(both)


def _beyond_stirling(z: float) -> float:
    """ln Γ(z) less Stirling's formula, for z of at least `_LARGE`."""
    square = z * z
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square) / z
