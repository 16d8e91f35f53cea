"""SAC: the updates are those of Stable-Baselines3."""

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
    "tau": 0.1,
}
SMALL = {"net_arch": [16, 16]}
EXPLN = {**SMALL, "use_expln": True, "clip_mean": 0.01, "log_std_init": 0.1}
CASES = {
    "a learnt coefficient": {},
    "a learnt coefficient from 0.3": {"ent_coef": "auto_0.3", "target_entropy": -1.0},
    "a fixed coefficient": {"ent_coef": 0.2},
    "one critic": {"policy_kwargs": {**SMALL, "n_critics": 1}},
    "three critics": {"policy_kwargs": {**SMALL, "n_critics": 3}},
    "other layers for critics": {"policy_kwargs": {"net_arch": {"pi": [8], "qf": [16, 8]}}},
    "several updates at a time": {"gradient_steps": 3},
    "targets that move in every second update": {"gradient_steps": 4, "target_update_interval": 2},
    "returns of three steps": {"n_steps": 3, "gamma": 0.9},
    "state-dependent exploration": {"use_sde": True},
    "gSDE with other settings": {"use_sde": True, "policy_kwargs": EXPLN},
    "Dict": {"observation_space": PARTS},
    "images": {"observation_space": IMAGE, "policy": "CnnPolicy", "learning_rate": 1e-4},
}


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_updates_are_those_of_stable_baselines3(tmp_path, settings):
    pair = Pair(tmp_path, "SAC", BOX, **{**SETTINGS, "policy_kwargs": SMALL, **settings})
    fill_replay(pair)
    draw_alike = independent_noise if pair.there.use_sde else noise
    for _ in range(UPDATES):
        learnt = learn_from_replay(pair, draw_alike(pair.there.actor))
        check_means(learnt, "critic_loss", "actor_loss", "ent_coef")
        if pair.there.ent_coef_optimizer is not None:
            check_means(learnt, "ent_coef_loss")
        check_parameters(pair)
    check_all_moved(pair)


def drawn_here(batches):
    """The noise of rlk's batches, in the order in which the other draws."""
    return iter([batch.extras[key] for batch in batches for key in ("noise", "next_noise")])


def noise(actor):
    """Standard normal numbers. In the density of a tanh, its derivative is exact; there, 1e-6 is
    added to it."""
    actor.action_dist.epsilon = 0.0

    def draw_alike(patch, batches):
        drawn = drawn_here(batches)

        def standard_normal(*shape, **kind):
            return next(drawn)

        patch.setattr(torch.distributions.normal, "_standard_normal", standard_normal)

    return draw_alike


def independent_noise(actor):
    """Noise of its own for each transition, as in the expectations of the paper's losses; there,
    all transitions of an update share one draw of weights, which has more variance."""
    distribution = actor.action_dist
    distribution.bijector.epsilon = 0.0

    def draw_alike(patch, batches):
        drawn = drawn_here(batches)

        def noise_of(features):
            return distribution.distribution.stddev * next(drawn)

        patch.setattr(distribution, "get_noise", noise_of)

    return draw_alike


def test_updates_between_two_of_the_targets_are_counted_over_the_run(tmp_path):
    """There, they are counted anew after every collection, so that with one update after each the
    targets always move."""
    settings = {**SETTINGS, "target_update_interval": 2}
    pair = Pair(tmp_path, "SAC", BOX, policy_kwargs=SMALL, **settings)
    fill_replay(pair)
    name, moved = "target/qf/bias", []
    for _ in range(4):
        before = pair.found()[name], pair.expected()[name]
        learn_from_replay(pair, noise(pair.there.actor))
        after = pair.found()[name], pair.expected()[name]
        moved.append([not np.array_equal(*one) for one in zip(before, after, strict=True)])
    assert moved == [[True, True], [False, True], [True, True], [False, True]]
