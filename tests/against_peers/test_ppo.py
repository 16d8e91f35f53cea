"""PPO and MaskablePPO: the updates are those of Stable-Baselines3 and sb3-contrib."""

from __future__ import annotations

from functools import partialmethod

import numpy as np
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
    close,
    learn_from_rollout,
)

SETTINGS = {"n_steps": 8, "batch_size": 4, "n_epochs": 3, "learning_rate": 0.003}
DECAYED = {"optimizer_kwargs": {"weight_decay": 0.5}}
EXPLN = {"full_std": False, "use_expln": True, "log_std_init": 0.1}
SQUASHED = {"squash_output": True, "log_std_init": -1.0}
IMAGES = {"observation_space": IMAGE, "policy": "CnnPolicy", "learning_rate": 1e-4}
CASES = {
    "Discrete": (DISCRETE, {}),
    "a narrow clip range": (BOX, {"clip_range": 0.02}),
    "clipped values": (BOX, {"clip_range_vf": 0.05}),
    "entropy": (DISCRETE, {"ent_coef": 0.05}),
    "a target of the divergence": (BOX, {"target_kl": 0.002, "learning_rate": 0.001}),
    "advantages as they are": (BOX, {"normalize_advantage": False, "gae_lambda": 0.8}),
    "a gradient that is clipped": (BOX, {"max_grad_norm": 0.05, "vf_coef": 0.1}),
    "other moments of Adam": (BOX, {"policy_kwargs": {"optimizer_kwargs": {"betas": (0.5, 0.9)}}}),
    "decayed weights": (BOX, {"policy_kwargs": {"optimizer_class": torch.optim.AdamW, **DECAYED}}),
    "another optimiser": (DISCRETE, {"policy_kwargs": {"optimizer_class": torch.optim.NAdam}}),
    "state-dependent exploration": (BOX, {"use_sde": True, "ent_coef": 0.05}),
    "one deviation for a feature": (BOX, {"use_sde": True, "policy_kwargs": EXPLN}),
    "squashed actions": (BOX, {"use_sde": True, "policy_kwargs": SQUASHED}),
    "MultiDiscrete": (SEVERAL, {"ent_coef": 0.05}),
    "MultiBinary": (SWITCHES, {"ent_coef": 0.05}),
    "Dict": (DISCRETE, {"observation_space": PARTS}),
    "images": (DISCRETE, IMAGES),
    "images, with two encoders": (
        DISCRETE,
        {**IMAGES, "policy_kwargs": {"share_features_extractor": False}},
    ),
}


@pytest.fixture(autouse=True)
def variance_of_the_batch(monkeypatch):
    """The variance that normalises advantages is that of Stable Baselines 2.10 (numpy's), divided
    by the size of the batch; Stable-Baselines3 divides by one less."""
    monkeypatch.setattr(torch.Tensor, "std", partialmethod(torch.Tensor.std, correction=0))


def check_updates(pair):
    for _ in range(UPDATES):
        learnt = learn_from_rollout(pair)
        check_means(learnt, "policy_gradient_loss", "value_loss", "clip_fraction")
        if not getattr(pair.run.distribution, "squashes", False):  # there, it is estimated
            check_means(learnt, "entropy_loss")
            close(learnt.here[-1]["loss"], learnt.there["train/loss"])
        close(last_divergence(pair, learnt.here), learnt.there["train/approx_kl"])
        check_parameters(pair)
    check_all_moved(pair)


def last_divergence(pair, metrics):
    """The mean over the last epoch, which the other logs."""
    per_epoch = pair.run.algorithm.n_minibatches
    begin = (len(metrics) - 1) // per_epoch * per_epoch
    return np.mean([one["approx_kl"] for one in metrics[begin:]])


@pytest.mark.parametrize(("actions", "settings"), CASES.values(), ids=CASES)
def test_updates_are_those_of_stable_baselines3(tmp_path, actions, settings):
    pair = Pair(tmp_path, "PPO", actions, **{**SETTINGS, **settings})
    if settings.get("policy_kwargs") is SQUASHED:
        # The derivative of tanh is exact here; there, 1e-6 is added to it.
        pair.there.policy.action_dist.bijector.epsilon = 0.0
    check_updates(pair)


def test_the_target_of_the_divergence_ends_the_epochs_at_the_same_minibatch(tmp_path):
    settings = {**SETTINGS, "target_kl": 0.002, "learning_rate": 0.001, "n_epochs": 20}
    pair = Pair(tmp_path, "PPO", BOX, **settings)
    before = pair.there._n_updates
    learnt = learn_from_rollout(pair)
    epochs = pair.there._n_updates - before
    assert (epochs - 1) * 4 < len(learnt.here) <= epochs * 4 < 80
    assert learnt.here[-1]["approx_kl"] > 1.5 * 0.002


MASKED = {
    "Discrete": (DISCRETE, {"ent_coef": 0.05}),
    "MultiDiscrete": (SEVERAL, {"ent_coef": 0.05}),
    "MultiBinary": (SWITCHES, {"ent_coef": 0.05}),
    "Dict": (DISCRETE, {"observation_space": PARTS, "clip_range_vf": 0.05}),
}


@pytest.mark.parametrize(("actions", "settings"), MASKED.values(), ids=MASKED)
def test_masked_updates_are_those_of_sb3_contrib(tmp_path, actions, settings):
    pair = Pair(tmp_path, "MaskablePPO", actions, **SETTINGS, **settings)
    if actions is SWITCHES:
        keep_logits_of_off(pair.there.policy.action_net)
    check_updates(pair)


def keep_logits_of_off(layer):
    """A switch has one logit here, and there two, of which only the difference matters.

    Adam moves each, so the difference twice as far. If one stays, both learn the same.
    """
    is_on = (torch.arange(len(layer.bias)) % 2).float()
    layer.bias.register_hook(lambda gradient: gradient * is_on)
    layer.weight.register_hook(lambda gradient: gradient * is_on[:, None])
