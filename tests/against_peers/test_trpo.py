"""TRPO: the updates are those of sb3-contrib, but for three formulas that are replaced there."""

from __future__ import annotations

import itertools
from functools import partialmethod

import numpy as np
import pytest
import torch
from against_peers.side_by_side import (
    BOX,
    DISCRETE,
    PARTS,
    SEVERAL,
    SWITCHES,
    UPDATES,
    Pair,
    check_all_moved,
    check_means,
    check_parameters,
    close,
    learn_from_rollout,
    shuffle_alike,
)
from sb3_contrib.trpo import trpo
from stable_baselines3.common.distributions import kl_divergence

SETTINGS = {
    "n_steps": 32,
    "batch_size": 16,
    "n_critic_updates": 3,
    "learning_rate": 0.003,
    "cg_max_steps": 5,
}
CASES = {
    "Discrete": (DISCRETE, {}),
    "Box": (BOX, {"gae_lambda": 0.8}),
    "MultiDiscrete": (SEVERAL, {}),
    "MultiBinary": (SWITCHES, {}),
    "a wide trust region": (BOX, {"target_kl": 0.2, "cg_damping": 0.01}),
    "a search that shortens steps": (BOX, {"target_kl": 3.0}),
    "a search that may find none": (BOX, {"target_kl": 3.0, "line_search_max_iter": 1}),
    "more iterations": (BOX, {"cg_max_steps": 15}),
    "state-dependent exploration": (BOX, {"use_sde": True}),
    "Dict": (DISCRETE, {"observation_space": PARTS}),
}


@pytest.fixture(autouse=True)
def as_in_stable_baselines(monkeypatch):
    """As for PPO, the variance is divided by the size of the batch. Conjugate gradient begins at
    zeros, as in Stable Baselines 2.10; in sb3-contrib it begins at small random numbers."""
    monkeypatch.setattr(torch.Tensor, "std", partialmethod(torch.Tensor.std, correction=0))
    monkeypatch.setattr(torch, "randn_like", torch.zeros_like)


def divergence_of_the_paper(new, old):
    """KL(old || new), float [B]; Schulman et al. 2015, arXiv 1502.05477, eq. 14.

    sb3-contrib has KL(new || old), and takes the mean not only over the batch but, for a Box and
    for MultiBinary, also over the D numbers of an action; so its trust region is D times as large.
    rlk and Stable Baselines 2.10 have the sum, which is the divergence of the whole action.
    """
    parts = kl_divergence(old, new)
    return parts.sum(-1) if parts.ndim == 2 else parts


def shuffle_for_values(pair):
    """The order of the policy's one batch does not matter, and rlk draws none for it."""
    numbers = itertools.count()

    def draw_alike(patch):
        shuffle_alike(pair)(patch)
        of_values = np.random.permutation

        def permutation(size):
            return of_values(size) if next(numbers) else np.arange(size)

        patch.setattr(np.random, "permutation", permutation)

    return draw_alike


@pytest.mark.parametrize(("actions", "settings"), CASES.values(), ids=CASES)
def test_updates_are_those_of_sb3_contrib(tmp_path, monkeypatch, actions, settings):
    monkeypatch.setattr(trpo, "kl_divergence", divergence_of_the_paper)
    pair = Pair(tmp_path, "TRPO", actions, **{**SETTINGS, **settings})
    for _ in range(UPDATES):
        learnt = learn_from_rollout(pair, shuffle_for_values(pair))
        check_means(learnt, "value_loss")
        for name in ("kl_divergence_loss", "is_line_search_success"):
            close(learnt.here[0][f"{name}_pi"], learnt.there[f"train/{name}"])
        check_parameters(pair)
    check_all_moved(pair)


@pytest.mark.parametrize(("actions", "numbers"), [(BOX, 2), (SWITCHES, 3)])
def test_a_trust_region_there_is_as_large_as_one_of_so_many_times_target_kl_here(
    tmp_path, actions, numbers
):
    """With the means of sb3-contrib, the Fisher matrix is divided by D, too."""
    larger = {"target_kl": 0.01 * numbers, "cg_damping": 0.1 * numbers}
    pair = Pair(tmp_path, "TRPO", actions, here=larger, **SETTINGS)
    learn_from_rollout(pair, shuffle_for_values(pair))
    check_parameters(pair)


def test_it_is_larger_than_with_the_same_target_kl(tmp_path):
    pair = Pair(tmp_path, "TRPO", BOX, **SETTINGS)
    learnt = learn_from_rollout(pair, shuffle_for_values(pair))
    name = "model/pi/out/mean/weight"
    steps = [
        np.linalg.norm(one[name] - pair.start[name]) for one in (pair.expected(), pair.found())
    ]
    assert learnt.here[0]["step_fraction_pi"] == 1.0
    assert steps[0] / steps[1] > 1.2  # the root of 2, but for the damping, which is halved, too
