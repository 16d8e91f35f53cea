"""RecurrentPPO: the updates are those of sb3-contrib, with episodes that begin within sequences."""

from __future__ import annotations

import copy
from functools import partialmethod

import numpy as np
import pytest
import torch
from against_peers.side_by_side import (
    BOX,
    DISCRETE,
    PARTS,
    UPDATES,
    Pair,
    check_all_moved,
    check_means,
    check_parameters,
    learn_from_rollout,
)

SETTINGS = {"n_steps": 8, "n_epochs": 3, "learning_rate": 0.003, "policy": "MlpLstmPolicy"}
SMALL = {"lstm_hidden_size": 8, "net_arch": [8]}
SHARED = {**SMALL, "shared_lstm": True, "enable_critic_lstm": False}
INPUTS = {"observation_space": PARTS, "policy": "MultiInputLstmPolicy"}
CASES = {
    "all in one minibatch": (DISCRETE, 16, SMALL, {}),
    "an environment in each minibatch": (DISCRETE, 8, SMALL, {"ent_coef": 0.05}),
    "half of the steps in each minibatch": (BOX, 4, SMALL, {"n_envs": 1}),
    "clipped values": (BOX, 8, SMALL, {"clip_range_vf": 0.01, "clip_range": 0.01}),
    "no LSTM for the value": (BOX, 16, {**SMALL, "enable_critic_lstm": False}, {}),
    "one LSTM for both": (BOX, 16, SHARED, {}),
    "two layers": (BOX, 16, {**SMALL, "n_lstm_layers": 2}, {}),
    "state-dependent exploration": (BOX, 16, SMALL, {"use_sde": True}),
    "Dict": (DISCRETE, 16, SMALL, INPUTS),
}


@pytest.mark.parametrize(
    ("actions", "batch_size", "networks", "settings"), CASES.values(), ids=CASES
)
def test_updates_are_those_of_sb3_contrib(
    tmp_path, monkeypatch, actions, batch_size, networks, settings
):
    # As for PPO: the variance is divided by the size of the batch.
    monkeypatch.setattr(torch.Tensor, "std", partialmethod(torch.Tensor.std, correction=0))
    settings = {**SETTINGS, "batch_size": batch_size, "policy_kwargs": networks, **settings}
    pair = Pair(tmp_path, "RecurrentPPO", actions, **settings)
    keep_second_biases(pair.there.policy)
    if networks is SHARED:
        let_values_train_the_lstm(pair.there.policy)
    for _ in range(UPDATES):
        learnt = learn_from_rollout(pair, split_alike(pair))
        check_means(learnt, "policy_gradient_loss", "value_loss", "entropy_loss", "clip_fraction")
        check_parameters(pair)
    check_all_moved(pair)


def split_alike(pair):
    """Two sequences at most: the other takes that first which is the first here."""
    stream, length = copy.deepcopy(pair.run.streams.numpy("update")), pair.run.algorithm.length

    def beginning(size):
        is_whole = pair.there.batch_size == size
        return 0 if is_whole else length * stream.permutation(size // length)[0]

    return lambda patch: patch.setattr(np.random, "randint", beginning)


def keep_second_biases(policy):
    """An LSTM of PyTorch adds two biases, of which only the sum matters; rlk's has one.

    Adam moves each, so the sum twice as far. If one stays, both learn the same.
    """
    for name, parameter in policy.named_parameters():
        if "bias_hh" in name:
            parameter.requires_grad_(False)


def let_values_train_the_lstm(policy):
    """A shared LSTM learns from the value function too, as shared layers do in Stable Baselines
    2.10; sb3-contrib detaches its output."""
    evaluate = policy.evaluate_actions

    def with_gradient(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.Tensor, "detach", lambda tensor: tensor)
            return evaluate(*arguments)

    policy.evaluate_actions = with_gradient
