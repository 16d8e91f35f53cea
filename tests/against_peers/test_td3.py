"""TD3 and DDPG: the updates are those of Stable-Baselines3."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from against_peers.side_by_side import (
    BOX,
    IMAGE,
    PARTS,
    UPDATES,
    Pair,
    World,
    check_all_moved,
    check_means,
    check_parameters,
    check_same,
    fill_replay,
    learn_from_replay,
)

import rlk

SETTINGS = {
    "n_envs": 1,
    "buffer_size": 64,
    "learning_starts": 0,
    "batch_size": 16,
    "train_freq": 1,
    "learning_rate": 0.003,
    "tau": 0.1,
}
SMALL = {"net_arch": [16, 16]}
CASES = {
    "the defaults": {},
    "much noise": {"target_policy_noise": 1.0, "target_noise_clip": 0.3},
    "a delay of three": {"policy_delay": 3},
    "several updates at a time": {"gradient_steps": 3},
    "three critics": {"policy_kwargs": {**SMALL, "n_critics": 3}},
    "other layers for critics": {"policy_kwargs": {"net_arch": {"pi": [8], "qf": [16, 8]}}},
    "returns of three steps": {"n_steps": 3, "gamma": 0.9},
    "Dict": {"observation_space": PARTS},
    "images": {"observation_space": IMAGE, "policy": "CnnPolicy", "learning_rate": 1e-4},
}


def draw_noise_alike(patch, batches):
    """The other draws the noise of the target policy into a tensor of actions."""
    drawn = iter([batch.extras["epsilon"] for batch in batches])

    def normal(tensor, mean, deviation):
        return tensor.copy_(mean + deviation * next(drawn))

    patch.setattr(torch.Tensor, "normal_", normal)


def check_updates(pair):
    for _ in range(UPDATES):
        learnt = learn_from_replay(pair, draw_noise_alike)
        check_means(learnt, "critic_loss")
        if any("actor_loss" in one for one in learnt.here):
            check_means(learnt, "actor_loss")
        check_parameters(pair)
    check_all_moved(pair)


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_updates_are_those_of_stable_baselines3(tmp_path, settings):
    pair = Pair(tmp_path, "TD3", BOX, **{**SETTINGS, "policy_kwargs": SMALL, **settings})
    fill_replay(pair)
    # The policy moves in the first update here, and there in the `policy_delay`-th: count there as
    # if the ones before had been made.
    pair.there._n_updates = pair.there.policy_delay - 1
    check_updates(pair)


def test_the_first_update_moves_the_policy_here_and_not_there(tmp_path):
    pair = Pair(tmp_path, "TD3", BOX, policy_kwargs=SMALL, **SETTINGS)
    fill_replay(pair)
    learn_from_replay(pair, draw_noise_alike)
    name = "model/pi/out/bias"
    assert not np.array_equal(pair.found()[name], pair.start[name])
    assert np.array_equal(pair.expected()[name], pair.start[name])


OF_DDPG = {
    "the defaults": {},
    "two critics": {"policy_kwargs": {**SMALL, "n_critics": 2}},
    "Dict": {"observation_space": PARTS},
}


@pytest.mark.parametrize("settings", OF_DDPG.values(), ids=OF_DDPG)
def test_updates_of_ddpg_are_those_of_stable_baselines3(tmp_path, settings):
    pair = Pair(tmp_path, "DDPG", BOX, **{**SETTINGS, "policy_kwargs": SMALL, **settings})
    fill_replay(pair)
    check_updates(pair)


def test_updates_of_rlks_own_ddpg_are_the_same(tmp_path):
    pair = Pair(tmp_path, "DDPG", BOX, policy_kwargs=SMALL, **SETTINGS)
    agent = rlk.make(
        "ddpg",
        env=lambda: World(pair.there.observation_space, BOX, 0),
        policy={"layers": [16, 16]},
        nb_rollout_steps=1,
        nb_train_steps=1,
        batch_size=16,
        buffer_size=64,
        actor_lr=0.003,
        critic_lr=0.003,
        tau=0.1,
    )
    start = as_in_rlks_ddpg(pair.expected(), agent)
    agent.load_parameters(start)
    agent.run.refresh_schedules()
    pair.run = agent.run
    fill_replay(pair)
    for _ in range(UPDATES):
        learnt = learn_from_replay(pair)
        check_means(learnt, "critic_loss", "actor_loss")
        expected = as_in_rlks_ddpg(pair.expected(), agent)
        check_same(agent.get_parameters(), expected, start)


def as_in_rlks_ddpg(parameters, agent):
    """The parameters by the names in `ddpg`, whose critic has an output layer of its own."""
    found = agent.get_parameters()
    for name, value in parameters.items():
        own = name.replace("/qf/weight", "/qf/out/weight").replace("/qf/bias", "/qf/out/bias")
        found[own] = value.reshape(found[own].shape)
    return found
