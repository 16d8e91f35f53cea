"""Both actors: what they choose, and in which shape."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk.errors import PlanError
from rlk_networks import Policy
from rlk_off_policy.actor import DeterministicActor, GreedyActor

OBSERVATIONS = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
ROWS = np.array([[0.1, 0.9], [0.7, -0.3]], np.float32)
START = np.zeros(2, np.bool_)


class Same(nn.Module):
    """A head, or an encoder, that gives what it is given."""

    identity, features = True, 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def policy(name: str) -> Policy:
    return Policy(OBSERVATIONS, Same(), {name: Same()})


def test_the_greedy_actor_takes_the_action_of_the_largest_q_value() -> None:
    space = gym.spaces.Discrete(2, start=3)
    found = GreedyActor(policy("qf"), space).act(ROWS, None, START)
    assert found.action.tolist() == [1, 0]
    assert found.env_action.tolist() == [4, 3], "the environment counts from the space's start"


def test_the_deterministic_actor_scales_to_the_bounds() -> None:
    space = gym.spaces.Box(np.array([0.0, -2.0]), np.array([10.0, 2.0]), dtype=np.float64)
    found = DeterministicActor(policy("pi"), space).act(ROWS, None, START)
    np.testing.assert_array_equal(found.action, ROWS)
    np.testing.assert_allclose(found.env_action, [[5.5, 1.8], [8.5, -0.6]], rtol=1e-6)


def test_the_deterministic_actor_refuses_infinite_bounds() -> None:
    space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    with pytest.raises(PlanError, match="infinite"):
        DeterministicActor(policy("pi"), space)
