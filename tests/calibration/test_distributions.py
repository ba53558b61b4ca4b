"""Quantiles and shares against SciPy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from judges.calibration.distributions import (
    beta_quantile,
    beta_share,
    binomial_share,
    t_half_width,
    t_quantile,
    t_share,
    two_sided_p,
)

SHAPES = st.floats(-1, 14).map(math.exp)
SHARES = st.one_of(st.sampled_from([1e-6, 0.005, 0.025, 0.5, 0.975, 0.995]), st.floats(1e-6, 1 - 1e-6))
NEAR = 1e-9


@given(SHAPES, SHAPES, SHARES)
def test_beta(a: float, b: float, share: float) -> None:
    found = beta_quantile(share, a, b)
    assert found == pytest.approx(float(special.betaincinv(a, b, share)), rel=NEAR, abs=1e-290)
    assert beta_share(found, a, b) == pytest.approx(float(special.betainc(a, b, found)), rel=NEAR, abs=1e-10)


@given(st.floats(0, 13).map(math.exp), SHARES, st.floats(-40, 40))
def test_student(df: float, share: float, t: float) -> None:
    assert t_quantile(share, df) == pytest.approx(float(special.stdtrit(df, share)), rel=NEAR, abs=NEAR)
    assert t_share(t, df) == pytest.approx(float(special.stdtr(df, t)), rel=NEAR, abs=1e-300)


@given(st.integers(1, 5000), st.data())
def test_binomial(n: int, data: st.DataObject) -> None:
    most = data.draw(st.integers(0, n))
    assert binomial_share(most, n, 0.5) == pytest.approx(float(special.bdtr(most, n, 0.5)), rel=NEAR, abs=1e-300)


def test_ends() -> None:
    assert (beta_quantile(0, 3, 4), beta_quantile(1, 3, 4)) == (0.0, 1.0)
    assert (beta_share(-1, 3, 4), beta_share(0, 3, 4), beta_share(1, 3, 4)) == (0.0, 0.0, 1.0)
    assert (binomial_share(-1, 5, 0.5), binomial_share(5, 5, 0.5)) == (0.0, 1.0)
    assert (t_quantile(0.5, 4), t_share(0, 4), t_share(-math.inf, 4), t_share(1e200, 4)) == (0.0, 0.5, 0.0, 1.0)


def test_infinite_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert t_half_width(0.95, math.inf) == pytest.approx(1.959963984540054)
    assert two_sided_p(1.959963984540054, 1.0, math.inf) == pytest.approx(0.05)


def test_a_value_without_error_is_sure() -> None:
    assert (two_sided_p(0.0, 0.0, 10), two_sided_p(0.1, 0.0, 10)) == (1.0, 0.0)
