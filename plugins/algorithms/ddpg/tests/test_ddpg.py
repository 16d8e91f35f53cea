"""DDPG's contract, its settings, and what it refuses."""

from __future__ import annotations

import math

import attrs
import gymnasium as gym
import numpy as np
import pytest

from rlk.errors import PlanError
from rlk_ddpg import DDPGConfig
from rlk_testing import OffPolicyContract

BOX = "rlk_testing.environments:BoxMatch"


class TestDDPG(OffPolicyContract):
    component = "ddpg"
    own_names = {"train_freq": "nb_rollout_steps", "gradient_steps": "nb_train_steps"}


def test_parameters_and_defaults_are_those_of_the_class_in_stable_baselines():
    documented = DDPGConfig(
        gamma=0.99,
        memory_policy=None,
        eval_env=None,
        nb_eval_steps=100,
        nb_train_steps=50,
        nb_rollout_steps=100,
        param_noise=None,
        action_noise=None,
        normalize_observations=False,
        tau=0.001,
        batch_size=128,
        param_noise_adaption_interval=50,
        normalize_returns=False,
        enable_popart=False,
        observation_range=(-5.0, 5.0),
        critic_l2_reg=0.0,
        return_range=(-math.inf, math.inf),
        actor_lr=0.0001,
        critic_lr=0.001,
        clip_norm=None,
        reward_scale=1.0,
        render=False,
        render_eval=False,
        memory_limit=None,
        buffer_size=50000,
        random_exploration=0.0,
    )
    assert DDPGConfig() == documented
    assert DDPGConfig().learning_starts == 0, "which is Stable-Baselines3's"
    assert len(attrs.fields(DDPGConfig)) == 27


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tau": 1.1}, "tau"),
        ({"nb_train_steps": 0}, "nb_train_steps"),
        ({"nb_rollout_steps": "1 minute"}, "nb_rollout_steps"),
        ({"observation_range": [1.0, 1.0]}, "observation_range must be a bound and a higher one"),
        ({"return_range": [2.0, -2.0]}, "return_range must be a bound and a higher one"),
        ({"return_range": 3.0}, "return_range"),
        ({"critic_l2_reg": -0.1}, "critic_l2_reg"),
        ({"actor_lr": "lin_-0.1"}, "actor_lr"),
        ({"clip_norm": 0.0}, "clip_norm"),
        ({"enable_popart": True}, "set normalize_returns=true too"),
        ({"memory_limit": 0}, "memory_limit"),
        ({"memory_limit": 10, "buffer_size": 20}, "are one setting with two values"),
        ({"memory_policy": "ring"}, "storage 'ring'"),
        ({"memory_policy": "normal-noise"}, "unknown storage 'normal-noise'"),
        ({"render_eval": True}, "render_eval=True is for 'evaluation'.*--set eval_env=true"),
        ({"eval_env": "CartPole-v1"}, "observation_space of environment 'CartPole-v1' is"),
        ({"nb_eval_steps": 0}, "nb_eval_steps"),
        ({"param_noise": "normal-noise"}, "changes actions.*param_noise=adaptive-parameter-noise"),
    ],
)
def test_a_setting_that_is_out_of_range_or_gone_is_refused_with_what_to_type(
    rlk_make, settings, told
):
    with pytest.raises(PlanError, match=told):
        rlk_make("ddpg", env=BOX, **settings)


def test_only_bounded_continuous_actions_are_served(rlk_make):
    with pytest.raises(PlanError, match="action space"):
        rlk_make("ddpg", env="CartPole-v1")

    class Endless(gym.Env):
        observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        action_space = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)

    with pytest.raises(PlanError, match="infinite"):
        rlk_make("ddpg", env=Endless)
