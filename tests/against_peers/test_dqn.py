"""DQN: the updates are those of Stable-Baselines3, where it is neither double nor dueling."""

from __future__ import annotations

import pytest
from against_peers.side_by_side import (
    DISCRETE,
    IMAGE,
    PARTS,
    UPDATES,
    Pair,
    check_all_moved,
    check_means,
    check_parameters,
    fill_replay,
    learn_from_replay,
)

SETTINGS = {
    "n_envs": 1,
    "buffer_size": 64,
    "learning_starts": 0,
    "batch_size": 16,
    "train_freq": 1,
    "learning_rate": 0.003,
    "target_update_interval": 1,
    "tau": 0.3,
}
SMALL = {"net_arch": [16, 16]}
TWO = {"n_envs": 2, "target_update_interval": 2}
CASES = {
    "a target that follows": {},
    "a target that is copied": {"tau": 1.0},
    "a gradient that is clipped": {"max_grad_norm": 0.05},
    "several updates at a time": {"gradient_steps": 3},
    "returns of three steps": {"n_steps": 3, "gamma": 0.9},
    "returns of three steps, from a replay that is full": {"n_steps": 3, "buffer_size": 32},
    "two environments": {**TWO, "buffer_size": 128},
    "two environments, returns of three steps": {**TWO, "n_steps": 3},
    "Dict": {"observation_space": PARTS},
}


def check_updates(pair):
    fill_replay(pair)
    for _ in range(UPDATES):
        pair.there._on_step()  # after a step, it moves the target
        check_means(learn_from_replay(pair), "loss")
        check_parameters(pair)
    check_all_moved(pair)


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_updates_are_those_of_stable_baselines3(tmp_path, settings):
    check_updates(Pair(tmp_path, "DQN", DISCRETE, policy_kwargs=SMALL, **{**SETTINGS, **settings}))


def test_updates_with_images_are_those_of_stable_baselines3(tmp_path):
    settings = {**SETTINGS, "learning_rate": 1e-4}
    check_updates(Pair(tmp_path, "DQN", DISCRETE, IMAGE, "CnnPolicy", **settings))
