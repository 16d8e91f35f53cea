"""Distances between policies, and what becomes of the noise, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlk_adaptive_parameter_noise import AdaptiveParamNoiseSpec
from rlk_adaptive_parameter_noise.distance import (
    action_distance,
    adapted,
    greedy_divergence,
    policy_divergence,
)


def test_the_distance_of_actions_is_the_root_of_their_mean_square():
    action = np.array([[0.0, 0.5], [1.0, -1.0]], np.float32)
    perturbed = np.array([[0.3, 0.5], [1.0, -0.6]], np.float32)
    # (0.09 + 0 + 0 + 0.16) / 4
    assert action_distance(action, perturbed) == pytest.approx(math.sqrt(0.0625))
    assert action_distance(action, action) == 0.0


def test_the_divergence_of_policies_is_the_mean_over_observations():
    probabilities = np.array([[0.5, 0.5], [0.9, 0.1]], np.float32)
    perturbed = np.array([[0.25, 0.75], [0.9, 0.1]], np.float32)
    # 0.5 log(0.5 / 0.25) + 0.5 log(0.5 / 0.75) for the first, 0 for the second
    expected = (0.5 * math.log(2.0) + 0.5 * math.log(2.0 / 3.0)) / 2
    assert policy_divergence(probabilities, perturbed) == pytest.approx(expected, rel=1e-5)
    assert policy_divergence(perturbed, probabilities) != pytest.approx(expected, rel=1e-2)


def test_probabilities_that_are_no_longer_there_count_as_tiny():
    certain, other = np.array([[1.0, 0.0]], np.float32), np.array([[0.0, 1.0]], np.float32)
    tiny = float(np.finfo(np.float32).tiny)
    assert policy_divergence(certain, other) == pytest.approx(-math.log(tiny), rel=1e-5)
    assert policy_divergence(certain, certain) == 0.0


@pytest.mark.parametrize(
    ("epsilon", "n_actions", "expected"),
    [(0.0, 4, 0.0), (1.0, 4, math.log(4.0)), (0.1, 2, -math.log(0.95)), (1.0, 1, 0.0)],
)
def test_the_divergence_of_epsilon_greedy_from_greedy(epsilon, n_actions, expected):
    assert greedy_divergence(epsilon, n_actions) == pytest.approx(expected)
    # It is that of the two distributions: certain of one action, and of it but for epsilon.
    greedy = np.eye(n_actions)[:1]
    exploring = greedy * (1 - epsilon) + epsilon / n_actions
    assert policy_divergence(greedy, exploring) == pytest.approx(expected)


def test_noise_becomes_stronger_up_to_the_distance_and_weaker_beyond():
    assert adapted(0.2, 0.09, desired=0.1, coefficient=1.25) == pytest.approx(0.25)
    assert adapted(0.2, 0.1, desired=0.1, coefficient=1.25) == pytest.approx(0.25)
    assert adapted(0.2, 0.11, desired=0.1, coefficient=1.25) == pytest.approx(0.16)


# ---- the documented object -----------------------------------------------------------------------


def test_the_object_adapts_and_tells_its_standard_deviation():
    spec = AdaptiveParamNoiseSpec(0.2, desired_action_stddev=0.3, adoption_coefficient=2.0)
    assert spec.get_stats() == {"param_noise_stddev": 0.2}
    spec.adapt(0.1)
    spec.adapt(0.1)
    spec.adapt(0.4)
    assert spec.get_stats() == {"param_noise_stddev": 0.4} and spec.initial_stddev == 0.2


def test_the_object_has_the_documented_defaults():
    spec = AdaptiveParamNoiseSpec()
    assert (spec.initial_stddev, spec.desired_action_stddev) == (0.1, 0.1)
    assert spec.adoption_coefficient == 1.01


def test_the_object_stands_for_the_plugin_with_its_settings():
    text = AdaptiveParamNoiseSpec(initial_stddev=np.float64(0.25)).as_setting()
    assert text == (
        "adaptive-parameter-noise:initial_stddev=0.25,desired_action_stddev=0.1,"
        "adoption_coefficient=1.01"
    )


@pytest.mark.parametrize(
    "wrong",
    [{"initial_stddev": 0.0}, {"desired_action_stddev": -1.0}, {"adoption_coefficient": 1.0}],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AdaptiveParamNoiseSpec(**wrong)
