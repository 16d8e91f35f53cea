"""A2C: the updates are those of Stable-Baselines3."""

from __future__ import annotations

from functools import partialmethod

import pytest
import torch
from against_peers.side_by_side import (
    BOX,
    DISCRETE,
    IMAGE,
    PARTS,
    SEVERAL,
    SWITCHES,
    UPDATES,
    Pair,
    check_all_moved,
    check_means,
    check_parameters,
    learn_from_rollout,
)
from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike

TENSORFLOW = {"optimizer_class": RMSpropTFLike, "optimizer_kwargs": {"eps": 1e-5}}
CASES = {
    "RMSprop of PyTorch": (DISCRETE, {}),
    "RMSprop of TensorFlow": (DISCRETE, {"policy_kwargs": TENSORFLOW}),
    "Adam": (DISCRETE, {"use_rms_prop": False}),
    "lambda and entropy": (DISCRETE, {"gae_lambda": 0.9, "ent_coef": 0.05}),
    "lambda of 0": (BOX, {"gae_lambda": 0.0, "gamma": 0.9}),
    "a gradient that is clipped": (BOX, {"max_grad_norm": 0.05, "vf_coef": 0.1}),
    "normalised advantages": (BOX, {"normalize_advantage": True}),
    "state-dependent exploration": (BOX, {"use_sde": True}),
    "several choices": (SEVERAL, {"ent_coef": 0.05}),
    "switches": (SWITCHES, {"ent_coef": 0.05}),
    "Dict": (DISCRETE, {"observation_space": PARTS}),
    "images": (
        DISCRETE,
        {"observation_space": IMAGE, "policy": "CnnPolicy", "learning_rate": 1e-4},
    ),
}


@pytest.mark.parametrize(("actions", "settings"), CASES.values(), ids=CASES)
def test_updates_are_those_of_stable_baselines3(tmp_path, monkeypatch, actions, settings):
    # The variance that normalises advantages is that of Stable Baselines 2.10 (numpy's), divided
    # by the size of the batch; Stable-Baselines3 divides by one less.
    monkeypatch.setattr(torch.Tensor, "std", partialmethod(torch.Tensor.std, correction=0))
    pair = Pair(tmp_path, "A2C", actions, **{"n_steps": 8, "learning_rate": 0.003, **settings})
    for _ in range(UPDATES):
        learnt = learn_from_rollout(pair)
        check_means(learnt, "policy_loss", "value_loss", "entropy_loss")
        check_parameters(pair)
    check_all_moved(pair)
