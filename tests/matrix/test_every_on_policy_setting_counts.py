"""Every setting of an on-policy algorithm has an effect: another value changes the result."""

from __future__ import annotations

import pytest
from matrix.setting_effects import has_effect, names, others

from rlk_testing.environments import BY_ACTION_SPACE

#: Several collections, each with several minibatches; steps that are long enough to be clipped.
OFTEN = {
    "n_steps": 8,
    "batch_size": 4,
    "timesteps_per_actorbatch": 8,
    "optim_batchsize": 4,
    "timesteps_per_batch": 8,
    "replay_start": 8,
    "buffer_size": 16,
}
#: For settings that several algorithms have, a value that differs from the default and `OFTEN`.
SHARED = {
    "gamma": 0.5,
    "n_steps": 4,
    "ent_coef": 0.5,
    "entcoeff": 0.5,
    "vf_coef": 2.0,
    "lam": 0.1,
    "gae_lambda": 0.1,
    "learning_rate": 0.02,
    "max_grad_norm": 0.01,
}
#: The same for settings of a single algorithm.
OWN = {
    "a2c": {
        "alpha": 0.5,
        "momentum": 0.5,
        "epsilon": 1.0,
        "lr_schedule": "linear",
        "normalize_advantage": True,
    },
    "acer": {
        "q_coef": 2.0,
        "lr_schedule": "constant",
        "rprop_alpha": 0.5,
        "rprop_epsilon": 1.0,
        "buffer_size": 8,
        "replay_ratio": 1.0,
        "replay_start": 16,
        "correction_term": 0.5,
        "trust_region": False,
        "alpha": 0.1,
        "delta": 0.0,
    },
    "acktr": {
        "vf_fisher_coef": 0.1,
        "kfac_clip": 0.1,
        "lr_schedule": "constant",
        "async_eigen_decomp": True,
        "kfac_update": 2,
    },
    "ppo": {
        "batch_size": 8,
        "n_epochs": 2,
        "clip_range": 0.001,
        "clip_range_vf": 0.001,
        "normalize_advantage": False,
        "use_sde": True,
        "sde_sample_freq": 2,
        "target_kl": 1e-6,
    },
    "ppo1": {
        "timesteps_per_actorbatch": 16,
        "clip_param": 0.001,
        "optim_epochs": 2,
        "optim_stepsize": 0.02,
        "optim_batchsize": 8,
        "adam_epsilon": 1.0,
        "schedule": "constant",
    },
    "ppo2": {
        "n_steps": 16,
        "nminibatches": 2,
        "noptepochs": 2,
        "cliprange": 0.001,
        "cliprange_vf": -1.0,
    },
    "trpo": {
        "timesteps_per_batch": 16,
        "max_kl": 0.001,
        "cg_iters": 1,
        "cg_damping": 1.0,
        "vf_stepsize": 0.02,
        "vf_iters": 1,
        "vf_batch_size": 4,
    },
}
#: Settings that only show what is learnt and do not affect it.
WATCHING = {"stats_window_size"}
#: Further settings for the run of a setting and for the one that it is compared with.
TOGETHER = {
    ("acer", "trust_region"): {"learning_rate": 1.0},  # the policy leaves the trust region
    ("acer", "alpha"): {"learning_rate": 1.0},
    ("ppo", "use_sde"): {"env": BY_ACTION_SPACE["Box"]},
    ("ppo", "sde_sample_freq"): {"env": BY_ACTION_SPACE["Box"], "use_sde": True},
    ("ppo2", "cliprange_vf"): {"cliprange": 0.001},
    # Natural gradient steps follow the first ten, which only gather the factors.
    **{("acktr", name): {"n_steps": 2} for name in SHARED.keys() | OWN["acktr"].keys()},
}

CASES = [(algorithm, name) for algorithm in OWN for name in others(algorithm, SHARED, OWN)]


@pytest.mark.parametrize("algorithm", OWN)
def test_every_setting_has_another_value_here(algorithm):
    assert others(algorithm, SHARED, OWN).keys() == names(algorithm) - WATCHING


@pytest.mark.parametrize(("algorithm", "name"), CASES)
def test_another_value_of_a_setting_learns_differently(algorithm, name):
    together = TOGETHER.get((algorithm, name), {})
    value = others(algorithm, SHARED, OWN)[name]
    assert has_effect(algorithm, name, value, OFTEN, together)
