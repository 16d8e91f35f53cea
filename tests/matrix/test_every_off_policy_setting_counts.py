"""Every setting of an off-policy algorithm has an effect: another value changes the result."""

from __future__ import annotations

import pytest
from matrix.product import ALGORITHMS, REGISTRIES
from matrix.setting_effects import has_effect, names, others

#: Updates after every timestep from the eighth on, whatever an algorithm calls these settings.
OFTEN = {
    "learning_starts": 8,
    "batch_size": 8,
    "target_network_update_freq": 4,
    **dict.fromkeys(("train_freq", "nb_rollout_steps"), 1),
    **dict.fromkeys(("gradient_steps", "nb_train_steps"), 1),
}
#: For settings that several algorithms have, a value that differs from the default and `OFTEN`.
SHARED = {
    "gamma": 0.5,
    "learning_rate": 0.02,
    "buffer_size": 9,
    "learning_starts": 12,
    "train_freq": "1 episode",
    "gradient_steps": 2,
    "batch_size": 4,
    "tau": 0.5,
    "action_noise": "normal-noise:sigma=0.3",
    "random_exploration": 0.5,
}
#: The same for settings of a single algorithm.
OWN = {
    "ddpg": {
        "memory_policy": "prioritized-replay",
        "nb_train_steps": 2,
        "nb_rollout_steps": "1 episode",
        "param_noise": "param-noise:initial_stddev=0.5",
        "normalize_observations": True,
        "param_noise_adaption_interval": 3,
        "normalize_returns": True,
        "enable_popart": True,
        "observation_range": (-0.3, 0.3),
        "critic_l2_reg": 0.5,
        "return_range": (-0.1, 0.1),
        "actor_lr": 0.02,
        "critic_lr": 0.02,
        "clip_norm": 0.001,
        "reward_scale": 0.1,
        "memory_limit": 9,
    },
    "dqn": {
        "exploration_fraction": 1.0,
        "exploration_final_eps": 0.9,
        "exploration_initial_eps": 0.1,
        "double_q": False,
        "target_network_update_freq": 8,
        "prioritized_replay": True,
        "prioritized_replay_alpha": 0.1,
        "prioritized_replay_beta0": 1.0,
        "prioritized_replay_beta_iters": 9,
        "prioritized_replay_eps": 5.0,
        "param_noise": True,
        "dueling": False,
        "max_grad_norm": 0.01,
    },
    "sac": {
        "ent_coef": "auto_0.1",
        "target_entropy": -0.1,
        "target_update_interval": 3,
        "n_critics": 3,
        "use_sde": True,
        "sde_sample_freq": 3,
        "use_sde_at_warmup": True,
    },
    "td3": {
        "policy_delay": 1,
        "target_policy_noise": 0.9,
        "target_noise_clip": 0.01,
        "n_critics": 3,
    },
}
#: Settings that only show what is learnt and do not affect it.
WATCHING = {"eval_env", "nb_eval_steps", "render", "render_eval"}
#: Further settings for settings with such a prefix, and for the run of the comparison.
TOGETHER = {
    "prioritized_replay_": {"prioritized_replay": True},
    "param_noise_": {"param_noise": "param-noise"},
    "enable_popart": {"normalize_returns": True},
    "sde_": {"use_sde": True, "train_freq": 8},
    "use_sde_": {"use_sde": True},
    # The target network and the other differ in which action is best.
    "double_q": {"learning_rate": 0.05},
}

CASES = [(algorithm, name) for algorithm in OWN for name in others(algorithm, SHARED, OWN)]


@pytest.mark.parametrize("algorithm", OWN)
def test_every_setting_has_another_value_here(algorithm):
    assert others(algorithm, SHARED, OWN).keys() == names(algorithm) - WATCHING


@pytest.mark.parametrize(("algorithm", "name"), CASES)
def test_another_value_of_a_setting_learns_differently(algorithm, name):
    needed = ALGORITHMS[algorithm].activates.get(name)
    if needed is not None and not any(needed in registry for registry in REGISTRIES):
        pytest.skip(f"not installed: {needed}")
    together = next((more for start, more in TOGETHER.items() if name.startswith(start)), {})
    value = others(algorithm, SHARED, OWN)[name]
    assert has_effect(algorithm, name, value, OFTEN, together)
