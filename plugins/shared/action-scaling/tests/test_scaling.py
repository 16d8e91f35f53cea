"""Actions from -1 to 1 become those of a Box."""

import attrs
import numpy as np
import pytest
from gymnasium.spaces import Box

from rlk.errors import PlanError
from rlk_action_scaling import (
    as_numbers,
    as_setting,
    common_size,
    per_dimension,
    scaled,
    unscaled,
)
from rlk_action_scaling.validators import not_negative


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


def test_the_inverse_leads_back_in_every_dimension():
    space = Box(np.array([[-1.0, 0.0]], np.float32), np.array([[2.0, 0.5]], np.float32))
    unscale = unscaled(space)
    found = unscale(np.array([[[-1.0, 0.0]], [[0.5, 0.25]], [[2.0, 0.5]], [[1.25, 0.75]]]))
    assert found.tolist() == [[-1, -1], [0, 0], [1, 1], [0.5, 2.0]] and found.dtype == np.float32
    drawn = np.random.default_rng(0).uniform(-1, 1, (50, 2)).astype(np.float32)
    assert np.allclose(unscale(scaled(space)(drawn)), drawn, atol=1e-6)
    assert unscaled(Box(3.0, 3.0, (1,)))(np.full((1, 1), 3.0)).tolist() == [[0.0]]


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
    message = r"Box.*: a bound is infinite.*Box\(-1.0, 1.0, \(2,\)\).*TransformAction"
    with pytest.raises(PlanError, match=message):
        scaled(Box(*bounds, (2,)))


# ---- settings with a number for each dimension ---------------------------------------------------


def test_a_setting_is_one_number_or_one_for_each_dimension():
    assert per_dimension("noise 'x'", "sigma", 0.5, 3).tolist() == 0.5
    found = per_dimension("noise 'x'", "sigma", [0.5, 1.0, 2.0], 3)
    assert found.tolist() == [0.5, 1.0, 2.0] and found.dtype == np.float32


@pytest.mark.parametrize("value", [[], [0.1], [0.1] * 4])
def test_another_number_of_values_is_refused(value):
    with pytest.raises(PlanError, match=rf"noise 'x': sigma has {len(value)} values, .* has 3"):
        per_dimension("noise 'x'", "sigma", value, 3)


def test_the_dimensions_of_an_action_are_those_of_what_has_one_number_for_each():
    one, three = as_numbers(0.5), as_numbers([[0.5, 1.0, 2.0]])
    assert one.tolist() == [0.5] and three.tolist() == [0.5, 1.0, 2.0]
    assert common_size("noise", {"mean": one, "sigma": three}) == 3
    assert common_size("noise", {"mean": one, "sigma": one}) == 1
    with pytest.raises(ValueError, match="noise: mean has 2, sigma has 3 values"):
        common_size("noise", {"mean": as_numbers([0.0, 1.0]), "sigma": three})


def test_numbers_are_written_as_the_setting_that_they_were():
    assert as_setting(as_numbers(0.5)) == 0.5
    assert as_setting(as_numbers([0.5, 1.0])) == [0.5, 1.0]


def test_a_number_below_0_is_refused_and_0_is_not():
    @attrs.frozen
    class Config:
        sigma: object = attrs.field(validator=not_negative)

    assert Config(0.0).sigma == 0.0 and Config([0.0, 1.0]).sigma == [0.0, 1.0]
    for value in (-0.1, [0.0, -1.0]):
        with pytest.raises(ValueError, match="sigma must be at least 0"):
            Config(value)


# ---- a loop that does the same -------------------------------------------------------------------

SPACES = {
    "of one number": Box(np.float32(-3.0), np.float32(8.0), (1,)),
    "mixed": Box(np.array([-1.0, 0.0, 5.0], np.float32), np.array([2.0, 0.5, 5.5], np.float32)),
    "of several axes": Box(
        np.array([[-2.0, 0.0], [5.0, -1e6]], np.float32),
        np.array([[2.0, 0.1], [5.5, 1e6]], np.float32),
    ),
    "float64": Box(np.array([[-2.0, 0.0, 1e-9]]), np.array([[2.0, 0.1, 1e9]]), dtype=np.float64),
    "float16": Box(np.float16(-2.0), np.float16(6.0), (2, 2), dtype=np.float16),
}


@pytest.mark.parametrize("name", SPACES)
def test_every_number_is_scaled_as_a_loop_does_it(name):
    space = SPACES[name]
    actions = np.random.default_rng(0).uniform(-1, 1, (20, *space.shape)).astype(np.float32)
    found = scaled(space)(actions.reshape(20, -1))
    assert found.dtype == space.dtype and found.shape == (20, *space.shape)
    digits = 8 * np.finfo(space.dtype).eps if space.dtype != np.float64 else 1e-7
    for action, one in zip(actions, found, strict=True):
        assert space.contains(one)
        for at in np.ndindex(space.shape):
            low, high = float(space.low[at]), float(space.high[at])
            expected = low + (float(action[at]) + 1) / 2 * (high - low)
            assert abs(float(one[at]) - expected) <= digits * max(abs(low), abs(high))
