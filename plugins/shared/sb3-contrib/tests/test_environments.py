"""The environments of sb3-contrib for tests of masks, and the names of its recurrent policies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlk_sb3.common.env_checker import check_env
from rlk_sb3_contrib import MaskablePPO, RecurrentPPO
from rlk_sb3_contrib.common.envs import (
    InvalidActionEnvDiscrete,
    InvalidActionEnvMultiBinary,
    InvalidActionEnvMultiDiscrete,
)
from rlk_sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy


@pytest.mark.parametrize(
    ("kind", "size", "options"),
    [
        (InvalidActionEnvDiscrete, 6, lambda state: [state]),
        (InvalidActionEnvMultiDiscrete, [2, 3], lambda state: [state[0], 2 + state[1]]),
        (InvalidActionEnvMultiBinary, 3, lambda state: [state[0], 2 + state[1], 4 + state[2]]),
    ],
)
def test_as_many_options_are_forbidden_as_asked_and_never_the_right_ones(
    kind: Any, size: Any, options: Any
) -> None:
    env = kind(size, ep_length=20, n_invalid_actions=2)
    check_env(env)
    state, _ = env.reset(seed=0)
    masks = []
    for _ in range(20):
        mask = np.array(env.action_masks())
        assert mask.sum() == len(mask) - 2 and mask[options(state)].all()
        masks.append(mask.tolist())
        state, reward, _, truncated, _ = env.step(state)
        assert reward == 1.0
    assert truncated and len({tuple(one) for one in masks}) > 1


def test_a_forbidden_action_is_a_wrong_one() -> None:
    env = InvalidActionEnvDiscrete(dim=4, n_invalid_actions=3)
    state, _ = env.reset(seed=0)
    assert env.step((state + 1) % 4)[1] == 0.0


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda: InvalidActionEnvDiscrete(dim=3, n_invalid_actions=3), 2),
        (lambda: InvalidActionEnvMultiDiscrete(dims=[2, 3], n_invalid_actions=4), 3),
        (lambda: InvalidActionEnvMultiBinary(dims=2, n_invalid_actions=3), 2),
        (lambda: InvalidActionEnvDiscrete(dim=3, n_invalid_actions=-1), 2),
    ],
)
def test_the_right_options_cannot_be_forbidden(make: Any, most: int) -> None:
    with pytest.raises(ValueError, match=f"must be from 0 to {most}"):
        make()


def test_the_documented_program_trains() -> None:
    env = InvalidActionEnvDiscrete(dim=8, n_invalid_actions=6)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16, gamma=0.4, seed=32)
    assert model.learn(16).num_timesteps == 16


def test_recurrent_policies_have_the_names_of_there() -> None:
    model = RecurrentPPO(RecurrentActorCriticPolicy, "CartPole-v1", n_steps=8, batch_size=8)
    assert model.learn(8).num_timesteps == 8
