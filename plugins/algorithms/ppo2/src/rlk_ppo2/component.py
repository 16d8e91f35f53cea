"""What this distribution offers: `ppo2`."""

from __future__ import annotations

from rlk.component import Component
from rlk_on_policy.defaults import ON_POLICY
from rlk_ppo2.checks import check
from rlk_ppo2.config import PPO2Config

component = Component(
    name="ppo2",
    factory="rlk_ppo2.algorithm:PPO2",
    summary="proximal policy optimisation with clipped policy and value updates",
    config=PPO2Config,
    instead_of={
        "gae_lambda": "lam={value}",
        "n_epochs": "noptepochs={value}",
        "clip_range": "cliprange={value}",
        "clip_range_vf": "cliprange_vf={value}",
        "batch_size": "a minibatch is n_steps * n_envs / nminibatches: set nminibatches.",
        "normalize_advantage": "advantages are always normalised. Leave it out.",
    },
    check=check,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    recurrent=True,
    defaults=ON_POLICY,
)
