"""The bound on dangerous answers a judge lets pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from judges.calibration.dangerous import dangerous_passed


def test_none_of_41_leaves_at_most_seven_per_cent() -> None:
    found = dangerous_passed(0, 41)
    assert (found.value, found.low, found.n, found.level) == (0.0, 0.0, 41, 0.95)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 41), abs=1e-12)
    assert f"{found.high:.1%}" == "7.0%"


@given(st.integers(1, 200), st.data())
def test_the_bound_is_the_share_at_which_so_few_are_seen_once_in_twenty(checked: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, checked - 1))
    found = dangerous_passed(passed, checked)
    assert found.high is not None
    assert binom.cdf(passed, checked, found.high) == pytest.approx(0.05, abs=1e-9)


def test_all_passed_leaves_no_bound_below_one() -> None:
    assert dangerous_passed(3, 3).high == 1.0


def test_without_dangerous_answers_there_is_no_number() -> None:
    found = dangerous_passed(0, 0)
    assert (found.value, found.status) == (None, "no_dangerous_answers")


def test_more_passed_than_checked_is_refused() -> None:
    with pytest.raises(ValueError, match="4 of 3"):
        dangerous_passed(4, 3)
