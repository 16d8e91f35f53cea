"""Running moments: numbers by hand, and numpy's over everything that was seen."""

from __future__ import annotations

import numpy as np
import pytest

from rlk_running_statistics import Fresh, Moments


def moments(mean: float, var: float, count: float) -> Moments:
    return Moments(np.array([mean]), np.array([var]), np.array([count]))


def test_two_groups_of_rows_by_hand() -> None:
    # 1, 3 (mean 2, variance 1) and 4, 8, 6 (mean 6, variance 8/3): 1, 3, 4, 8, 6 has 4.4 and 5.84.
    found = moments(2.0, 1.0, 2.0)
    found.merge(np.array([6.0]), np.array([8.0 / 3.0]), 3.0)
    assert found.mean[0] == pytest.approx(4.4)
    assert found.var[0] == pytest.approx(5.84)
    assert found.count == 5.0


def test_the_seeds_prior_by_hand() -> None:
    # SB 2.10 begins with 1e-4 rows of mean 0 and variance 1; then comes one row, 2.
    found = moments(0.0, 1.0, 1e-4)
    found.merge(np.array([2.0]), np.array([0.0]), 1.0)
    assert found.mean[0] == pytest.approx(2.0 / 1.0001)
    assert found.var[0] == pytest.approx((1e-4 + 4.0 * 1e-4 / 1.0001) / 1.0001)


def test_no_rows_change_nothing() -> None:
    found = moments(0.0, 1.0, 0.0)
    found.merge(*Fresh(1).moments())
    assert (found.mean[0], found.var[0], found.count) == (0.0, 1.0, 0.0)


def test_rows_in_portions_have_numpys_moments_even_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    scale, offset = np.array([1e-3, 1.0, 1e3]), np.array([1e3, -5.0, 1e6])
    portions = [offset + scale * rng.normal(size=(n, 3)) for n in (1, 4, 7, 200, 2)]
    found, fresh = Moments(np.zeros(3), np.ones(3), np.zeros(1)), Fresh(3)
    for i, portion in enumerate(portions):
        fresh.add(portion)
        if i % 2:
            found.merge(*fresh.moments())
            fresh.clear()
    found.merge(*fresh.moments())
    seen = np.concatenate(portions)
    assert found.count == len(seen)
    np.testing.assert_allclose(found.mean, seen.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found.var, seen.var(0), rtol=1e-9)


def test_rows_that_are_not_finite_do_not_count() -> None:
    fresh = Fresh(2)
    fresh.add(np.array([[np.nan, 1.0], [0.0, 0.0]]))
    fresh.add(np.array([[1.0, 2.0], [3.0, 2.0]]))
    fresh.add(np.array([[np.inf, 2.0]]))
    mean, var, count = fresh.moments()
    assert (mean.tolist(), var.tolist(), count) == ([2.0, 2.0], [1.0, 0.0], 2.0)


def test_state_continues_bit_for_bit() -> None:
    rng = np.random.default_rng(1)
    one, two = Fresh(2), Fresh(2)
    one.add(rng.normal(size=(5, 2)))
    two.load_state_dict(one.state_dict())
    more = rng.normal(size=(3, 2))
    one.add(more)
    two.add(more)
    for a, b in zip(one.moments(), two.moments(), strict=True):
        assert np.array_equal(a, b)
