"""Actions from -1 to 1 become those of a Box."""

import numpy as np
import pytest
from gymnasium.spaces import Box

from rlk.errors import PlanError
from rlk_action_scaling import scaled


def test_actions_go_from_the_lower_bound_to_the_upper_one_in_every_dimension():
    low, high = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
    scale = scaled(Box(low, high))
    found = scale(np.array([[-1, -1], [0, 0], [1, 1], [0.5, -0.5]], np.float32))
    assert found.tolist() == [[-1.0, 0.0], [0.5, 0.25], [2.0, 0.5], [1.25, 0.125]]
    assert found.dtype == np.float32


def test_they_have_the_shape_of_the_space():
    scale = scaled(Box(-2.0, 2.0, (2, 3)))
    found = scale(np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6))
    assert found.shape == (2, 2, 3) and found[0, 0, 0] == -2.0 and found[1, 1, 2] == 2.0


def test_rounding_leads_none_out_of_its_space():
    rng = np.random.default_rng(0)
    bounds = np.sort(rng.normal(size=(2, 1000)).astype(np.float32), axis=0)
    space = Box(bounds[0], bounds[1])
    for end in (-1.0, 1.0):
        assert space.contains(scaled(space)(np.full((1, 1000), end, np.float32))[0])


def test_the_widest_bounds_of_a_float_can_be_scaled_to():
    most = np.finfo(np.float32).max
    found = scaled(Box(-most, most, (1,)))(np.array([[-1.0], [0.0], [1.0]], np.float32))
    assert found[:, 0].tolist() == [-most, 0.0, most]


@pytest.mark.parametrize("bounds", [(-np.inf, 1.0), (0.0, np.inf)])
def test_nothing_is_scaled_to_an_infinite_bound(bounds):
    with pytest.raises(PlanError, match=r"Box.*: a bound is infinite.*RescaleAction"):
        scaled(Box(*bounds, (2,)))
