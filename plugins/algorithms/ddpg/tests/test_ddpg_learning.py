"""What DDPG learns, with other policies and spaces, and gone on with from a file."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk_testing.tools.episodes import mean_return
from rlk_testing.tools.states import same

BOX = "rlk_testing.environments:BoxMatch"
FAST = {"nb_rollout_steps": 1, "nb_train_steps": 1, "batch_size": 16, "policy": {"layers": [24]}}


def test_it_learns_which_action_is_right(rlk_make):
    settings = {"gamma": 0.0, "actor_lr": 0.01, "critic_lr": 0.01, "batch_size": 32}
    settings |= {"action_noise": "normal-noise:sigma=0.2", "normalize_returns": True}
    agent = rlk_make("ddpg", env=BOX, seed=0, n_envs=2, **{**FAST, **settings})
    agent.learn(700)
    assert mean_return(agent, BOX) >= 7.4  # of 8; uniformly random actions get 5.3


class Screen(gym.Env):
    observation_space = gym.spaces.Box(0, 255, (36, 36, 1), np.uint8)
    action_space = gym.spaces.Box(-2.0, 1.0, (2, 2), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.integers(0, 256, (36, 36, 1), np.uint8), {}

    def step(self, action):
        assert self.action_space.contains(action)
        return self.reset()[0], float(action.mean()), False, False, {}


@pytest.mark.parametrize("policy", ["CnnPolicy", "LnCnnPolicy"])
def test_observations_may_be_images_and_actions_may_have_several_axes(rlk_make, policy):
    settings = {"policy": policy, "policy.features": 16, "nb_rollout_steps": 8, "batch_size": 4}
    agent = rlk_make("ddpg", env=Screen, seed=0, nb_train_steps=1, **settings)
    assert agent.plan.policy.config.layers == [64, 64]
    before = agent.run.parameters.state_dict()
    agent.learn(8)
    after = agent.run.parameters.state_dict()
    assert not any(before[name].equal(after[name]) for name in before)
    assert agent.predict(Screen().reset(seed=1)[0])[0].shape == (2, 2)


def test_ln_mlp_policy_normalises_the_layers_of_both(rlk_make):
    agent = rlk_make("ddpg", env=BOX, **{**FAST, "policy": "LnMlpPolicy"})
    assert all(len(head.trunk.norms) == 2 for head in (agent.run.policy.pi, agent.run.policy.qf))


@pytest.mark.parametrize(
    "settings",
    [
        {
            "normalize_returns": True,
            "enable_popart": True,
            "nb_rollout_steps": "1 episode",
            "nb_train_steps": -1,
            "n_envs": 2,
            "observation_range": [-3.0, 2.0],
            "return_range": [-50.0, 50.0],
            "critic_l2_reg": 0.01,
            "clip_norm": 1.0,
            "reward_scale": 0.1,
        },
        {
            "plugins": ["prioritized-replay"],
            "random_exploration": 0.1,
            "nb_rollout_steps": 7,
            "normalize_observations": True,
            "param_noise": "param-noise",
            "action_noise": "ornstein-uhlenbeck-noise:sigma=0.2",
        },
    ],
    ids=["episodes and Pop-Art", "priorities, statistics and noises"],
)
def test_a_run_that_is_resumed_ends_where_an_uninterrupted_one_does(rlk_make, tmp_path, settings):
    whole = rlk_make("ddpg", env=BOX, seed=2, total_timesteps=240, **{**FAST, **settings})
    whole.learn_until(117)
    path = whole.save_checkpoint(tmp_path / "middle")
    whole.learn_until(240)
    with rlk.load(path, env=BOX) as resumed:
        assert resumed.differs == []
        resumed.learn_until(240)
        for part in ("parameters", "algorithm", "optimise", "storage", "streams", "collector"):
            one, other = (getattr(agent.run, part).state_dict() for agent in (whole, resumed))
            assert same(one, other), f"{part} differs"
        for one, other in zip(
            whole.run.policy.buffers(), resumed.run.policy.buffers(), strict=True
        ):
            assert one.equal(other)
