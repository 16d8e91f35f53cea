"""A Box in a distribution's own units, with numbers by hand and against the functions of arrays."""

import math

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from torch import tensor

from rlk.errors import PlanError
from rlk_action_scaling import BoxUnits, scaled, unscaled

#: Of the shape (1, 2); the second dimension is half as wide as the units from -1 to 1.
SPACE = Box(np.array([[-1.0, 0.0]], np.float32), np.array([[3.0, 1.0]], np.float32))


def test_the_bounds_are_minus_one_and_one_or_what_is_asked_for():
    action = tensor([[-1.0, 0.0], [1.0, 0.5], [3.0, 1.0], [2.0, 0.25]])
    assert BoxUnits(SPACE).own(action).tolist() == [[-1, -1], [0, 0], [1, 1], [0.5, -0.5]]
    own = BoxUnits(SPACE, low=0.0, high=1.0).own(action)
    assert own.tolist() == [[0, 0], [0.5, 0.5], [1, 1], [0.75, 0.25]]


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (0.0, 1.0)])
def test_actions_lead_back_into_the_space_with_its_shape(low, high):
    units = BoxUnits(SPACE, low, high)
    action = tensor([[[-1.0, 0.0]], [[2.0, 0.25]]])
    assert units.in_space(units.own(action.flatten(1))).tolist() == action.tolist()


def test_a_width_is_scaled_and_not_moved():
    width = tensor([[0.5, 0.25]])
    assert BoxUnits(SPACE).width_in_space(width).tolist() == [[[1.0, 0.125]]]
    assert BoxUnits(SPACE, 0.0, 1.0).width_in_space(width).tolist() == [[[2.0, 0.25]]]


def test_the_functions_of_arrays_give_the_same():
    drawn = np.random.default_rng(0).uniform(-1, 1, (50, 2)).astype(np.float32)
    units, action = BoxUnits(SPACE), scaled(SPACE)(drawn)
    assert np.allclose(units.in_space(torch.from_numpy(drawn)), action, atol=1e-6)
    flat = torch.from_numpy(action).flatten(1)
    assert np.allclose(units.own(flat), unscaled(SPACE)(action), atol=1e-6)


def test_a_log_density_falls_by_the_logarithm_of_the_scale_of_every_dimension():
    """From -1 to 1 the scales are 2 and 1/2, and from 0 to 1 they are 4 and 1."""
    own, action = tensor([0.25]), tensor([[[2.0, 0.25]]])
    assert BoxUnits(SPACE).log_density(own, action).tolist() == [0.25]
    found = BoxUnits(SPACE, 0.0, 1.0).log_density(own, action)
    assert found.item() == pytest.approx(0.25 - math.log(4.0))


def test_it_is_minus_infinity_outside_of_any_bound_but_not_at_one():
    action = tensor([[[-1.0, 1.0]], [[-1.1, 0.5]], [[0.0, 1.1]]])
    found = BoxUnits(SPACE).log_density(torch.zeros(3), action)
    assert found.tolist() == [0.0, -math.inf, -math.inf]


def test_a_dimension_whose_bounds_are_equal_has_one_action_and_no_density_of_its_own():
    bounds = np.array([3.0, -1.0], np.float32), np.array([3.0, 1.0], np.float32)
    units, action = BoxUnits(Box(*bounds), 0.0, 1.0), tensor([[3.0, 0.5]])
    assert units.own(action).tolist() == [[0.5, 0.75]]
    assert units.in_space(tensor([[0.9, 0.75]])).tolist() == [[3.0, 0.5]]
    assert units.log_density(torch.zeros(1), action).item() == pytest.approx(-math.log(2.0))


def test_the_width_of_a_float16_box_may_be_more_than_the_largest_float16():
    found = BoxUnits(Box(-6e4, 6e4, (1,), np.float16), 0.0, 1.0).in_space(tensor([[1.0]]))
    assert found.item() == pytest.approx(6e4)


def test_an_infinite_bound_is_refused():
    with pytest.raises(PlanError, match="a bound is infinite"):
        BoxUnits(Box(0.0, np.inf, (2,)))
