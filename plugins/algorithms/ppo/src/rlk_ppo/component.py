"""What this distribution offers: `ppo`."""

from __future__ import annotations

from rlk.component import Component
from rlk_on_policy.defaults import ON_POLICY
from rlk_ppo.checks import check
from rlk_ppo.config import PPOConfig

component = Component(
    name="ppo",
    factory="rlk_ppo.algorithm:PPO",
    summary="proximal policy optimisation as in Stable-Baselines3, with gSDE and target_kl",
    config=PPOConfig,
    instead_of={
        **dict.fromkeys(
            ("algo=ppo_lstm", "algo=recurrentppo", "algo=recurrent_ppo"),
            "Use --algo ppo --policy lstm.",
        ),
        "algo=maskableppo": "Use --algo ppo --plugin action-masking.",
        "lam": "gae_lambda={value}",
        "noptepochs": "n_epochs={value}",
        "cliprange": "clip_range={value}",
        "cliprange_vf": "clip_range_vf={value}",
        "nminibatches": "it is n_steps * n_envs / batch_size here: set batch_size.",
    },
    check=check,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    recurrent=True,
    activates={"use_sde": "gsde"},
    forwards={"sde_sample_freq": "gsde.sample_freq"},
    defaults=ON_POLICY,
)
