from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces as s

from rlk import spaces
from rlk.errors import PlanError

IMAGE = s.Box(0, 255, (4, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (IMAGE, "Image"),
        (s.Box(0, 255, (4, 5), np.uint8), "Box"),
        (s.Box(0, 200, (4, 5, 3), np.uint8), "Box"),
        (s.Box(0.0, 1.0, (4, 5, 3), np.float32), "Box"),
        (s.Discrete(3), "Discrete"),
        (s.MultiBinary(3), "MultiBinary"),
        (s.Dict({"a": IMAGE}), "Dict"),
    ],
)
def test_kinds_are_class_names_and_images_are_a_kind_of_their_own(space, kind):
    assert spaces.kind(space) == kind


@pytest.mark.parametrize(
    ("space", "size"),
    [
        (s.Box(-1, 1, (2, 3)), 6),
        (s.Discrete(7), 7),
        (s.MultiDiscrete([2, 3]), 5),
        (s.MultiBinary(4), 4),
    ],
)
def test_the_flat_size_is_what_preprocessing_makes(space, size):
    assert spaces.flat_size(space) == size
    space.seed(0)
    batch = torch.as_tensor(np.stack([space.sample(), space.sample()]))
    assert spaces.preprocess(space)(batch).flatten(1).shape == (2, size)


def test_a_large_box_is_described_without_its_bounds():
    assert spaces.describe(s.Box(-1, 1, (84, 84), np.float32)) == "Box((84, 84), float32)"
    assert spaces.describe(s.Discrete(3)) == "Discrete(3)"


# ---- preprocessing -------------------------------------------------------------------------------


def test_images_become_numbers_between_0_and_1():
    found = spaces.preprocess(IMAGE)(torch.full((1, 4, 5, 3), 51, dtype=torch.uint8))
    assert found.dtype == torch.float32 and found.unique().tolist() == pytest.approx([0.2])


def test_whole_numbers_become_one_hot_from_the_start_of_their_space_on():
    found = spaces.preprocess(s.Discrete(3, start=5))(torch.tensor([5, 7]))
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_several_whole_numbers_become_one_hot_side_by_side():
    found = spaces.preprocess(s.MultiDiscrete([2, 3]))(torch.tensor([[1, 0]]))
    assert found.tolist() == [[0.0, 1.0, 1.0, 0.0, 0.0]]


def test_other_numbers_become_float32_and_those_that_are_stay_as_they_are():
    x = torch.zeros(2, 3)
    assert spaces.preprocess(s.Box(-1, 1, (3,)))(x) is x
    assert spaces.preprocess(s.MultiBinary(3))(x.to(torch.int8)).dtype == torch.float32


def test_a_dict_is_preprocessed_part_by_part():
    found = spaces.preprocess(s.Dict({"a": s.Discrete(2), "b": IMAGE}))(
        {"a": torch.tensor([1]), "b": torch.zeros(1, 4, 5, 3, dtype=torch.uint8)}
    )
    assert found["a"].tolist() == [[0.0, 1.0]] and found["b"].dtype == torch.float32


def test_a_numpy_observation_becomes_a_tensor_on_the_same_memory():
    array = np.zeros((2, 3), np.float32)
    tensor = spaces.as_tensor({"x": array})["x"]
    array[0, 0] = 5.0
    assert tensor[0, 0].item() == 5.0
    assert (
        spaces.as_tensor(np.zeros(3)).dtype == torch.float32
    )  # float64 is more than networks take


# ---- finite --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "finite"),
    [
        ([1.0, 2.0], True),
        ([1.0, np.nan], False),
        ([np.inf, 1.0], False),
        ([np.inf, -np.inf], False),
        ([3e38, 3e38], True),  # the sum overflows, no term does
        ([], True),
    ],
)
def test_an_array_is_finite_if_every_number_is(values, finite):
    assert spaces.finite(np.array(values, np.float32)) is finite


def test_only_floating_point_observations_are_looked_at():
    assert spaces.finite_check(s.Discrete(3))(np.array([1]))
    assert spaces.finite_check(IMAGE)(np.zeros((1, 4, 5, 3), np.uint8))
    check = spaces.finite_check(s.Dict({"a": s.Box(-1, 1, (2,)), "b": s.Discrete(2)}))
    assert check({"a": np.zeros((1, 2)), "b": np.zeros(1)})
    assert not check({"a": np.array([[0.0, np.nan]]), "b": np.zeros(1)})


