"""Small modules of `common` that large programs import, and other module names."""

from __future__ import annotations

import importlib
import random
from argparse import ArgumentParser

import numpy as np
import pytest
import torch
from gymnasium import spaces

from rlk_baselines import common, gail
from rlk_baselines.a2c.a2c import discount_with_dones
from rlk_baselines.common.math_util import (
    discount,
    discount_with_boundaries,
    explained_variance,
    safe_mean,
    scale_action,
    unscale_action,
)
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.gail.dataset import record_expert
from rlk_baselines.gail.dataset.dataset import ExpertDataset


def test_common_has_the_names_that_it_has_in_stable_baselines() -> None:
    names = "discount discount_with_boundaries explained_variance zipsame set_global_seeds"
    names += " boolean_flag BaseRLModel ActorCriticRLModel OffPolicyRLModel make_vec_env"
    assert set(common.__all__) == set(names.split())
    assert common.discount is discount
    assert all(getattr(common, name).__name__ == name for name in common.__all__)


def test_without_a_seed_the_global_generators_are_seeded_from_the_system() -> None:
    def drawn(seed: int | None) -> tuple[float, ...]:
        common.set_global_seeds(seed)
        return random.random(), np.random.random(), torch.rand(1).item()

    assert drawn(0) == drawn(0)
    assert all(a != b for a, b in zip(drawn(None), drawn(None), strict=True))


def test_the_explained_variance_is_that_of_the_errors_whatever_their_mean() -> None:
    true = np.array([1.0, 3.0, 5.0])
    assert explained_variance(true + 9.0, true) == 1.0
    # The errors 0, 1, 2 have the variance 2/3, and the values 8/3.
    assert explained_variance(np.array([1.0, 2.0, 3.0]), true) == pytest.approx(0.75)
    assert np.isnan(explained_variance(true, np.full(3, 2.0)))


def test_an_action_is_scaled_and_its_only_value_is_0() -> None:
    space = spaces.Box(np.float32([-2, 3, 0]), np.float32([2, 3, 8]))
    action = np.float32([[1, 3, 8], [-2, 3, 2]])
    assert scale_action(space, action).tolist() == [[0.5, 0, 1], [-1, 0, -0.5]]
    assert unscale_action(space, scale_action(space, action)).tolist() == action.tolist()


def test_the_mean_of_nothing_is_no_number() -> None:
    assert safe_mean([1, 4]) == 2.5 and np.isnan(safe_mean([]))


def test_a_discounted_sum_has_all_that_follows() -> None:
    assert discount(np.zeros(0), 0.5).tolist() == [] and discount(np.zeros((0, 2)), 0.5).size == 0
    assert discount(np.array([1.0, 2.0, 4.0]), 0.5).tolist() == [1 + 1 + 1, 2 + 2, 4]
    columns = np.array([[0, 8], [2, 0]])
    assert discount(columns, 0.5).tolist() == [[1, 8], [2, 0]], "along the first axis"


def test_sequences_of_other_lengths_are_not_zipped() -> None:
    assert list(common.zipsame([1, 2], "ab")) == [(1, "a"), (2, "b")]
    with pytest.raises(ValueError, match="shorter"):
        list(common.zipsame([1, 2], "a"))


def test_a_flag_has_an_option_for_each_of_its_values() -> None:
    parser = ArgumentParser()
    common.boolean_flag(parser, "as-is", default=True)
    common.boolean_flag(parser, "other")
    found = [vars(parser.parse_args(typed)) for typed in ([], ["--no-as-is", "--other"])]
    assert found == [{"as_is": True, "other": False}, {"as_is": False, "other": True}]


def test_discounted_sums_end_with_episodes() -> None:
    rewards = np.array([1, 2, 3, 4])
    one = discount_with_boundaries(rewards, [1, 0, 0, 1], 0.9)
    assert one == pytest.approx([1 + 0.9 * 2 + 0.81 * 3, 2 + 0.9 * 3, 3, 4])
    other = discount_with_boundaries(rewards, [False] * 4, 0.5)
    assert other == pytest.approx([1 + 1 + 0.75 + 0.5, 2 + 1.5 + 1, 5, 4])
    starts = np.array([[1, 0, 0, 1], [0, 0, 0, 0]]).T
    found = discount_with_boundaries(np.stack([rewards, rewards], 1), starts, 0.5)
    assert found[:, 1] == pytest.approx(other) and found[:, 0] == pytest.approx([2.75, 3.5, 3, 4])
    assert rewards.tolist() == [1, 2, 3, 4]


def test_sums_that_end_with_episodes_are_given_their_ends_too() -> None:
    found = discount_with_dones([1, 2, 3, 4], [False, False, True, False], 0.5)
    assert found == [1 + 1 + 0.75, 2 + 1.5, 3, 4]
    assert discount_with_dones([], [], 0.5) == []


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        ("common.tf_layers", "conv_to_fc", r"Write torch\.nn\.Flatten\."),
        ("common.tf_layers", "ln_lstm", "Write the policy MlpLnLstmPolicy"),
        ("common.tf_layers", "_ln", "LayerNorm"),
        ("acer.acer_simple", "EpisodeStats", "has no EpisodeStats. Write model.ep_info_buf"),
        ("acer.acer_simple", "get_by_index", r"Write values\.gather"),
    ],
)
def test_a_function_that_is_not_here_says_what_to_write(module, name, advice) -> None:
    made = importlib.import_module(f"rlk_baselines.{module}")
    with pytest.raises(ImportError, match=advice):
        getattr(made, name)
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        made.other  # noqa: B018


def test_expert_data_has_its_places() -> None:
    assert ExpertDataset is gail.ExpertDataset
    assert record_expert.generate_expert_traj is gail.generate_expert_traj


def test_moments_of_two_halves_are_those_of_the_whole() -> None:
    values = np.random.default_rng(0).normal(size=(20, 2))
    half = RunningMeanStd(epsilon=0.0, shape=(2,))
    half.update(values[:8])
    other, whole = half.copy(), half.copy()
    other.mean, other.var, other.count = values[8:].mean(0), values[8:].var(0), 12
    whole.combine(other)
    assert np.allclose(whole.mean, values.mean(0)) and np.allclose(whole.var, values.var(0))
    assert (whole.count, half.count) == (20, 8)