# ---- one observation or many ---------------------------------------------------------------------


def test_one_observation_gets_an_axis_and_a_batch_keeps_its_own():
    space = s.Box(-1, 1, (3,))
    one, was_batched = spaces.batched(space, [1, 2, 3])
    assert one.shape == (1, 3) and not was_batched
    many, was_batched = spaces.batched(space, np.zeros((5, 3)))
    assert many.shape == (5, 3) and was_batched


def test_a_batch_of_one_is_a_batch():
    assert spaces.batched(s.Box(-1, 1, (3,)), np.zeros((1, 3)))[1]


def test_numbers_of_a_discrete_space_may_be_one_or_many():
    assert spaces.batched(s.Discrete(3), 2)[0].tolist() == [2]
    assert spaces.batched(s.Discrete(3), [2, 1])[1]


def test_a_dict_is_batched_as_a_whole():
    space = s.Dict({"a": s.Box(-1, 1, (3,)), "b": s.Discrete(2)})
    found, was_batched = spaces.batched(space, {"a": np.zeros(3), "b": 1})
    assert found["a"].shape == (1, 3) and found["b"].shape == (1,) and not was_batched
    with pytest.raises(ValueError, match="some parts"):
        spaces.batched(space, {"a": np.zeros((2, 3)), "b": 1})


@pytest.mark.parametrize("shape", [(4,), (2, 4), (1, 2, 3), ()])
def test_another_shape_is_refused_with_the_right_one(shape):
    with pytest.raises(ValueError, match=r"has shape \(3,\)"):
        spaces.batched(s.Box(-1, 1, (3,)), np.zeros(shape))


def test_mapping_goes_into_dicts_and_no_deeper():
    found = spaces.map_observation(np.sum, {"a": np.ones(2), "b": {"c": np.ones(3)}})
    assert found == {"a": 2.0, "b": {"c": 3.0}}
    assert isinstance(IMAGE, gym.Space)


# ---- actions -------------------------------------------------------------------------------------


def test_scaled_actions_go_from_the_lower_bound_to_the_upper_one_in_every_dimension():
    low, high = np.array([-1.0, 0.0], np.float32), np.array([2.0, 0.5], np.float32)
    scale = spaces.scaled(s.Box(low, high))
    found = scale(np.array([[-1, -1], [0, 0], [1, 1], [0.5, -0.5]], np.float32))
    assert found.tolist() == [[-1.0, 0.0], [0.5, 0.25], [2.0, 0.5], [1.25, 0.125]]
    assert found.dtype == np.float32


def test_scaled_actions_have_the_shape_of_the_space():
    scale = spaces.scaled(s.Box(-2.0, 2.0, (2, 3)))
    found = scale(np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6))
    assert found.shape == (2, 2, 3) and found[0, 0, 0] == -2.0 and found[1, 1, 2] == 2.0


def test_rounding_leads_no_scaled_action_out_of_its_space():
    rng = np.random.default_rng(0)
    bounds = np.sort(rng.normal(size=(2, 1000)).astype(np.float32), axis=0)
    space = s.Box(bounds[0], bounds[1])
    for end in (-1.0, 1.0):
        assert space.contains(spaces.scaled(space)(np.full((1, 1000), end, np.float32))[0])


def test_the_widest_bounds_of_a_float_can_be_scaled_to():
    most = np.finfo(np.float32).max
    found = spaces.scaled(s.Box(-most, most, (1,)))(np.array([[-1.0], [0.0], [1.0]], np.float32))
    assert found[:, 0].tolist() == [-most, 0.0, most]


@pytest.mark.parametrize("bounds", [(-np.inf, 1.0), (0.0, np.inf)])
def test_nothing_is_scaled_to_an_infinite_bound(bounds):
    with pytest.raises(PlanError, match=r"Box.*: a bound is infinite.*RescaleAction"):
        spaces.scaled(s.Box(*bounds, (2,)))
